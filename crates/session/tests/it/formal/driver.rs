//! Runs of an interactively verified program: the general behaviour of algorithm 11, bounded.

use crate::formal::by_owners::{ByOwners, Fault};
use crate::formal::controlled::{Controlled, Reading};
use crate::formal::controller::{Command, Controller, Mode, Rule};
use crate::formal::random::Case;
use crate::formal::verified::{Irv, IrvAct, Verified};

/// Maximum length of a run: programs and restores may loop forever.
pub(crate) const MAX_LEN: usize = 150;

impl Case {
    /// The formal model of this case.
    pub(crate) fn formal(&self, reading: Reading) -> Verified<Controlled> {
        let ec = Controlled { program: self.program.clone(), reading, commands: vec![] };
        self.verified(ec)
    }

    /// The model with the decisions of the implementation.
    pub(crate) fn by_owners(&self, fault: Option<Fault>) -> Verified<ByOwners> {
        self.verified(ByOwners { program: self.program.clone(), fault })
    }

    fn verified<C>(&self, ec: C) -> Verified<C> {
        let (monitor, scenario) = (self.monitor.clone(), self.scenario.clone());
        Verified { ec, monitor, scenario, commands: vec![] }
    }
}

/// One run: every act with the resulting configuration.
pub(crate) struct Run<C: Controller> {
    pub(crate) acts: Vec<(IrvAct, Irv<C::Config>)>,
    /// Whether the program ended within the bound.
    pub(crate) ended: bool,
}

impl<C: Controller> Verified<C> {
    /// Runs a case. `pick` chooses among the steps where the rules leave a choice.
    pub(crate) fn run_case(&self, case: &Case, mut pick: impl FnMut(usize) -> usize) -> Run<C> {
        let mut acts = vec![self.init(&self.start())];
        for point in &case.points {
            let set = self.commanded(&acts.last().unwrap().1, &Command::SetPoint(*point));
            acts.push(set.unwrap());
        }
        let mut said = case.developer.iter().cycle();
        let mut visible = 0;
        let mut redo = false;
        while visible < MAX_LEN {
            let at = &acts.last().unwrap().1;
            let mut steps = match self.mode(at) {
                Mode::Passive => self.run(at),
                Mode::Interactive if redo => self.step(at),
                Mode::Interactive => match said.next().unwrap() {
                    Command::Step => self.step(at),
                    // A command that does not apply here is treated as `continue`.
                    command => {
                        let step = self.commanded(at, command);
                        vec![step.or_else(|| self.commanded(at, &Command::Continue)).unwrap()]
                    }
                },
            };
            if steps.is_empty() {
                return Run { acts, ended: true };
            }
            let picked = pick(steps.len());
            let step = steps.swap_remove(picked);
            // A step that only removed a trap is repeated: to the user it is
            // no step.
            redo = step.0.rule == Rule::TrapNoBreak;
            visible += usize::from(!redo);
            acts.push(step);
        }
        Run { acts, ended: false }
    }
}

impl<C: Controller> Run<C> {
    /// The observable part: everything except steps without effect.
    pub(crate) fn visible(&self) -> Vec<&IrvAct> {
        self.acts.iter().map(|(act, _)| act).filter(|act| act.rule != Rule::TrapNoBreak).collect()
    }
}
