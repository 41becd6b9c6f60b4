//! Infinite executions: a path to a cycle that visits every acceptance set.
//!
//! Since a debugger searches any subject, the whole product graph is built breadth-first, and its strongly connected
//! components are computed. Model checking uses the on-the-fly search of [`cycles`](crate::cycles) instead.

use crate::breakpoint_search::breakpoint::OmegaReader;
use crate::breakpoint_search::search_tree::{Insertion, SearchTree};
use crate::breakpoint_search::{BreakpointFinder, BreakpointSearchResult, Execution, Witness};
use indexmap::IndexMap;
use invigil_semantics::{Semantics, Step};
use std::collections::VecDeque;

/// An edge of the product of subject and automaton. The action is none if the subject stays because no action is
/// enabled.
struct ProductEdge<A> {
    action: Option<A>,
    marks: u64,
    to: u32,
}

type ProductGraph<A> = Vec<Vec<ProductEdge<A>>>;

/// One accepted execution for each strongly connected component that has one, nearest first.
pub(crate) fn find<S: Semantics>(
    finder: &BreakpointFinder<'_, S>,
    starts: &[S::Config],
    automaton: &dyn OmegaReader<S>,
) -> BreakpointSearchResult<S::Config, S::Action> {
    let subject = finder.subject;
    let mut tree = SearchTree::new(finder.limits, finder.listener, finder.reduction);
    let mut error = None;
    let mut enabled_edges = Vec::new();
    for start in starts {
        enabled_edges.clear();
        let result = automaton.edges(subject, Step::initial(start), automaton.initial(), &mut enabled_edges);
        error = error.or(result.err());
        for (state, _) in enabled_edges.drain(..) {
            tree.insert(None, start.clone(), state);
        }
    }
    let mut graph: ProductGraph<S::Action> = Vec::new();
    while let Some((config, state)) = tree.node(graph.len() as u32) {
        let node = graph.len() as u32;
        if tree.exceeds_limits(node) {
            break;
        }
        let mut edges = Vec::new();
        if tree.is_within_depth(node) {
            let mut is_stuck = true;
            for (action, target) in subject.steps(&config) {
                is_stuck = false;
                tree.totals.transitions += 1;
                let step = Step::by_action(&config, &action, &target);
                error = error.or(automaton.edges(subject, step, state, &mut enabled_edges).err());
                for (state, marks) in enabled_edges.drain(..) {
                    match tree.insert(Some((node, &action)), target.clone(), state) {
                        Insertion::New(to) | Insertion::Known(to) => {
                            edges.push(ProductEdge { action: Some(action.clone()), marks, to });
                        }
                        Insertion::Skipped => {}
                    }
                }
            }
            if is_stuck {
                let step = Step::idle(&config, &config);
                error = error.or(automaton.edges(subject, step, state, &mut enabled_edges).err());
                for (state, marks) in enabled_edges.drain(..) {
                    // The path leads to the deadlocked configuration; staying there is no action.
                    match tree.insert_idle(node, config.clone(), state) {
                        Insertion::New(to) | Insertion::Known(to) => {
                            edges.push(ProductEdge { action: None, marks, to })
                        }
                        Insertion::Skipped => {}
                    }
                }
            }
        }
        graph.push(edges);
    }
    // Configurations that were met but not explored have no known successors.
    graph.resize_with(tree.totals.states as usize, Vec::new);
    let component = components(&graph);
    let lasso = |entry: u32| {
        let mut execution = tree.path_to(entry)?;
        let back = execution.len();
        for edge in cycle(&graph, &component, automaton.all_marks(), entry) {
            // When the subject stays, only the automaton moves.
            if let (Some(action), Some((config, _))) = (&edge.action, tree.node(edge.to)) {
                execution.steps.push((action.clone(), config));
            }
        }
        Some(Execution { loop_back: Some(back), ..execution })
    };
    let mut witnesses = Vec::new();
    for entries in entries(&graph, &component, automaton.all_marks()).into_iter().take(finder.max_witnesses) {
        let shortest = entries.into_iter().filter_map(lasso).min_by_key(Execution::len);
        witnesses.extend(shortest.map(|execution| Witness { execution, hits: Vec::new() }));
    }
    BreakpointSearchResult { witnesses, evaluation_error: error, ..tree.finish() }
}

