//! Helpers for the tests of DVE: loading, and a plain search.

use invigil_explore::interpreted_model::InterpretedModel;
use invigil_explore::{FAULT, StateSpace, Successors};
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::dve::{Options, load};
use invigil_lang::model::ModelFile;
use invigil_lang::report;
use invigil_model::{Model, OmegaAutomaton, Step};
use std::collections::{HashMap, HashSet};

/// Loads a model without errors.
pub(crate) fn load_text(text: &str, options: Options) -> ModelFile {
    let mut sources = Sources::default();
    let file = sources.add("test.dve", text);
    let (loaded, diagnostics) = load(file, text, &options);
    assert!(diagnostics.is_empty(), "{}", report::render(&sources, &diagnostics, false));
    loaded.expect("a model")
}

/// The diagnostics of `text`.
pub(crate) fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let mut sources = Sources::default();
    let file = sources.add("test.dve", text);
    let (loaded, diagnostics) = load(file, text, &Options::default());
    assert_eq!(loaded.is_some(), !diagnostics.iter().any(Diagnostic::is_error));
    diagnostics
}

/// The result of a breadth-first search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) states: u64,
    pub(crate) edges: u64,
    pub(crate) levels: u64,
    pub(crate) faults: u64,
}

/// Explores a model breadth first, by interpretation.
pub(crate) fn count(model: &Model) -> Count {
    let space = InterpretedModel::new(model, Vec::new());
    let mut seen: HashSet<Box<[u64]>> = HashSet::new();
    let mut found = Count::default();
    let mut out = Successors::default();
    space.initial(&mut out);
    let mut level = Vec::new();
    loop {
        for (at, taken) in out.transitions.iter().enumerate() {
            let state = out.state(at, space.width());
            if taken.flags & FAULT != 0 {
                found.faults += 1;
            } else if !seen.contains(state) {
                seen.insert(state.into());
                level.push(Box::<[u64]>::from(state));
            }
        }
        if level.is_empty() {
            found.states = seen.len() as u64;
            return found;
        }
        found.levels += 1;
        out.clear();
        for state in level.drain(..) {
            space.successors(&state, &mut out);
        }
        found.edges += out.len() as u64;
    }
}

/// A configuration with a state of an automaton, and its successors with the marks of their edges.
type Ways = Vec<(usize, u64)>;

/// Whether an automaton accepts an execution of a model: whether their product has a strongly connected component with
/// edges of all acceptance sets.
pub(crate) fn is_accepted(model: &Model, omega: &OmegaAutomaton) -> bool {
    let edges = product(model, omega);
    let all = if omega.sets == 64 { u64::MAX } else { (1 << omega.sets) - 1 };
    let part = parts(&edges);
    let mut marks: HashMap<usize, u64> = HashMap::new();
    for (node, ways) in edges.iter().enumerate() {
        for (target, mark) in ways.iter().filter(|(target, _)| part[*target] == part[node]) {
            *marks.entry(part[*target]).or_default() |= mark;
        }
    }
    marks.values().any(|mark| mark & all == all)
}

fn product(model: &Model, omega: &OmegaAutomaton) -> Vec<Ways> {
    let space = InterpretedModel::new(model, Vec::new());
    let mut out = Successors::default();
    space.initial(&mut out);
    let mut nodes: Vec<(Box<[u64]>, u32)> = vec![(out.state(0, space.width()).into(), omega.initial)];
    let mut numbers: HashMap<(Box<[u64]>, u32), usize> = HashMap::from([(nodes[0].clone(), 0)]);
    let mut edges = Vec::new();
    while let Some((state, at)) = nodes.get(edges.len()).cloned() {
        out.clear();
        space.successors(&state, &mut out);
        let is_sound = |at: &usize| out.transitions[*at].flags & FAULT == 0;
        let mut targets: Vec<Box<[u64]>> =
            (0..out.len()).filter(is_sound).map(|at| out.state(at, space.width()).into()).collect();
        if out.is_empty() {
            targets.push(state.clone());
        }
        let mut ways = Vec::new();
        for edge in &omega.edges[at as usize] {
            if model.holds(&edge.label, Step::at(&state)).expect("a value") {
                for target in &targets {
                    let node = (target.clone(), edge.target);
                    let number = *numbers.entry(node.clone()).or_insert(nodes.len());
                    if number == nodes.len() {
                        nodes.push(node);
                    }
                    ways.push((number, edge.marks));
                }
            }
        }
        edges.push(ways);
    }
    edges
}

/// The strongly connected component of each node, by Tarjan's algorithm.
fn parts(edges: &[Ways]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut number = vec![NONE; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut part = vec![NONE; edges.len()];
    let (mut open, mut path, mut next) = (Vec::new(), vec![(0, 0)], 0);
    while let Some((node, at)) = path.pop() {
        if at == 0 {
            (number[node], low[node]) = (next, next);
            next += 1;
            open.push(node);
        }
        match edges[node].get(at) {
            Some((target, _)) => {
                path.push((node, at + 1));
                if number[*target] == NONE {
                    path.push((*target, 0));
                } else if part[*target] == NONE {
                    low[node] = low[node].min(number[*target]);
                }
            }
            None => {
                if low[node] == number[node] {
                    while let Some(inside) = open.pop() {
                        part[inside] = node;
                        if inside == node {
                            break;
                        }
                    }
                }
                if let Some((parent, _)) = path.last() {
                    low[*parent] = low[*parent].min(low[node]);
                }
            }
        }
    }
    part
}
