//! Runs over a simulated network with loss, duplication, delay, reordering and disconnections, with nodes that are
//! killed and restarted: verdict and messages always equal the simulator's.

use crate::support::cases::case;
use invigil_decent::algorithm::Algorithm;
use invigil_decent::simulate::SimulationResult;
use invigil_decent::system::{ComponentId, MonitorId};
use invigil_node::deployment::Deployment;
use invigil_node::run::Run;
use invigil_node::wire::{self, Envelope, MonitorMessage, NodeMessage, RoundBundle, RunId};
use invigil_test_support::Rng;
use std::time::Duration;

/// Faults of the network, in percent.
#[derive(Clone, Copy, Default)]
struct Faults {
    loss: u32,
    duplication: u32,
    /// Maximum delay in milliseconds.
    delay: u32,
    /// Probability that a node is killed in a millisecond; it restarts later.
    death: u32,
    /// Whether links are cut at times, for up to two seconds.
    cuts: bool,
}

const FAULTS: [Faults; 5] = [
    Faults { loss: 0, duplication: 0, delay: 1, death: 0, cuts: false },
    Faults { loss: 20, duplication: 20, delay: 30, death: 0, cuts: false },
    Faults { loss: 0, duplication: 50, delay: 300, death: 0, cuts: false },
    Faults { loss: 5, duplication: 5, delay: 5, death: 3, cuts: false },
    Faults { loss: 5, duplication: 5, delay: 10, death: 1, cuts: true },
];

/// Node: its deployment, its saved state, and the run if it is up.
struct Node {
    deployment: Deployment,
    saved: Option<Vec<u8>>,
    run: Option<Run>,
    /// Time of the restart.
    back: u64,
}

struct Parcel {
    at: u64,
    to: usize,
    bytes: Vec<u8>,
}

struct Cluster {
    nodes: Vec<Node>,
    parcels: Vec<Parcel>,
    faults: Faults,
    random: Rng,
    /// Two nodes without connection, and until when.
    cut: (usize, usize, u64),
    now: u64,
}

impl Cluster {
    fn new(deployments: Vec<Deployment>, faults: Faults, seed: u64) -> Cluster {
        let node = |deployment: Deployment| Node {
            run: Some(start(&deployment, None)),
            deployment,
            saved: None,
            back: 0,
        };
        let nodes = deployments.into_iter().map(node).collect();
        Cluster { nodes, parcels: Vec::new(), faults, random: Rng::new(seed), cut: (0, 0, 0), now: 0 }
    }

    fn send(&mut self, from: usize, to: usize, message: NodeMessage) {
        let bytes = wire::encode(&Envelope { run: RunId(1), from: from as u16, message }).unwrap();
        let (one, other, until) = self.cut;
        let is_cut = self.now < until && [(one, other), (other, one)].contains(&(from, to));
        let copies = 1 + usize::from(self.random.percent(self.faults.duplication));
        for _ in 0..copies {
            if !is_cut && !self.random.percent(self.faults.loss) {
                let at = self.now + 1 + u64::from(self.random.below(self.faults.delay));
                self.parcels.push(Parcel { at, to, bytes: bytes.clone() });
            }
        }
    }

