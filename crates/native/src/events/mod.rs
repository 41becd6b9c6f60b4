//! From the events that monitors ask for to places in the program, and from a stop there to values.

mod calls;
mod facts;
mod fire;
mod instrument;
pub(crate) mod params;
mod resolve;
mod system;

pub(crate) use params::fetch;

use crate::sites::SiteId;
use crate::sys::Tid;
use crate::watch::{Access, Watcher};
use iced_x86::Instruction;
use invigil_debuginfo::value::{Extractor, Needs};
use invigil_expr::value::Value;
use invigil_monitor::event::{EventSet, Param, SymbolId};
use std::ops::Range;

/// What happens at a place of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The event.
    Fire,
    /// What will not be known at the end is noted.
    Begin,
    /// Another function will return for this one.
    Tail,
    /// The code was taken away.
    Gone,
}

/// A place in the code that has to do with an event.
pub(crate) struct Place {
    pub(crate) site: SiteId,
    pub(crate) role: Role,
    /// One for each parameter that is read here.
    pub(crate) reads: Vec<Option<Extractor>>,
    needs: Needs,
    /// For [`Role::Tail`]: the jump, and the function that it leaves if it goes out of this.
    pub(crate) jump: Option<(Instruction, Vec<Range<u64>>)>,
}

/// What an event is, for a native program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A function begins, or a place in the code is reached.
    Code,
    /// A function is left.
    Exit,
    /// Memory is touched.
    Access(Access),
    /// A system call of this number begins or ends.
    Syscall { number: i64, after: bool },
    /// Something the system tells: a signal, a new process, a new thread.
    System,
}

pub(crate) struct Plan {
    pub(crate) symbol: SymbolId,
    pub(crate) name: String,
    pub(crate) params: Vec<Param>,
    pub(crate) what: What,
    pub(crate) places: Vec<Place>,
    /// Entry addresses of functions that are dealt with already.
    resolved: Vec<u64>,
    active: bool,
    /// What watches memory for it at present.
    watcher: Option<Watcher>,
}

/// What to do for each event of the catalog.
#[derive(Default)]
pub(crate) struct Plans {
    all: Vec<Plan>,
    /// The process that `#fork` is about.
    pub(crate) last_child: Tid,
    /// Names that are not found are no mistake: a library that is loaded later may have them.
    pub(crate) expects_libraries: bool,
    values: Vec<Value>,
}

impl Plans {
    /// The code was replaced: no place is valid any more.
    pub(crate) fn forget_places(&mut self) {
        for plan in &mut self.all {
            plan.places.clear();
            plan.resolved.clear();
            plan.watcher = None;
        }
    }

    /// The code at this place was taken away. The place keeps its number, but nothing happens there.
    pub(crate) fn forget_site(&mut self, site: SiteId) {
        let places = self.all.iter_mut().flat_map(|plan| &mut plan.places);
        places.filter(|place| place.site == site).for_each(|place| place.role = Role::Gone);
    }

    /// Functions that are loaded here from now on are new ones.
    pub(crate) fn forget_range(&mut self, range: &Range<u64>) {
        self.all.iter_mut().for_each(|plan| plan.resolved.retain(|entry| !range.contains(entry)));
    }

    fn any_active(&self, test: impl Fn(&What) -> bool) -> bool {
        self.all.iter().any(|plan| plan.active && test(&plan.what))
    }

    pub(crate) fn wants_syscalls(&self) -> bool {
        self.any_active(|what| matches!(what, What::Syscall { .. }))
    }

    /// All plans.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Plan> {
        self.all.iter()
    }

    /// A plan by its number.
    pub(crate) fn get(&self, plan: u32) -> &Plan {
        &self.all[plan as usize]
    }

    /// Whether all events are of some kinds.
    pub(crate) fn all_are(&self, test: impl Fn(&What) -> bool) -> bool {
        self.all.iter().all(|plan| test(&plan.what))
    }

    /// All events that may ever be asked for.
    pub(crate) fn symbols(&self) -> EventSet {
        let mut set = EventSet::default();
        self.all.iter().for_each(|plan| set.insert(plan.symbol));
        set
    }

    /// The events that are asked for now.
    pub(crate) fn active(&self) -> EventSet {
        let mut set = EventSet::default();
        self.all.iter().filter(|plan| plan.active).for_each(|plan| set.insert(plan.symbol));
        set
    }

    /// Whether the place of a plan makes an event now.
    pub(crate) fn fires(&self, plan: u32, place: u32) -> bool {
        let plan = &self.all[plan as usize];
        plan.active && plan.places[place as usize].role == Role::Fire
    }
}
