//! Slices of objects that are no more are forgotten, and nobody can tell: random properties with and without it.

use invigil_expr::diag::SourceId;
use invigil_expr::value::Value;
use invigil_lang::prop;
use invigil_monitor::automaton::{AtEnd, Automaton};
use invigil_monitor::event::{Catalog, Event, Kind, SymbolId};
use invigil_monitor::inside::{Inmate, Inside};
use invigil_monitor::observer::{Observer, Taken, Unobserved};
use invigil_monitor::slices::{Gone, Slices, TOLD};
use invigil_monitor::verdict::Verdict;
use invigil_monitor::{Monitor, Scratch};
use std::fmt::Write;
use std::sync::Arc;

const PARAMS: [&str; 3] = ["p", "q", "r"];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

/// A random property that slices on some parameters; `masks` says which of them each event binds.
fn random_property(random: &mut Random, slice_on: usize, masks: &[usize]) -> String {
    let mut out = format!("slice on {}\ninitialization {{ N = 0 }}\n", PARAMS[..slice_on].join(", "));
    let states = 2 + random.below(3);
    for state in 0..states {
        let name = if state == 0 { "init".to_owned() } else { format!("s{state}") };
        let verdict =
            ["accepting", "non-accepting", "", "accepting"][if state == 0 { 0 } else { random.below(4) }];
        let end = if state > 0 && random.below(6) == 0 { "final" } else { "" };
        writeln!(out, "state {name} {verdict} {end} {{").unwrap();
        for (event, mask) in masks.iter().enumerate() {
            let is_first = state == 0 && event == 0;
            if !is_first && random.below(3) == 0 {
                continue;
            }
            let params: Vec<&str> =
                (0..slice_on).filter(|bit| mask & 1 << bit != 0).map(|bit| PARAMS[bit]).collect();
            let block = if random.below(6) == 0 { "{ N = N + 1 }" } else { "" };
            let target = random.below(states);
            let target = if target == 0 { "init".to_owned() } else { format!("s{target}") };
            writeln!(out, "transition {{ event e{event}({}) {block} success {target} }}", params.join(", "))
                .unwrap();
        }
        out.push_str("}\n");
    }
    out
}

fn property(text: &str) -> (Automaton, Catalog) {
    let mut catalog = Catalog::default();
    let (property, problems) = prop::parse(SourceId(0), text);
    assert!(problems.is_empty(), "{text}\n{problems:#?}");
    let (automaton, problems) = prop::lower::lower("gone", &property, &[], &mut catalog);
    (automaton.unwrap_or_else(|| panic!("{text}\n{problems:#?}")), catalog)
}

/// Notes violations, and which slices came into being.
#[derive(Default)]
struct Notes<'a> {
    automaton: Option<&'a Automaton>,
    seen: Vec<String>,
}

impl Observer for Notes<'_> {
    fn created(&mut self, slices: &Slices, slice: invigil_monitor::slices::SliceId) {
        self.seen.push(format!("created {:?}", slices.binding(slice)));
    }

    fn taken(&mut self, slices: &Slices, taken: Taken) {
        let automaton = self.automaton.unwrap();
        let verdict = |state: u16| automaton.states[usize::from(state)].verdict;
        if verdict(taken.to) == Verdict::NonAccepting && verdict(taken.from) != Verdict::NonAccepting {
            self.seen.push(format!("{:?} {} to {}", slices.binding(taken.slice), taken.from, taken.to));
        }
    }
}

/// How many slices say what at the end.
fn verdicts(automaton: &Automaton, slices: &Slices) -> Vec<(Verdict, u64)> {
    let mut all: Vec<(Verdict, u64)> = Vec::new();
    for (at, state) in (0..).zip(&automaton.states) {
        let count = u64::from(slices.count(at)) + slices.resting(at);
        match all.iter_mut().find(|(verdict, _)| *verdict == state.verdict) {
            Some((_, known)) => *known += count,
            None => all.push((state.verdict, count)),
        }
    }
    all.sort_unstable();
    all
}

#[test]
fn nobody_can_tell_that_slices_were_forgotten() {
    let mut random = Random(7);
    let (mut forgotten, mut violations) = (0, 0);
    for round in 0..600 {
        let slice_on = 1 + round % 3;
        // The first event binds everything, so that each parameter is bound.
        let mut masks = vec![(1 << slice_on) - 1];
        masks.extend((0..2 + random.below(3)).map(|_| random.below(1 << slice_on)));
        let (automaton, catalog) = property(&random_property(&mut random, slice_on, &masks));
        let symbols: Vec<(SymbolId, usize)> = masks
            .iter()
            .enumerate()
            .filter_map(|(event, mask)| Some((catalog.find(&format!("e{event}"), Kind::Before)?, *mask)))
            .collect();
        let mut scratch = Scratch::default();
        let mut whole = automaton.start(&mut scratch, &mut Unobserved);
        let mut small = whole.clone();
        // The objects that live, for each parameter.
        let mut living: Vec<Vec<i64>> =
            (0..slice_on).map(|at| (0..3).map(|n| n * 10 + at as i64).collect()).collect();
        let mut next = 100;
        for _ in 0..120 {
            let (symbol, mask) = symbols[random.below(symbols.len())];
            let params: Vec<Value> = (0..slice_on)
                .filter(|bit| mask & 1 << bit != 0)
                .map(|bit| Value::int(living[bit][random.below(3)]))
                .collect();
            let event = Event { symbol, params: &params, text: "" };
            let both = [&mut whole, &mut small].map(|slices| {
                let mut notes = Notes { automaton: Some(&automaton), ..Notes::default() };
                if automaton.wants(slices, symbol) {
                    automaton.step(slices, &mut scratch, &event, &mut notes);
                }
                notes.seen.sort();
                notes.seen
            });
            assert_eq!(both[0], both[1], "{automaton:#?}");
            violations += both[0].iter().filter(|seen| !seen.starts_with("created")).count();
            if random.below(4) == 0 {
                // One dies, another comes.
                let (param, at) = (random.below(slice_on), random.below(3));
                let dead = std::mem::replace(&mut living[param][at], next);
                next += 1;
                let before = small.len();
                let gone = Gone { numbers: vec![dead], plain: Vec::new() };
                automaton.forget_gone(&mut small, &gone, &[], &mut Vec::new());
                forgotten += before - small.len();
                small = Slices::load(&automaton, &small.save()).unwrap();
            }
        }
        assert_eq!(verdicts(&automaton, &whole), verdicts(&automaton, &small));
    }
    assert!(forgotten > 1000 && violations > 500, "{forgotten} {violations}");
}

