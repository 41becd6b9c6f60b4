//! Embedded monitors, on every fast path, are equivalent to plain stepping: tested with random properties and random
//! events.

use invigil_expr::value::Value;
use invigil_monitor::automaton::{Automaton, StateId};
use invigil_monitor::embedded::{
    EmbeddedMonitor, EmbeddedMonitors, REACT_ON_ENTRY, REACT_ON_EXIT, SHARD_COUNT, Shard,
};
use invigil_monitor::event::{Event, EventCatalog, EventId, EventMeta};
use invigil_monitor::observer::{NoopObserver, Observer, TransitionTaken};
use invigil_monitor::slices::SliceTable;
use invigil_monitor::verdict::Verdict;
use invigil_monitor::{Monitor, Scratch};
use invigil_test_support::Rng;
use invigil_test_support::language;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Instant;

const TIMELESS: EventMeta = EventMeta { time: f64::NAN, line: 0 };
const EVENTS: [&str; 3] = ["a(x: int, y: int)", "b(x: int)", "c(x: int, y: int)"];
const GUARDS: [&str; 7] = [
    "",
    "{ return x < 3 }",
    "{ return N >= x }",
    "{ return x == 2 }",
    "{ return N != 5 }",
    "{ return x > 1 and N < 9 }",
    "{ N = N + 1 }",
];
const UPDATES: [&str; 5] = ["", "{ N = N + 1 }", "{ N = N + x }", "{ N = N - x }", "{ N = x * 2 }"];
const STATES: [&str; 4] = ["init accepting", "one accepting", "two non-accepting", "three accepting final"];

fn property(random: &Rng) -> String {
    let mut text = String::from(if random.below(3) == 0 { "slice on x\n" } else { "" });
    text += "initialization { N = 0 }\n";
    let target = |random: &Rng| STATES[random.below(4)].split(' ').next().unwrap();
    for state in STATES {
        text += &format!("state {state} {{\n");
        let least = usize::from(state == STATES[0]);
        for _ in 0..least + random.below(3) {
            let (event, guard) = (random.pick(&EVENTS), random.pick(&GUARDS));
            let (update, to) = (random.pick(&UPDATES), target(random));
            text += &format!("transition {{ event {event} {guard} success {update} {to} ");
            if guard.contains("return") && random.below(2) == 0 {
                text += &format!("failure {} {} ", random.pick(&UPDATES), target(random));
            }
            text += "}\n";
        }
        text += "}\n";
    }
    text
}

/// A property that no fast path supports.
struct Plain {
    automaton: Arc<Automaton>,
    slices: SliceTable,
    reactions: Vec<u8>,
    scratch: Scratch,
}

/// Whether a reaction is due.
struct Reacts<'a>(&'a Automaton, &'a [u8], bool);

impl Observer for Reacts<'_> {
    fn transition_taken(&mut self, _: &SliceTable, taken: TransitionTaken) {
        let is_bad = |state: StateId| self.0.states[usize::from(state)].verdict == Verdict::NonAccepting;
        let concern = |state: StateId| self.1[usize::from(state)];
        self.2 |= !is_bad(taken.from) && is_bad(taken.to)
            || concern(taken.from) & REACT_ON_EXIT != 0
            || concern(taken.to) & REACT_ON_ENTRY != 0;
    }
}

impl Plain {
    fn step(&mut self, event: &Event<'_>) -> bool {
        if !self.automaton.needs_event(&self.slices, event.id) {
            return false;
        }
        let mut observer = Reacts(&self.automaton, &self.reactions, false);
        let verdict = self.automaton.step(&mut self.slices, &mut self.scratch, event, &mut observer);
        observer.2 | (verdict == Some(Verdict::Error))
    }
}

/// Shards that are open from time to time.
struct Shards {
    shards: Vec<Shard>,
    keys: Option<Vec<Option<u16>>>,
    open: bool,
    /// The number of events that they handled.
    steps: usize,
}

impl Shards {
    fn new(inside: &EmbeddedMonitors) -> Shards {
        let shards = (0..SHARD_COUNT).map(|_| Shard::new()).collect();
        Shards { shards, keys: inside.shard_keys(), open: false, steps: 0 }
    }

