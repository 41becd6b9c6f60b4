//! Breadth-first search for breakpoints.

use crate::breakpoint_search::breakpoint::BreakpointSet;
use crate::breakpoint_search::search_tree::{Insertion, SearchTree};
use crate::breakpoint_search::{Breakpoint, BreakpointSearchResult, Witness, lasso};
use crate::{Incomplete, Limits, ProgressListener};
use invigil_semantics::{Accepting, Dependent, Semantics, Step};

/// The reduction key of a configuration: configurations with equal keys are explored once. Without a key, a
/// configuration equals only itself.
pub type ReductionKey<'a, C> = dyn Fn(&C) -> Option<String> + 'a;

/// Searches for breakpoints breadth-first, so witnesses are shortest. The search is exact, unless there is a reduction
/// or a limit, which the result reports.
///
/// It explores the product of the subject, started in the given configurations, with the breakpoint: the composition
/// `subject.starting_in(starts).product(property)`. The composition is not built, so a property that is written for the
/// subject itself can be used.
pub struct BreakpointFinder<'a, S: Semantics> {
    /// The subject.
    pub subject: &'a S,
    /// Maximum number of witnesses.
    pub max_witnesses: usize,
    /// Identifies configurations that are explored only once.
    pub reduction: Option<&'a ReductionKey<'a, S::Config>>,
    /// Resource limits.
    pub limits: Limits,
    /// Receives the progress.
    pub listener: &'a dyn ProgressListener,
    /// Whether breakpoints that hit an initial configuration wait for their next hit, so that a run can continue from a
    /// breakpoint.
    pub skips_initial_hits: bool,
}

impl<'a, S: Semantics> BreakpointFinder<'a, S> {
    /// An exact search for one witness without limits.
    pub fn new(subject: &'a S) -> BreakpointFinder<'a, S> {
        BreakpointFinder {
            subject,
            max_witnesses: 1,
            reduction: None,
            limits: Limits::default(),
            listener: &(),
            skips_initial_hits: false,
        }
    }

    /// Finds the first executions from one of `starts` to a breakpoint: finite ones, or infinite ones if there are
    /// none.
    pub fn run(
        &self,
        starts: &[S::Config],
        breakpoints: &[Breakpoint<'_, S>],
    ) -> BreakpointSearchResult<S::Config, S::Action> {
        let breakpoint_set = BreakpointSet { breakpoints, skips_initial_hits: self.skips_initial_hits };
        let mut found = self.search(starts, &breakpoint_set, |at| breakpoint_set.hits(at));
        for (index, breakpoint) in breakpoints.iter().enumerate() {
            let is_done = !found.witnesses.is_empty() || found.incomplete == Some(Incomplete::Stopped);
            if let (Some(omega_reader), false) = (breakpoint.omega_reader(), is_done) {
                let lassos = lasso::find(self, starts, omega_reader);
                found.totals.states = found.totals.states.max(lassos.totals.states);
                found.incomplete = lassos.incomplete.or(found.incomplete);
                found.skipped = found.skipped.max(lassos.skipped);
                found.evaluation_error = found.evaluation_error.or(lassos.evaluation_error);
                let hit = |execution| Witness { execution, hits: vec![index] };
                found.witnesses = lassos.witnesses.into_iter().map(|lasso| hit(lasso.execution)).collect();
            }
        }
        found
    }

    /// Finds the first executions from one of `starts` after which `property` accepts: one for each pair of
    /// configurations of subject and property.
    pub fn find<P: Dependent<S> + Accepting>(
        &self,
        starts: &[S::Config],
        property: &P,
    ) -> BreakpointSearchResult<S::Config, S::Action> {
        self.search(starts, property, |_| Vec::new())
    }

    fn search<P: Dependent<S> + Accepting>(
        &self,
        starts: &[S::Config],
        property: &P,
        hits: impl Fn(&P::Config) -> Vec<usize>,
    ) -> BreakpointSearchResult<S::Config, S::Action> {
        let mut tree = SearchTree::new(self.limits, self.listener, self.reduction);
        let mut accepted = Vec::new();
        for start in starts {
            let step = Step::initial(start);
            for before in property.initial(self.subject) {
                for state in self.successors(property, step, &before) {
                    let hit = property.is_accepting(&state).then(|| hits(&state));
                    if let (Insertion::New(node), Some(hit)) = (tree.insert(None, start.clone(), state), hit)
                    {
                        accepted.push((node, hit));
                    }
                }
            }
        }
        let mut next = 0;
        'search: while accepted.len() < self.max_witnesses {
            let Some((config, state)) = tree.node(next) else { break };
            if tree.exceeds_limits(next) {
                break;
            }
            let node = next;
            next += 1;
            if property.is_accepting(&state) || !tree.is_within_depth(node) {
                continue;
            }
            for (action, target) in self.subject.steps(&config) {
                tree.totals.transitions += 1;
                for state_after in
                    self.successors(property, Step::by_action(&config, &action, &target), &state)
                {
                    let hit = property.is_accepting(&state_after).then(|| hits(&state_after));
                    let insertion = tree.insert(Some((node, &action)), target.clone(), state_after);
                    if let (Insertion::New(node), Some(hit)) = (insertion, hit) {
                        accepted.push((node, hit));
                        if accepted.len() == self.max_witnesses {
                            break 'search;
                        }
                    }
                }
            }
        }
        if accepted.len() >= self.max_witnesses {
            tree.incomplete = tree.incomplete.or(Some(Incomplete::Found));
        }
        accepted.truncate(self.max_witnesses);
        let witness = |(node, hits)| Some(Witness { execution: tree.path_to(node)?, hits });
        let witnesses = accepted.into_iter().filter_map(witness).collect();
        BreakpointSearchResult { witnesses, ..tree.finish() }
    }

    fn successors<P: Dependent<S>>(
        &self,
        property: &P,
        step: Step<&S::Config, &S::Action>,
        at: &P::Config,
    ) -> Vec<P::Config> {
        let mut successors = Vec::new();
        for action in property.actions(self.subject, step, at) {
            successors.extend(property.execute(self.subject, step, at, &action));
        }
        successors
    }
}
