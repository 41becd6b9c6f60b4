//! Exploring a remote semantics with few round trips.

use crate::known::{Action, Config};
use crate::remote::Remote;
use invigil_explore::{BAD, FAULT, Pulse, Space, Successors, Taken, Totals};
use invigil_semantics::Step;

/// A remote semantics as a space: the word of a configuration is its number, and [`bulk`](Space::bulk) asks for many
/// at once.
///
/// [`Interned`](invigil_explore::interned::Interned) makes a space of a remote semantics, too, as of every subject. But
/// it asks for one configuration after the other, and cannot tell a search that the remote semantics has failed.
///
/// ```
/// use invigil_explore::{Incomplete, Search, breadth};
/// use invigil_remote::{Address, Explored, Options, Remote};
///
/// let script = r#"read a; echo '{"id":1,"protocol":1,"name":"short","can":["steps"]}'
///                 read a; echo '{"id":2,"configs":[["on"]]}'"#;
/// let short = Remote::start(&Address::command(["sh", "-c", script]), Options::default())?;
/// let report = breadth(&Explored::new(&short, Vec::new()), &Search::default(), &());
/// assert_eq!((report.incomplete, report.totals.deadlocks), (Some(Incomplete::Failed), 0));
/// assert!(short.failure().unwrap().incomplete().starts_with("incomplete: the remote semantics `sh -c"));
/// # Ok::<(), invigil_remote::Failure>(())
/// ```
pub struct Explored<'a> {
    remote: &'a Remote,
    bad: Vec<String>,
    is_marked: bool,
}

type Taking = (Option<Config>, Option<Action>, Config);

impl<'a> Explored<'a> {
    /// The remote semantics; `bad` are expressions of its language that say which configurations, or steps, must not
    /// be reached. One that has no value somewhere counts as true there: whoever looks at the path is told why
    /// ([`Remote::values_from_start`]).
    pub fn new(remote: &'a Remote, bad: Vec<String>) -> Explored<'a> {
        Explored { remote, bad, is_marked: false }
    }

    /// The same with one acceptance set: the steps to configurations that the language says are accepting.
    #[must_use]
    pub fn marked(self) -> Explored<'a> {
        Explored { is_marked: true, ..self }
    }

    /// Adds what steps lead to, with flags and marks.
    fn add(&self, steps: &[Taking], out: &mut Successors) {
        let mut flags: Vec<u32> = steps
            .iter()
            .map(|(.., target)| if self.remote.fault(*target).is_some() { FAULT } else { 0 })
            .collect();
        let looked_at: Vec<_> = steps
            .iter()
            .map(|(source, action, target)| Step { source: source.as_ref(), action: action.as_ref(), target })
            .collect();
        for bad in &self.bad {
            let values = self.remote.values_from_start(bad, &looked_at);
            for (flags, value) in flags.iter_mut().zip(values) {
                // After a failure nothing has a value, and nothing is to be found.
                if *flags == 0 && value.unwrap_or_else(|_| self.remote.failure().is_none()) {
                    *flags = BAD;
                }
            }
        }
        for ((_, action, target), flags) in steps.iter().zip(flags) {
            out.push(&[target.number()], Taken { action: action.map_or(0, Action::number), flags });
        }
        if self.is_marked {
            let targets: Vec<_> = steps.iter().map(|(.., target)| *target).collect();
            out.marks.extend(self.remote.accepting_of(&targets).into_iter().map(u64::from));
        }
    }
}

impl Space for Explored<'_> {
    fn width(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Successors) {
        let mut starts: Vec<Taking> =
            self.remote.ask_initial().into_iter().map(|config| (None, None, config)).collect();
        // The other side may say one twice.
        let mut seen = std::collections::HashSet::new();
        starts.retain(|start| seen.insert(start.2));
        self.add(&starts, out);
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        self.bulk(state, out, &mut Vec::new());
    }

    fn bulk(&self, states: &[u64], out: &mut Successors, ends: &mut Vec<u32>) {
        for states in states.chunks(self.remote.batch()) {
            let configs: Vec<_> = states.iter().map(|number| Config(*number)).collect();
            let mut steps: Vec<Taking> = Vec::new();
            let before = out.len();
            for (config, taken) in configs.iter().zip(self.remote.steps_of(&configs)) {
                steps.extend(taken.into_iter().map(|(action, target)| (Some(*config), Some(action), target)));
                ends.push((before + steps.len()) as u32);
            }
            self.add(&steps, out);
        }
    }

    fn sets(&self) -> u32 {
        self.is_marked.into()
    }

    fn failure(&self) -> Option<String> {
        self.remote.failure().map(ToString::to_string)
    }
}

/// Stops a search as soon as the remote semantics has failed, and hands on what it says to another [`Pulse`].
pub struct Attended<'a, P> {
    /// The remote semantics that is explored.
    pub remote: &'a Remote,
    /// Who hears of the progress.
    pub pulse: P,
}

impl<P: Pulse> Pulse for Attended<'_, P> {
    fn beat(&self, totals: &Totals) {
        self.pulse.beat(totals);
    }

    fn is_stopped(&self) -> bool {
        self.remote.failure().is_some() || self.pulse.is_stopped()
    }
}