    fn open(&mut self, inside: &mut EmbeddedMonitors) {
        self.open = self.keys.is_some() && inside.open_shards(self.shards.iter_mut());
    }

    fn close(&mut self, inside: &mut EmbeddedMonitors) {
        if std::mem::take(&mut self.open) {
            inside.close_shards(self.shards.iter_mut());
        }
    }

    fn step(&mut self, symbol: EventId, params: &[i64], when: (u32, u64)) -> bool {
        let Some(keys) = self.keys.as_ref().filter(|_| self.open) else { return false };
        let Some(Some(key)) = keys.get(symbol.0 as usize) else { return false };
        let Some(key) = params.get(usize::from(*key)) else { return false };
        // SAFETY: the property is not used while shards are open.
        let stepped = unsafe { self.shards[when.0 as usize % SHARD_COUNT].step(*key, symbol, params, when) };
        self.steps += usize::from(stepped);
        stepped
    }
}

fn run(seed: u64, length: usize) -> (usize, usize) {
    let random = Rng::new(seed | 1);
    let mut catalog = EventCatalog::default();
    let mut plain = Vec::new();
    for _ in 0..1 + random.below(3) {
        let text = property(&random);
        let automaton = Arc::new(language::property("random", &text, &mut catalog));
        let slices = automaton.start(&mut Scratch::default(), &mut NoopObserver);
        let reactions =
            (0..4).map(|_| if random.below(8) == 0 { 1 + random.below(3) as u8 } else { 0 }).collect();
        plain.push(Plain { automaton, slices, reactions, scratch: Scratch::default() });
    }
    let embedded = plain.iter().map(|each| EmbeddedMonitor {
        automaton: Arc::clone(&each.automaton),
        slices: each.slices.clone(),
        reactions: each.reactions.clone(),
    });
    let mut inside = EmbeddedMonitors::new(embedded.collect());
    let symbols: Vec<(EventId, usize)> =
        catalog.iter().map(|(id, symbol)| (id, symbol.params.len())).collect();
    if symbols.is_empty() {
        return (0, 0);
    }
    let mut shards = Shards::new(&inside);
    let mut reactions = 0;
    for at in 0..length {
        let (symbol, count) = symbols[random.below(symbols.len())];
        let integers: Vec<i64> = (0..count).map(|_| random.below(6) as i64).collect();
        let values: Vec<Value> = integers.iter().map(|value| Value::int(*value)).collect();
        let event = Event { id: symbol, params: &values, text: "" };
        let expected = plain.iter_mut().fold(false, |reacts, each| each.step(&event) | reacts);
        let thread = 1 + random.below(2) as u32;
        let reacts = if shards.step(symbol, &integers, (thread, at as u64)) {
            false
        } else {
            shards.close(&mut inside);
            let reacts = match random.below(10) {
                0 => inside.step(&event, TIMELESS, 1),
                _ => inside.step_ints(symbol, &integers, thread),
            };
            if random.below(3) > 0 {
                shards.open(&mut inside);
            }
            reacts
        };
        assert_eq!(reacts, expected, "seed {seed}, event {at}");
        reactions += usize::from(reacts);
        if random.below(50) == 0 {
            shards.close(&mut inside);
            for (monitor, each) in inside.monitors().iter().zip(&plain) {
                assert_eq!(monitor.slices, each.slices, "seed {seed}, event {at}");
            }
        }
    }
    shards.close(&mut inside);
    // Replaying the log from its base state gives the same state.
    let past = inside.into_replay_log(0);
    for (at, each) in plain.iter().enumerate() {
        let mut slices = past.base[at].clone();
        for event in (0..past.events.len()).map(|at| past.events.event(at)) {
            if each.automaton.needs_event(&slices, event.id) {
                each.automaton.step(&mut slices, &mut Scratch::default(), &event, &mut NoopObserver);
            }
        }
        assert_eq!(slices, each.slices, "seed {seed}, what is kept");
    }
    (reactions, shards.steps)
}

