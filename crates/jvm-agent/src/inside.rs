//! Monitors that step here, in the thread in which an event happens, before the program goes on.
//!
//! The tool puts properties here before it lets the program run, and takes them back when it stands still. What happens in
//! between is known here alone. When someone is to react, the room is closed: other threads that have something to tell
//! wait until the tool has opened it again.
//!
//! Scripts (PEDL and MEDL) stay here for good: the tool hears what they find.

use crate::agent::Agent;
use crate::gate::{Gate, Pass};
use crate::protocol::{Datum, Gone, Hit, Key, Occurred, Past};
use crate::values::{datum, value};
use invigil_expr::value::Value;
use invigil_monitor::automaton::{Automaton, Parts};
use invigil_monitor::event::{Batch, Event, Stamp, SymbolId};
use invigil_monitor::inside::{Inmate, Inside};
use invigil_monitor::mac::{Plan, Scripts};
use invigil_monitor::slices::{self, Slices};
use std::sync::Arc;
use std::time::Duration;

/// The most values of an event that is told in the short way.
pub(crate) const QUICK: usize = 4;
/// Such an event has no time of its own.
const TIMELESS: Stamp = Stamp { time: f64::NAN, line: 0 };

/// Where monitors step.
#[derive(Default)]
pub(crate) struct Room(Gate<Furniture>);

#[derive(Default)]
struct Furniture {
    automata: Vec<Arc<Automaton>>,
    inside: Option<Inside>,
    /// Whether someone is to react: nothing happens here until the tool says so.
    closed: bool,
    /// The last so many events are those that someone is to react to; they are told as usual.
    due: usize,
    /// Whether they were told.
    is_told: bool,
    scripts: Scripts,
    /// What scripts find, before it is told.
    found: Batch,
    /// The last thread that told something in the short way: what tells it apart, and its number.
    known: (usize, u32),
    /// That thread, if the monitors may step at once when it tells something. Whoever else comes in takes that away.
    ready: usize,
}

/// What comes of events.
pub(crate) enum Outcome {
    /// The monitors have dealt with them.
    Quiet,
    /// The tool is to be told these.
    Told(Vec<Hit>),
}

/// What comes of an event that is told in the short way. It fits into registers.
pub(crate) enum Dealt {
    /// The monitors have dealt with it.
    Quiet,
    /// It must be told in another way.
    Not,
    /// The tool is to be told these, of this thread.
    Told(Box<(Vec<Hit>, u32)>),
}

/// The event whose number a hit has; points have none.
fn symbol(hit: &Hit) -> Option<SymbolId> {
    match hit.key {
        Key::Event { number } => Some(SymbolId(number)),
        Key::Point { .. } => None,
    }
}

impl Room {
    /// Properties, once for all, each as [`Parts`]. Says whether some have slices.
    pub(crate) fn furnish(&self, properties: &[Vec<u8>]) -> Result<bool, String> {
        let automata = properties.iter().map(|bytes| {
            let parts: Parts = postcard::from_bytes(bytes).map_err(|error| error.to_string())?;
            Ok(Arc::new(Automaton::new(parts)))
        });
        let automata: Vec<Arc<Automaton>> = automata.collect::<Result<_, String>>()?;
        let has_slices = automata.iter().any(|automaton| !automaton.slice_on.is_empty());
        self.come(0).automata = automata;
        Ok(has_slices)
    }

    /// Scripts, once for all, each as a [`Plan`]. Gives how often time is to be told.
    pub(crate) fn install(&self, plans: &[Vec<u8>]) -> Result<Vec<(SymbolId, u32)>, String> {
        let plans = plans.iter().map(|bytes| postcard::from_bytes(bytes).map_err(|error| error.to_string()));
        let plans: Vec<Plan> = plans.collect::<Result<_, String>>()?;
        self.come(0).scripts = Scripts::new(&plans)?;
        Ok(plans.iter().filter_map(|plan| plan.tick).collect())
    }

    /// The properties step here from now on, from these states.
    pub(crate) fn put(&self, states: &[Vec<u8>], concerns: &[Vec<u8>], now: Duration) -> Result<(), String> {
        let mut room = self.come(0);
        let mut inmates = Vec::new();
        for ((automaton, state), concern) in room.automata.iter().zip(states).zip(concerns) {
            let slices =
                Slices::load(automaton, state).ok_or("the state of a property cannot be understood")?;
            inmates.push(Inmate { automaton: Arc::clone(automaton), slices, concern: concern.clone() });
        }
        room.inside = Some(Inside::new(inmates));
        // Until the first tick.
        room.scripts.pass(now.as_millis() as i64);
        (room.closed, room.due) = (false, 0);
        Ok(())
    }

