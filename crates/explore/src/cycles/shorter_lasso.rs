//! Search for a shorter accepted execution near the start, since a depth-first search may find a distant one.

use super::acceptance::Acceptance;
use super::components::{CLOSED, Components, NEW};
use super::graph::Graph;
use super::lasso::AcceptingComponent;
use super::strong_fairness::{FairParts, FilteredGraph};
use crate::limits::{Incomplete, Limits, ProgressListener, Totals};
use crate::path::Path;
use crate::state_space::StateSpace;

/// The minimum number of configurations to explore, even if the first search discovered fewer.
const MIN_STATES: usize = 1 << 12;
/// The maximum number of configurations to explore, even if the first search discovered more.
const MAX_STATES: usize = 1 << 18;

/// The number of bisections of the number of configurations.
const BISECTIONS: u32 = 6;

/// Passes on stop requests but no progress: the listener would receive the totals of two searches.
struct SilentListener<'a, P>(&'a P);

impl<P: ProgressListener> ProgressListener for SilentListener<'_, P> {
    fn progress(&self, _: &Totals) {}

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}

/// Searches among the configurations nearest to the start, doubling their number up to about `discovered`.
pub(super) fn lasso_near_start<S: StateSpace, P: ProgressListener>(
    space: &S,
    accepted: &Acceptance,
    limits: &Limits,
    listener: &P,
    discovered: usize,
) -> Option<Path> {
    let limits = Limits { states: None, depth: None, ..*limits };
    let silent = SilentListener(listener);
    let mut graph = Graph::new(space, &limits, &silent);
    graph.start().ok()?;
    let (mut expanded, mut searched) = (0, 4);
    while expanded < graph.len() && expanded < discovered.clamp(MIN_STATES, MAX_STATES) {
        graph.expand(expanded as u32, |_, _| {}).ok()?;
        expanded += 1;
        if expanded == searched * 2 || expanded == graph.len() {
            if let Some(component) = component_among_first(&mut graph, accepted, expanded).ok()? {
                let component = narrow_down(&mut graph, accepted, (searched, expanded), component);
                return graph.lasso(accepted, &component);
            }
            searched = expanded;
        }
    }
    None
}

/// Narrows down the least number of configurations with an accepting component, between `too_few` and `enough`.
fn narrow_down<S: StateSpace, P: ProgressListener>(
    graph: &mut Graph<'_, S, P>,
    accepted: &Acceptance,
    (mut too_few, mut enough): (usize, usize),
    mut component: AcceptingComponent,
) -> AcceptingComponent {
    for _ in 0..BISECTIONS {
        let middle = usize::midpoint(too_few, enough);
        match component_among_first(graph, accepted, middle) {
            Ok(Some(nearer)) => (enough, component) = (middle, nearer),
            Ok(None) => too_few = middle,
            Err(_) => break,
        }
    }
    component
}

/// An accepting component among the first configurations.
fn component_among_first<S: StateSpace, P: ProgressListener>(
    graph: &mut Graph<'_, S, P>,
    accepted: &Acceptance,
    first: usize,
) -> Result<Option<AcceptingComponent>, Incomplete> {
    let mut numbers = vec![NEW; first];
    numbers.resize(graph.len(), CLOSED);
    let mut components = Components::new(graph.starts.clone());
    let mut parts = FairParts::default();
    loop {
        let mut known_graph = FilteredGraph { graph: &mut *graph, avoid: 0 };
        let Some(component) = components.next(&mut known_graph, accepted, &mut numbers)? else {
            return Ok(None);
        };
        if accepted.is_met(component.marks) {
            return Ok(Some(AcceptingComponent::new(component, accepted)));
        }
        if let Some(component) = parts.search(graph, accepted, component)? {
            return Ok(Some(component));
        }
    }
}
