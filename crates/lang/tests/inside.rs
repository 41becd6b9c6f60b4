//! Monitors that step inside a program, in whatever short way, come to the same as those that take the plain one: on random
//! properties and random events.

use invigil_expr::diag::SourceId;
use invigil_expr::value::Value;
use invigil_lang::prop;
use invigil_monitor::automaton::{Automaton, StateId};
use invigil_monitor::event::{Catalog, Event, Stamp, SymbolId};
use invigil_monitor::inside::{ENTERING, Inmate, Inside, LANES, LEAVING, Lane};
use invigil_monitor::observer::{Observer, Taken, Unobserved};
use invigil_monitor::slices::Slices;
use invigil_monitor::verdict::Verdict;
use invigil_monitor::{Monitor, Scratch};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Instant;

const TIMELESS: Stamp = Stamp { time: f64::NAN, line: 0 };
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

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

fn property(random: &mut Random) -> String {
    let mut text = String::from(if random.below(3) == 0 { "slice on x\n" } else { "" });
    text += "initialization { N = 0 }\n";
    let target = |random: &mut Random| STATES[random.below(4)].split(' ').next().unwrap();
    for state in STATES {
        text += &format!("state {state} {{\n");
        let least = usize::from(state == STATES[0]);
        for _ in 0..least + random.below(3) {
            let (event, guard) = (random.of(&EVENTS), random.of(&GUARDS));
            let (update, to) = (random.of(&UPDATES), target(random));
            text += &format!("transition {{ event {event} {guard} success {update} {to} ");
            if guard.contains("return") && random.below(2) == 0 {
                text += &format!("failure {} {} ", random.of(&UPDATES), target(random));
            }
            text += "}\n";
        }
        text += "}\n";
    }
    text
}

/// A property that takes the plain way.
struct Plain {
    automaton: Arc<Automaton>,
    slices: Slices,
    concern: Vec<u8>,
    scratch: Scratch,
}

/// Says whether someone is to react.
struct Reacts<'a>(&'a Automaton, &'a [u8], bool);

impl Observer for Reacts<'_> {
    fn taken(&mut self, _: &Slices, taken: Taken) {
        let is_bad = |state: StateId| self.0.states[usize::from(state)].verdict == Verdict::NonAccepting;
        let concern = |state: StateId| self.1[usize::from(state)];
        self.2 |= !is_bad(taken.from) && is_bad(taken.to)
            || concern(taken.from) & LEAVING != 0
            || concern(taken.to) & ENTERING != 0;
    }
}

impl Plain {
    fn step(&mut self, event: &Event<'_>) -> bool {
        if !self.automaton.wants(&self.slices, event.symbol) {
            return false;
        }
        let mut observer = Reacts(&self.automaton, &self.concern, false);
        let verdict = self.automaton.step(&mut self.slices, &mut self.scratch, event, &mut observer);
        observer.2 | (verdict == Some(Verdict::Error))
    }
}

/// Lanes that are open now and then.
struct Lanes {
    lanes: Vec<Lane>,
    keys: Option<Vec<Option<u16>>>,
    open: bool,
    /// How many events went through them.
    steps: usize,
}

impl Lanes {
    fn new(inside: &Inside) -> Lanes {
        let lanes = (0..LANES).map(|_| Lane::new()).collect();
        Lanes { lanes, keys: inside.keys(), open: false, steps: 0 }
    }

    fn open(&mut self, inside: &mut Inside) {
        self.open = self.keys.is_some() && inside.open(self.lanes.iter_mut());
    }

    fn close(&mut self, inside: &mut Inside) {
        if std::mem::take(&mut self.open) {
            inside.close(self.lanes.iter_mut());
        }
    }

    fn step(&mut self, symbol: SymbolId, params: &[i64], when: (u32, u64)) -> bool {
        let Some(keys) = self.keys.as_ref().filter(|_| self.open) else { return false };
        let Some(Some(key)) = keys.get(symbol.0 as usize) else { return false };
        let Some(key) = params.get(usize::from(*key)) else { return false };
        // SAFETY: the property is used by nobody while lanes are open.
        let stepped = unsafe { self.lanes[when.0 as usize % LANES].step(*key, symbol, params, when) };
        self.steps += usize::from(stepped);
        stepped
    }
}

