//! The worked example of the unified debugger, and the debugger under the debugger.

use crate::graph::{Ask, Graph};
use invigil_explore::debugger::{Act, Debugger, Debugging, History, Multiverse, Omniscient};
use invigil_explore::finder::{Finder, Stop};
use invigil_semantics::{Describe, Evaluate, Semantics, Step};

/// From 3 one can go two ways, and the second has two outcomes; so has 7 two ways. The breakpoint is at 8.
fn example() -> Graph {
    Graph {
        initial: vec![1],
        edges: vec![
            (1, 'i', vec![3]),
            (3, '1', vec![4]),
            (3, '2', vec![5, 6]),
            (5, '1', vec![7]),
            (7, '1', vec![8]),
            (7, '2', vec![9]),
        ],
    }
}

type At<H> = Debugging<u8, char, H>;

fn debugger<H: History<u8, char>>(graph: &Graph) -> Debugger<'_, Graph, H> {
    let mut debugger = Debugger::new(graph);
    debugger.stops.push(Stop::when(Ask::At(8)));
    debugger
}

fn after<H: History<u8, char>>(debugger: &Debugger<'_, Graph, H>, acts: &[Act<u8, char>]) -> At<H> {
    acts.iter().fold(debugger.begin(), |at, act| debugger.act(&at, act).unwrap())
}

fn seen<H: History<u8, char>>(at: &At<H>) -> Vec<u8> {
    at.history.places().map(|place| *at.history.config(place).unwrap()).collect()
}

/// The acts that lead to configuration 3, where the example begins.
const TO_3: [Act<u8, char>; 3] = [Act::Select(1), Act::Step('i'), Act::Select(3)];

#[test]
fn the_actions_at_3_are_two_steps_two_jumps_and_a_run() {
    let graph = example();
    let debugger = debugger::<Multiverse<u8, char>>(&graph);
    let at = after(&debugger, &TO_3);
    assert_eq!((at.current, &at.options[..]), (Some(3), &[][..]));
    assert_eq!(seen(&at), [1, 3]);
    let acts: Vec<_> = debugger.actions(&at).into_iter().collect();
    assert_eq!(acts, [Act::Step('1'), Act::Step('2'), Act::Jump(0), Act::Jump(1), Act::Run]);
}

#[test]
fn a_step_with_two_outcomes_gives_options_to_select_from() {
    let graph = example();
    let debugger = debugger::<Multiverse<u8, char>>(&graph);
    let stepped = debugger.act(&after(&debugger, &TO_3), &Act::Step('2')).unwrap();
    assert_eq!((stepped.current, &stepped.options[..]), (None, &[5, 6][..]));
    assert_eq!(seen(&stepped), [1, 3], "a step alone is not remembered");
    let selected = debugger.act(&stepped, &Act::Select(6)).unwrap();
    assert_eq!((selected.current, selected.options.len()), (Some(6), 0));
    assert_eq!(seen(&selected), [1, 3, 6]);
    assert!(debugger.act(&stepped, &Act::Select(9)).is_none(), "9 is no option");
    // The selection is the step of the subject that it completes.
    let step = Step::taken(&stepped, &Act::Select(6), &selected);
    assert!(debugger.evaluate(&Ask::By('2'), step).unwrap());
    assert!(debugger.evaluate(&Ask::From(3, 6), step).unwrap());
}

#[test]
fn a_run_finds_8_by_7_and_5_and_does_not_see_6_and_9() {
    let graph = example();
    let debugger = debugger::<Multiverse<u8, char>>(&graph);
    let at = after(&debugger, &TO_3);
    let found = debugger.find(&at, &debugger.finder());
    let steps = &found.witnesses[0].execution.steps;
    assert_eq!(steps[..], [('2', 5), ('1', 7), ('1', 8)]);
    let ran = debugger.act(&at, &Act::Run).unwrap();
    assert_eq!((ran.current, ran.options.len()), (Some(8), 0));
    assert_eq!(seen(&ran), [1, 3, 5, 7, 8]);
    // Back at 3 the other outcome can still be selected, and becomes a universe of its own.
    let other = [Act::Jump(1), Act::Step('2'), Act::Select(6)];
    let other = other.iter().fold(ran, |at, act| debugger.act(&at, act).unwrap());
    assert_eq!(seen(&other), [1, 3, 5, 7, 8, 6]);
    assert_eq!(other.history.path(5), [0, 1, 5]);
}

