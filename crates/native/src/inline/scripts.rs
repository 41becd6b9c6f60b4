//! Scripts (PEDL and MEDL) that step inside the program with the monitors.

use super::Inline;
use crate::target::Target;
use invigil_monitor::event::SymbolId;
use invigil_monitor::mac::Plan;
use invigil_probe::message::Request;
use invigil_session::subject::{Done, Trouble};

/// The scripts, and whether the library has them.
#[derive(Default)]
pub(super) struct Told {
    plans: Vec<Plan>,
    is_told: bool,
}

impl Told {
    /// The library is another one from now on, which does not have them.
    pub(super) fn forget_library(&mut self) {
        self.is_told = false;
    }
}

impl Inline {
    /// These scripts go inside with the monitors.
    pub(crate) fn set_scripts(&mut self, plans: Vec<Plan>) {
        self.scripts = Told { plans, is_told: false };
    }

    /// Whether an event is none of the program's, but one that scripts make.
    pub(super) fn is_made_by_scripts(&self, symbol: SymbolId) -> bool {
        self.scripts.plans.iter().any(|plan| plan.outputs.all().any(|made| made == symbol))
    }
}

impl Target {
    /// Gives the scripts to the library, if it does not have them.
    pub(super) fn tell_scripts(&mut self) -> Done {
        let Told { plans, is_told } = &self.inline.scripts;
        if *is_told || plans.is_empty() {
            return Ok(());
        }
        let encoded = |plan| postcard::to_allocvec(plan).map_err(|error| Trouble::Subject(error.to_string()));
        let plans = plans.iter().map(encoded).collect::<Done<_>>()?;
        self.ask(&Request::Scripts { plans, begun: self.began_at })?;
        // It has forgotten the places.
        (self.inline.scripts.is_told, self.inline.looked_at) = (true, 0);
        Ok(())
    }
}
