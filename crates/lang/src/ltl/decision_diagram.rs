//! Decision diagrams over the labels of a state's edges.

use invigil_ltl::formula::Atom;
use invigil_ltl::label::{Labels, Variable};
use invigil_ltl::{Label, TooLarge};
use invigil_monitor::decision::{DecisionEdge, DecisionNode};
use std::collections::HashMap;

/// The maximum number of decision nodes of a property.
const MAX_NODES: usize = 1 << 20;
/// The maximum number of decisions on a path.
const MAX_DEPTH: usize = 1 << 10;

/// Mutually exclusive edges, each with its outcome.
pub(super) type Edges = Vec<(Label, DecisionEdge)>;

/// Builds decision diagrams that share equal nodes.
#[derive(Default)]
pub(super) struct Diagrams {
    pub(super) nodes: Vec<DecisionNode>,
    shared: HashMap<DecisionNode, u32>,
    /// Results for the current event.
    results: HashMap<Edges, DecisionEdge>,
}

impl Diagrams {
    /// Starts the next event, for which atoms have different tests.
    pub(super) fn next_event(&mut self) {
        self.results.clear();
    }

    /// Returns the diagram that leads to the edge whose label is true, or to [`DecisionEdge::Stay`] if there is
    /// none. `test` returns the test for an atom.
    pub(super) fn decide(
        &mut self,
        labels: &mut Labels,
        edges: &Edges,
        test: &mut dyn FnMut(Atom) -> u32,
    ) -> Result<DecisionEdge, TooLarge> {
        self.build(labels, edges, test, 0)
    }

    fn build(
        &mut self,
        labels: &mut Labels,
        edges: &Edges,
        test: &mut dyn FnMut(Atom) -> u32,
        depth: usize,
    ) -> Result<DecisionEdge, TooLarge> {
        if depth > MAX_DEPTH {
            return Err(TooLarge { resource: "atoms in one decision", limit: MAX_DEPTH });
        }
        let next_variable =
            edges.iter().find_map(|(label, _)| labels.cofactors(label)).map(|(variable, ..)| variable);
        let Some(variable) = next_variable else {
            return Ok(edges.first().map_or(DecisionEdge::Stay, |(_, next)| *next));
        };
        if let Some(result) = self.results.get(edges) {
            return Ok(*result);
        }
        let mut side = |value: bool| -> Result<Edges, TooLarge> {
            let cube = labels.cube(&[(variable, value)])?;
            let mut rest = Vec::new();
            for (label, next) in edges {
                let label = labels.restrict(label, &cube)?;
                if !label.is_false() {
                    rest.push((label, *next));
                }
            }
            Ok(rest)
        };
        let (yes, no) = (side(true)?, side(false)?);
        let yes = self.build(labels, &yes, test, depth + 1)?;
        let no = self.build(labels, &no, test, depth + 1)?;
        let next = match variable {
            _ if yes == no => yes,
            Variable::Atom(atom) => self.intern(DecisionNode { test: test(atom), yes, no })?,
            // Machines of users' formulae only contain atoms.
            Variable::Helper(_) => no,
        };
        self.results.insert(edges.clone(), next);
        Ok(next)
    }

    fn intern(&mut self, node: DecisionNode) -> Result<DecisionEdge, TooLarge> {
        if self.nodes.len() == MAX_NODES {
            return Err(TooLarge { resource: "decision nodes of a monitor", limit: MAX_NODES });
        }
        let number = *self.shared.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        });
        Ok(DecisionEdge::Test(number))
    }
}
