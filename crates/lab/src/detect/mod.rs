//! How well monitors find out what people do: what they say of every instant, beside what was written down.

mod diary;

pub use diary::{Diary, Entry};

use invigil_decent::algorithm::hierarchy::{Member, Told, watch};
use invigil_decent::algorithm::{NoSetup, Outbox};
use invigil_decent::encoding::Encoding;
use invigil_decent::network::Network;
use invigil_decent::simulate::{Conditions, Hooks, Observations, Sent, Simulator, Unlinked};
use invigil_decent::system::{ComponentId, Instant, MonitorId, System};
use std::fmt;
use std::ops::Range;

/// A monitor that is watched, and the instants at which what it is about went on, as somebody has written down: in order, and
/// apart from each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The monitor.
    pub monitor: MonitorId,
    /// When it went on; the end is not part of it.
    pub stays: Vec<Range<Instant>>,
}

/// What a monitor said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Of how many instants it said something.
    pub said: u32,
    /// At how many it said that it holds.
    pub held: u32,
    /// At how many of these it was so.
    pub right: u32,
    /// At how many instants it was so.
    pub annotated: u32,
}

impl Tally {
    /// The share of what was found that was so; none if nothing was found.
    ///
    /// ```
    /// use invigil_lab::detect::Tally;
    /// let tally = Tally { said: 10, held: 4, right: 2, annotated: 8 };
    /// assert_eq!((tally.precision(), tally.recall()), (Some(0.5), Some(0.25)));
    /// assert!((tally.f1().unwrap() - 1.0 / 3.0).abs() < 1e-9);
    /// assert_eq!(Tally::default().f1(), None);
    /// ```
    pub fn precision(&self) -> Option<f64> {
        share(self.right, self.held)
    }

    /// The share of what was so that was found; none if it never was.
    pub fn recall(&self) -> Option<f64> {
        share(self.right, self.annotated)
    }

    /// The harmonic mean of both. Zero where nothing was found of what was so; none if it never was.
    pub fn f1(&self) -> Option<f64> {
        // 2pr / (p + r), without dividing twice.
        self.recall().and_then(|_| share(2 * self.right, self.held + self.annotated))
    }
}

fn share(part: u32, whole: u32) -> Option<f64> {
    (whole > 0).then(|| f64::from(part) / f64::from(whole))
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What each watched monitor said.
    pub tallies: Vec<Tally>,
    /// Verdicts that monitors sent to each other.
    pub messages: u64,
    /// How often something was observed.
    pub instants: Instant,
}

impl Found {
    /// Messages for each instant.
    pub fn messages_per_instant(&self) -> f64 {
        self.messages as f64 / f64::from(self.instants.max(1))
    }
}

/// Why nothing was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// An automaton cannot run.
    NoSetup(NoSetup),
    /// A verdict is for a component to which there is no way.
    Unlinked(Unlinked),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::NoSetup(wrong) => wrong.fmt(f),
            Failed::Unlinked(wrong) => wrong.fmt(f),
        }
    }
}

impl std::error::Error for Failed {}

/// Lets monitors run where they are placed, with messages between components, until nothing is observed any more. Each says
/// again and again what holds from an instant on; those that no watched one needs do nothing.
///
/// # Errors
/// If monitors cannot run, or cannot reach each other.
pub fn detect<E: Encoding>(
    system: &System,
    network: &Network,
    watched: &[Watched],
    observations: &mut impl Observations,
    conditions: Conditions,
) -> Result<Found, Failed> {
    let ids: Vec<MonitorId> = watched.iter().map(|watched| watched.monitor).collect();
    let placed = watch::<E>(network, &ids).map_err(Failed::NoSetup)?;
    let mut ears = vec![Vec::new(); placed.len()];
    for (number, id) in ids.iter().enumerate() {
        ears[id.index()].push(number);
    }
    let annotated =
        |watched: &Watched| watched.stays.iter().map(|stay| stay.end.saturating_sub(stay.start)).sum();
    let mut listener = Listener {
        ears,
        watched,
        current: vec![0; watched.len()],
        tallies: watched
            .iter()
            .map(|each| Tally { annotated: annotated(each), ..Tally::default() })
            .collect(),
        messages: 0,
    };
    let outcome = Simulator::new(system, &placed, conditions)
        .run(observations, &mut listener)
        .map_err(Failed::Unlinked)?;
    let Listener { tallies, messages, .. } = listener;
    Ok(Found { tallies, messages, instants: outcome.rounds.saturating_sub(conditions.grace) })
}

/// Hears what watched monitors say.
struct Listener<'a> {
    /// For each monitor, whose tallies it is about.
    ears: Vec<Vec<usize>>,
    watched: &'a [Watched],
    /// The stay that is going on, or comes next: monitors speak of one instant after the other.
    current: Vec<usize>,
    tallies: Vec<Tally>,
    messages: u64,
}

impl<E: Encoding> Hooks<Member<E>> for Listener<'_> {
    fn in_monitor(&mut self, id: MonitorId, _: ComponentId, _: &Member<E>, out: &Outbox<Told>) {
        if out.said.is_empty() {
            return;
        }
        for &number in &self.ears[id.index()] {
            let (tally, current) = (&mut self.tallies[number], &mut self.current[number]);
            let stays = &self.watched[number].stays;
            for &(at, holds) in &out.said {
                while stays.get(*current).is_some_and(|stay| stay.end <= at) {
                    *current += 1;
                }
                let is_so = stays.get(*current).is_some_and(|stay| stay.contains(&at));
                tally.said += 1;
                tally.held += u32::from(holds);
                tally.right += u32::from(holds && is_so);
            }
        }
    }

    fn sent(&mut self, sent: &Sent<'_, Member<E>>) {
        if let Told::Verdict { .. } = sent.message {
            self.messages += u64::from(sent.hops);
        }
    }
}
