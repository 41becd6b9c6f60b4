//! Serialization: restored monitors and messages continue a run unchanged.

use crate::common::{formula, logic, system, trace};
use invigil_decent::algorithm::{Algorithm, Monitor, MonitorSet, NameLengths, Outbox, Placed, Round};
use invigil_decent::encoding::States;
use invigil_decent::metrics::{Metrics, MetricsCollector};
use invigil_decent::simulate::{Conditions, SimulationResult, Simulator, Trace};
use invigil_decent::system::System;
use invigil_test_support::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Monitor that is saved and restored before every round.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "M: Monitor")]
struct Restarting<M>(M);

fn again<T: Serialize + DeserializeOwned>(what: &T) -> T {
    serde_json::from_slice(&serde_json::to_vec(what).unwrap()).unwrap()
}

impl<M: Monitor> Monitor for Restarting<M> {
    type Message = M::Message;

    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<M::Message>, out: &mut Outbox<M::Message>) {
        self.0 = again(&self.0);
        *inbox = again(inbox);
        self.0.round(round, inbox, out);
    }

    fn message_size(&self, message: &M::Message, names: &NameLengths) -> usize {
        self.0.message_size(message, names)
    }

    fn stored_values(&self) -> usize {
        self.0.stored_values()
    }
}

fn both<M: Monitor>(
    placed: &[Placed<M>],
    system: &System,
    trace: &Trace,
) -> [(SimulationResult, Metrics); 2] {
    let killed: Vec<_> = placed
        .iter()
        .map(|placed| Placed { at: placed.at, monitor: Restarting(placed.monitor.clone()) })
        .collect();
    let conditions = Conditions { jitter: 2, duplication: 0.2, ..Conditions::default() };
    let mut measures = MetricsCollector::new(system);
    let well = Simulator::new(system, placed, conditions).run(&mut trace.replay(), &mut measures).unwrap();
    let figures = measures.metrics();
    let badly = Simulator::new(system, &killed, conditions).run(&mut trace.replay(), &mut measures).unwrap();
    [(well, figures), (badly, measures.metrics())]
}

#[test]
fn restored_monitors_continue_the_run() {
    let random = Rng::new(21);
    for case in 0..40 {
        let system = system(2 + case % 3, 2);
        let mut logic = logic();
        let Ok(formula) = formula(&mut logic, &system, &random, 8) else { continue };
        let trace = trace(&system, 15, &random);
        for choice in Algorithm::ALL {
            let Ok(prepared) = MonitorSet::<States>::new(choice, &mut logic, formula, &system) else {
                continue;
            };
            let [well, badly] = match &prepared {
                MonitorSet::Orchestration(placed) => both(placed, &system, &trace),
                MonitorSet::Migration(placed) => both(placed, &system, &trace),
                MonitorSet::Hierarchy(placed) => both(placed, &system, &trace),
                MonitorSet::Broadcast(placed) => both(placed, &system, &trace),
                MonitorSet::Abridged(placed) => both(placed, &system, &trace),
            };
            assert_eq!(well, badly, "{choice}");
        }
    }
}
