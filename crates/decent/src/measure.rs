//! What a run cost.

use crate::algorithm::{Delays, Monitor, Names, Outbox};
use crate::simulate::{Hooks, Outcome, Sent, Tags};
use crate::system::{ComponentId, Instant, MonitorId, System};

/// The figures of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Rounds until the verdict, or until it was given up.
    pub rounds: f64,
    /// How many rounds later than it was a state became known, on average over all instants of which it did.
    ///
    /// Of a monitor that says something of every instant (a part of a choreography), a verdict is what becomes known, and the
    /// delay is the number of instants that were kept for it: one, if it says it at once.
    pub average_delay: f64,
    /// The longest delay.
    pub maximal_delay: f64,
    /// Simplifications of the monitor with the most, in each round, on average.
    pub critical_simplifications: f64,
    /// The most simplifications of a monitor in a round.
    pub maximal_simplifications: f64,
    /// Simplifications of all monitors.
    pub simplifications: f64,
    /// Expressions that all monitors evaluated.
    pub evaluations: f64,
    /// How unevenly simplifications are spread over components: 0 if evenly, nearly 1 if one does all.
    pub convergence_simplifications: f64,
    /// How unevenly evaluations are spread over components.
    pub convergence_evaluations: f64,
    /// Messages, those that are passed on counted once for each link.
    pub messages: f64,
    /// Their size in the bytes of the document.
    pub data: f64,
    /// Values and instants that were remembered when it was most, of all monitors together.
    pub kept: f64,
}

impl Figures {
    /// The figures with their names.
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

    /// Messages in a round, on average.
    pub fn messages_per_round(&self) -> f64 {
        self.messages / self.rounds.max(1.0)
    }

    /// Data in a round, on average.
    pub fn data_per_round(&self) -> f64 {
        self.data / self.rounds.max(1.0)
    }
}

/// Measures runs, one after the other: [`figures`](Measures::figures) are those of the last.
///
/// ```
/// use invigil_decent::algorithm::{machine, orchestration};
/// use invigil_decent::encoding::States;
/// use invigil_decent::measure::Measures;
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
/// let machine = machine(&mut logic, formula, &system)?;
/// let monitors = orchestration::setup::<States>(&machine, &system)?;
/// let mut measures = Measures::new(&system);
/// let trace = Trace::whole(&system, 60, |_, _| true);
/// let mut simulator = Simulator::new(&system, &monitors, Conditions::default());
/// simulator.run(&mut trace.replay(), &mut measures)?;
/// let figures = measures.figures();
/// assert_eq!((figures.rounds, figures.messages, figures.data), (65.0, 120.0, 720.0));
/// assert_eq!((figures.average_delay, figures.maximal_delay), (1.0, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Measures {
    names: Names,
    /// Work of each component in this round: simplifications and evaluations.
    work: Vec<[u64; 2]>,
    sums: Sums,
    figures: Figures,
}

/// What is summed up while a run goes.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    delays: Delays,
    /// Of all monitors in all rounds: simplifications and evaluations.
    work: [u64; 2],
    /// The most simplifications of a monitor: in this round, in all rounds one by one, in any round.
    most: [u64; 3],
    convergence: [f64; 2],
    messages: u64,
    data: u64,
    /// Remembered in this round, and at most.
    kept: [u64; 2],
}

impl Measures {
    /// For runs on a system.
    pub fn new(system: &System) -> Measures {
        Measures {
            names: Names::of(system),
            work: vec![[0; 2]; system.components().len()],
            sums: Sums::default(),
            figures: Figures::default(),
        }
    }

    /// The figures of the last run.
    pub fn figures(&self) -> Figures {
        self.figures
    }

    /// A round is over.
    fn close(&mut self) {
        let sums = &mut self.sums;
        let share = 1.0 / self.work.len().max(1) as f64;
        for (kind, convergence) in sums.convergence.iter_mut().enumerate() {
            let all: u64 = self.work.iter().map(|work| work[kind]).sum();
            // A round without work contributes nothing.
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

impl<M: Monitor> Hooks<M> for Measures {
    fn started(&mut self, _: &Tags) {
        (self.sums, self.figures) = (Sums::default(), Figures::default());
        self.work.fill([0; 2]);
    }

    fn round(&mut self, at: Instant) {
        if at > 1 {
            self.close();
        }
    }

    fn in_monitor(&mut self, _: MonitorId, at: ComponentId, monitor: &M, out: &Outbox<M::Message>) {
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
        sums.kept[0] += monitor.kept() as u64;
    }

    fn sent(&mut self, sent: &Sent<'_, M>) {
        self.sums.messages += u64::from(sent.hops);
        // Histories of expressions can be of any size.
        let size = u64::from(sent.hops).saturating_mul(sent.size(&self.names) as u64);
        self.sums.data = self.sums.data.saturating_add(size);
    }

    fn after_stop(&mut self, outcome: &Outcome) {
        self.close();
        let Sums { delays, work, most, convergence, messages, data, kept } = self.sums;
        let rounds = f64::from(outcome.rounds);
        let per_round = |sum: f64| sum / rounds.max(1.0);
        self.figures = Figures {
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
