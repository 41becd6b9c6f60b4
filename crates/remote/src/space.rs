//! A state space over a remote subject that keeps the number of round trips low.

use crate::registry::{RemoteAction, RemoteConfig};
use crate::remote::Remote;
use invigil_explore::{BAD, FAULT, ProgressListener, StateSpace, Successors, Totals, TransitionInfo};
use invigil_semantics::Step;

/// A remote subject as a state space. A configuration is its number, one word;
/// [`bulk_successors`](StateSpace::bulk_successors) requests many at once.
///
/// [`Interned`](invigil_explore::interned::Interned) also turns a remote subject, like any other subject, into a state
/// space. But it requests configurations one by one, and does not report failures to the search.
///
/// ```
/// use invigil_explore::{Incomplete, SearchOptions, bfs};
/// use invigil_remote::{Address, RemoteSpace, RemoteOptions, Remote};
///
/// let script = r#"read a; echo '{"id":1,"protocol":1,"name":"short","can":["steps"]}'
///                 read a; echo '{"id":2,"configs":[["on"]]}'"#;
/// let short = Remote::start(&Address::command(["sh", "-c", script]), RemoteOptions::default())?;
/// let report = bfs(&RemoteSpace::new(&short, Vec::new()), &SearchOptions::default(), &());
/// assert_eq!((report.incomplete, report.totals.deadlocks), (Some(Incomplete::Failed), 0));
/// assert!(short.error().unwrap().incomplete_note().starts_with("incomplete: the remote subject `sh -c"));
/// # Ok::<(), invigil_remote::RemoteError>(())
/// ```
pub struct RemoteSpace<'a> {
    remote: &'a Remote,
    bad: Vec<String>,
    has_acceptance: bool,
}

type StepParts = (Option<RemoteConfig>, Option<RemoteAction>, RemoteConfig);

impl<'a> RemoteSpace<'a> {
    /// Wraps a remote subject. `bad` are expressions of its language for configurations or steps that must not be
    /// reached. An expression without a value counts as true; the explanation of the path reports the reason
    /// ([`Remote::values_from_start`]).
    pub fn new(remote: &'a Remote, bad: Vec<String>) -> RemoteSpace<'a> {
        RemoteSpace { remote, bad, has_acceptance: false }
    }

    /// Adds one acceptance set: the steps to configurations that the language declares as accepting.
    #[must_use]
    pub fn with_acceptance(self) -> RemoteSpace<'a> {
        RemoteSpace { has_acceptance: true, ..self }
    }

    /// Appends the targets of steps, with flags and marks.
    fn push_steps(&self, steps: &[StepParts], out: &mut Successors) {
        let mut flags: Vec<u32> = steps
            .iter()
            .map(|(.., target)| if self.remote.fault(*target).is_some() { FAULT } else { 0 })
            .collect();
        let step_refs: Vec<_> = steps
            .iter()
            .map(|(source, action, target)| Step { source: source.as_ref(), action: action.as_ref(), target })
            .collect();
        for bad in &self.bad {
            let values = self.remote.values_from_start(bad, &step_refs);
            for (flags, value) in flags.iter_mut().zip(values) {
                // After an error, no expression has a value, and nothing must be reported as bad.
                if *flags == 0 && value.unwrap_or_else(|_| self.remote.error().is_none()) {
                    *flags = BAD;
                }
            }
        }
        for ((_, action, target), flags) in steps.iter().zip(flags) {
            out.push(
                &[target.number()],
                TransitionInfo { action: action.map_or(0, RemoteAction::number), flags },
            );
        }
        if self.has_acceptance {
            let targets: Vec<_> = steps.iter().map(|(.., target)| *target).collect();
            out.marks.extend(self.remote.accepting_of(&targets).into_iter().map(u64::from));
        }
    }
}

impl StateSpace for RemoteSpace<'_> {
    fn width(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Successors) {
        let mut starts: Vec<StepParts> =
            self.remote.initial_configs().into_iter().map(|config| (None, None, config)).collect();
        // The program may list a configuration twice.
        let mut seen = std::collections::HashSet::new();
        starts.retain(|start| seen.insert(start.2));
        self.push_steps(&starts, out);
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        self.bulk_successors(state, out, &mut Vec::new());
    }

    fn bulk_successors(&self, states: &[u64], out: &mut Successors, ends: &mut Vec<u32>) {
        for states in states.chunks(self.remote.max_batch()) {
            let configs: Vec<_> = states.iter().map(|number| RemoteConfig(*number)).collect();
            let mut steps: Vec<StepParts> = Vec::new();
            let before = out.len();
            for (source, pairs) in configs.iter().zip(self.remote.steps_of(&configs)) {
                steps.extend(pairs.into_iter().map(|(action, target)| (Some(*source), Some(action), target)));
                ends.push((before + steps.len()) as u32);
            }
            self.push_steps(&steps, out);
        }
    }

    fn acceptance_set_count(&self) -> u32 {
        self.has_acceptance.into()
    }

    fn failure(&self) -> Option<String> {
        self.remote.error().map(ToString::to_string)
    }
}

/// Stops a search when the remote subject has failed, and forwards the progress to another [`ProgressListener`].
pub struct RemoteListener<'a, P> {
    /// The remote subject.
    pub remote: &'a Remote,
    /// The listener that receives the progress.
    pub listener: P,
}

impl<P: ProgressListener> ProgressListener for RemoteListener<'_, P> {
    fn progress(&self, totals: &Totals) {
        self.listener.progress(totals);
    }

    fn is_stopped(&self) -> bool {
        self.remote.error().is_some() || self.listener.is_stopped()
    }
}