const ITERATORS: &str = "
slice on list, iterator
state init accepting {
    transition { event begin(list, iterator) success fresh }
}
state fresh accepting {
    transition { event change(list) success stale }
}
state stale accepting {
    transition { event next(iterator) success used }
}
state used non-accepting
";

#[test]
fn a_long_run_keeps_few_slices() {
    let (automaton, catalog) = property(ITERATORS);
    let symbol = |name| catalog.find(name, Kind::Before).unwrap();
    let automaton = Arc::new(automaton);
    let slices = automaton.start(&mut Scratch::default(), &mut Unobserved);
    let mut inside =
        Inside::new(vec![Inmate { automaton: Arc::clone(&automaton), slices, concern: vec![0; 4] }]);
    let happens = |inside: &mut Inside, symbol, params: &[i64]| inside.step_integers(symbol, params, 1);
    let (mut gone, mut most) = (Gone::default(), 0);
    for iterator in 1000..201_000 {
        // Two lists that live on, and many iterators.
        let list = iterator % 2;
        assert!(!happens(&mut inside, symbol("begin"), &[list, iterator]));
        if iterator % 100 == 0 {
            assert!(!happens(&mut inside, symbol("change"), &[list]));
        }
        gone.numbers.push(iterator);
        if gone.numbers.len() >= Gone::enough(inside.slices()) {
            let mut all = std::mem::take(&mut gone);
            all.sort();
            inside.forget(&all);
        }
        most = most.max(inside.slices());
    }
    assert!(most < 3000, "{most}");
    // Stepping the last events again leads to the same, once those are gone that were.
    let past = inside.past();
    let (mut again, mut scratch) = (past.before[0].clone(), Scratch::default());
    for at in 0..past.events.len() {
        automaton.step(&mut again, &mut scratch, &past.events.event(at), &mut Unobserved);
    }
    let mut since = Gone { numbers: past.gone.clone(), plain: Vec::new() };
    since.sort();
    automaton.forget_gone(&mut again, &since, &[], &mut Vec::new());
    let slices = &inside.inmates()[0].slices;
    assert_eq!(again.len(), slices.len());
    assert_eq!(verdicts(&automaton, &again), verdicts(&automaton, slices));
}

#[test]
fn a_number_that_may_be_no_object_is_kept() {
    let (automaton, catalog) = property(ITERATORS);
    let begin = catalog.find("begin", Kind::Before).unwrap();
    let mut slices = automaton.start(&mut Scratch::default(), &mut Unobserved);
    let params = [Value::int(1), Value::int(2)];
    let event = Event { symbol: begin, params: &params, text: "" };
    automaton.step(&mut slices, &mut Scratch::default(), &event, &mut Unobserved);
    let plain = vec![(begin, 0), (begin, 1)];
    automaton.forget_gone(&mut slices, &Gone { numbers: vec![1, 2], plain }, &[], &mut Vec::new());
    assert_eq!(slices.len(), 2);
    // Someone who reacts to a state that it may come to is told.
    let concern = [0, 0, 1, 0];
    let mut gone = Gone { numbers: vec![2], plain: Vec::new() };
    automaton.forget_gone(&mut slices, &gone, &concern, &mut Vec::new());
    assert_eq!(slices.len(), 2);
    // Now neither can anything happen to it, nor does an event of its list agree with it.
    gone.numbers = vec![1];
    automaton.forget_gone(&mut slices, &gone, &concern, &mut Vec::new());
    assert_eq!((slices.len(), slices.resting(1)), (1, 1));
}

#[test]
fn what_the_end_will_find_is_found() {
    let (automaton, catalog) = property(ITERATORS);
    let mut parts = (*automaton).clone();
    parts.states[1].at_end = AtEnd::Decided(false);
    let automaton = Automaton::new(parts);
    let begin = catalog.find("begin", Kind::Before).unwrap();
    let mut slices = automaton.start(&mut Scratch::default(), &mut Unobserved);
    let most = TOLD as i64 + 500;
    for at in 1..=most {
        let params = [Value::int(-at), Value::int(at)];
        let event = Event { symbol: begin, params: &params, text: "" };
        automaton.step(&mut slices, &mut Scratch::default(), &event, &mut Unobserved);
    }
    let gone = Gone { numbers: (-most..=most).collect(), plain: Vec::new() };
    for _ in 0..2 {
        automaton.forget_gone(&mut slices, &gone, &[], &mut Vec::new());
        assert_eq!(automaton.violated_at_end(&slices).count(), TOLD);
        assert_eq!(automaton.forgotten_at_end(&slices), 500);
    }
}
