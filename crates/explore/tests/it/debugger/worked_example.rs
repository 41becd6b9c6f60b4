//! The worked example of the unified debugger, and the debugger under the debugger.

use crate::debugger::graph::{Ask, Graph};
use invigil_explore::breakpoint_search::{Breakpoint, BreakpointFinder};
use invigil_explore::debugger::{DebugAction, DebugConfig, Debugger, History, Multiverse, Omniscient};
use invigil_semantics::{Describe, Evaluate, Semantics, Step};

/// Configuration 3 has two actions, the second with two outcomes; configuration 7 has two actions as well. The
/// breakpoint is at 8.
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

type At<H> = DebugConfig<u8, char, H>;

fn debugger<H: History<u8, char>>(graph: &Graph) -> Debugger<'_, Graph, H> {
    let mut debugger = Debugger::new(graph);
    debugger.breakpoints.push(Breakpoint::condition(Ask::At(8)));
    debugger
}

fn after<H: History<u8, char>>(debugger: &Debugger<'_, Graph, H>, acts: &[DebugAction<u8, char>]) -> At<H> {
    acts.iter().fold(debugger.initial_config(), |at, act| debugger.act(&at, act).unwrap())
}

fn seen<H: History<u8, char>>(at: &At<H>) -> Vec<u8> {
    at.history.entries().map(|place| *at.history.config(place).unwrap()).collect()
}

/// The actions that lead to configuration 3, where the example starts.
const TO_3: [DebugAction<u8, char>; 3] =
    [DebugAction::Select(1), DebugAction::Step('i'), DebugAction::Select(3)];

#[test]
fn debugger_offers_steps_jumps_and_run() {
    let graph = example();
    let debugger = debugger::<Multiverse<u8, char>>(&graph);
    let at = after(&debugger, &TO_3);
    assert_eq!((at.current, &at.options[..]), (Some(3), &[][..]));
    assert_eq!(seen(&at), [1, 3]);
    let acts: Vec<_> = debugger.actions(&at).into_iter().collect();
    assert_eq!(
        acts,
        [
            DebugAction::Step('1'),
            DebugAction::Step('2'),
            DebugAction::Jump(0),
            DebugAction::Jump(1),
            DebugAction::Run
        ]
    );
}

#[test]
fn step_with_two_outcomes_offers_both_as_options() {
    let graph = example();
    let debugger = debugger::<Multiverse<u8, char>>(&graph);
    let stepped = debugger.act(&after(&debugger, &TO_3), &DebugAction::Step('2')).unwrap();
    assert_eq!((stepped.current, &stepped.options[..]), (None, &[5, 6][..]));
    assert_eq!(seen(&stepped), [1, 3], "a step alone is not remembered");
    let selected = debugger.act(&stepped, &DebugAction::Select(6)).unwrap();
    assert_eq!((selected.current, selected.options.len()), (Some(6), 0));
    assert_eq!(seen(&selected), [1, 3, 6]);
    assert!(debugger.act(&stepped, &DebugAction::Select(9)).is_none(), "9 is no option");
    // A selection is evaluated as the step of the subject that it completes.
    let step = Step::by_action(&stepped, &DebugAction::Select(6), &selected);
    assert!(debugger.evaluate(&Ask::By('2'), step).unwrap());
    assert!(debugger.evaluate(&Ask::From(3, 6), step).unwrap());
}

#[test]
fn run_records_shortest_execution_to_breakpoint() {
    let graph = example();
    let debugger = debugger::<Multiverse<u8, char>>(&graph);
    let at = after(&debugger, &TO_3);
    let found = debugger.find(&at, &debugger.finder());
    let steps = &found.witnesses[0].execution.steps;
    assert_eq!(steps[..], [('2', 5), ('1', 7), ('1', 8)]);
    let ran = debugger.act(&at, &DebugAction::Run).unwrap();
    assert_eq!((ran.current, ran.options.len()), (Some(8), 0));
    assert_eq!(seen(&ran), [1, 3, 5, 7, 8]);
    // Back at 3, the other outcome can still be selected, and becomes a universe of its own.
    let other = [DebugAction::Jump(1), DebugAction::Step('2'), DebugAction::Select(6)];
    let other = other.iter().fold(ran, |at, act| debugger.act(&at, act).unwrap());
    assert_eq!(seen(&other), [1, 3, 5, 7, 8, 6]);
    assert_eq!(other.history.path(5), [0, 1, 5]);
}

