//! Costs of a run: the metrics of [EH18 §8.2.2].

use crate::algorithm::{Delays, Monitor, NameLengths, Outbox};
use crate::simulate::{Hooks, SentMessage, SimulationResult, Tags};
use crate::system::{ComponentId, Instant, MonitorId, System};

/// Metrics of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Rounds until the verdict, or until the run was given up.
    pub rounds: f64,
    /// Average number of rounds between an instant and the round in which its state became known.
    ///
    /// For a monitor that decides every instant (a part of a choreography), its verdict is what becomes known, and the
    /// delay is the number of instants kept for it; one if it decides immediately.
    pub average_delay: f64,
    /// Longest delay.
    pub maximal_delay: f64,
    /// Average over the rounds of the simplifications of the busiest monitor.
    pub critical_simplifications: f64,
    /// Maximum number of simplifications of a monitor in one round.
    pub maximal_simplifications: f64,
    /// Simplifications of all monitors.
    pub simplifications: f64,
    /// Expressions evaluated by all monitors.
    pub evaluations: f64,
    /// Imbalance of simplifications between components: 0 if balanced, near 1 if one component does all of them.
    pub convergence_simplifications: f64,
    /// Imbalance of evaluations between components.
    pub convergence_evaluations: f64,
    /// Messages; a relayed message counts once per link.
    pub messages: f64,
    /// Their size in the normalised bytes of [EH18 §8.2.3].
    pub data: f64,
    /// Peak number of values and instants stored by all monitors together.
    pub kept: f64,
}

impl Metrics {
    /// Returns the metrics with their names.
    pub fn named(&self) -> [(&'static str, f64); 12] {
        [
            ("rounds", self.rounds),
            ("average_delay", self.average_delay),
            ("maximal_delay", self.maximal_delay),
            ("critical_simplifications", self.critical_simplifications),
            ("maximal_simplifications", self.maximal_simplifications),
            ("simplifications", self.simplifications),
            ("evaluations", self.evaluations),
            ("convergence_simplifications", self.convergence_simplifications),
            ("convergence_evaluations", self.convergence_evaluations),
            ("messages", self.messages),
            ("data", self.data),
            ("kept", self.kept),
        ]
    }

    /// Returns the average number of messages in a round.
    pub fn messages_per_round(&self) -> f64 {
        self.messages / self.rounds.max(1.0)
    }

    /// Returns the average data in a round.
    pub fn data_per_round(&self) -> f64 {
        self.data / self.rounds.max(1.0)
    }
}

/// Collects the metrics of runs, one after the other: [`metrics`](MetricsCollector::metrics) returns those of the last
/// run.
///
/// ```
/// use invigil_decent::algorithm::{compile_formula, orchestration};
/// use invigil_decent::encoding::States;
/// use invigil_decent::metrics::MetricsCollector;
/// use invigil_decent::simulate::{Conditions, Simulator, Trace};
/// use invigil_decent::system::System;
/// use invigil_ltl::{Budget, Logic};
///
/// let mut system = System::default();
/// for name in ["a", "b", "c"] {
///     let component = system.component(name)?;
///     system.proposition(component, &format!("{name}0"))?;
/// }
/// let mut logic = Logic::new(Budget::default());
/// let formula = logic.parse("G (a0 & b0 & c0)").unwrap();
/// let machine = compile_formula(&mut logic, formula, &system)?;
/// let monitors = orchestration::setup::<States>(&machine, &system)?;
/// let mut measures = MetricsCollector::new(&system);
/// let trace = Trace::from_fn(&system, 60, |_, _| true);
/// let mut simulator = Simulator::new(&system, &monitors, Conditions::default());
/// simulator.run(&mut trace.replay(), &mut measures)?;
/// let figures = measures.metrics();
/// assert_eq!((figures.rounds, figures.messages, figures.data), (65.0, 120.0, 720.0));
/// assert_eq!((figures.average_delay, figures.maximal_delay), (1.0, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MetricsCollector {
    names: NameLengths,
    /// Simplifications and evaluations of each component in the current round.
    work: Vec<[u64; 2]>,
    sums: Sums,
    figures: Metrics,
}

