//! Activity detection [EH18 §9]: verdicts of monitors for every instant, compared with annotations.

mod annotations;

pub use annotations::{Annotation, Annotations};

use invigil_decent::algorithm::hierarchy::{HierarchyMonitor, VerdictMessage, setup_reporting};
use invigil_decent::algorithm::{Outbox, SetupError};
use invigil_decent::encoding::Encoding;
use invigil_decent::network::Network;
use invigil_decent::simulate::{Conditions, Hooks, NoRouteError, Observations, SentMessage, Simulator};
use invigil_decent::system::{ComponentId, Instant, MonitorId, System};
use std::fmt;
use std::ops::Range;

/// A reporting monitor, and the annotated intervals of its activity: sorted and disjoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotatedMonitor {
    /// The monitor.
    pub monitor: MonitorId,
    /// The intervals; ends are exclusive.
    pub intervals: Vec<Range<Instant>>,
}

/// Counts of a monitor's verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Instants with a verdict.
    pub decided: u32,
    /// Instants with verdict true.
    pub detected: u32,
    /// Those of them that are annotated.
    pub correct: u32,
    /// Annotated instants.
    pub annotated: u32,
}

impl Tally {
    /// Returns the share of detected instants that are annotated; none if nothing was detected.
    ///
    /// ```
    /// use invigil_lab::detect::Tally;
    /// let tally = Tally { decided: 10, detected: 4, correct: 2, annotated: 8 };
    /// assert_eq!((tally.precision(), tally.recall()), (Some(0.5), Some(0.25)));
    /// assert!((tally.f1().unwrap() - 1.0 / 3.0).abs() < 1e-9);
    /// assert_eq!(Tally::default().f1(), None);
    /// ```
    pub fn precision(&self) -> Option<f64> {
        share(self.correct, self.detected)
    }

    /// Returns the share of annotated instants that were detected; none if nothing is annotated.
    pub fn recall(&self) -> Option<f64> {
        share(self.correct, self.annotated)
    }

    /// Returns the harmonic mean of both: zero if nothing annotated was detected, none if nothing is annotated.
    pub fn f1(&self) -> Option<f64> {
        // 2pr / (p + r), without dividing twice.
        self.recall().and_then(|_| share(2 * self.correct, self.detected + self.annotated))
    }
}

fn share(part: u32, whole: u32) -> Option<f64> {
    (whole > 0).then(|| f64::from(part) / f64::from(whole))
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// Tally of each reporting monitor.
    pub tallies: Vec<Tally>,
    /// Verdicts sent between monitors.
    pub messages: u64,
    /// Number of instants.
    pub instants: Instant,
}

impl Detection {
    /// Returns the number of messages per instant.
    pub fn messages_per_instant(&self) -> f64 {
        self.messages as f64 / f64::from(self.instants.max(1))
    }
}

/// Reason why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DetectionError {
    /// An automaton is invalid.
    Setup(SetupError),
    /// A verdict cannot reach its component.
    NoRoute(NoRouteError),
}

impl fmt::Display for DetectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DetectionError::Setup(error) => error.fmt(f),
            DetectionError::NoRoute(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DetectionError {}

/// Runs monitors where they are placed, with messages between components, until the observations end. Each monitor
/// decides for every instant whether its property holds from there on; monitors that no reporting one needs are idle.
///
/// # Errors
/// Fails if monitors are invalid or cannot reach each other.
pub fn detect<E: Encoding>(
    system: &System,
    network: &Network,
    watched: &[AnnotatedMonitor],
    observations: &mut impl Observations,
    conditions: Conditions,
) -> Result<Detection, DetectionError> {
    let ids: Vec<MonitorId> = watched.iter().map(|watched| watched.monitor).collect();
    let placed = setup_reporting::<E>(network, &ids).map_err(DetectionError::Setup)?;
    let mut tallies_of = vec![Vec::new(); placed.len()];
    for (number, id) in ids.iter().enumerate() {
        tallies_of[id.index()].push(number);
    }
    let annotated = |watched: &AnnotatedMonitor| {
        watched.intervals.iter().map(|interval| interval.end.saturating_sub(interval.start)).sum()
    };
    let mut hook = TallyHook {
        tallies_of,
        watched,
        current: vec![0; watched.len()],
        tallies: watched
            .iter()
            .map(|each| Tally { annotated: annotated(each), ..Tally::default() })
            .collect(),
        messages: 0,
    };
    let outcome = Simulator::new(system, &placed, conditions)
        .run(observations, &mut hook)
        .map_err(DetectionError::NoRoute)?;
    let TallyHook { tallies, messages, .. } = hook;
    Ok(Detection { tallies, messages, instants: outcome.rounds.saturating_sub(conditions.grace) })
}

/// Counts the verdicts of reporting monitors.
struct TallyHook<'a> {
    /// For each monitor the indices of its tallies.
    tallies_of: Vec<Vec<usize>>,
    watched: &'a [AnnotatedMonitor],
    /// Current or next interval of each tally: monitors decide instants in order.
    current: Vec<usize>,
    tallies: Vec<Tally>,
    messages: u64,
}

impl<E: Encoding> Hooks<HierarchyMonitor<E>> for TallyHook<'_> {
    fn after_monitor_step(
        &mut self,
        id: MonitorId,
        _: ComponentId,
        _: &HierarchyMonitor<E>,
        out: &Outbox<VerdictMessage>,
    ) {
        if out.instant_verdicts.is_empty() {
            return;
        }
        for &number in &self.tallies_of[id.index()] {
            let (tally, current) = (&mut self.tallies[number], &mut self.current[number]);
            let intervals = &self.watched[number].intervals;
            for &(at, holds) in &out.instant_verdicts {
                while intervals.get(*current).is_some_and(|interval| interval.end <= at) {
                    *current += 1;
                }
                let is_annotated = intervals.get(*current).is_some_and(|interval| interval.contains(&at));
                tally.decided += 1;
                tally.detected += u32::from(holds);
                tally.correct += u32::from(holds && is_annotated);
            }
        }
    }

    fn sent(&mut self, sent: &SentMessage<'_, HierarchyMonitor<E>>) {
        if let VerdictMessage::Verdict { .. } = sent.message {
            self.messages += u64::from(sent.hops);
        }
    }
}
