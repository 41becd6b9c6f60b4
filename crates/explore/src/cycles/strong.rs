//! Parts of a component that are fair, where the whole is not.

use super::acceptance::Acceptance;
use super::components::{CLOSED, Component, Components, Edge, Edges, NEW, Standing};
use super::graph::Graph;
use super::lasso::Ring;
use crate::limits::{Incomplete, Pulse};
use crate::space::Space;

/// What the search for parts keeps from one component to the next.
#[derive(Default)]
pub(super) struct Parts {
    /// All closed, but for the configurations that are being looked at.
    numbers: Vec<u32>,
}

/// What has been met, without the steps that have one of some marks.
pub(super) struct Without<'g, 's, S, P> {
    pub(super) graph: &'g mut Graph<'s, S, P>,
    pub(super) avoid: u64,
}

impl<S: Space, P: Pulse> Edges for Without<'_, '_, S, P> {
    fn edges(&mut self, of: u32, standing: Standing, out: &mut Vec<Edge>) -> Result<(), Incomplete> {
        self.graph.check(&standing)?;
        let avoid = self.avoid;
        self.graph.again(of, |_, edge| {
            if edge.marks & avoid == 0 {
                out.push(edge);
            }
        });
        Ok(())
    }
}

impl Parts {
    /// Looks for a part of a component that is accepted.
    ///
    /// In an accepted execution that stays in the component, somebody who never moves there is not enabled for ever
    /// either: so it stays, from some point on, in what is left without the steps from where they are enabled.
    pub(super) fn search<S: Space, P: Pulse>(
        &mut self,
        graph: &mut Graph<'_, S, P>,
        accepted: &Acceptance,
        component: Component,
    ) -> Result<Option<Ring>, Incomplete> {
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
            // Where steps lead out of the component there must be a number, too.
            self.numbers.resize(self.numbers.len().max(graph.len()), CLOSED);
            let mut parts = Components::new(component.states);
            let mut without = Without { graph, avoid };
            while let Some(component) = parts.next(&mut without, accepted, &mut self.numbers)? {
                if accepted.is_met(component.marks) {
                    return Ok(Some(Ring::new(component, accepted)));
                }
                open.push((component, avoid));
            }
        }
        Ok(None)
    }
}
