//! Messages that a node receives from the network.

use invigil_decent::algorithm::{Algorithm, MonitorSet};
use invigil_decent::system::System;
use invigil_ltl::{Budget, Logic};
use invigil_node::deployment::{Deployment, TraceSource};
use invigil_node::run::Run;
use invigil_node::wire::{self, Envelope, NodeMessage, Payload, Reply, Request, RunId};
use std::fmt::Debug;
use std::sync::OnceLock;
use std::time::Duration;

/// No input causes a panic, with or without the header that all payloads have. Decoded payloads survive encoding and
/// decoding. A run of each algorithm accepts or rejects a message, and continues.
pub(crate) fn run(data: &[u8]) {
    let mut with_header = wire::encode(&Reply::Done).expect("a small payload");
    with_header.pop();
    with_header.extend(data);
    for bytes in [data, &with_header] {
        round_trip::<Reply>(bytes);
        if let Some(Request::Deploy(deployment)) = round_trip::<Request>(bytes)
            && deployment.check().is_ok()
        {
            // The run is not executed: a deployment may demand arbitrary work, and deploying is trusted.
            let _ = Run::new(*deployment, None, |_, _| Err("no folder".to_owned()));
        }
        let Some(Envelope { from, message, .. }) = round_trip::<Envelope>(bytes) else { continue };
        for deployment in deployments() {
            let mut run = Run::new(deployment.clone(), None, |_, _| Err(String::new())).expect("a run");
            run.advance(Duration::ZERO);
            let _ = run.receive(usize::from(from), message.clone());
            // The bundle of the other node completes the round, so that the message is processed.
            let empty = wire::RoundBundle { round: 1, messages: Vec::new(), verdict: None, is_over: false };
            let _ = run.receive(1, NodeMessage::Bundle(empty));
            run.advance(Duration::ZERO);
            let progress = run.progress();
            assert!(progress.end.is_some() || progress.round == 2, "{progress:?}");
            assert_eq!(progress.failure.filter(|reason| reason.contains("panicked")), None);
        }
    }
}

fn round_trip<P: Payload + Debug>(bytes: &[u8]) -> Option<P> {
    let payload: P = wire::decode(bytes).ok()?;
    let encoded = wire::encode(&payload).ok()?;
    let decoded: P = wire::decode(&encoded).expect("the encoded payload is valid");
    assert_eq!(format!("{payload:?}"), format!("{decoded:?}"));
    Some(payload)
}

/// The deployment of the first of two nodes, for each algorithm.
fn deployments() -> &'static [Deployment] {
    static ALL: OnceLock<Vec<Deployment>> = OnceLock::new();
    ALL.get_or_init(|| Algorithm::ALL.into_iter().map(deployment).collect())
}

fn deployment(algorithm: Algorithm) -> Deployment {
    let mut system = System::default();
    for name in ["a", "b"] {
        let component = system.component(name).expect("a component");
        system.proposition(component, &format!("{name}0")).expect("a proposition");
    }
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse("G (a0 -> X (b0 U !a0))").expect("a formula");
    let monitors = MonitorSet::new(algorithm, &mut logic, formula, &system).expect("monitors");
    let source = |_| TraceSource::Inline("a0:t\na0:f\n".to_owned());
    let home = |name: &str| Some(name.to_owned());
    Deployment::plan(RunId(1), &system, &monitors, home, source, 5).expect("a plan").swap_remove(0)
}