/// Number of nodes of a component that are tried as the start of the cycle. More trials find shorter executions.
const MAX_ENTRIES: usize = 32;

/// The strongly connected component of each node (Tarjan's algorithm without recursion).
fn components<A>(graph: &ProductGraph<A>) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let (mut index, mut low) = (vec![NONE; graph.len()], vec![NONE; graph.len()]);
    let mut component = vec![NONE; graph.len()];
    let (mut stack, mut call_stack) = (Vec::new(), Vec::new());
    let (mut next_index, mut scc_count) = (0, 0);
    for root in 0..graph.len() {
        if index[root] != NONE {
            continue;
        }
        call_stack.push((root, 0));
        while let Some((node, at)) = call_stack.pop() {
            if at == 0 {
                (index[node], low[node]) = (next_index, next_index);
                next_index += 1;
                stack.push(node);
            }
            if let Some(edge) = graph[node].get(at) {
                call_stack.push((node, at + 1));
                let to = edge.to as usize;
                if index[to] == NONE {
                    call_stack.push((to, 0));
                } else if component[to] == NONE {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            if low[node] == index[node] {
                while let Some(member) = stack.pop() {
                    component[member] = scc_count;
                    if member == node {
                        break;
                    }
                }
                scc_count += 1;
            }
            if let Some((parent, _)) = call_stack.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
        }
    }
    component
}

/// The first nodes of each strongly connected component that contains a cycle that visits all acceptance sets.
fn entries<A>(graph: &ProductGraph<A>, component: &[u32], all: u64) -> Vec<Vec<u32>> {
    let scc_count = component.iter().max().map_or(0, |last| *last as usize + 1);
    let (mut marks, mut is_cyclic) = (vec![0; scc_count], vec![false; scc_count]);
    for (node, edges) in graph.iter().enumerate() {
        for edge in edges.iter().filter(|edge| component[edge.to as usize] == component[node]) {
            marks[component[node] as usize] |= edge.marks;
            is_cyclic[component[node] as usize] = true;
        }
    }
    let mut entries: IndexMap<u32, Vec<u32>> = IndexMap::new();
    for (node, scc) in (0..).zip(component) {
        if is_cyclic[*scc as usize] && marks[*scc as usize] & all == all {
            let first = entries.entry(*scc).or_default();
            if first.len() < MAX_ENTRIES {
                first.push(node);
            }
        }
    }
    entries.into_values().collect()
}

/// A cycle through `entry` inside its component that visits all acceptance sets.
fn cycle<'l, A>(
    graph: &'l ProductGraph<A>,
    component: &[u32],
    all: u64,
    entry: u32,
) -> Vec<&'l ProductEdge<A>> {
    let mut cycle: Vec<&ProductEdge<A>> = Vec::new();
    let (mut at, mut marks) = (entry, 0);
    while marks & all != all {
        let path = shortest_path(graph, component, at, |edge| edge.marks & all & !marks != 0);
        let Some(last) = path.last() else { return cycle };
        at = last.to;
        marks |= path.iter().fold(0, |marks, edge| marks | edge.marks);
        cycle.extend(path);
    }
    if at != entry || cycle.is_empty() {
        cycle.extend(shortest_path(graph, component, at, |edge| edge.to == entry));
    }
    cycle
}

/// A shortest path inside a component to an edge that satisfies `is_goal`.
fn shortest_path<'l, A>(
    graph: &'l ProductGraph<A>,
    component: &[u32],
    from: u32,
    is_goal: impl Fn(&ProductEdge<A>) -> bool,
) -> Vec<&'l ProductEdge<A>> {
    let mut predecessors: Vec<Option<(u32, &ProductEdge<A>)>> = (0..graph.len()).map(|_| None).collect();
    let mut waiting = VecDeque::from([from]);
    while let Some(node) = waiting.pop_front() {
        for edge in &graph[node as usize] {
            let to = edge.to as usize;
            if component[to] != component[from as usize] {
                continue;
            }
            if is_goal(edge) {
                let (mut path, mut at) = (vec![edge], node);
                while at != from
                    && let Some((before, edge)) = &predecessors[at as usize]
                {
                    path.push(*edge);
                    at = *before;
                }
                path.reverse();
                return path;
            }
            if predecessors[to].is_none() && edge.to != from {
                predecessors[to] = Some((node, edge));
                waiting.push_back(edge.to);
            }
        }
    }
    Vec::new()
}
