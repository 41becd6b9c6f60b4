//! A monitor that is written down and read again goes on as if nothing had been, and so do messages.

mod support;

use invigil_decent::algorithm::{Choice, Monitor, Names, Outbox, Placed, Prepared, Round};
use invigil_decent::encoding::States;
use invigil_decent::measure::{Figures, Measures};
use invigil_decent::simulate::{Conditions, Outcome, Simulator, Trace};
use invigil_decent::system::System;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use support::{Random, formula, logic, system, trace};

/// Is killed before every round, and comes back.
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

    fn size(&self, message: &M::Message, names: &Names) -> usize {
        self.0.size(message, names)
    }

    fn kept(&self) -> usize {
        self.0.kept()
    }
}

fn both<M: Monitor>(placed: &[Placed<M>], system: &System, trace: &Trace) -> [(Outcome, Figures); 2] {
    let killed: Vec<_> = placed
        .iter()
        .map(|placed| Placed { at: placed.at, monitor: Restarting(placed.monitor.clone()) })
        .collect();
    let conditions = Conditions { jitter: 2, duplication: 0.2, ..Conditions::default() };
    let mut measures = Measures::new(system);
    let well = Simulator::new(system, placed, conditions).run(&mut trace.replay(), &mut measures).unwrap();
    let figures = measures.figures();
    let badly = Simulator::new(system, &killed, conditions).run(&mut trace.replay(), &mut measures).unwrap();
    [(well, figures), (badly, measures.figures())]
}

#[test]
fn monitors_go_on_where_they_were() {
    let mut random = Random(21);
    for case in 0..40 {
        let system = system(2 + case % 3, 2);
        let mut logic = logic();
        let Ok(formula) = formula(&mut logic, &system, &mut random, 8) else { continue };
        let trace = trace(&system, 15, &mut random);
        for choice in Choice::ALL {
            let Ok(prepared) = Prepared::<States>::new(choice, &mut logic, formula, &system) else {
                continue;
            };
            let [well, badly] = match &prepared {
                Prepared::Orchestration(placed) => both(placed, &system, &trace),
                Prepared::Migration(placed) => both(placed, &system, &trace),
                Prepared::Hierarchy(placed) => both(placed, &system, &trace),
                Prepared::Broadcast(placed) => both(placed, &system, &trace),
                Prepared::Abridged(placed) => both(placed, &system, &trace),
            };
            assert_eq!(well, badly, "{choice}");
        }
    }
}
