//! The events that the monitor must receive, determined from the program alone: without traps, owners or a debugger.
//!
//! The oracle follows a run. After each act it checks that the reported events applied to that very instruction
//! (soundness), and before each executed instruction that no needed event was missed (completeness). It also follows
//! commands that change or restore the program.

use crate::formal::controlled::Reading;
use crate::formal::controller::{Command, Output, Rule};
use crate::formal::monitor::{Monitor, State};
use crate::formal::points::{Event, EventType, SymbolicEvent};
use crate::formal::program::{Addr, Param, Program, ProgramState, STOP, Val};
use crate::formal::verified::IrvAct;
use invigil_semantics::Semantics;

/// Why an event happens at an instruction: it is reached, or it makes an access of this kind.
type Cause = (EventType, Addr);

/// How far the program and the monitor are.
#[derive(Clone, Debug)]
struct Position {
    p: ProgramState,
    q: State,
    /// The events that were reported at this instruction.
    reported: Vec<Cause>,
    over: bool,
}

/// The oracle.
pub(crate) struct Oracle<'a> {
    program: &'a Program,
    monitor: &'a Monitor,
    reading: Reading,
    at: Position,
    checkpoints: Vec<Position>,
}

/// Follows a whole run. Returns the number of reported events.
pub(crate) fn check<'a>(
    program: &Program,
    monitor: &Monitor,
    reading: Reading,
    acts: impl IntoIterator<Item = &'a IrvAct>,
) -> Result<usize, String> {
    let p = program.initial().into_iter().next().unwrap();
    let at = Position { p, q: 0, reported: vec![], over: false };
    let mut oracle = Oracle { program, monitor, reading, at, checkpoints: vec![] };
    let mut reported = 0;
    for (number, act) in acts.into_iter().enumerate() {
        reported += oracle.follow(act).map_err(|wrong| format!("act {number}, {act:?}: {wrong}"))?;
    }
    Ok(reported)
}

