//! What components observe, round by round.

use crate::system::{ComponentId, Instant, PropositionId, System};

/// Where observations come from.
pub trait Observations {
    /// Goes on to a round, from 1. Says whether some component is still observing.
    fn advance(&mut self, at: Instant) -> bool;

    /// What a component observed in this round. None if its trace is over.
    fn seen(&self, component: ComponentId) -> Option<&[(PropositionId, bool)]>;
}

/// What was observed in a run, in one piece.
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
/// # Ok::<(), invigil_decent::system::Clash>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    components: usize,
    values: Vec<(PropositionId, bool)>,
    /// Where the values of each component in each round end.
    ends: Vec<usize>,
}

impl Trace {
    /// Nothing was observed yet.
    pub fn new(system: &System) -> Trace {
        Trace { components: system.components().len(), values: Vec::new(), ends: Vec::new() }
    }

    /// All components observe all that they can in each round.
    pub fn whole(
        system: &System,
        rounds: Instant,
        mut value: impl FnMut(PropositionId, Instant) -> bool,
    ) -> Trace {
        let mut trace = Trace::new(system);
        for at in 1..=rounds {
            for component in system.components() {
                let own = system.propositions().filter(|known| system.owner(*known) == component);
                trace.values.extend(own.map(|known| (known, value(known, at))));
                trace.ends.push(trace.values.len());
            }
        }
        trace
    }

    /// What was observed is given for each component, in each round.
    pub fn of(run: &[Vec<Vec<(PropositionId, bool)>>]) -> Trace {
        let rounds = run.iter().map(Vec::len).max().unwrap_or(0);
        let mut trace = Trace { components: run.len(), values: Vec::new(), ends: Vec::new() };
        for round in 0..rounds {
            trace.push(run.iter().map(|rounds| rounds.get(round).map_or(&[][..], Vec::as_slice)));
        }
        trace
    }

    /// One more round: what each component observes in it.
    pub fn push<'a>(&mut self, seen: impl IntoIterator<Item = &'a [(PropositionId, bool)]>) {
        let mut seen = seen.into_iter();
        for _ in 0..self.components {
            self.values.extend(seen.next().into_iter().flatten());
            self.ends.push(self.values.len());
        }
    }

    /// How many rounds there are.
    pub fn rounds(&self) -> Instant {
        (self.ends.len() / self.components.max(1)) as Instant
    }

    /// The value of a proposition, if it was observed.
    pub fn value(&self, proposition: PropositionId, at: Instant) -> Option<bool> {
        let mut all = (0..self.components).filter_map(|component| self.seen(component, at)).flatten();
        all.find(|(known, _)| *known == proposition).map(|(_, value)| *value)
    }

    /// The trace from its beginning.
    pub fn replay(&self) -> Replay<'_> {
        Replay { trace: self, at: 0 }
    }

    /// What a component, by its place, observed in a round. None if the trace is over.
    pub fn seen(&self, component: usize, at: Instant) -> Option<&[(PropositionId, bool)]> {
        let place = (at.checked_sub(1)? as usize) * self.components + component;
        let end = *self.ends.get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.values.get(start..end)
    }
}

/// A trace that is being observed.
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