#[test]
fn fast_paths_match_plain_stepping() {
    let runs = (1..400).map(|seed| run(seed * 0x9e37_79b9, 300));
    let (reactions, in_lanes) = runs.fold((0, 0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    assert!(reactions > 400, "{reactions}");
    assert!(in_lanes > 200, "{in_lanes}");
}

const TURNS: &str = "slice on q
initialization { N = 0 }
state init accepting {
    transition { event turn(q: int, at: int) success { N = N + 1 } odd }
}
state odd accepting {
    transition { event turn(q: int, at: int) success { N = N + 1 } init }
    transition { event end(q: int) success over }
}
state over non-accepting
";

#[test]
fn sharded_threads_match_sequential_run() {
    const THREADS: u32 = 4;
    const EACH: i64 = 500;
    const OBJECTS: i64 = 7;
    let mut catalog = EventCatalog::default();
    let automaton = Arc::new(language::property("turns", TURNS, &mut catalog));
    let slices = automaton.start(&mut Scratch::default(), &mut NoopObserver);
    let inside = EmbeddedMonitors::new(vec![EmbeddedMonitor {
        automaton: Arc::clone(&automaton),
        slices,
        reactions: vec![0; 3],
    }]);
    let turn = catalog.find("turn", invigil_monitor::event::EventKind::Before).unwrap();
    let shards: Vec<Mutex<Shard>> = (0..SHARD_COUNT).map(|_| Mutex::default()).collect();
    let inside = Mutex::new(inside);
    let (begun, in_lanes) = (Instant::now(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 1..=THREADS {
            let (inside, shards, in_lanes) = (&inside, &shards, &in_lanes);
            scope.spawn(move || {
                for at in 0..EACH {
                    // Mostly an object of its own, sometimes a shared one.
                    let own = i64::from(thread) * 10 + at % OBJECTS;
                    let params = [if at % 20 == 0 { 0 } else { own }, at];
                    let mut lane = shards[thread as usize % SHARD_COUNT].lock().unwrap();
                    let now = begun.elapsed().as_nanos() as u64;
                    // SAFETY: the user of the property holds all shards.
                    if unsafe { lane.step(params[0], turn, &params, (thread, now)) } {
                        in_lanes.fetch_add(1, Relaxed);
                        continue;
                    }
                    drop(lane);
                    let mut inside = inside.lock().unwrap();
                    let mut all: Vec<_> = shards.iter().map(|lane| lane.lock().unwrap()).collect();
                    inside.close_shards(all.iter_mut().map(|lane| &mut **lane));
                    assert!(!inside.step_ints(turn, &params, thread));
                    inside.open_shards(all.iter_mut().map(|lane| &mut **lane));
                }
            });
        }
    });
    let mut inside = inside.into_inner().unwrap();
    let mut all: Vec<Shard> = shards.into_iter().map(|lane| lane.into_inner().unwrap()).collect();
    inside.close_shards(all.iter_mut());
    assert!(in_lanes.into_inner() > 1000);
    let slices = &inside.monitors()[0].slices;
    let count = |slice| slices.env(slice)[0].as_int().unwrap();
    let sum: i64 = slices.iter().filter(|slice| slices.root() != Some(*slice)).map(count).sum();
    assert_eq!(sum, EACH * i64::from(THREADS), "no event is lost, and none counts twice");
    for slice in slices.iter().filter(|slice| slices.root() != Some(*slice)) {
        assert_eq!(i64::from(slices.state(slice)), count(slice) % 2);
    }
    // The events of each thread are in order.
    let past = inside.into_replay_log(0);
    assert_eq!(past.events.len() as i64, sum);
    for thread in 1..=THREADS {
        let of_it = (0..past.events.len()).filter(|at| past.threads[*at] == thread);
        let ats: Vec<i64> = of_it.map(|at| past.events.event(at).params[1].as_int().unwrap()).collect();
        assert_eq!(ats, (0..EACH).collect::<Vec<_>>());
    }
}

#[test]
fn evicted_events_are_counted() {
    (1..12).for_each(|seed| {
        run(seed * 0x51ed_2701, 10_000);
    });
}
