//! A second execution controller, which selects the owner to notify with [`OwnerSet`], as the native one does. It has
//! no traps: the program's memory is always unmodified.
//!
//! An instruction has two places. At the first one the program is about to execute it: breakpoints apply. At the second
//! one it is about to read or write: watchpoints apply. Each place has its own set of notified owners, because a
//! breakpoint set at the second place may apply at the first. Both sets are empty on arrival at a new instruction.

use crate::formal::controller::{Command, Controller, Mode, Output, Reply, Rule};
use crate::formal::points::{Event, Point, SymbolicEvent, evt2pts, instantiate};
use crate::formal::program::{Param, Program, ProgramState, STOP};
use invigil_semantics::Semantics;
use invigil_target::Owner;
use invigil_target::pending_owners::OwnerSet;
use std::collections::BTreeSet;

/// Possible faults of such a controller, each of which the comparison must detect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The notified owners are not cleared when the instruction has been executed.
    KeepsHandled,
    /// The monitors come before the scenario.
    MonitorsFirst,
    /// The scenario comes before the user.
    ScenarioFirst,
    /// A checkpoint lacks the notified owners.
    CheckpointWithoutHandled,
    /// A restore leaves the monitors' points as they are.
    RestoreKeepsEvents,
    /// A restore drops the scenario's points.
    RestoreDropsScenario,
    /// Only the first of several events at a point is reported.
    FirstEventOnly,
    /// The notified owners are cleared when points change.
    ForgetsWhenPointsChange,
    /// There is one set of notified owners for both places of an instruction.
    OneSetForBoth,
}

/// The controller.
#[derive(Clone, Debug)]
pub(crate) struct ByOwners {
    pub(crate) program: Program,
    pub(crate) fault: Option<Fault>,
}

/// The notified owners at the two places of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Handled {
    reach: OwnerSet,
    access: OwnerSet,
}

/// The content of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kept {
    p: ProgramState,
    events: Vec<SymbolicEvent>,
    handled: Handled,
    over: bool,
}

/// A configuration of this controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Live {
    pub(crate) p: ProgramState,
    pub(crate) mode: Mode,
    /// Points of the user and the scenario.
    pub(crate) points: BTreeSet<Point>,
    pub(crate) events: Vec<SymbolicEvent>,
    pub(crate) handled: Handled,
    checkpoints: Vec<Kept>,
    over: bool,
}

impl ByOwners {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// The points at the first place, and at the second.
    fn here(&self, at: &Live) -> (Vec<Point>, Vec<Point>) {
        let accesses = self.program.get_accesses(&at.p);
        let asked = at.events.iter().map(|event| evt2pts(&self.program, &at.p.m, event));
        let all: BTreeSet<Point> = at.points.iter().copied().chain(asked).collect();
        let here = |point: &Point| point.breaks_at(at.p.pc) || accesses.iter().any(|a| point.matches(a));
        all.into_iter().filter(here).partition(Point::is_break)
    }

    fn next(&self, present: OwnerSet, handled: OwnerSet) -> Option<Owner> {
        let order = match self.fault {
            Some(Fault::MonitorsFirst) => [Owner::User, Owner::Monitors, Owner::Scenario],
            Some(Fault::ScenarioFirst) => [Owner::Scenario, Owner::User, Owner::Monitors],
            _ => return present.next_pending(handled),
        };
        order.into_iter().find(|owner| present.contains(*owner) && !handled.contains(*owner))
    }

    /// Notifies the next owner at a place, if one is pending.
    fn serve(&self, at: &mut Live, points: &[Point], handled: OwnerSet) -> Option<(Owner, Output)> {
        let present = points.iter().fold(OwnerSet::default(), |owners, point| owners.with(point.owner()));
        let owner = self.next(present, handled)?;
        let mine = points.iter().filter(|point| point.owner() == owner).copied();
        let output = match owner {
            Owner::User => {
                at.mode = Mode::Interactive;
                Output::Developer(mine.collect())
            }
            Owner::Scenario => Output::Scenario(mine.collect()),
            Owner::Monitors => {
                let mine: Vec<Point> = mine.collect();
                let due = |event: &&SymbolicEvent| mine.contains(&evt2pts(&self.program, &at.p.m, event));
                let limit = if self.has(Fault::FirstEventOnly) { 1 } else { usize::MAX };
                let events = at.events.iter().filter(due).take(limit);
                Output::Events(events.map(|event| instantiate(&self.program, event, &at.p.m)).collect())
            }
        };
        Some((owner, output))
    }

