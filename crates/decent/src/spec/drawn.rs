//! Automata that people write down, state by state.

use crate::automaton::State;
use invigil_ltl::formula::Node;
use invigil_ltl::label::Label;
use invigil_ltl::moore::{Moore, Truth};
use invigil_ltl::syntax::Tree;
use invigil_ltl::{Formula, Logic, TooLarge};

/// An automaton as it is written. It starts in its first state. A state with a final verdict keeps it, and needs no edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The states.
    pub states: Vec<DrawnState>,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnState {
    /// What people call it.
    pub name: String,
    /// What it says.
    pub verdict: Truth,
    /// The edges out of it. Their labels exclude each other.
    pub edges: Vec<DrawnEdge>,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnEdge {
    /// When it is taken: a formula without temporal operators. None where no other is.
    pub label: Option<Tree>,
    /// Where it leads, by place.
    pub to: usize,
}

/// Why there is no machine for what was written.
pub(super) enum Flaw {
    TooLarge(TooLarge),
    /// What is wrong, and a remedy.
    Wrong(String, &'static str),
}

impl From<TooLarge> for Flaw {
    fn from(too_large: TooLarge) -> Flaw {
        Flaw::TooLarge(too_large)
    }
}

impl Drawn {
    /// All labels that are written.
    pub fn labels(&self) -> impl Iterator<Item = &Tree> {
        self.states.iter().flat_map(|state| &state.edges).filter_map(|edge| edge.label.as_ref())
    }

    /// The smallest machine that says the same.
    pub(super) fn machine(&self, logic: &mut Logic) -> Result<Moore<Truth>, Flaw> {
        let wrong = |words: String, help| Err(Flaw::Wrong(words, help));
        if self.states.is_empty() {
            return wrong("the automaton has no states".to_owned(), "write at least: state start");
        }
        let mut edges = Vec::with_capacity(self.states.len());
        for (at, state) in self.states.iter().enumerate() {
            let name = &state.name;
            if state.verdict != Truth::Unknown {
                if state.edges.iter().any(|edge| edge.to != at) {
                    let words = format!("the state `{name}` has a final verdict and is left again");
                    return wrong(words, "a final verdict is for ever: take its edges away");
                }
                edges.push(vec![(logic.labels.top(), at as State)]);
                continue;
            }
            edges.push(self.edges(logic, state)?);
        }
        let outputs = self.states.iter().map(|state| state.verdict).collect();
        Ok(Moore { initial: 0, outputs, edges }.minimise(&logic.labels)?)
    }

    /// The edges out of a state: one to each target, exclusive and complete.
    fn edges(&self, logic: &mut Logic, state: &DrawnState) -> Result<Vec<(Label, State)>, Flaw> {
        let wrong = |words: String, help| Err(Flaw::Wrong(words, help));
        let (mut edges, mut otherwise): (Vec<(Label, State)>, Option<State>) = (Vec::new(), None);
        let mut covered = logic.labels.bottom();
        for edge in &state.edges {
            let target = |to: usize| self.states.get(to).map_or("?", |state| &state.name);
            let Some(written) = &edge.label else {
                if otherwise.replace(edge.to as State).is_some_and(|first| first != edge.to as State) {
                    let words = format!("`{}` says twice what is to be done otherwise", state.name);
                    return wrong(words, "keep one of them");
                }
                continue;
            };
            let label = boolean(logic, written)?;
            if logic.labels.meet(&covered, &label)? {
                for (other, to) in &edges {
                    if *to != edge.to as State && logic.labels.meet(other, &label)? {
                        let words = format!(
                            "from `{}` both `{}` and `{}` can be next: `{written}` does not exclude the other",
                            state.name,
                            target(*to as usize),
                            target(edge.to)
                        );
                        return wrong(words, "make the conditions exclude each other");
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
                let words = format!("the state `{}` does not say what is next in every case", state.name);
                return wrong(words, "add an edge: STATE otherwise");
            }
        }
        edges.retain(|(label, _)| !label.is_false());
        Ok(edges)
    }
}

/// A formula without temporal operators as a label.
fn boolean(logic: &mut Logic, written: &Tree) -> Result<Label, Flaw> {
    let formula = logic
        .formulae
        .make(written)
        .map_err(|mistake| Flaw::Wrong(mistake.to_string(), "make it smaller"))?;
    let parts = logic.formulae.within(formula);
    let mut made: Vec<(Formula, Label)> = Vec::with_capacity(parts.len());
    for part in parts {
        let of = |made: &[(Formula, Label)], part: &Formula| {
            made.binary_search_by_key(part, |(formula, _)| *formula).map(|at| made[at].1.clone())
        };
        let label = match logic.formulae.node(part).clone() {
            Node::False => logic.labels.bottom(),
            Node::True => logic.labels.top(),
            Node::Atom(atom) => logic.labels.atom(atom)?,
            Node::Not(inner) => match of(&made, &inner) {
                Ok(inner) => logic.labels.not(&inner)?,
                Err(_) => continue,
            },
            Node::And(all) => {
                let mut label = logic.labels.top();
                for inner in all.iter().filter_map(|inner| of(&made, inner).ok()) {
                    label = logic.labels.and(&label, &inner)?;
                }
                label
            }
            Node::Or(all) => {
                let mut label = logic.labels.bottom();
                for inner in all.iter().filter_map(|inner| of(&made, inner).ok()) {
                    label = logic.labels.or(&label, &inner)?;
                }
                label
            }
            _ => {
                let words = format!("`{written}` speaks of more than one instant");
                return Err(Flaw::Wrong(
                    words,
                    "an edge is taken for what holds now: use no temporal operators",
                ));
            }
        };
        made.push((part, label));
    }
    // The whole is the last: parts come before what they are part of.
    Ok(made.pop().map_or_else(|| logic.labels.bottom(), |(_, label)| label))
}