    /// Advances by one millisecond.
    fn tick(&mut self) {
        self.now += 1;
        if self.faults.cuts && self.now > self.cut.2 && self.random.percent(2) {
            let count = self.nodes.len();
            let (one, other) = (self.random.below(count), self.random.below(count));
            self.cut = (one, other, self.now + self.random.below(2000) as u64);
        }
        let (now, time) = (self.now, Duration::from_millis(self.now));
        let due: Vec<Parcel> = self.parcels.extract_if(.., |parcel| parcel.at <= now).collect();
        for Parcel { to, bytes, .. } in due {
            // Messages to a node that is down are lost.
            let Some(run) = &mut self.nodes[to].run else { continue };
            let Envelope { from, message, .. } = wire::decode(&bytes).unwrap();
            if let Some(answer) = run.receive(usize::from(from), message).unwrap() {
                self.send(to, usize::from(from), answer);
            }
        }
        for place in 0..self.nodes.len() {
            let node = &mut self.nodes[place];
            let Some(run) = &mut node.run else {
                if now >= node.back {
                    node.run = Some(start(&node.deployment, node.saved.as_deref()));
                }
                continue;
            };
            let mut message = run.take_due_requests(time);
            if run.advance(time) {
                let bytes = run.save().unwrap();
                // Killed before or after saving, and before or after sending.
                let killed = self.random.percent(self.faults.death).then(|| self.random.below(3));
                if killed != Some(0) {
                    node.saved = Some(bytes);
                }
                if killed.is_none_or(|when| when == 2) {
                    message.extend(run.bundles());
                }
                if killed.is_some() {
                    node.run = None;
                    node.back = now + self.random.below(500) as u64;
                }
            }
            for (to, message) in message {
                self.send(place, to, message);
            }
        }
    }

    /// Advances until all nodes have ended.
    fn finish(&mut self) -> Vec<(SimulationResult, [u64; 2])> {
        loop {
            self.tick();
            assert!(self.now < 3_600_000, "it takes more than an hour");
            let end = |node: &Node| {
                let progress = node.run.as_ref()?.progress();
                assert_eq!(progress.failure, None);
                let traffic = progress.stats.traffic;
                Some((progress.end?.into(), [traffic.messages, traffic.data]))
            };
            if let Some(ends) = self.nodes.iter().map(end).collect() {
                return ends;
            }
        }
    }
}

fn start(deployment: &Deployment, saved: Option<&[u8]>) -> Run {
    Run::new(deployment.clone(), saved, |_, _| Err("there is no folder".to_owned())).unwrap()
}

#[test]
fn lossy_network_gives_the_simulators_verdict() {
    let random = Rng::new(1);
    let mut found = 0;
    for number in 0..1200 {
        let choice = Algorithm::ALL[number % 6];
        let faults = FAULTS[number % 5];
        let components = 3 + number % 4;
        let case = case(choice, components, 12, &random);
        let (expected, figures) = case.simulated();
        // Some nodes have several components.
        let nodes = 1 + random.below(components);
        let plan = case.plan(|name| format!("n{}", (name.as_bytes()[0] - b'a') as usize % nodes));
        let ends = Cluster::new(plan, faults, number as u64).finish();
        let words = format!("{choice}, {}, case {number}", case.formula);
        for (outcome, _) in &ends {
            assert_eq!(*outcome, expected, "{words}");
        }
        let sum = |kind: usize| ends.iter().map(|(_, sent)| sent[kind]).sum::<u64>() as f64;
        assert_eq!([sum(0), sum(1)], [figures.messages, figures.data], "{words}");
        found += u32::from(expected.verdict_origin.is_some());
    }
    assert!((200..1000).contains(&found), "{found} verdicts: the cases are all alike");
}

fn bundle(round: u32) -> RoundBundle {
    RoundBundle { round, messages: Vec::new(), verdict: None, is_over: false }
}

#[test]
fn impossible_bundles_are_rejected() {
    let case = case(Algorithm::Orchestration, 3, 5, &Rng::new(3));
    let mut plan = case.plan(|name| name.to_owned());
    let mut run = start(&plan[0], None);
    assert!(run.advance(Duration::ZERO));
    let refused = |run: &mut Run, from, bundle| run.receive(from, NodeMessage::Bundle(bundle)).unwrap_err();
    assert!(
        refused(&mut run, 1, bundle(3))
            .contains("round 3, which is impossible while this node is in round 1")
    );
    assert!(refused(&mut run, 0, bundle(1)).contains("node 0"));
    assert!(refused(&mut run, 9, bundle(1)).contains("node 9"));
    let letter = |from, to, content: &[u8]| {
        let letter = MonitorMessage { from: MonitorId(from), to: MonitorId(to), content: content.to_vec() };
        RoundBundle { messages: vec![letter], ..bundle(1) }
    };
    let strange =
        [letter(2, 0, &[1, 0]), letter(1, 2, &[1, 0]), letter(1, 0, &[0xff; 3]), letter(7, 0, &[1, 0])];
    for bundle in strange {
        assert!(refused(&mut run, 1, bundle).contains("message"));
    }
    assert_eq!(run.receive(1, NodeMessage::Bundle(letter(1, 0, &[1, 0]))), Ok(None));
    assert_eq!(run.progress().stats.refused, 7);
    assert_eq!(run.progress().missing, ["c"]);

    plan[1].component_nodes[0] = 7;
    assert!(Run::new(plan.remove(1), None, |_, _| unreachable!()).is_err());
}

