//! Infinite executions that are accepted: generalised Büchi acceptance and strong fairness, on the fly.
//!
//! One search in depth finds the strongly connected components of what can be reached (Tarjan's way, with the marks
//! of each component gathered on the way, after Couvreur): linear in the number of transitions, and it ends as soon
//! as the steps that it has seen make an accepting cycle. Where strong fairness is demanded, a component that is not
//! fair as a whole may hold one that is: without the configurations in which somebody is enabled who never moves, it
//! falls apart into smaller components, which are looked at in the same way.

mod acceptance;
mod components;
mod graph;
mod lasso;
mod shorter;
mod strong;

use crate::limits::{Incomplete, Limits, Pulse, Totals};
use crate::path::Path;
use crate::space::Space;
use acceptance::Acceptance;
use components::Components;
use graph::Graph;
use lasso::Ring;
use strong::Parts;

/// What a search for an accepting cycle gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// An accepted execution, if one was found.
    pub path: Option<Path>,
    /// What was seen. Deadlocks are counted where they are configurations that idle, as in products; a product whose
    /// automaton is stuck is none.
    pub totals: Totals,
    /// Why not everything was seen. If this is none and there is no path, there is no accepted execution.
    pub incomplete: Option<Incomplete>,
}

/// Looks for an infinite execution that is accepted: one that takes steps of each acceptance set for ever
/// ([`Space::sets`]) and is fair ([`Space::pairs`]). The first one that the search closes is made short, and if a
/// shorter one is near the start, it is that one; it need not be the shortest of all.
///
/// ```
/// use invigil_explore::cycles::cycle;
/// use invigil_explore::{Limits, Space, Successors, Taken};
///
/// /// From 0 to 3 and back to 1; the way back is what counts.
/// struct Loop;
/// impl Space for Loop {
///     fn width(&self) -> usize {
///         1
///     }
///     fn initial(&self, out: &mut Successors) {
///         out.push(&[0], Taken::default());
///     }
///     fn successors(&self, state: &[u64], out: &mut Successors) {
///         out.push(&[state[0] % 3 + 1], Taken::default());
///         out.marks.push(u64::from(state[0] == 3));
///     }
///     fn sets(&self) -> u32 {
///         1
///     }
/// }
/// let path = cycle(&Loop, &Limits::default(), &()).path.unwrap();
/// assert_eq!((path.states.len(), path.back), (4, Some((1, Some(0)))));
/// ```
pub fn cycle(space: &impl Space, limits: &Limits, pulse: &impl Pulse) -> Cycle {
    let accepted = Acceptance::of(space);
    let mut graph = Graph::new(space, limits, pulse);
    let mut numbers = Vec::new();
    let found = search(&mut graph, &accepted, &mut numbers);
    let totals = graph.totals(&numbers);
    pulse.beat(&totals);
    let (path, incomplete) = match found {
        Ok(Some(ring)) => (graph.lasso(&accepted, &ring), Some(Incomplete::Found)),
        Ok(None) => (None, graph.cut()),
        Err(incomplete) => (None, Some(incomplete)),
    };
    // What a subject says after it has failed is not to be believed.
    if space.failure().is_some() {
        return Cycle { path: None, totals, incomplete: Some(Incomplete::Failed) };
    }
    let met = graph.len();
    drop(graph);
    let path = path.map(|path| {
        let other = shorter::near_the_start(space, &accepted, limits, pulse, met);
        let is_better = |other: &Path| other.states.len() < path.states.len() && space.failure().is_none();
        other.filter(is_better).unwrap_or(path)
    });
    Cycle { path, totals, incomplete }
}

/// Finds a part of the space in which all steps together are accepted.
fn search<S: Space, P: Pulse>(
    graph: &mut Graph<'_, S, P>,
    accepted: &Acceptance,
    numbers: &mut Vec<u32>,
) -> Result<Option<Ring>, Incomplete> {
    let starts = graph.start()?;
    let mut components = Components::new(starts);
    let mut parts = Parts::default();
    while let Some(component) = components.next(graph, accepted, numbers)? {
        if accepted.is_met(component.marks) {
            return Ok(Some(Ring::new(component, accepted)));
        }
        if let Some(ring) = parts.search(graph, accepted, component)? {
            return Ok(Some(ring));
        }
    }
    Ok(None)
}