impl Oracle<'_> {
    fn cause(&self, event: &SymbolicEvent) -> Cause {
        (event.kind, self.program.symbols[event.name])
    }

    /// The events that may come next here, each alternative in its order; none if no event applies.
    fn due(&self) -> Vec<Vec<Event>> {
        let Position { p, q, reported, .. } = &self.at;
        let needed = self.monitor.events_needed(*q);
        let fresh = |event: &&SymbolicEvent| !reported.contains(&self.cause(event));
        let value = |param: &Param| {
            let cell = |addr: Addr| p.m[usize::from(addr)];
            let data = p.m.len() - self.program.data.len();
            match param {
                Param::Symbol(symbol) => cell(self.program.symbols[*symbol]),
                Param::Pointed(symbol) => match cell(self.program.symbols[*symbol]) {
                    Val::Num(n) => p.m[data + usize::from(n) % self.program.data.len()],
                    code => code,
                },
            }
        };
        let tell = |events: &[&SymbolicEvent]| -> Vec<Event> {
            let tell =
                |event: &SymbolicEvent| Event::At(event.clone(), event.params.iter().map(value).collect());
            events.iter().map(|event| tell(event)).collect()
        };
        let reached: Vec<&SymbolicEvent> =
            needed.iter().filter(fresh).filter(|e| self.cause(e) == (EventType::Reach, p.pc)).collect();
        if !reached.is_empty() {
            return vec![tell(&reached)];
        }
        let by = |write: bool, addr: Addr, event: &SymbolicEvent| {
            let (kind, of) = self.cause(event);
            let counts = match kind {
                EventType::Reach => false,
                EventType::ValueRead => !write,
                EventType::ValueWrite => write,
                EventType::ValueAccess => true,
            };
            counts && of == addr
        };
        let accesses = self.program.get_accesses(p);
        let accessed: Vec<&SymbolicEvent> = needed
            .iter()
            .filter(fresh)
            .filter(|event| accesses.iter().any(|access| by(access.write, access.addr, event)))
            .collect();
        match self.reading {
            _ if accessed.is_empty() => vec![],
            Reading::AllAtOnce => vec![tell(&accessed)],
            Reading::OncePerPlace if reported.iter().any(|(kind, _)| *kind != EventType::Reach) => vec![],
            Reading::OncePerPlace => vec![tell(&accessed)],
            // The first access with a fresh event; the events of any one of its points.
            Reading::Printed => {
                let of = |access: &crate::formal::program::Access| -> Vec<Cause> {
                    let events = accessed.iter().filter(|event| by(access.write, access.addr, event));
                    events.map(|event| self.cause(event)).collect()
                };
                let causes = accesses.iter().map(of).find(|causes| !causes.is_empty()).unwrap_or_default();
                let with = |cause: &Cause| -> Vec<&SymbolicEvent> {
                    accessed.iter().copied().filter(|event| self.cause(event) == *cause).collect()
                };
                causes.iter().map(|cause| tell(&with(cause))).collect()
            }
        }
    }

    fn follow(&mut self, act: &IrvAct) -> Result<usize, String> {
        let mut reported = 0;
        match &act.output {
            Output::Executed(m, pc) => {
                if self.at.p.m != *m || self.at.p.pc != *pc {
                    return Err(format!("the program is elsewhere: {:?}", self.at.p));
                }
                if let [missed, ..] = &self.due()[..] {
                    return Err(format!("missed {missed:?}"));
                }
                self.at.p = self.program.run_instr(&self.at.p).ok_or("nothing can be executed here")?;
                self.at.reported.clear();
                self.at.over = false;
            }
            Output::Events(events) if events[..] == [Event::Stop] => {
                let ends = self.at.p.m[usize::from(self.at.p.pc)] == STOP;
                if !ends || self.at.over || !self.due().is_empty() {
                    return Err("the end is reported too early or twice".into());
                }
                self.at.over = true;
                reported = self.hear(act, events)?;
            }
            Output::Events(events) => {
                if !self.due().contains(events) {
                    return Err(format!("due are {:?}", self.due()));
                }
                for event in events {
                    if let Event::At(event, _) = event {
                        let cause = self.cause(event);
                        self.at.reported.push(cause);
                    }
                }
                reported = self.hear(act, events)?;
            }
            Output::Silent | Output::Developer(_) | Output::Scenario(_) => {}
        }
        if act.rule == Rule::Init && act.verdicts != [self.at.q] {
            return Err("the first verdict is not that of the initial state".into());
        }
        act.commands.iter().for_each(|(command, _)| self.obey(command));
        Ok(reported)
    }

    /// The verdicts must be those that the events lead to.
    fn hear(&mut self, act: &IrvAct, events: &[Event]) -> Result<usize, String> {
        let mut verdicts = vec![];
        for event in events {
            self.at.q = self.monitor.next(self.at.q, event);
            verdicts.push(self.at.q);
        }
        if act.verdicts == verdicts {
            Ok(events.len())
        } else {
            Err(format!("the verdicts should be {verdicts:?}"))
        }
    }

    fn obey(&mut self, command: &Command) {
        match command {
            Command::SetAddr(addr, value) => self.at.p.m[usize::from(*addr)] = *value,
            Command::SetSym(symbol, value) => {
                let addr = self.program.symbols[*symbol];
                self.at.p.m[usize::from(addr)] = *value;
            }
            Command::SetPc(addr) => {
                self.at.p.pc = *addr;
                self.at.reported.clear();
            }
            Command::Checkpoint => self.checkpoints.push(self.at.clone()),
            Command::Restore(number) => self.at = self.checkpoints[*number].clone(),
            Command::GetAddr(_)
            | Command::GetSym(_)
            | Command::GetPc
            | Command::Continue
            | Command::Interrupt
            | Command::Step
            | Command::SetPoint(_)
            | Command::RemovePoint(_) => {}
        }
    }
}