/// Sums during a run.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    delays: Delays,
    /// Simplifications and evaluations of all monitors in all rounds.
    work: [u64; 2],
    /// Maximum number of simplifications of a monitor: in the current round, summed over the rounds, in any round.
    most: [u64; 3],
    convergence: [f64; 2],
    messages: u64,
    data: u64,
    /// Stored values in the current round, and the peak.
    kept: [u64; 2],
}

impl MetricsCollector {
    /// Creates a collector for runs on a system.
    pub fn new(system: &System) -> MetricsCollector {
        MetricsCollector {
            names: NameLengths::of(system),
            work: vec![[0; 2]; system.components().len()],
            sums: Sums::default(),
            figures: Metrics::default(),
        }
    }

    /// Returns the metrics of the last run.
    pub fn metrics(&self) -> Metrics {
        self.figures
    }

    /// Adds the current round to the sums.
    fn close(&mut self) {
        let sums = &mut self.sums;
        let share = 1.0 / self.work.len().max(1) as f64;
        for (kind, convergence) in sums.convergence.iter_mut().enumerate() {
            let all: u64 = self.work.iter().map(|work| work[kind]).sum();
            // A round without work does not contribute.
            if all > 0 {
                let distance = |work: &[u64; 2]| (work[kind] as f64 / all as f64 - share).powi(2);
                *convergence += self.work.iter().map(distance).sum::<f64>();
            }
        }
        self.work.fill([0; 2]);
        let [now, each, any] = &mut sums.most;
        *each += *now;
        *any = (*any).max(*now);
        *now = 0;
        let [now, most] = &mut sums.kept;
        *most = (*most).max(*now);
        *now = 0;
    }
}

impl<M: Monitor> Hooks<M> for MetricsCollector {
    fn started(&mut self, _: &Tags) {
        (self.sums, self.figures) = (Sums::default(), Metrics::default());
        self.work.fill([0; 2]);
    }

    fn round(&mut self, at: Instant) {
        if at > 1 {
            self.close();
        }
    }

    fn after_monitor_step(&mut self, _: MonitorId, at: ComponentId, monitor: &M, out: &Outbox<M::Message>) {
        let done = [out.work.simplifications, out.work.evaluations];
        for (kind, done) in done.into_iter().enumerate() {
            self.sums.work[kind] += done;
            if let Some(work) = self.work.get_mut(at.index()) {
                work[kind] += done;
            }
        }
        let sums = &mut self.sums;
        sums.most[0] = sums.most[0].max(out.work.simplifications);
        sums.delays.count += out.delays.count;
        sums.delays.sum += out.delays.sum;
        sums.delays.longest = sums.delays.longest.max(out.delays.longest);
        sums.kept[0] += monitor.stored_values() as u64;
    }

    fn sent(&mut self, sent: &SentMessage<'_, M>) {
        self.sums.messages += u64::from(sent.hops);
        // Saturates: histories of expressions grow exponentially.
        let size = u64::from(sent.hops).saturating_mul(sent.size(&self.names) as u64);
        self.sums.data = self.sums.data.saturating_add(size);
    }

    fn after_stop(&mut self, outcome: &SimulationResult) {
        self.close();
        let Sums { delays, work, most, convergence, messages, data, kept } = self.sums;
        let rounds = f64::from(outcome.rounds);
        let per_round = |sum: f64| sum / rounds.max(1.0);
        self.figures = Metrics {
            rounds,
            average_delay: delays.sum as f64 / (delays.count as f64).max(1.0),
            maximal_delay: f64::from(delays.longest),
            critical_simplifications: per_round(most[1] as f64),
            maximal_simplifications: most[2] as f64,
            simplifications: work[0] as f64,
            evaluations: work[1] as f64,
            convergence_simplifications: per_round(convergence[0]),
            convergence_evaluations: per_round(convergence[1]),
            messages: messages as f64,
            data: data as f64,
            kept: kept[1] as f64,
        };
    }
}
