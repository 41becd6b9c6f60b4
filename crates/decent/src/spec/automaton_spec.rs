//! Automata as users write them, state by state.

use crate::automaton::State;
use invigil_ltl::formula::Node;
use invigil_ltl::label::Label;
use invigil_ltl::moore::{Moore, Truth};
use invigil_ltl::syntax::SyntaxTree;
use invigil_ltl::{Formula, Logic, TooLarge};

/// Automaton of a specification. It starts in its first state. A state with a final verdict keeps it and needs no
/// edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AutomatonSpec {
    /// The states.
    pub states: Vec<StateSpec>,
}

/// State.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateSpec {
    /// Its name.
    pub name: String,
    /// Its verdict.
    pub verdict: Truth,
    /// Its outgoing edges. Their labels exclude each other.
    pub edges: Vec<EdgeSpec>,
}

/// Edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeSpec {
    /// Condition: a formula without temporal operators. `None` for `otherwise`.
    pub label: Option<SyntaxTree>,
    /// Index of the target state.
    pub to: usize,
}

/// Reason why an automaton cannot be built.
pub(super) enum BuildError {
    TooLarge(TooLarge),
    /// Error and remedy.
    Invalid(String, &'static str),
}

impl From<TooLarge> for BuildError {
    fn from(too_large: TooLarge) -> BuildError {
        BuildError::TooLarge(too_large)
    }
}

impl AutomatonSpec {
    /// Returns all written labels.
    pub fn labels(&self) -> impl Iterator<Item = &SyntaxTree> {
        self.states.iter().flat_map(|state| &state.edges).filter_map(|edge| edge.label.as_ref())
    }

    /// Builds the minimal equivalent automaton.
    pub(super) fn machine(&self, logic: &mut Logic) -> Result<Moore<Truth>, BuildError> {
        let invalid = |message: String, help| Err(BuildError::Invalid(message, help));
        if self.states.is_empty() {
            return invalid("the automaton has no states".to_owned(), "write at least: state start");
        }
        let mut edges = Vec::with_capacity(self.states.len());
        for (at, state) in self.states.iter().enumerate() {
            let name = &state.name;
            if state.verdict != Truth::Unknown {
                if state.edges.iter().any(|edge| edge.to != at) {
                    let message =
                        format!("the state `{name}` has a final verdict but an edge to another state");
                    return invalid(message, "final verdicts are irrevocable: remove its edges");
                }
                edges.push(vec![(logic.labels.top(), at as State)]);
                continue;
            }
            edges.push(self.edges(logic, state)?);
        }
        let outputs = self.states.iter().map(|state| state.verdict).collect();
        Ok(Moore { initial: 0, outputs, edges }.minimise(&logic.labels)?)
    }

    /// Builds the edges out of a state: one per target, exclusive and complete.
    fn edges(&self, logic: &mut Logic, state: &StateSpec) -> Result<Vec<(Label, State)>, BuildError> {
        let invalid = |message: String, help| Err(BuildError::Invalid(message, help));
        let (mut edges, mut otherwise): (Vec<(Label, State)>, Option<State>) = (Vec::new(), None);
        let mut covered = logic.labels.bottom();
        for edge in &state.edges {
            let target = |to: usize| self.states.get(to).map_or("?", |state| &state.name);
            let Some(written) = &edge.label else {
                if otherwise.replace(edge.to as State).is_some_and(|first| first != edge.to as State) {
                    let message =
                        format!("`{}` has two `otherwise` edges with different targets", state.name);
                    return invalid(message, "keep one of them");
                }
                continue;
            };
            let label = boolean(logic, written)?;
            if logic.labels.intersects(&covered, &label)? {
                for (other, to) in &edges {
                    if *to != edge.to as State && logic.labels.intersects(other, &label)? {
                        let message = format!(
                            "the edges from `{}` to `{}` and `{}` overlap: `{written}` does not exclude the other condition",
                            state.name,
                            target(*to as usize),
                            target(edge.to)
                        );
                        return invalid(message, "make the conditions mutually exclusive");
                    }
                }
            }
            covered = logic.labels.or(&covered, &label)?;
            match edges.iter_mut().find(|(_, to)| *to == edge.to as State) {
                Some((all, _)) => *all = logic.labels.or(all, &label)?,
                None => edges.push((label, edge.to as State)),
            }
        }
        let rest = logic.labels.not(&covered)?;
        match otherwise {
            _ if rest.is_false() => {}
            Some(to) => match edges.iter_mut().find(|(_, target)| *target == to) {
                Some((all, _)) => *all = logic.labels.or(all, &rest)?,
                None => edges.push((rest, to)),
            },
            None => {
                let message = format!("the edges of the state `{}` do not cover all cases", state.name);
                return invalid(message, "add an edge: STATE otherwise");
            }
        }
        edges.retain(|(label, _)| !label.is_false());
        Ok(edges)
    }
}

/// Converts a formula without temporal operators to a label.
fn boolean(logic: &mut Logic, written: &SyntaxTree) -> Result<Label, BuildError> {
    let formula = logic
        .formulae
        .lower(written)
        .map_err(|error| BuildError::Invalid(error.to_string(), "make it smaller"))?;
    let parts = logic.formulae.subformulae(formula);
    let mut labels: Vec<(Formula, Label)> = Vec::with_capacity(parts.len());
    for part in parts {
        let of = |labels: &[(Formula, Label)], part: &Formula| {
            labels.binary_search_by_key(part, |(formula, _)| *formula).map(|at| labels[at].1.clone())
        };
        let label = match logic.formulae.node(part).clone() {
            Node::False => logic.labels.bottom(),
            Node::True => logic.labels.top(),
            Node::Atom(atom) => logic.labels.atom(atom)?,
            Node::Not(inner) => match of(&labels, &inner) {
                Ok(inner) => logic.labels.not(&inner)?,
                Err(_) => continue,
            },
            Node::And(all) => {
                let mut label = logic.labels.top();
                for inner in all.iter().filter_map(|inner| of(&labels, inner).ok()) {
                    label = logic.labels.and(&label, &inner)?;
                }
                label
            }
            Node::Or(all) => {
                let mut label = logic.labels.bottom();
                for inner in all.iter().filter_map(|inner| of(&labels, inner).ok()) {
                    label = logic.labels.or(&label, &inner)?;
                }
                label
            }
            _ => {
                let message = format!("`{written}` is temporal");
                return Err(BuildError::Invalid(
                    message,
                    "conditions of edges refer to the current instant: remove temporal operators",
                ));
            }
        };
        labels.push((part, label));
    }
    // Operands come before operators, so the last one is the whole formula.
    Ok(labels.pop().map_or_else(|| logic.labels.bottom(), |(_, label)| label))
}
