//! What comes to a node from the network.

use invigil_decent::algorithm::{Algorithm, MonitorSet};
use invigil_decent::system::System;
use invigil_ltl::{Budget, Logic};
use invigil_node::deployment::{Deployment, TraceSource};
use invigil_node::run::Run;
use invigil_node::wire::{self, Envelope, NodeMessage, Payload, Reply, Request, RunId};
use std::fmt::Debug;
use std::sync::OnceLock;
use std::time::Duration;

/// Any bytes are decoded or refused, as they are and behind the head that all payloads have. What decodes is written so that it
/// decodes the same again. Mail for a run, of each algorithm, is taken or refused, and the run goes on.
pub(crate) fn run(data: &[u8]) {
    let mut headed = wire::encode(&Reply::Done).expect("it is small");
    headed.pop();
    headed.extend(data);
    for bytes in [data, &headed] {
        again::<Reply>(bytes);
        if let Some(Request::Deploy(deployment)) = again::<Request>(bytes)
            && deployment.check().is_ok()
        {
            // Monitors that were made up are not let loose here: who may deploy may do worse.
            let _ = Run::new(*deployment, None, |_, _| Err("there is no folder".to_owned()));
        }
        let Some(Envelope { from, message, .. }) = again::<Envelope>(bytes) else { continue };
        for deployment in deployments() {
            let mut run = Run::new(deployment.clone(), None, |_, _| Err(String::new())).expect("a run");
            run.advance(Duration::ZERO);
            let _ = run.receive(usize::from(from), message.clone());
            // The other node catches up, so that what came is used.
            let empty = wire::RoundBundle { round: 1, messages: Vec::new(), verdict: None, is_over: false };
            let _ = run.receive(1, NodeMessage::Bundle(empty));
            run.advance(Duration::ZERO);
            let progress = run.progress();
            assert!(progress.end.is_some() || progress.round == 2, "{progress:?}");
            assert_eq!(progress.failure.filter(|why| why.contains("panicked")), None);
        }
    }
}

fn again<P: Payload + Debug>(bytes: &[u8]) -> Option<P> {
    let payload: P = wire::decode(bytes).ok()?;
    let written = wire::encode(&payload).ok()?;
    let again: P = wire::decode(&written).expect("what was written decodes");
    assert_eq!(format!("{payload:?}"), format!("{again:?}"));
    Some(payload)
}

/// The part of the first of two nodes, for each algorithm.
fn deployments() -> &'static [Deployment] {
    static ALL: OnceLock<Vec<Deployment>> = OnceLock::new();
    ALL.get_or_init(|| Algorithm::ALL.into_iter().map(deployment).collect())
}

fn deployment(choice: Algorithm) -> Deployment {
    let mut system = System::default();
    for name in ["a", "b"] {
        let component = system.component(name).expect("a component");
        system.proposition(component, &format!("{name}0")).expect("a proposition");
    }
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse("G (a0 -> X (b0 U !a0))").expect("a formula");
    let prepared = MonitorSet::new(choice, &mut logic, formula, &system).expect("monitors");
    let source = |_| TraceSource::Inline("a0:t\na0:f\n".to_owned());
    let home = |name: &str| Some(name.to_owned());
    Deployment::plan(RunId(1), &system, &prepared, home, source, 5).expect("a plan").swap_remove(0)
}