#[test]
fn inconsistent_deployments_are_rejected() {
    let case = case(Algorithm::Orchestration, 3, 5, &Rng::new(3));
    let plan = case.plan(|name| name.to_owned()).remove(0);
    let mut homeless = plan.clone();
    homeless.component_nodes.push(0);
    let wrong = [
        (Deployment { nodes: vec!["a".to_owned(); 3], ..plan.clone() }, "a node that is named twice"),
        (Deployment { nodes: vec!["a".to_owned(); 2000], ..plan.clone() }, "the number of nodes"),
        (Deployment { own_node: 3, ..plan.clone() }, "the number of nodes"),
        (homeless, "one that is named twice"),
        (
            Deployment { sources: [&plan.sources[..], &plan.sources[..]].concat(), ..plan.clone() },
            "two traces of one component",
        ),
        (
            Deployment { monitor_components: vec![ComponentId(9)], ..plan.clone() },
            "a monitor without a component",
        ),
        (
            Deployment { nodes: ["a", "../b", "c"].map(str::to_owned).to_vec(), ..plan.clone() },
            "is not a valid name",
        ),
    ];
    assert_eq!(plan.check(), Ok(()));
    for (deployment, words) in wrong {
        let why = deployment.check().unwrap_err().to_string();
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn unsaved_rounds_are_not_resent() {
    let case = case(Algorithm::Broadcast, 3, 5, &Rng::new(3));
    let mut run = start(&case.plan(|name| name.to_owned())[0], None);
    assert!(run.advance(Duration::ZERO));
    assert!(run.receive(1, NodeMessage::Resend(1)).unwrap().is_some());
    run.fail("the disk is full".to_owned());
    assert_eq!(run.receive(1, NodeMessage::Resend(1)), Ok(None));
}

#[test]
fn messages_from_other_nodes_monitors_are_rejected() {
    let case = case(Algorithm::Broadcast, 3, 5, &Rng::new(3));
    let plan = case.plan(|name| name.to_owned());
    let swapped = Deployment { monitors: plan[1].monitors.clone(), ..plan[0].clone() };
    let Err(why) = Run::new(swapped, None, |_, _| unreachable!()) else { panic!("it was taken") };
    assert!(why.contains("a monitor of another node"), "{why}");
    let nonsense = Deployment { monitors: vec![0xff; 20], ..plan[0].clone() };
    assert!(Run::new(nonsense, None, |_, _| unreachable!()).is_err());
}

#[test]
fn run_stopped_elsewhere_fails() {
    let case = case(Algorithm::Orchestration, 3, 5, &Rng::new(3));
    let mut run = start(&case.plan(|name| name.to_owned())[0], None);
    assert!(run.advance(Duration::ZERO));
    run.receive(1, NodeMessage::UnknownRun).unwrap();
    assert_eq!(run.progress().failure, None, "the other may not have begun");
    for node in [1, 2] {
        run.receive(node, NodeMessage::Bundle(bundle(1))).unwrap();
    }
    assert!(run.advance(Duration::ZERO));
    run.receive(1, NodeMessage::UnknownRun).unwrap();
    assert!(run.progress().failure.unwrap().contains("stopped"));
}
