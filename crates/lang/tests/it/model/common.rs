//! Models, loaded and explored naively.

use invigil_explore::interpreted_model::InterpretedModel;
use invigil_explore::{BAD, FAULT, StateSpace, Successors};
use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::model::{ClaimBody, ModelFile, load};
use invigil_lang::report;
use invigil_model::{Expression, Model, State, Unary};
use invigil_semantics::Describe;
use std::collections::HashSet;

/// Loads a model without errors.
pub(crate) fn loaded(text: &str) -> ModelFile {
    let mut sources = Sources::default();
    let source = sources.add("test.model", text);
    let (loaded, diagnostics) = load(source, text);
    let words = report::render(&sources, &diagnostics, false);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{words}");
    loaded.unwrap()
}

/// The diagnostics of a text.
pub(crate) fn diagnostics(text: &str) -> Vec<Diagnostic> {
    load(SourceId(0), text).1
}

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) states: usize,
    pub(crate) transitions: usize,
    pub(crate) deadlocks: usize,
    pub(crate) faults: usize,
    /// The steps that violate an invariant.
    pub(crate) bad: usize,
    /// The deadlocks.
    pub(crate) finals: Vec<Vec<u64>>,
    /// The faults, each with its action.
    pub(crate) wrong: Vec<(Vec<u64>, u32)>,
}

impl Found {
    /// The last configurations, as text.
    pub(crate) fn finals(&self, model: &Model) -> Vec<String> {
        let show = |words: &Vec<u64>| {
            let shown = model.describe_config(&State::without_fault(words)).to_string();
            shown.replace('\n', ", ")
        };
        self.finals.iter().map(show).collect()
    }

    /// The messages of the faults.
    pub(crate) fn reasons(&self, model: &Model) -> Vec<String> {
        let why = |(words, action): &(Vec<u64>, u32)| {
            let broken = model.outcomes(words, *action).into_iter().find_map(|state| state.fault);
            broken.unwrap().to_string()
        };
        self.wrong.iter().map(why).collect()
    }
}

/// Explores the model in a text, under its invariants.
pub(crate) fn explore(text: &str) -> Found {
    explore_model(&loaded(text))
}

/// Explores a model, under its invariants.
pub(crate) fn explore_model(loaded: &ModelFile) -> Found {
    let bad = loaded.claims.iter().filter_map(|claim| match &claim.body {
        ClaimBody::Always(holds) => Some(Expression::unary(Unary::Not, holds.clone())),
        ClaimBody::Never(_) => None,
    });
    let space = InterpretedModel::new(&loaded.model, bad.collect());
    let (mut found, mut out) = (Found::default(), Successors::default());
    let mut seen: HashSet<Vec<u64>> = HashSet::new();
    let mut open = Vec::new();
    space.initial(&mut out);
    for (at, taken) in out.transitions.iter().enumerate() {
        found.bad += usize::from(taken.flags & BAD != 0);
        let state = out.state(at, space.width()).to_vec();
        if seen.insert(state.clone()) {
            open.push(state);
        }
    }
    while let Some(state) = open.pop() {
        out.clear();
        space.successors(&state, &mut out);
        for (at, taken) in out.transitions.iter().enumerate() {
            if taken.flags & FAULT != 0 {
                found.faults += 1;
                found.wrong.push((state.clone(), taken.action));
                continue;
            }
            found.transitions += 1;
            found.bad += usize::from(taken.flags & BAD != 0);
            let next = out.state(at, space.width()).to_vec();
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
        if out.is_empty() {
            found.deadlocks += 1;
            found.finals.push(state);
        }
    }
    found.finals.sort();
    found.states = seen.len();
    found
}
