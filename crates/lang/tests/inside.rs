//! Monitors that step inside a program, in whatever short way, come to the same as those that take the plain one: on random
//! properties and random events.

use invigil_expr::diag::SourceId;
use invigil_expr::value::Value;
use invigil_lang::prop;
use invigil_monitor::automaton::{Automaton, StateId};
use invigil_monitor::event::{Catalog, Event, Stamp, SymbolId};
use invigil_monitor::inside::{ENTERING, Inmate, Inside, LEAVING};
use invigil_monitor::observer::{Observer, Taken, Unobserved};
use invigil_monitor::slices::Slices;
use invigil_monitor::verdict::Verdict;
use invigil_monitor::{Monitor, Scratch};
use std::sync::Arc;

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

fn run(seed: u64, length: usize) -> usize {
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
        return 0;
    }
    let mut reactions = 0;
    for at in 0..length {
        let (symbol, count) = symbols[random.below(symbols.len())];
        let integers: Vec<i64> = (0..count).map(|_| random.below(6) as i64).collect();
        let values: Vec<Value> = integers.iter().map(|value| Value::int(*value)).collect();
        let event = Event { symbol, params: &values, text: "" };
        let expected = plain.iter_mut().fold(false, |reacts, each| each.step(&event) | reacts);
        let reacts = match random.below(10) {
            0 => inside.step(&event, TIMELESS, 1),
            _ => inside.step_integers(symbol, &integers, 1 + random.below(2) as u32),
        };
        assert_eq!(reacts, expected, "seed {seed}, event {at}");
        reactions += usize::from(reacts);
        if random.below(50) == 0 {
            for (inmate, each) in inside.inmates().iter().zip(&plain) {
                assert_eq!(inmate.slices, each.slices, "seed {seed}, event {at}");
            }
        }
    }
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
    reactions
}

#[test]
fn short_ways_lead_to_where_the_plain_one_does() {
    let reactions: usize = (1..400).map(|seed| run(seed * 0x9e37_79b9, 300)).sum();
    assert!(reactions > 400, "{reactions}");
}

#[test]
fn what_is_not_kept_is_counted_in() {
    (1..12).for_each(|seed| {
        run(seed * 0x51ed_2701, 10_000);
    });
}