    /// Nobody is here any more, nor are scripts.
    pub(crate) fn vacate(&self) {
        *self.come(0) = Furniture::default();
    }

    /// They step elsewhere.
    pub(crate) fn clear(&self) {
        let mut room = self.come(0);
        (room.inside, room.closed, room.due) = (None, false, 0);
    }

    /// What the properties have done since they were put here, without what is told as usual. Nothing happens here until
    /// they are put here again.
    pub(crate) fn take(&self, agent: &Agent) -> Option<Past> {
        self.take_all(agent).map(|(past, _)| past)
    }

    /// The same, and apart from it what should have been told as usual and was not: the machine may end before.
    pub(crate) fn take_all(&self, agent: &Agent) -> Option<(Past, Vec<Occurred>)> {
        let mut room = self.come(0);
        let inside = room.inside.take()?;
        room.closed = true;
        let (due, is_told) = (std::mem::take(&mut room.due), room.is_told);
        drop(room);
        let past = inside.past();
        let kept = past.events.len().saturating_sub(due);
        let events = (0..past.events.len()).zip(&past.threads).map(|(at, thread)| {
            let event = past.events.event(at);
            Occurred {
                symbol: event.symbol.0,
                time: past.events.stamp(at).time,
                thread: *thread,
                values: event.params.iter().map(|value| datum(value, event.text)).collect(),
            }
        });
        let mut events: Vec<Occurred> = events.collect();
        let mut due = events.split_off(kept);
        if is_told {
            due.clear();
        }
        let past = Past {
            unseen_events: past.unseen_events,
            steps: past.unseen.iter().map(|unseen| unseen.steps).collect(),
            created: past.unseen.iter().map(|unseen| unseen.created).collect(),
            before: past.before.iter().map(Slices::save).collect(),
            events,
            gone: agent.gone(past.gone),
        };
        Some((past, due))
    }

    /// What someone is to react to has been told.
    pub(crate) fn told(&self) {
        self.come(0).is_told = true;
    }

    /// Has the monitors that are here forget slices of objects that are no more, if there are many. Gives how many slices there
    /// are.
    pub(crate) fn forget_gone(&self, agent: &Agent) -> usize {
        let mut room = self.come(0);
        let Some(inside) = &mut room.inside else { return 0 };
        if agent.identities.waiting() >= slices::Gone::enough(inside.slices()) {
            let gone = agent.gone(agent.identities.gone_from_slices());
            let plain = gone.plain.iter().map(|(number, ask)| (SymbolId(*number), *ask as usize));
            let mut gone = slices::Gone { plain: plain.collect(), numbers: gone.numbers };
            gone.sort();
            inside.forget(&gone);
        }
        inside.slices()
    }

    /// The objects that are no more, for monitors that are not here.
    pub(crate) fn gone_for_tool(&self, agent: &Agent) -> Gone {
        let is_empty = self.come(0).inside.is_none();
        if is_empty { agent.gone(agent.identities.gone_from_slices()) } else { Gone::default() }
    }

    /// Events happened, all at one place, in a thread.
    pub(crate) fn happened(&self, agent: &Agent, hits: Vec<Hit>, time: f64, thread: u32) -> Outcome {
        let mut room = self.enter(agent, 0);
        let room = &mut *room;
        if room.closed {
            return Outcome::Quiet;
        }
        let stamp = Stamp { time, line: 0 };
        let mut batch = std::mem::take(&mut room.found);
        batch.clear();
        let mut told: Vec<Hit> = Vec::new();
        let mut given = Batch::default();
        for hit in hits {
            let Some(symbol) = symbol(&hit) else {
                told.push(hit);
                continue;
            };
            given.clear();
            let values: Vec<Value> = hit.values.iter().map(|datum| value(datum, &mut given)).collect();
            let event = Event { symbol, params: &values, text: &given.text };
            batch.push_copy(&event, stamp);
            room.scripts.derive(&event, stamp, &mut batch);
        }
        told.extend(room.step(&batch, thread));
        room.found = batch;
        if told.is_empty() { Outcome::Quiet } else { Outcome::Told(told) }
    }

    /// The same for one event whose values are all whole numbers, in the thread that usually comes here, where one simple
    /// property follows it and nobody is to react. False if that is not so; then nothing was done.
    #[inline(always)]
    pub(crate) fn happened_at_once(&self, who: usize, symbol: SymbolId, values: &[i64]) -> bool {
        let Some(mut room) = self.0.enter_at_once(who) else { return false };
        let room = &mut *room;
        match &mut room.inside {
            Some(inside) if room.ready == who => inside.step_at_once(symbol, values),
            _ => false,
        }
    }

