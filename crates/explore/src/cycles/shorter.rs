//! Another accepted execution, near the start: one that a search in depth finds may be far away.

use super::acceptance::Acceptance;
use super::components::{CLOSED, Components, NEW};
use super::graph::Graph;
use super::lasso::Ring;
use super::strong::{Parts, Without};
use crate::limits::{Incomplete, Limits, Pulse, Totals};
use crate::path::Path;
use crate::space::Space;

/// As many configurations are looked at even if the first search was faster.
const LEAST: usize = 1 << 12;
/// More are not looked at even if it was slower.
const MOST: usize = 1 << 18;

/// How often a number of configurations is narrowed down.
const NARROW: u32 = 6;

/// Can be stopped, but tells nothing: whoever listens would hear the numbers of two searches.
struct Quiet<'a, P>(&'a P);

impl<P: Pulse> Pulse for Quiet<'_, P> {
    fn beat(&self, _: &Totals) {}

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}

/// Looks among the configurations nearest to the start, about as many as have been met before: among a few, then
/// among twice as many, and so on.
pub(super) fn near_the_start<S: Space, P: Pulse>(
    space: &S,
    accepted: &Acceptance,
    limits: &Limits,
    pulse: &P,
    met: usize,
) -> Option<Path> {
    let limits = Limits { states: None, depth: None, ..*limits };
    let quiet = Quiet(pulse);
    let mut graph = Graph::new(space, &limits, &quiet);
    graph.start().ok()?;
    let (mut expanded, mut looked) = (0, 4);
    while expanded < graph.len() && expanded < met.clamp(LEAST, MOST) {
        graph.expand(expanded as u32, |_, _| {}).ok()?;
        expanded += 1;
        if expanded == looked * 2 || expanded == graph.len() {
            if let Some(ring) = among(&mut graph, accepted, expanded).ok()? {
                let ring = nearest(&mut graph, accepted, (looked, expanded), ring);
                return graph.lasso(accepted, &ring);
            }
            looked = expanded;
        }
    }
    None
}

/// There is a ring among so many configurations, and none among fewer: narrows that down.
fn nearest<S: Space, P: Pulse>(
    graph: &mut Graph<'_, S, P>,
    accepted: &Acceptance,
    (mut none, mut some): (usize, usize),
    mut ring: Ring,
) -> Ring {
    for _ in 0..NARROW {
        let middle = usize::midpoint(none, some);
        match among(graph, accepted, middle) {
            Ok(Some(nearer)) => (some, ring) = (middle, nearer),
            Ok(None) => none = middle,
            Err(_) => break,
        }
    }
    ring
}

/// Where an accepted execution can stay among the first configurations.
fn among<S: Space, P: Pulse>(
    graph: &mut Graph<'_, S, P>,
    accepted: &Acceptance,
    first: usize,
) -> Result<Option<Ring>, Incomplete> {
    let mut numbers = vec![NEW; first];
    numbers.resize(graph.len(), CLOSED);
    let mut components = Components::new(graph.starts.clone());
    let mut parts = Parts::default();
    loop {
        let mut near = Without { graph: &mut *graph, avoid: 0 };
        let Some(component) = components.next(&mut near, accepted, &mut numbers)? else { return Ok(None) };
        if accepted.is_met(component.marks) {
            return Ok(Some(Ring::new(component, accepted)));
        }
        if let Some(ring) = parts.search(graph, accepted, component)? {
            return Ok(Some(ring));
        }
    }
}
