//! Collecting the slices of dead objects preserves verdicts: random properties, with and without collection.

use invigil_expr::value::Value;
use invigil_monitor::automaton::{Automaton, EndVerdict};
use invigil_monitor::embedded::{EmbeddedMonitor, EmbeddedMonitors};
use invigil_monitor::event::{Event, EventId, EventKind};
use invigil_monitor::observer::{NoopObserver, Observer, TransitionTaken};
use invigil_monitor::slices::{DeadObjects, MAX_REPORTED, SliceTable};
use invigil_monitor::verdict::Verdict;
use invigil_monitor::{Monitor, Scratch};
use invigil_test_support::language::compile;
use invigil_test_support::{Rng, at_least, cases};
use std::fmt::Write;
use std::sync::Arc;

const PARAMS: [&str; 3] = ["p", "q", "r"];

/// A random property that slices on some parameters; `masks` gives the parameters that each event binds.
fn random_property(random: &Rng, slice_on: usize, masks: &[usize]) -> String {
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

/// Records violations and the slices created.
#[derive(Default)]
struct Notes<'a> {
    automaton: Option<&'a Automaton>,
    seen: Vec<String>,
}

impl Observer for Notes<'_> {
    fn slice_created(&mut self, slices: &SliceTable, slice: invigil_monitor::slices::SliceId) {
        self.seen.push(format!("created {:?}", slices.binding(slice)));
    }

    fn transition_taken(&mut self, slices: &SliceTable, taken: TransitionTaken) {
        let automaton = self.automaton.unwrap();
        let verdict = |state: u16| automaton.states[usize::from(state)].verdict;
        if verdict(taken.to) == Verdict::NonAccepting && verdict(taken.from) != Verdict::NonAccepting {
            self.seen.push(format!("{:?} {} to {}", slices.binding(taken.slice), taken.from, taken.to));
        }
    }
}

/// The number of slices per result at the end.
fn verdicts(automaton: &Automaton, slices: &SliceTable) -> Vec<(Verdict, u64)> {
    let mut all: Vec<(Verdict, u64)> = Vec::new();
    for (at, state) in (0..).zip(&automaton.states) {
        let count = u64::from(slices.count(at)) + slices.collected(at);
        match all.iter_mut().find(|(verdict, _)| *verdict == state.verdict) {
            Some((_, known)) => *known += count,
            None => all.push((state.verdict, count)),
        }
    }
    all.sort_unstable();
    all
}

