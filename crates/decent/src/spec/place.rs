//! Compatibility: whether monitors can be placed on components so that whoever sends to another can reach it.
//!
//! The document's search tries every component for every monitor that is free, and looks at all pairs each time. Reaching is
//! transitive in the system, so it is enough that both ends of each edge fit. Components that cannot fit any neighbour are
//! put away first, and components of neighbours are tried first: what is found needs few messages.

use crate::system::{ComponentId, System};

/// What a search for places found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// A component for each monitor.
    Placed(Vec<ComponentId>),
    /// There is no way.
    Impossible,
    /// It was not found out within the steps that a search may take.
    Unknown,
}

/// How often a component is tried before the search gives up.
const STEPS: u32 = 1 << 20;

/// Looks for a component for each monitor: `sends` has for each monitor those that it sends to, `fixed` those that are placed
/// already.
///
/// ```
/// use invigil_decent::spec::place::{Placement, place};
/// use invigil_decent::system::System;
///
/// let mut system = System::default();
/// let [a, b] = ["a", "b"].map(|name| system.component(name).unwrap());
/// system.link(a, b);
/// // The first sends to the second: from `a` to `b` it can.
/// assert_eq!(place(&[vec![1], vec![]], &system, &[Some(a), Some(b)]), Placement::Placed(vec![a, b]));
/// assert_eq!(place(&[vec![1], vec![]], &system, &[Some(b), Some(a)]), Placement::Impossible);
/// ```
pub fn place(sends: &[Vec<usize>], system: &System, fixed: &[Option<ComponentId>]) -> Placement {
    Search::new(sends, system, fixed).run()
}

struct Search {
    /// For each monitor: its neighbours, and whether it sends to them.
    neighbours: Vec<Vec<(usize, bool)>>,
    /// Whether the first component reaches the second.
    reach: Vec<Vec<bool>>,
    /// Where each monitor may be.
    allowed: Vec<Vec<bool>>,
}

impl Search {
    fn new(sends: &[Vec<usize>], system: &System, fixed: &[Option<ComponentId>]) -> Search {
        let mut neighbours = vec![Vec::new(); sends.len()];
        for (from, all) in sends.iter().enumerate() {
            for &to in all.iter().filter(|to| **to != from) {
                neighbours[from].push((to, true));
                neighbours[to].push((from, false));
            }
        }
        let reach: Vec<Vec<bool>> = system
            .components()
            .map(|from| system.hops(from).into_iter().map(|hops| hops.is_some()).collect())
            .collect();
        let only = |place: &Option<ComponentId>| {
            system.components().map(|component| place.is_none_or(|place| place == component)).collect()
        };
        Search { neighbours, reach, allowed: fixed.iter().map(only).collect() }
    }

    fn fits(&self, at: usize, there: usize, sends: bool) -> bool {
        if sends { self.reach[at][there] } else { self.reach[there][at] }
    }

    /// Puts components away that no component of some neighbour fits.
    fn prune(&mut self) {
        let mut open: Vec<usize> = (0..self.neighbours.len()).collect();
        let mut waiting = vec![true; open.len()];
        while let Some(monitor) = open.pop() {
            waiting[monitor] = false;
            let fits = |at: usize| {
                self.neighbours[monitor].iter().all(|(other, sends)| {
                    (0..self.reach.len())
                        .any(|there| self.allowed[*other][there] && self.fits(at, there, *sends))
                })
            };
            let kept: Vec<bool> =
                (0..self.reach.len()).map(|at| self.allowed[monitor][at] && fits(at)).collect();
            if kept != self.allowed[monitor] {
                self.allowed[monitor] = kept;
                for (other, _) in &self.neighbours[monitor] {
                    if !std::mem::replace(&mut waiting[*other], true) {
                        open.push(*other);
                    }
                }
            }
        }
    }

    fn run(mut self) -> Placement {
        // Where everybody reaches everybody nothing needs to be looked for, and all places would be the same to the search.
        self.prune();
        let choices = |allowed: &Vec<bool>| allowed.iter().filter(|allowed| **allowed).count();
        let mut order: Vec<usize> = (0..self.allowed.len()).collect();
        order.sort_by_key(|monitor| choices(&self.allowed[*monitor]));
        let mut placed: Vec<Option<usize>> = vec![None; order.len()];
        // For each monitor that was placed, the components that are left to try, the best last.
        let mut path: Vec<Vec<usize>> = Vec::new();
        let mut steps = 0;
        loop {
            let Some(&monitor) = order.get(path.len()) else {
                let places = placed.into_iter().flatten().map(|at| ComponentId(at as u16));
                return Placement::Placed(places.collect());
            };
            path.push(self.candidates(monitor, &placed));
            // Goes back to the last monitor that has another component to try.
            loop {
                steps += 1;
                if steps > STEPS {
                    return Placement::Unknown;
                }
                let Some(untried) = path.last_mut() else { return Placement::Impossible };
                let next = untried.pop();
                placed[order[path.len() - 1]] = next;
                if next.is_some() {
                    break;
                }
                path.pop();
            }
        }
    }

    /// The components on which a monitor fits those that are placed; where most of its neighbours are comes last.
    fn candidates(&self, monitor: usize, placed: &[Option<usize>]) -> Vec<usize> {
        let around: Vec<(usize, bool)> = self.neighbours[monitor]
            .iter()
            .filter_map(|(other, sends)| Some((placed[*other]?, *sends)))
            .collect();
        let fits = |at: &usize| around.iter().all(|(there, sends)| self.fits(*at, *there, *sends));
        let allowed = (0..self.reach.len()).rev().filter(|at| self.allowed[monitor][*at]);
        let mut found: Vec<usize> = allowed.filter(fits).collect();
        found.sort_by_key(|at| around.iter().filter(|(there, _)| there == at).count());
        found
    }
}
