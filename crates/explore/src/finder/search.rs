//! The search, in breadth.

use crate::finder::stop::Stops;
use crate::finder::trail::{Met, Trail};
use crate::finder::{Found, Stop, Witness, lasso};
use crate::{Incomplete, Limits, Pulse};
use invigil_semantics::{Accepting, Dependent, Semantics, Step};

/// What is alike for a search: configurations of the same key are explored once. Without a key a configuration is
/// like no other.
pub type Reduction<'a, C> = dyn Fn(&C) -> Option<String> + 'a;

/// Looks for breakpoints in breadth, so what it finds first is shortest. It is exact, unless there is a reduction or
/// a limit, and then says so.
///
/// It goes through the product of the subject, started where one stands, with the breakpoint: the composition
/// `subject.starting_in(starts).product(property)`, without building it, so that a property that is written for
/// the subject need not know of the composition.
pub struct Finder<'a, S: Semantics> {
    /// Where to look.
    pub subject: &'a S,
    /// How many to find.
    pub most: usize,
    /// What is alike for the search.
    pub reduction: Option<&'a Reduction<'a, S::Config>>,
    /// How much it may take.
    pub limits: Limits,
    /// Who listens.
    pub pulse: &'a dyn Pulse,
    /// Whether breakpoints that are hit by a start itself wait for the next time, so that one who stands on a
    /// breakpoint can go on.
    pub passes_starts: bool,
}

impl<'a, S: Semantics> Finder<'a, S> {
    /// Looks for one breakpoint, exactly, however much it takes.
    pub fn new(subject: &'a S) -> Finder<'a, S> {
        Finder {
            subject,
            most: 1,
            reduction: None,
            limits: Limits::default(),
            pulse: &(),
            passes_starts: false,
        }
    }

    /// The first executions from one of `starts` to one of these breakpoints: first those that are finite, and if
    /// there are none, infinite ones.
    pub fn run(&self, starts: &[S::Config], stops: &[Stop<'_, S>]) -> Found<S::Config, S::Action> {
        let reading = Stops { stops, passes_starts: self.passes_starts };
        let mut found = self.search(starts, &reading, |at| reading.hits(at));
        for (index, stop) in stops.iter().enumerate() {
            let is_done = !found.witnesses.is_empty() || found.incomplete == Some(Incomplete::Stopped);
            if let (Some(edges), false) = (stop.infinite(), is_done) {
                let lassos = lasso::find(self, starts, edges);
                found.totals.states = found.totals.states.max(lassos.totals.states);
                found.incomplete = lassos.incomplete.or(found.incomplete);
                found.skipped = found.skipped.max(lassos.skipped);
                found.failed = found.failed.or(lassos.failed);
                let hit = |execution| Witness { execution, hits: vec![index] };
                found.witnesses = lassos.witnesses.into_iter().map(|lasso| hit(lasso.execution)).collect();
            }
        }
        found
    }

    /// The first executions from one of `starts` after which `property` accepts: one for each configuration, with
    /// that of the property, in which it does.
    pub fn find<P: Dependent<S> + Accepting>(
        &self,
        starts: &[S::Config],
        property: &P,
    ) -> Found<S::Config, S::Action> {
        self.search(starts, property, |_| Vec::new())
    }

    fn search<P: Dependent<S> + Accepting>(
        &self,
        starts: &[S::Config],
        property: &P,
        hits: impl Fn(&P::Config) -> Vec<usize>,
    ) -> Found<S::Config, S::Action> {
        let mut trail = Trail::new(self.limits, self.pulse, self.reduction);
        let mut accepted = Vec::new();
        for start in starts {
            let step = Step::initial(start);
            for before in property.initial(self.subject) {
                for state in self.answers(property, step, &before) {
                    let hit = property.is_accepting(&state).then(|| hits(&state));
                    if let (Met::New(node), Some(hit)) = (trail.meet(None, start.clone(), state), hit) {
                        accepted.push((node, hit));
                    }
                }
            }
        }
        let mut next = 0;
        'search: while accepted.len() < self.most {
            let Some((config, state)) = trail.at(next) else { break };
            if trail.is_over(next) {
                break;
            }
            let node = next;
            next += 1;
            if property.is_accepting(&state) || !trail.is_within_depth(node) {
                continue;
            }
            for (action, target) in self.subject.steps(&config) {
                trail.totals.transitions += 1;
                for answer in self.answers(property, Step::taken(&config, &action, &target), &state) {
                    let hit = property.is_accepting(&answer).then(|| hits(&answer));
                    let met = trail.meet(Some((node, &action)), target.clone(), answer);
                    if let (Met::New(node), Some(hit)) = (met, hit) {
                        accepted.push((node, hit));
                        if accepted.len() == self.most {
                            break 'search;
                        }
                    }
                }
            }
        }
        if accepted.len() >= self.most {
            trail.incomplete = trail.incomplete.or(Some(Incomplete::Found));
        }
        accepted.truncate(self.most);
        let witness = |(node, hits)| Some(Witness { execution: trail.way(node)?, hits });
        let witnesses = accepted.into_iter().filter_map(witness).collect();
        Found { witnesses, ..trail.end() }
    }

    fn answers<P: Dependent<S>>(
        &self,
        property: &P,
        step: Step<&S::Config, &S::Action>,
        at: &P::Config,
    ) -> Vec<P::Config> {
        let mut answers = Vec::new();
        for action in property.actions(self.subject, step, at) {
            answers.extend(property.execute(self.subject, step, at, &action));
        }
        answers
    }
}