fn run(seed: u64, length: usize) -> (usize, usize) {
    let mut random = Random(seed | 1);
    let mut catalog = Catalog::default();
    let mut plain = Vec::new();
    for _ in 0..1 + random.below(3) {
        let text = property(&mut random);
        let (parsed, problems) = prop::parse(SourceId(0), &text);
        let (automaton, more) = prop::lower::lower("random", &parsed, &[], &mut catalog);
        let automaton = Arc::new(automaton.unwrap_or_else(|| panic!("{text}\n{problems:?} {more:?}")));
        let slices = automaton.start(&mut Scratch::default(), &mut Unobserved);
        let concern =
            (0..4).map(|_| if random.below(8) == 0 { 1 + random.below(3) as u8 } else { 0 }).collect();
        plain.push(Plain { automaton, slices, concern, scratch: Scratch::default() });
    }
    let inmates = plain.iter().map(|each| Inmate {
        automaton: Arc::clone(&each.automaton),
        slices: each.slices.clone(),
        concern: each.concern.clone(),
    });
    let mut inside = Inside::new(inmates.collect());
    let symbols: Vec<(SymbolId, usize)> =
        catalog.iter().map(|(id, symbol)| (id, symbol.params.len())).collect();
    if symbols.is_empty() {
        return (0, 0);
    }
    let mut lanes = Lanes::new(&inside);
    let mut reactions = 0;
    for at in 0..length {
        let (symbol, count) = symbols[random.below(symbols.len())];
        let integers: Vec<i64> = (0..count).map(|_| random.below(6) as i64).collect();
        let values: Vec<Value> = integers.iter().map(|value| Value::int(*value)).collect();
        let event = Event { symbol, params: &values, text: "" };
        let expected = plain.iter_mut().fold(false, |reacts, each| each.step(&event) | reacts);
        let thread = 1 + random.below(2) as u32;
        let reacts = if lanes.step(symbol, &integers, (thread, at as u64)) {
            false
        } else {
            lanes.close(&mut inside);
            let reacts = match random.below(10) {
                0 => inside.step(&event, TIMELESS, 1),
                _ => inside.step_integers(symbol, &integers, thread),
            };
            if random.below(3) > 0 {
                lanes.open(&mut inside);
            }
            reacts
        };
        assert_eq!(reacts, expected, "seed {seed}, event {at}");
        reactions += usize::from(reacts);
        if random.below(50) == 0 {
            lanes.close(&mut inside);
            for (inmate, each) in inside.inmates().iter().zip(&plain) {
                assert_eq!(inmate.slices, each.slices, "seed {seed}, event {at}");
            }
        }
    }
    lanes.close(&mut inside);
    // Whoever steps what is kept again comes there, too.
    let past = inside.past();
    for (at, each) in plain.iter().enumerate() {
        let mut slices = past.before[at].clone();
        for event in (0..past.events.len()).map(|at| past.events.event(at)) {
            if each.automaton.wants(&slices, event.symbol) {
                each.automaton.step(&mut slices, &mut Scratch::default(), &event, &mut Unobserved);
            }
        }
        assert_eq!(slices, each.slices, "seed {seed}, what is kept");
    }
    (reactions, lanes.steps)
}

#[test]
fn short_ways_lead_to_where_the_plain_one_does() {
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
fn threads_in_lanes() {
    const THREADS: u32 = 4;
    const EACH: i64 = 500;
    const OBJECTS: i64 = 7;
    let mut catalog = Catalog::default();
    let (parsed, _) = prop::parse(SourceId(0), TURNS);
    let automaton = Arc::new(prop::lower::lower("turns", &parsed, &[], &mut catalog).0.unwrap());
    let slices = automaton.start(&mut Scratch::default(), &mut Unobserved);
    let inside = Inside::new(vec![Inmate { automaton: Arc::clone(&automaton), slices, concern: vec![0; 3] }]);
    let turn = catalog.find("turn", invigil_monitor::event::Kind::Before).unwrap();
    let lanes: Vec<Mutex<Lane>> = (0..LANES).map(|_| Mutex::default()).collect();
    let inside = Mutex::new(inside);
    let (begun, in_lanes) = (Instant::now(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 1..=THREADS {
            let (inside, lanes, in_lanes) = (&inside, &lanes, &in_lanes);
            scope.spawn(move || {
                for at in 0..EACH {
                    // Most of the time an object of its own, sometimes one that is everybody's.
                    let own = i64::from(thread) * 10 + at % OBJECTS;
                    let params = [if at % 20 == 0 { 0 } else { own }, at];
                    let mut lane = lanes[thread as usize % LANES].lock().unwrap();
                    let now = begun.elapsed().as_nanos() as u64;
                    // SAFETY: whoever uses the property has all lanes.
                    if unsafe { lane.step(params[0], turn, &params, (thread, now)) } {
                        in_lanes.fetch_add(1, Relaxed);
                        continue;
                    }
                    drop(lane);
                    let mut inside = inside.lock().unwrap();
                    let mut all: Vec<_> = lanes.iter().map(|lane| lane.lock().unwrap()).collect();
                    inside.close(all.iter_mut().map(|lane| &mut **lane));
                    assert!(!inside.step_integers(turn, &params, thread));
                    inside.open(all.iter_mut().map(|lane| &mut **lane));
                }
            });
        }
    });
    let mut inside = inside.into_inner().unwrap();
    let mut all: Vec<Lane> = lanes.into_iter().map(|lane| lane.into_inner().unwrap()).collect();
    inside.close(all.iter_mut());
    assert!(in_lanes.into_inner() > 1000);
    let slices = &inside.inmates()[0].slices;
    let count = |slice| slices.env(slice)[0].as_int().unwrap();
    let sum: i64 = slices.iter().filter(|slice| slices.root() != Some(*slice)).map(count).sum();
    assert_eq!(sum, EACH * i64::from(THREADS), "no event is lost, and none counts twice");
    for slice in slices.iter().filter(|slice| slices.root() != Some(*slice)) {
        assert_eq!(i64::from(slices.state(slice)), count(slice) % 2);
    }
    // Each thread's events are there in their order.
    let past = inside.past();
    assert_eq!(past.events.len() as i64, sum);
    for thread in 1..=THREADS {
        let of_it = (0..past.events.len()).filter(|at| past.threads[*at] == thread);
        let ats: Vec<i64> = of_it.map(|at| past.events.event(at).params[1].as_int().unwrap()).collect();
        assert_eq!(ats, (0..EACH).collect::<Vec<_>>());
    }
}

#[test]
fn what_is_not_kept_is_counted_in() {
    (1..12).for_each(|seed| {
        run(seed * 0x51ed_2701, 10_000);
    });
}
