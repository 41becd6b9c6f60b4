//! Compatibility [EH18 §6]: placement of monitors on components such that every monitor can reach those it sends to.
//!
//! The search of [EH18 §6] tries every component for every free monitor and checks all pairs each time. Since
//! reachability is transitive, checking both ends of each edge is enough. Components that fit no component of some
//! neighbour are pruned first, and components of neighbours are tried first, which keeps the number of messages small.

use crate::system::{ComponentId, System};

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// A component for each monitor.
    Placed(Vec<ComponentId>),
    /// No placement exists.
    Impossible,
    /// The search limit was reached.
    Unknown,
}

/// Maximum number of components tried in a search.
const MAX_STEPS: u32 = 1 << 20;

/// Searches for a component for each monitor. `sends` lists for each monitor those it sends to, `fixed` the given
/// components.
///
/// ```
/// use invigil_decent::spec::placement::{Placement, place};
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
    /// Neighbours of each monitor, and whether it sends to them.
    neighbours: Vec<Vec<(usize, bool)>>,
    /// Whether the first component reaches the second.
    reach: Vec<Vec<bool>>,
    /// Components allowed for each monitor.
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

    /// Removes components that fit no allowed component of some neighbour, until nothing changes.
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
        // Fast path: if all components reach each other, pruning already leaves only valid choices.
        self.prune();
        let choices = |allowed: &Vec<bool>| allowed.iter().filter(|allowed| **allowed).count();
        let mut order: Vec<usize> = (0..self.allowed.len()).collect();
        order.sort_by_key(|monitor| choices(&self.allowed[*monitor]));
        let mut placed: Vec<Option<usize>> = vec![None; order.len()];
        // Untried components for each placed monitor, the best last.
        let mut path: Vec<Vec<usize>> = Vec::new();
        let mut steps = 0;
        loop {
            let Some(&monitor) = order.get(path.len()) else {
                let places = placed.into_iter().flatten().map(|at| ComponentId(at as u16));
                return Placement::Placed(places.collect());
            };
            path.push(self.candidates(monitor, &placed));
            // Backtracks to the last monitor with an untried component.
            loop {
                steps += 1;
                if steps > MAX_STEPS {
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

    /// Returns the components on which a monitor fits its placed neighbours; those with the most neighbours last.
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