    fn points_changed(&self, at: &mut Live) {
        if self.has(Fault::ForgetsWhenPointsChange) {
            at.handled = Handled::default();
        }
    }
}

impl Controller for ByOwners {
    type Config = Live;

    fn initial(&self) -> Live {
        Live {
            p: Semantics::initial(&self.program).into_iter().next().unwrap(),
            mode: Mode::Interactive,
            points: BTreeSet::new(),
            events: vec![],
            handled: Handled::default(),
            checkpoints: vec![],
            over: false,
        }
    }

    fn mode(&self, at: &Live) -> Mode {
        at.mode
    }

    fn with_mode(&self, at: &Live, mode: Mode) -> Live {
        Live { mode, ..at.clone() }
    }

    fn run(&self, at: &Live) -> Vec<(Rule, Output, Live)> {
        let mut to = at.clone();
        let (reached, accessed) = self.here(at);
        if let Some((owner, output)) = self.serve(&mut to, &reached, at.handled.reach) {
            to.handled.reach = at.handled.reach.with(owner);
            if self.has(Fault::OneSetForBoth) {
                to.handled.access = to.handled.access.with(owner);
            }
            let rules = [Rule::DevBreak, Rule::ScnBreak, Rule::EvtBreak];
            return vec![(rules[owner as usize], output, to)];
        }
        if let Some((owner, output)) = self.serve(&mut to, &accessed, at.handled.access) {
            to.handled.access = at.handled.access.with(owner);
            let rules = [Rule::DevWatch, Rule::ScnWatch, Rule::EvtWatch];
            return vec![(rules[owner as usize], output, to)];
        }
        if let Some(next) = self.program.run_instr(&at.p) {
            let output = Output::Executed(at.p.m.clone(), at.p.pc);
            to.p = next;
            to.over = false;
            if !self.has(Fault::KeepsHandled) {
                to.handled = Handled::default();
            }
            return vec![(Rule::NormalExec, output, to)];
        }
        if at.p.m[usize::from(at.p.pc)] == STOP && !at.over {
            to.over = true;
            return vec![(Rule::Stop, Output::Events(vec![Event::Stop]), to)];
        }
        vec![]
    }

    fn instrument(&self, at: &Live, events: &[SymbolicEvent]) -> Live {
        let mut to = Live { events: events.to_vec(), ..at.clone() };
        self.points_changed(&mut to);
        to
    }

    fn command(&self, at: &Live, command: &Command) -> Option<(Reply, Live)> {
        let mut to = at.clone();
        let mut reply = Reply::Nothing;
        let address = |symbol: &usize| self.program.sym_t(&at.p.m, Param::Symbol(*symbol));
        match command {
            Command::SetAddr(addr, value) => to.p.m[usize::from(*addr)] = *value,
            Command::SetSym(symbol, value) => to.p.m[usize::from(address(symbol))] = *value,
            Command::GetAddr(addr) => reply = Reply::Value(at.p.m[usize::from(*addr)]),
            Command::GetSym(symbol) => reply = Reply::Value(at.p.m[usize::from(address(symbol))]),
            Command::GetPc => reply = Reply::Pc(at.p.pc),
            Command::SetPc(addr) => {
                to.p.pc = *addr;
                to.handled = Handled::default();
            }
            Command::Checkpoint => {
                to.checkpoints.push(Kept {
                    p: at.p.clone(),
                    events: at.events.clone(),
                    handled: at.handled,
                    over: at.over,
                });
                reply = Reply::Checkpoint(at.checkpoints.len());
            }
            Command::Restore(number) => {
                let Kept { p, events, handled, over } = at.checkpoints.get(*number)?.clone();
                to.p = p;
                to.over = over;
                to.handled = handled;
                if self.has(Fault::CheckpointWithoutHandled) {
                    to.handled = Handled::default();
                }
                if !self.has(Fault::RestoreKeepsEvents) {
                    to.events = events;
                }
                if self.has(Fault::RestoreDropsScenario) {
                    to.points.retain(|point| point.owner() == Owner::User);
                }
            }
            Command::Interrupt => to.mode = Mode::Interactive,
            Command::Continue => {
                (at.mode == Mode::Interactive).then_some(())?;
                to.mode = Mode::Passive;
            }
            Command::SetPoint(point) => {
                if let Point::Break { addr, .. } = point {
                    self.program.is_code(*addr).then_some(())?;
                }
                to.points.insert(*point);
                self.points_changed(&mut to);
            }
            Command::RemovePoint(point) => {
                to.points.remove(point).then_some(())?;
                self.points_changed(&mut to);
            }
            Command::Step => return None,
        }
        Some((reply, to))
    }
}