#[test]
fn collecting_slices_preserves_verdicts() {
    let random = Rng::new(7);
    let (mut forgotten, mut violations) = (0, 0);
    for round in 0..cases(600) {
        let slice_on = 1 + round % 3;
        // The first event binds all parameters.
        let mut masks = vec![(1 << slice_on) - 1];
        masks.extend((0..2 + random.below(3)).map(|_| random.below(1 << slice_on)));
        let (automaton, catalog) = compile(&random_property(&random, slice_on, &masks));
        let symbols: Vec<(EventId, usize)> = masks
            .iter()
            .enumerate()
            .filter_map(|(event, mask)| Some((catalog.find(&format!("e{event}"), EventKind::Before)?, *mask)))
            .collect();
        let mut scratch = Scratch::default();
        let mut whole = automaton.start(&mut scratch, &mut NoopObserver);
        let mut small = whole.clone();
        // The live objects, per parameter.
        let mut living: Vec<Vec<i64>> =
            (0..slice_on).map(|at| (0..3).map(|n| n * 10 + at as i64).collect()).collect();
        let mut next = 100;
        for _ in 0..120 {
            let (symbol, mask) = symbols[random.below(symbols.len())];
            let params: Vec<Value> = (0..slice_on)
                .filter(|bit| mask & 1 << bit != 0)
                .map(|bit| Value::int(living[bit][random.below(3)]))
                .collect();
            let event = Event { id: symbol, params: &params, text: "" };
            let both = [&mut whole, &mut small].map(|slices| {
                let mut notes = Notes { automaton: Some(&automaton), ..Notes::default() };
                if automaton.needs_event(slices, symbol) {
                    automaton.step(slices, &mut scratch, &event, &mut notes);
                }
                notes.seen.sort();
                notes.seen
            });
            assert_eq!(both[0], both[1], "{automaton:#?}");
            violations += both[0].iter().filter(|seen| !seen.starts_with("created")).count();
            if random.below(4) == 0 {
                // One object dies, another is created.
                let (param, at) = (random.below(slice_on), random.below(3));
                let dead = std::mem::replace(&mut living[param][at], next);
                next += 1;
                let before = small.len();
                let gone = DeadObjects { ids: vec![dead], non_objects: Vec::new() };
                automaton.collect_slices(&mut small, &gone, &[], &mut Vec::new());
                forgotten += before - small.len();
                small = SliceTable::load(&automaton, &small.save()).unwrap();
            }
        }
        assert_eq!(verdicts(&automaton, &whole), verdicts(&automaton, &small));
    }
    assert!(forgotten > at_least(1000) && violations > at_least(500), "{forgotten} {violations}");
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
fn long_run_keeps_few_slices() {
    let (automaton, catalog) = compile(ITERATORS);
    let symbol = |name| catalog.find(name, EventKind::Before).unwrap();
    let automaton = Arc::new(automaton);
    let slices = automaton.start(&mut Scratch::default(), &mut NoopObserver);
    let mut inside = EmbeddedMonitors::new(vec![EmbeddedMonitor {
        automaton: Arc::clone(&automaton),
        slices,
        reactions: vec![0; 4],
    }]);
    let happens = |inside: &mut EmbeddedMonitors, symbol, params: &[i64]| inside.step_ints(symbol, params, 1);
    let (mut gone, mut most) = (DeadObjects::default(), 0);
    for iterator in 1000..201_000 {
        // Two lists that stay alive, and many iterators.
        let list = iterator % 2;
        assert!(!happens(&mut inside, symbol("begin"), &[list, iterator]));
        if iterator % 100 == 0 {
            assert!(!happens(&mut inside, symbol("change"), &[list]));
        }
        gone.ids.push(iterator);
        if gone.ids.len() >= DeadObjects::collection_threshold(inside.slice_count()) {
            let mut all = std::mem::take(&mut gone);
            all.sort();
            inside.collect_slices(&all);
        }
        most = most.max(inside.slice_count());
    }
    assert!(most < 3000, "{most}");
    // Replaying the last events gives the same state once the dead slices are collected.
    let slices = inside.monitors()[0].slices.clone();
    let past = inside.into_replay_log(0);
    let (mut again, mut scratch) = (past.base[0].clone(), Scratch::default());
    for at in 0..past.events.len() {
        automaton.step(&mut again, &mut scratch, &past.events.event(at), &mut NoopObserver);
    }
    let mut since = DeadObjects { ids: past.dead_objects.clone(), non_objects: Vec::new() };
    since.sort();
    automaton.collect_slices(&mut again, &since, &[], &mut Vec::new());
    assert_eq!(again.len(), slices.len());
    assert_eq!(verdicts(&automaton, &again), verdicts(&automaton, &slices));
}

#[test]
fn number_of_unknown_origin_is_kept() {
    let (automaton, catalog) = compile(ITERATORS);
    let begin = catalog.find("begin", EventKind::Before).unwrap();
    let mut slices = automaton.start(&mut Scratch::default(), &mut NoopObserver);
    let params = [Value::int(1), Value::int(2)];
    let event = Event { id: begin, params: &params, text: "" };
    automaton.step(&mut slices, &mut Scratch::default(), &event, &mut NoopObserver);
    let plain = vec![(begin, 0), (begin, 1)];
    automaton.collect_slices(
        &mut slices,
        &DeadObjects { ids: vec![1, 2], non_objects: plain },
        &[],
        &mut Vec::new(),
    );
    assert_eq!(slices.len(), 2);
    // A reaction to a state that the slice may reach keeps it.
    let reactions = [0, 0, 1, 0];
    let mut gone = DeadObjects { ids: vec![2], non_objects: Vec::new() };
    automaton.collect_slices(&mut slices, &gone, &reactions, &mut Vec::new());
    assert_eq!(slices.len(), 2);
    // Now nothing can happen to it, and no event of its list is compatible with it.
    gone.ids = vec![1];
    automaton.collect_slices(&mut slices, &gone, &reactions, &mut Vec::new());
    assert_eq!((slices.len(), slices.collected(1)), (1, 1));
}

#[test]
fn collection_preserves_violations_at_end() {
    let (automaton, catalog) = compile(ITERATORS);
    let mut parts = (*automaton).clone();
    parts.states[1].at_end = EndVerdict::Decided(false);
    let automaton = Automaton::new(parts);
    let begin = catalog.find("begin", EventKind::Before).unwrap();
    let mut slices = automaton.start(&mut Scratch::default(), &mut NoopObserver);
    let most = MAX_REPORTED as i64 + 500;
    for at in 1..=most {
        let params = [Value::int(-at), Value::int(at)];
        let event = Event { id: begin, params: &params, text: "" };
        automaton.step(&mut slices, &mut Scratch::default(), &event, &mut NoopObserver);
    }
    let gone = DeadObjects { ids: (-most..=most).collect(), non_objects: Vec::new() };
    for _ in 0..2 {
        automaton.collect_slices(&mut slices, &gone, &[], &mut Vec::new());
        assert_eq!(automaton.violated_at_end(&slices).count(), MAX_REPORTED);
        assert_eq!(automaton.collected_violated_at_end(&slices), 500);
    }
}