    /// The same where anything may come of it.
    pub(crate) fn happened_soon(&self, who: usize, symbol: SymbolId, values: &[i64]) -> Dealt {
        let Some(mut room) = self.0.enter_at_once(who) else { return Dealt::Not };
        let (known, thread) = room.known;
        if room.closed || known != who {
            return Dealt::Not;
        }
        room.step_quickly(symbol, values, thread)
    }

    /// The same in any thread.
    pub(crate) fn happened_quickly(
        &self,
        agent: &Agent,
        who: usize,
        symbol: SymbolId,
        values: &[i64],
        thread: u32,
    ) -> Dealt {
        let mut room = self.enter(agent, who);
        if room.closed {
            return Dealt::Quiet;
        }
        room.known = (who, thread);
        room.step_quickly(symbol, values, thread)
    }

    /// A thread is no more: another may come that looks the same.
    pub(crate) fn forget(&self, who: usize) {
        let mut room = self.come(0);
        if room.known.0 == who {
            room.known = (0, 0);
        }
    }

    fn come(&self, who: usize) -> Pass<'_, Furniture> {
        let mut room = self.0.enter(who);
        room.ready = 0;
        room
    }

    /// Waits until the room is open. If it is not, nobody will ever open it: what happens is nobody's business any more.
    fn enter(&self, agent: &Agent, who: usize) -> Pass<'_, Furniture> {
        loop {
            let room = self.come(who);
            // When the tool is gone nobody will open it.
            if !room.closed || agent.line.is_lost() {
                return room;
            }
            drop(room);
            agent.line.wait();
        }
    }
}

impl Furniture {
    /// One event happened whose values are all whole numbers.
    fn step_quickly(&mut self, symbol: SymbolId, values: &[i64], thread: u32) -> Dealt {
        let Some(inside) = self.inside.as_mut() else { return Dealt::Not };
        if !self.scripts.is_empty() && derive(&mut self.scripts, symbol, values, &mut self.found) {
            return self.found_something(symbol, values, thread);
        }
        if !inside.step_integers(symbol, values, thread) {
            self.ready = if self.scripts.is_empty() { self.known.0 } else { 0 };
            return Dealt::Quiet;
        }
        self.ready = 0;
        self.react(symbol, values, thread)
    }

    /// Someone is to react to an event of whole numbers.
    #[cold]
    fn react(&mut self, symbol: SymbolId, values: &[i64], thread: u32) -> Dealt {
        (self.closed, self.due, self.is_told) = (true, 1, false);
        let values = values.iter().map(|value| Datum::Int { value: *value }).collect();
        let hit = Hit { key: Key::Event { number: symbol.0 }, values };
        Dealt::Told(Box::new((vec![hit], thread)))
    }

    /// Gives what the tool is to be told of these events: those that properties want, if someone is to react; all, if
    /// nobody is here to deal with them.
    fn step(&mut self, batch: &Batch, thread: u32) -> Vec<Hit> {
        let Some(inside) = &mut self.inside else {
            return (0..batch.len()).map(|at| hit_of(&batch.event(at))).collect();
        };
        let mut reacts = false;
        let mut wanted = Vec::new();
        for at in 0..batch.len() {
            let before = inside.count();
            reacts |= inside.step(&batch.event(at), batch.stamp(at), thread);
            if inside.count() > before {
                wanted.push(at);
            }
        }
        if !reacts {
            return Vec::new();
        }
        (self.closed, self.due, self.is_told) = (true, wanted.len(), false);
        wanted.into_iter().map(|at| hit_of(&batch.event(at))).collect()
    }

    /// Scripts made events of an event.
    #[cold]
    fn found_something(&mut self, symbol: SymbolId, values: &[i64], thread: u32) -> Dealt {
        let mut batch = Batch::default();
        batch.push_integers(symbol, values, TIMELESS);
        for at in 0..self.found.len() {
            batch.push_copy(&self.found.event(at), self.found.stamp(at));
        }
        let told = self.step(&batch, thread);
        if told.is_empty() { Dealt::Quiet } else { Dealt::Told(Box::new((told, thread))) }
    }
}

/// Has scripts follow an event of whole numbers; whether they find something.
#[inline(never)]
fn derive(scripts: &mut Scripts, symbol: SymbolId, values: &[i64], found: &mut Batch) -> bool {
    let mut params = [Value::UNSET; QUICK];
    params.iter_mut().zip(values).for_each(|(param, value)| *param = Value::int(*value));
    let event = Event { symbol, params: &params[..values.len().min(QUICK)], text: "" };
    if !found.is_empty() {
        found.clear();
    }
    scripts.derive(&event, TIMELESS, found);
    !found.is_empty()
}

fn hit_of(event: &Event<'_>) -> Hit {
    let values = event.params.iter().map(|value| datum(value, event.text)).collect();
    Hit { key: Key::Event { number: event.symbol.0 }, values }
}
