//! Fair parts of components that are not fair as a whole.

use super::acceptance::Acceptance;
use super::components::{CLOSED, Component, Components, Edge, EdgeSource, NEW, SearchExtent};
use super::graph::Graph;
use super::lasso::AcceptingComponent;
use crate::limits::{Incomplete, ProgressListener};
use crate::state_space::StateSpace;

/// State of the search for fair parts that is reused for further components.
#[derive(Default)]
pub(super) struct FairParts {
    /// All closed, except for the configurations that are being searched.
    numbers: Vec<u32>,
}

/// The known part of the graph without the steps that have one of some marks.
pub(super) struct FilteredGraph<'g, 's, S, P> {
    pub(super) graph: &'g mut Graph<'s, S, P>,
    pub(super) avoid: u64,
}

impl<S: StateSpace, P: ProgressListener> EdgeSource for FilteredGraph<'_, '_, S, P> {
    fn edges(&mut self, of: u32, extent: SearchExtent, out: &mut Vec<Edge>) -> Result<(), Incomplete> {
        self.graph.check_limits(&extent)?;
        let avoid = self.avoid;
        self.graph.revisit(of, |_, edge| {
            if edge.marks & avoid == 0 {
                out.push(edge);
            }
        });
        Ok(())
    }
}

impl FairParts {
    /// Searches for an accepted part of a component.
    ///
    /// In an accepted execution that stays in the component, an action that is never taken there is not enabled
    /// infinitely often. So from some point on it stays in the part without steps from configurations that enable this
    /// action.
    pub(super) fn search<S: StateSpace, P: ProgressListener>(
        &mut self,
        graph: &mut Graph<'_, S, P>,
        accepted: &Acceptance,
        component: Component,
    ) -> Result<Option<AcceptingComponent>, Incomplete> {
        let mut open = vec![(component, 0)];
        while let Some((component, avoided)) = open.pop() {
            let avoid = avoided | accepted.unanswered(component.marks);
            for state in &component.states {
                let at = *state as usize;
                if at >= self.numbers.len() {
                    self.numbers.resize(at + 1, CLOSED);
                }
                self.numbers[at] = NEW;
            }
            // Targets outside the component need a visit number as well.
            self.numbers.resize(self.numbers.len().max(graph.len()), CLOSED);
            let mut parts = Components::new(component.states);
            let mut filtered_graph = FilteredGraph { graph, avoid };
            while let Some(component) = parts.next(&mut filtered_graph, accepted, &mut self.numbers)? {
                if accepted.is_met(component.marks) {
                    return Ok(Some(AcceptingComponent::new(component, accepted)));
                }
                open.push((component, avoid));
            }
        }
        Ok(None)
    }
}