#[test]
fn run_without_selection_starts_in_any_option() {
    let graph = example();
    let debugger = debugger::<Multiverse<u8, char>>(&graph);
    let ran = after(&debugger, &[DebugAction::Run]);
    assert_eq!(seen(&ran), [1, 3, 5, 7, 8]);
    let at = after(&debugger, &[&TO_3[..], &[DebugAction::Step('2'), DebugAction::Run]].concat());
    assert_eq!((at.current, seen(&at)), (Some(8), vec![1, 3, 5, 7, 8]));
}

#[test]
fn debugger_rejects_actions_without_successor() {
    let graph = Graph { edges: vec![(1, 'x', vec![])], ..example() };
    let debugger = debugger::<Omniscient<u8, char>>(&graph);
    let initial_config = debugger.initial_config();
    assert!(debugger.act(&initial_config, &DebugAction::Step('x')).is_none(), "nothing is current");
    assert!(debugger.act(&initial_config, &DebugAction::Run).is_none(), "8 is nowhere");
    assert!(debugger.act(&initial_config, &DebugAction::Jump(0)).is_none(), "nothing was seen");
    let at = after(&debugger, &[DebugAction::Select(1)]);
    assert!(debugger.act(&at, &DebugAction::Step('x')).is_none(), "it has no outcome");
}

#[test]
fn omniscient_history_drops_entries_after_another_step() {
    let graph = example();
    let debugger = debugger::<Omniscient<u8, char>>(&graph);
    let back = after(&debugger, &[&TO_3[..], &[DebugAction::Run, DebugAction::Jump(1)]].concat());
    assert_eq!(seen(&back), [1, 3, 5, 7, 8]);
    let same = [DebugAction::Step('2'), DebugAction::Select(5)];
    let same = same.iter().fold(back.clone(), |at, act| debugger.act(&at, act).unwrap());
    assert_eq!(seen(&same), [1, 3, 5, 7, 8], "the same way keeps it");
    let other = [DebugAction::Step('2'), DebugAction::Select(6)];
    let other = other.iter().fold(back, |at, act| debugger.act(&at, act).unwrap());
    assert_eq!(seen(&other), [1, 3, 6]);
}

#[test]
fn debugger_can_debug_a_debugger() {
    let graph = example();
    let inner = debugger::<Multiverse<u8, char>>(&graph);
    type Inner<'a> = Debugger<'a, Graph, Multiverse<u8, char>>;
    type Of<'a> = Multiverse<<Inner<'a> as invigil_semantics::Language>::Config, DebugAction<u8, char>>;
    let mut outer: Debugger<'_, Inner<'_>, Of<'_>> = Debugger::new(&inner);
    // The shortest debugging session that reaches 6, with a breakpoint of the debugged subject.
    outer.breakpoints.push(Breakpoint::condition(Ask::At(6)));
    let at = outer.act(&outer.initial_config(), &DebugAction::Run).unwrap();
    let session = at.current.clone().unwrap();
    assert_eq!(session.current, Some(6));
    let acts: Vec<_> = at.history.entries().filter_map(|place| at.history.visit(place).unwrap().by).collect();
    // The shortest session runs beyond 6 and jumps back.
    assert_eq!(
        acts,
        [DebugAction::Run, DebugAction::Jump(1), DebugAction::Step('2'), DebugAction::Select(6)]
    );
    assert_eq!(outer.describe_action(&DebugAction::Step(DebugAction::Step('2'))), "step step 2");
    assert_eq!(inner.describe_config(&session).to_string(), "current = at = 6, options = [], history = 6");
    // A jump in the outer debugger restores the inner one.
    let back = outer.act(&at, &DebugAction::Jump(2)).unwrap();
    assert_eq!(back.current.unwrap().current, Some(3));
    // A run of the inner debugger is a single step of the outer one.
    let run = outer.act(&outer.initial_config(), &DebugAction::Select(inner.initial_config())).unwrap();
    let run = outer.act(&run, &DebugAction::Step(DebugAction::Run)).unwrap();
    assert_eq!(run.options[0].current, Some(8));
}

#[test]
fn debugger_state_space_can_be_explored() {
    let graph = example();
    let debugger = debugger::<invigil_explore::debugger::NoHistory>(&graph);
    let starts: Vec<_> = debugger.initial().into_iter().collect();
    let found = BreakpointFinder { max_witnesses: usize::MAX, ..BreakpointFinder::new(&debugger) }
        .run(&starts, &[Breakpoint::condition(Ask::At(9))]);
    assert!(found.is_exhaustive());
    // The shortest sequence of debugger actions that reaches 9.
    assert_eq!(found.witnesses[0].execution.len(), 9);
}
