//! Monitors that step inside the virtual machine.

use crate::target::Target;
use invigil_jvm_agent::protocol::{Answer, Occurred, Past, Request};
use invigil_jvm_agent::values::value;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{Batch, EventSet, Stamp, SymbolId};
use invigil_monitor::inside::{Inmate, Unseen};
use invigil_monitor::mac::Plan;
use invigil_monitor::slices::Slices;
use invigil_session::subject::{CaughtUp, Done, Trouble};
use std::sync::Arc;

/// What the tool knows of the monitors that step inside.
#[derive(Default)]
pub(crate) struct Rooms {
    /// Those that the agent has.
    automata: Vec<Arc<Automaton>>,
    /// Whether they step inside when the program goes on, or do so now.
    pub(crate) used: bool,
    /// Whether the agent tells all events, not only those that are needed at the moment.
    pub(crate) hears_all: bool,
    /// Whether the agent waits to be told where they step.
    pub(crate) closed: bool,
    /// What they did up to the program's end.
    pub(crate) last: Option<Past>,
    /// What happened then, and someone is yet to react to.
    pub(crate) due: Vec<Occurred>,
    /// What scripts that stay inside must be told.
    pub(crate) scripts: EventSet,
    /// Their plans, until the agent has them.
    plans: Vec<Plan>,
}

fn garbled() -> Trouble {
    Trouble::Subject("what the agent tells of the monitors makes no sense".to_owned())
}

impl Target {
    /// Has scripts step inside the virtual machine: the session is told what they find. Before the session starts.
    pub(crate) fn set_scripts(&mut self, plans: Vec<Plan>) {
        for plan in &plans {
            let inputs = plan.inputs.iter().map(|(symbol, _)| *symbol);
            inputs.for_each(|symbol| self.rooms.scripts.insert(symbol));
        }
        self.rooms.plans = plans;
    }

    /// Sends the scripts, if that has not been done.
    pub(crate) fn send_scripts(&mut self) -> Done {
        let plans = std::mem::take(&mut self.rooms.plans);
        if !plans.is_empty() {
            let plans = plans.iter().map(encoded).collect::<Done<_>>()?;
            self.ask(&Request::Scripts { plans })?;
        }
        Ok(())
    }

    pub(crate) fn move_in(&mut self, monitors: &[Inmate]) -> Done {
        let known = monitors.len() == self.rooms.automata.len()
            && monitors
                .iter()
                .zip(&self.rooms.automata)
                .all(|(inmate, known)| Arc::ptr_eq(&inmate.automaton, known));
        if !known {
            let properties = monitors.iter().map(|inmate| {
                let parts: &invigil_monitor::automaton::Parts = &inmate.automaton;
                encoded(parts)
            });
            let properties = properties.collect::<Done<_>>()?;
            self.ask(&Request::Properties { properties })?;
            self.rooms.automata = monitors.iter().map(|inmate| Arc::clone(&inmate.automaton)).collect();
        }
        if !std::mem::replace(&mut self.rooms.hears_all, true) {
            self.activate_plans(true)?;
        }
        let states = monitors.iter().map(|inmate| inmate.slices.save()).collect();
        let concerns = monitors.iter().map(|inmate| inmate.concern.clone()).collect();
        self.ask(&Request::PutInside { states, concerns })?;
        (self.rooms.used, self.rooms.closed) = (true, false);
        Ok(())
    }

    /// The program is about to go on. If nobody has put the monitors inside, they step outside.
    pub(crate) fn open_rooms(&mut self) -> Done {
        if std::mem::take(&mut self.rooms.closed) {
            self.rooms.used = false;
            self.ask(&Request::Outside)?;
            if std::mem::take(&mut self.rooms.hears_all) {
                self.activate_plans(false)?;
            }
        }
        Ok(())
    }

    pub(crate) fn take_past(&mut self) -> Done<Option<CaughtUp>> {
        if !std::mem::take(&mut self.rooms.used) {
            return Ok(None);
        }
        let past = if self.link.is_some() {
            self.rooms.closed = true;
            match self.ask(&Request::CatchUp) {
                Ok(Answer::Past { past }) => past.or_else(|| self.rooms.last.take()),
                Ok(_) => return Err(garbled()),
                // It ended meanwhile.
                Err(Trouble::Ended(_)) => self.rooms.last.take(),
                Err(trouble) => return Err(trouble),
            }
        } else {
            self.rooms.last.take()
        };
        past.map(|mut past| {
            self.note_gone(std::mem::take(&mut past.gone));
            self.understood(past)
        })
        .transpose()
    }

    /// Makes the events that the program could not tell any more before it ended; says whether there are any.
    pub(crate) fn note_due(&mut self) -> bool {
        let due = std::mem::take(&mut self.rooms.due);
        let Some(first) = due.first() else { return false };
        (self.current, self.frame) = (first.thread, 0);
        self.batch.clear();
        add(&mut self.batch, &due);
        true
    }

    fn understood(&self, past: Past) -> Done<CaughtUp> {
        let automata = &self.rooms.automata;
        let counts = [past.before.len(), past.steps.len(), past.created.len()];
        if counts != [automata.len(); 3] {
            return Err(garbled());
        }
        let before = automata.iter().zip(&past.before);
        let before = before.map(|(automaton, state)| Slices::load(automaton, state).ok_or_else(garbled));
        let mut events = Batch::default();
        add(&mut events, &past.events);
        let counted = past.steps.iter().zip(&past.created);
        Ok(CaughtUp {
            unseen_events: past.unseen_events,
            unseen: counted.map(|(steps, created)| Unseen { steps: *steps, created: *created }).collect(),
            before: before.collect::<Done<_>>()?,
            scripts: Vec::new(),
            events,
            threads: past.events.iter().map(|event| event.thread).collect(),
        })
    }
}

/// Adds events to others.
fn add(events: &mut Batch, told: &[Occurred]) {
    for event in told {
        let values: Vec<_> = event.values.iter().map(|datum| value(datum, events)).collect();
        events.push(SymbolId(event.symbol), &values, Stamp { time: event.time, line: 0 });
    }
}

fn encoded(what: &impl serde::Serialize) -> Done<Vec<u8>> {
    postcard::to_allocvec(what)
        .map_err(|error| Trouble::Subject(format!("a property cannot be sent to the agent: {error}")))
}
