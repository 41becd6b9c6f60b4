//! Infinite executions.

use crate::debugger::graph::{Ask, Graph, any_graph, replays};
use invigil_explore::breakpoint_search::{Automaton, Breakpoint, BreakpointFinder, Edge, Execution};
use invigil_semantics::{Evaluate, Semantics, Step};
use invigil_test_support::cases;
use proptest::prelude::*;

fn any_automaton() -> impl Strategy<Value = Automaton<Ask>> {
    let label = prop_oneof![
        Just(None),
        Just(Some(Ask::Odd)),
        (0..3_u8).prop_map(|action| Some(Ask::By(char::from(b'a' + action)))),
        (0..5_u8).prop_map(|at| Some(Ask::At(at))),
    ];
    let edge = (0..3_u32, label, 0..4_u64, 0..3_u32);
    (proptest::collection::vec(edge, 1..8), 0..3_u32).prop_map(|(list, sets)| {
        let mut edges = vec![Vec::new(); 3];
        for (from, label, marks, target) in list {
            edges[from as usize].push(Edge { label, marks, target });
        }
        Automaton { initial: 0, edges, accepting: vec![false; 3], sets: Some(sets), reads_start: true }
    })
}

/// A node of the product, and its edges with their marks.
type Node = (u8, u32);
type Links = Vec<(Node, u64, Node)>;

/// Whether some infinite run from one of the nodes takes edges of all sets infinitely often, by naive reachability.
fn has_run(starts: &[Node], links: &Links, all: u64) -> bool {
    let reach = |from: &[Node]| {
        let mut seen = from.to_vec();
        let mut at = 0;
        while at < seen.len() {
            let node = seen[at];
            for (_, _, to) in links.iter().filter(|link| link.0 == node) {
                if !seen.contains(to) {
                    seen.push(*to);
                }
            }
            at += 1;
        }
        seen
    };
    reach(starts).into_iter().any(|node| {
        let after: Vec<Node> = links.iter().filter(|link| link.0 == node).map(|link| link.2).collect();
        let around = reach(&after);
        // The edges on a cycle through the node.
        let back = links.iter().filter(|link| {
            (link.0 == node || around.contains(&link.0))
                && (link.2 == node || reach(&[link.2]).contains(&node))
        });
        let marks = back.fold(0, |marks, link| marks | link.1);
        around.contains(&node) && marks & all == all
    })
}

/// Appends the edges of the automaton that are enabled on a step, for every state.
fn read(
    graph: &Graph,
    automaton: &Automaton<Ask>,
    step: Step<&u8, &char>,
    mut add: impl FnMut(u32, u64, u32),
) {
    for (state, edges) in (0..).zip(&automaton.edges) {
        for edge in edges {
            if edge.label.as_ref().is_none_or(|label| graph.evaluate(label, step).unwrap()) {
                add(state, edge.marks, edge.target);
            }
        }
    }
}

fn first(graph: &Graph, automaton: &Automaton<Ask>, start: u8, as_node: u8, starts: &mut Vec<Node>) {
    read(graph, automaton, Step::initial(&start), |state, _, to| {
        if state == automaton.initial {
            starts.push((as_node, to));
        }
    });
}

fn product(graph: &Graph, automaton: &Automaton<Ask>) -> (Vec<Node>, Links) {
    let (mut starts, mut links) = (Vec::new(), Vec::new());
    for start in &graph.initial {
        first(graph, automaton, *start, *start, &mut starts);
    }
    for at in 0..5 {
        let steps: Vec<(char, u8)> = graph.steps(&at).into_iter().collect();
        for (action, target) in &steps {
            read(graph, automaton, Step::by_action(&at, action, target), |state, marks, to| {
                links.push(((at, state), marks, (*target, to)));
            });
        }
        if steps.is_empty() {
            read(graph, automaton, Step::idle(&at, &at), |state, marks, to| {
                links.push(((at, state), marks, (at, to)));
            });
        }
    }
    (starts, links)
}

/// Whether the automaton accepts one lasso, whose configurations are the nodes.
fn accepts(graph: &Graph, automaton: &Automaton<Ask>, lasso: &Execution<u8, char>) -> bool {
    let (mut starts, mut links) = (Vec::new(), Vec::new());
    first(graph, automaton, lasso.start, 0, &mut starts);
    let back = lasso.loop_back.unwrap() as u8;
    let length = lasso.len() as u8;
    for (at, (action, target)) in (0..).zip(&lasso.steps) {
        let source = lasso.config(usize::from(at)).unwrap();
        read(graph, automaton, Step::by_action(source, action, target), |state, marks, to| {
            let next = if at + 1 == length && back < length { back } else { at + 1 };
            links.push(((at, state), marks, (next, to)));
            // The last step leads back to the start of the cycle.
            if next == back && at + 1 == length {
                links.push(((at, state), marks, (length, to)));
            }
        });
    }
    if back == length {
        read(graph, automaton, Step::idle(lasso.last(), lasso.last()), |state, marks, to| {
            links.push(((length, state), marks, (length, to)));
        });
    }
    has_run(&starts, &links, all(automaton))
}

fn all(automaton: &Automaton<Ask>) -> u64 {
    (1 << automaton.sets.unwrap()) - 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(1000)))]
    #[test]
    fn finder_finds_lasso_iff_one_is_accepted(graph in any_graph(5), automaton in any_automaton()) {
        let (starts, links) = product(&graph, &automaton);
        let finder = BreakpointFinder { max_witnesses: usize::MAX, ..BreakpointFinder::new(&graph) };
        let found = finder.run(&graph.initial, &[Breakpoint::automaton(automaton.clone())]);
        prop_assert_eq!(!found.witnesses.is_empty(), has_run(&starts, &links, all(&automaton)));
        for witness in &found.witnesses {
            prop_assert!(replays(&graph, &witness.execution), "{:?}", witness);
            prop_assert!(accepts(&graph, &automaton, &witness.execution), "{:?}", witness);
        }
    }
}

#[test]
fn guarantee_is_hit_after_finitely_many_steps() {
    // Everything is accepted after `b`.
    let edge = |label, marks, target| Edge { label, marks, target };
    let eventually = Automaton {
        initial: 0,
        edges: vec![vec![edge(None, 0, 0), edge(Some(Ask::By('b')), 0, 1)], vec![edge(None, 1, 1)]],
        accepting: vec![false, true],
        sets: Some(1),
        reads_start: true,
    };
    let graph =
        Graph { initial: vec![0], edges: vec![(0, 'a', vec![1]), (1, 'a', vec![0]), (1, 'b', vec![2])] };
    let found = BreakpointFinder::new(&graph).run(&[0], &[Breakpoint::automaton(eventually)]);
    let execution = &found.witnesses[0].execution;
    assert_eq!((&execution.steps[..], execution.loop_back), (&[('a', 1), ('b', 2)][..], None));
}

#[test]
fn evaluation_errors_of_infinite_breakpoints_are_reported() {
    let edge = |label, marks, target| Edge { label, marks, target };
    let never = Automaton {
        initial: 0,
        edges: vec![vec![edge(Some(Ask::Unknown(1)), 1, 0), edge(Some(Ask::At(0)), 0, 0)]],
        accepting: vec![false],
        sets: Some(1),
        reads_start: true,
    };
    let graph = Graph { initial: vec![0], edges: vec![(0, 'a', vec![1])] };
    let found = BreakpointFinder::new(&graph).run(&[0], &[Breakpoint::automaton(never)]);
    assert_eq!((found.witnesses.len(), found.evaluation_error.as_deref()), (0, Some("nobody knows")));
}
