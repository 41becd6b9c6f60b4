//! On-the-fly search for accepted infinite executions: generalised Büchi acceptance and strong fairness.
//!
//! One depth-first search computes the strongly connected components (Tarjan) and collects the marks of each component
//! on the way (Couvreur). It is linear in the number of transitions, and ends as soon as the steps seen so far contain
//! an accepting cycle. With strong fairness, a component that is not fair as a whole may contain a fair one: without
//! the configurations in which some process is enabled but never moves, it splits into smaller components, which are
//! examined in the same way.

mod acceptance;
mod components;
mod graph;
mod lasso;
mod shorter_lasso;
mod strong_fairness;

use crate::limits::{Incomplete, Limits, ProgressListener, Totals};
use crate::path::Path;
use crate::state_space::StateSpace;
use acceptance::Acceptance;
use components::Components;
use graph::Graph;
use lasso::AcceptingComponent;
use strong_fairness::FairParts;

/// The result of a search for an accepting cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleSearchResult {
    /// An accepted execution, if one was found.
    pub path: Option<Path>,
    /// The totals. Configurations that idle, as in products, are counted as deadlocks; a product whose automaton is
    /// stuck is not.
    pub totals: Totals,
    /// Why the search is incomplete. If none and there is no path, no execution is accepted.
    pub incomplete: Option<Incomplete>,
}

/// Searches for an accepted infinite execution: one that takes steps of each acceptance set infinitely often
/// ([`StateSpace::acceptance_set_count`]) and is fair ([`StateSpace::fairness_pair_count`]). The first one found is
/// shortened, and replaced by a shorter one near the start if there is one. It need not be the shortest of all.
///
/// ```
/// use invigil_explore::cycles::find_accepting_cycle;
/// use invigil_explore::{Limits, StateSpace, Successors, TransitionInfo};
///
/// /// From 0 to 3 and back to 1; only the step back is marked.
/// struct Loop;
/// impl StateSpace for Loop {
///     fn width(&self) -> usize {
///         1
///     }
///     fn initial(&self, out: &mut Successors) {
///         out.push(&[0], TransitionInfo::default());
///     }
///     fn successors(&self, state: &[u64], out: &mut Successors) {
///         out.push(&[state[0] % 3 + 1], TransitionInfo::default());
///         out.marks.push(u64::from(state[0] == 3));
///     }
///     fn acceptance_set_count(&self) -> u32 {
///         1
///     }
/// }
/// let path = find_accepting_cycle(&Loop, &Limits::default(), &()).path.unwrap();
/// assert_eq!((path.states.len(), path.loop_back), (4, Some((1, Some(0)))));
/// ```
pub fn find_accepting_cycle(
    space: &impl StateSpace,
    limits: &Limits,
    listener: &impl ProgressListener,
) -> CycleSearchResult {
    let accepted = Acceptance::of(space);
    let mut graph = Graph::new(space, limits, listener);
    let mut numbers = Vec::new();
    let found = search(&mut graph, &accepted, &mut numbers);
    let totals = graph.totals(&numbers);
    listener.progress(&totals);
    let (path, incomplete) = match found {
        Ok(Some(component)) => (graph.lasso(&accepted, &component), Some(Incomplete::Found)),
        Ok(None) => (None, graph.exceeded_depth_limit()),
        Err(incomplete) => (None, Some(incomplete)),
    };
    // Results computed after a failure of the subject are unreliable.
    if space.failure().is_some() {
        return CycleSearchResult { path: None, totals, incomplete: Some(Incomplete::Failed) };
    }
    let discovered = graph.len();
    drop(graph);
    let path = path.map(|path| {
        let other = shorter_lasso::lasso_near_start(space, &accepted, limits, listener, discovered);
        let is_better = |other: &Path| other.states.len() < path.states.len() && space.failure().is_none();
        other.filter(is_better).unwrap_or(path)
    });
    CycleSearchResult { path, totals, incomplete }
}

/// Finds a component whose steps together are accepted.
fn search<S: StateSpace, P: ProgressListener>(
    graph: &mut Graph<'_, S, P>,
    accepted: &Acceptance,
    numbers: &mut Vec<u32>,
) -> Result<Option<AcceptingComponent>, Incomplete> {
    let starts = graph.start()?;
    let mut components = Components::new(starts);
    let mut parts = FairParts::default();
    while let Some(component) = components.next(graph, accepted, numbers)? {
        if accepted.is_met(component.marks) {
            return Ok(Some(AcceptingComponent::new(component, accepted)));
        }
        if let Some(component) = parts.search(graph, accepted, component)? {
            return Ok(Some(component));
        }
    }
    Ok(None)
}