#[test]
fn a_run_from_options_starts_in_any_of_them() {
    let graph = example();
    let debugger = debugger::<Multiverse<u8, char>>(&graph);
    let ran = after(&debugger, &[Act::Run]);
    assert_eq!(seen(&ran), [1, 3, 5, 7, 8]);
    let at = after(&debugger, &[&TO_3[..], &[Act::Step('2'), Act::Run]].concat());
    assert_eq!((at.current, seen(&at)), (Some(8), vec![1, 3, 5, 7, 8]));
}

#[test]
fn what_leads_nowhere_blocks() {
    let graph = Graph { edges: vec![(1, 'x', vec![])], ..example() };
    let debugger = debugger::<Omniscient<u8, char>>(&graph);
    let begin = debugger.begin();
    assert!(debugger.act(&begin, &Act::Step('x')).is_none(), "nothing is current");
    assert!(debugger.act(&begin, &Act::Run).is_none(), "8 is nowhere");
    assert!(debugger.act(&begin, &Act::Jump(0)).is_none(), "nothing was seen");
    let at = after(&debugger, &[Act::Select(1)]);
    assert!(debugger.act(&at, &Act::Step('x')).is_none(), "it has no outcome");
}

#[test]
fn an_omniscient_debugger_forgets_the_future_when_it_goes_another_way() {
    let graph = example();
    let debugger = debugger::<Omniscient<u8, char>>(&graph);
    let back = after(&debugger, &[&TO_3[..], &[Act::Run, Act::Jump(1)]].concat());
    assert_eq!(seen(&back), [1, 3, 5, 7, 8]);
    let same = [Act::Step('2'), Act::Select(5)];
    let same = same.iter().fold(back.clone(), |at, act| debugger.act(&at, act).unwrap());
    assert_eq!(seen(&same), [1, 3, 5, 7, 8], "the same way keeps it");
    let other = [Act::Step('2'), Act::Select(6)];
    let other = other.iter().fold(back, |at, act| debugger.act(&at, act).unwrap());
    assert_eq!(seen(&other), [1, 3, 6]);
}

#[test]
fn the_debugger_can_be_debugged() {
    let graph = example();
    let inner = debugger::<Multiverse<u8, char>>(&graph);
    type Inner<'a> = Debugger<'a, Graph, Multiverse<u8, char>>;
    type Of<'a> = Multiverse<<Inner<'a> as invigil_semantics::Language>::Config, Act<u8, char>>;
    let mut outer: Debugger<'_, Inner<'_>, Of<'_>> = Debugger::new(&inner);
    // Which debugging session comes to see 6? The breakpoint is one of the subject below.
    outer.stops.push(Stop::when(Ask::At(6)));
    let at = outer.act(&outer.begin(), &Act::Run).unwrap();
    let session = at.current.clone().unwrap();
    assert_eq!(session.current, Some(6));
    let acts: Vec<_> = at.history.places().filter_map(|place| at.history.visit(place).unwrap().by).collect();
    // The shortest session runs too far and jumps back.
    assert_eq!(acts, [Act::Run, Act::Jump(1), Act::Step('2'), Act::Select(6)]);
    assert_eq!(outer.describe_action(&Act::Step(Act::Step('2'))), "step step 2");
    assert_eq!(inner.describe_config(&session).to_string(), "current = at = 6, options = [], history = 6");
    // Going back in the outer debugger takes the inner one back.
    let back = outer.act(&at, &Act::Jump(2)).unwrap();
    assert_eq!(back.current.unwrap().current, Some(3));
    // And the inner debugger's own runs are single steps for the outer one.
    let run = outer.act(&outer.begin(), &Act::Select(inner.begin())).unwrap();
    let run = outer.act(&run, &Act::Step(Act::Run)).unwrap();
    assert_eq!(run.options[0].current, Some(8));
}

#[test]
fn all_sessions_of_a_debugger_can_be_explored() {
    let graph = example();
    let debugger = debugger::<invigil_explore::debugger::Traceless>(&graph);
    let starts: Vec<_> = debugger.initial().into_iter().collect();
    let found = Finder { most: usize::MAX, ..Finder::new(&debugger) }.run(&starts, &[Stop::when(Ask::At(9))]);
    assert!(found.is_all());
    // The shortest way to 9 that a person can take.
    assert_eq!(found.witnesses[0].execution.len(), 9);
}
