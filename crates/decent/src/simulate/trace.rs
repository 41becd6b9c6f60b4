//! Observations of components, round by round.

use crate::system::{ComponentId, Instant, PropositionId, System};

/// Source of observations.
pub trait Observations {
    /// Advances to a round, from 1. Returns whether some component is still observing.
    fn advance(&mut self, at: Instant) -> bool;

    /// Returns the observations of a component in this round, or `None` if its trace has ended.
    fn seen(&self, component: ComponentId) -> Option<&[(PropositionId, bool)]>;
}

/// Complete recorded observations of a run.
///
/// ```
/// use invigil_decent::simulate::{Observations, Trace};
/// use invigil_decent::system::System;
///
/// let mut system = System::default();
/// let (a, b) = (system.component("a")?, system.component("b")?);
/// let (x, y) = (system.proposition(a, "x")?, system.proposition(b, "y")?);
/// let mut trace = Trace::new(&system);
/// trace.push([&[(x, true)][..], &[(y, false)]]);
/// trace.push([&[(x, false)][..], &[]]);
/// assert_eq!((trace.rounds(), trace.value(y, 1), trace.value(y, 2)), (2, Some(false), None));
/// let mut replay = trace.replay();
/// assert!(replay.advance(2) && replay.seen(a) == Some(&[(x, false)]));
/// assert!(!replay.advance(3) && replay.seen(a).is_none());
/// # Ok::<(), invigil_decent::system::SystemError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    components: usize,
    values: Vec<(PropositionId, bool)>,
    /// End index of each component's values in each round.
    ends: Vec<usize>,
}

impl Trace {
    /// Creates an empty trace.
    pub fn new(system: &System) -> Trace {
        Trace { components: system.components().len(), values: Vec::new(), ends: Vec::new() }
    }

    /// Creates a trace in which all components observe all of their propositions in each round.
    pub fn from_fn(
        system: &System,
        rounds: Instant,
        mut value: impl FnMut(PropositionId, Instant) -> bool,
    ) -> Trace {
        let mut trace = Trace::new(system);
        for at in 1..=rounds {
            for component in system.components() {
                let propositions = system.propositions().filter(|id| system.owner(*id) == component);
                trace.values.extend(propositions.map(|id| (id, value(id, at))));
                trace.ends.push(trace.values.len());
            }
        }
        trace
    }

    /// Creates a trace from the observations of each component in each round.
    pub fn from_run(run: &[Vec<Vec<(PropositionId, bool)>>]) -> Trace {
        let rounds = run.iter().map(Vec::len).max().unwrap_or(0);
        let mut trace = Trace { components: run.len(), values: Vec::new(), ends: Vec::new() };
        for round in 0..rounds {
            trace.push(run.iter().map(|rounds| rounds.get(round).map_or(&[][..], Vec::as_slice)));
        }
        trace
    }

    /// Appends a round: the observations of each component.
    pub fn push<'a>(&mut self, seen: impl IntoIterator<Item = &'a [(PropositionId, bool)]>) {
        let mut seen = seen.into_iter();
        for _ in 0..self.components {
            self.values.extend(seen.next().into_iter().flatten());
            self.ends.push(self.values.len());
        }
    }

    /// Returns the number of rounds.
    pub fn rounds(&self) -> Instant {
        (self.ends.len() / self.components.max(1)) as Instant
    }

    /// Returns the value of a proposition in a round, if it was observed.
    pub fn value(&self, proposition: PropositionId, at: Instant) -> Option<bool> {
        let mut all = (0..self.components).filter_map(|component| self.seen(component, at)).flatten();
        all.find(|(id, _)| *id == proposition).map(|(_, value)| *value)
    }

    /// Returns the observations from the first round on.
    pub fn replay(&self) -> Replay<'_> {
        Replay { trace: self, at: 0 }
    }

    /// Returns the observations of a component (by index) in a round, or `None` after the end of the trace.
    pub fn seen(&self, component: usize, at: Instant) -> Option<&[(PropositionId, bool)]> {
        let place = (at.checked_sub(1)? as usize) * self.components + component;
        let end = *self.ends.get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.values.get(start..end)
    }
}

/// Observations from a trace.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    trace: &'a Trace,
    at: Instant,
}

impl Observations for Replay<'_> {
    fn advance(&mut self, at: Instant) -> bool {
        self.at = at;
        at <= self.trace.rounds()
    }

    fn seen(&self, component: ComponentId) -> Option<&[(PropositionId, bool)]> {
        self.trace.seen(component.index(), self.at)
    }
}
