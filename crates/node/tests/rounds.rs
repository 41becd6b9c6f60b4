//! Runs over a network that loses, doubles, delays and reorders, is cut, and whose nodes are killed and come back: always the
//! verdict and the messages of the simulator.

mod support {
    pub(crate) mod cases;
}

use invigil_decent::algorithm::Choice;
use invigil_decent::simulate::Outcome;
use invigil_decent::system::{ComponentId, MonitorId};
use invigil_node::deployment::Deployment;
use invigil_node::run::Run;
use invigil_node::wire::{self, Bundle, Envelope, Letter, Mail, RunId};
use std::time::Duration;
use support::cases::{Random, case};

/// What a network may do to messages, in percent.
#[derive(Clone, Copy, Default)]
struct Weather {
    loss: usize,
    duplication: usize,
    /// The longest delay, in milliseconds.
    delay: usize,
    /// How likely a node is killed in a millisecond, and comes back a while later.
    death: usize,
    /// Whether a link is cut now and then, for as long as two seconds.
    cuts: bool,
}

const WEATHERS: [Weather; 5] = [
    Weather { loss: 0, duplication: 0, delay: 1, death: 0, cuts: false },
    Weather { loss: 20, duplication: 20, delay: 30, death: 0, cuts: false },
    Weather { loss: 0, duplication: 50, delay: 300, death: 0, cuts: false },
    Weather { loss: 5, duplication: 5, delay: 5, death: 3, cuts: false },
    Weather { loss: 5, duplication: 5, delay: 10, death: 1, cuts: true },
];

/// A node: what it was given to do, what it has written down, and itself, if it lives.
struct Node {
    deployment: Deployment,
    saved: Option<Vec<u8>>,
    run: Option<Run>,
    /// When it comes back.
    back: u64,
}

struct Parcel {
    at: u64,
    to: usize,
    bytes: Vec<u8>,
}

struct World {
    nodes: Vec<Node>,
    parcels: Vec<Parcel>,
    weather: Weather,
    random: Random,
    /// Two nodes that cannot reach each other, until when.
    cut: (usize, usize, u64),
    now: u64,
}

impl World {
    fn new(deployments: Vec<Deployment>, weather: Weather, seed: u64) -> World {
        let node = |deployment: Deployment| Node {
            run: Some(start(&deployment, None)),
            deployment,
            saved: None,
            back: 0,
        };
        let nodes = deployments.into_iter().map(node).collect();
        World { nodes, parcels: Vec::new(), weather, random: Random(seed), cut: (0, 0, 0), now: 0 }
    }

    fn send(&mut self, from: usize, to: usize, mail: Mail) {
        let bytes = wire::encode(&Envelope { run: RunId(1), from: from as u16, mail }).unwrap();
        let (one, other, until) = self.cut;
        let is_cut = self.now < until && [(one, other), (other, one)].contains(&(from, to));
        let copies = 1 + usize::from(self.random.chance(self.weather.duplication));
        for _ in 0..copies {
            if !is_cut && !self.random.chance(self.weather.loss) {
                let at = self.now + 1 + self.random.below(self.weather.delay) as u64;
                self.parcels.push(Parcel { at, to, bytes: bytes.clone() });
            }
        }
    }

    /// One millisecond.
    fn tick(&mut self) {
        self.now += 1;
        if self.weather.cuts && self.now > self.cut.2 && self.random.chance(2) {
            let count = self.nodes.len();
            let (one, other) = (self.random.below(count), self.random.below(count));
            self.cut = (one, other, self.now + self.random.below(2000) as u64);
        }
        let (now, time) = (self.now, Duration::from_millis(self.now));
        let due: Vec<Parcel> = self.parcels.extract_if(.., |parcel| parcel.at <= now).collect();
        for Parcel { to, bytes, .. } in due {
            // What comes to a dead node is lost.
            let Some(run) = &mut self.nodes[to].run else { continue };
            let Envelope { from, mail, .. } = wire::decode(&bytes).unwrap();
            if let Some(answer) = run.receive(usize::from(from), mail).unwrap() {
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
            let mut mail = run.ask(time);
            if run.advance(time) {
                let bytes = run.save().unwrap();
                // Killed before or after what it did was written down, and before or after it was sent.
                let killed = self.random.chance(self.weather.death).then(|| self.random.below(3));
                if killed != Some(0) {
                    node.saved = Some(bytes);
                }
                if killed.is_none_or(|when| when == 2) {
                    mail.extend(run.bundles());
                }
                if killed.is_some() {
                    node.run = None;
                    node.back = now + self.random.below(500) as u64;
                }
            }
            for (to, mail) in mail {
                self.send(place, to, mail);
            }
        }
    }

    /// Goes on until all nodes are at the end.
    fn finish(&mut self) -> Vec<(Outcome, [u64; 2])> {
        loop {
            self.tick();
            assert!(self.now < 3_600_000, "it takes more than an hour");
            let end = |node: &Node| {
                let progress = node.run.as_ref()?.progress();
                assert_eq!(progress.failure, None);
                let traffic = progress.figures.traffic;
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
fn whatever_the_network_does_the_verdict_is_the_simulators() {
    let mut random = Random(1);
    let mut found = 0;
    for number in 0..1200 {
        let choice = Choice::ALL[number % 6];
        let weather = WEATHERS[number % 5];
        let components = 3 + number % 4;
        let case = case(choice, components, 12, &mut random);
        let (expected, figures) = case.simulated();
        // Sometimes a node has more than one component.
        let nodes = 1 + random.below(components);
        let plan = case.plan(|name| format!("n{}", (name.as_bytes()[0] - b'a') as usize % nodes));
        let ends = World::new(plan, weather, number as u64).finish();
        let words = format!("{choice}, {}, case {number}", case.formula);
        for (outcome, _) in &ends {
            assert_eq!(*outcome, expected, "{words}");
        }
        let sum = |kind: usize| ends.iter().map(|(_, sent)| sent[kind]).sum::<u64>() as f64;
        assert_eq!([sum(0), sum(1)], [figures.messages, figures.data], "{words}");
        found += u32::from(expected.found.is_some());
    }
    assert!((200..1000).contains(&found), "{found} verdicts: the cases are all alike");
}

fn bundle(round: u32) -> Bundle {
    Bundle { round, letters: Vec::new(), verdict: None, is_over: false }
}

#[test]
fn what_cannot_be_is_refused() {
    let case = case(Choice::Orchestration, 3, 5, &mut Random(3));
    let mut plan = case.plan(|name| name.to_owned());
    let mut run = start(&plan[0], None);
    assert!(run.advance(Duration::ZERO));
    let refused = |run: &mut Run, from, bundle| run.receive(from, Mail::Bundle(bundle)).unwrap_err();
    assert!(
        refused(&mut run, 1, bundle(3)).contains("round 3, which cannot be while this node is in round 1")
    );
    assert!(refused(&mut run, 0, bundle(1)).contains("node 0"));
    assert!(refused(&mut run, 9, bundle(1)).contains("node 9"));
    let letter = |from, to, content: &[u8]| {
        let letter = Letter { from: MonitorId(from), to: MonitorId(to), content: content.to_vec() };
        Bundle { letters: vec![letter], ..bundle(1) }
    };
    let strange =
        [letter(2, 0, &[1, 0]), letter(1, 2, &[1, 0]), letter(1, 0, &[0xff; 3]), letter(7, 0, &[1, 0])];
    for bundle in strange {
        assert!(refused(&mut run, 1, bundle).contains("message"));
    }
    assert_eq!(run.receive(1, Mail::Bundle(letter(1, 0, &[1, 0]))), Ok(None));
    assert_eq!(run.progress().figures.refused, 7);
    assert_eq!(run.progress().missing, ["c"]);

    plan[1].homes[0] = 7;
    assert!(Run::new(plan.remove(1), None, |_, _| unreachable!()).is_err());
}

#[test]
fn deployments_that_contradict_themselves_are_refused() {
    let case = case(Choice::Orchestration, 3, 5, &mut Random(3));
    let plan = case.plan(|name| name.to_owned()).remove(0);
    let mut homeless = plan.clone();
    homeless.homes.push(0);
    let wrong = [
        (Deployment { nodes: vec!["a".to_owned(); 3], ..plan.clone() }, "a node that is named twice"),
        (Deployment { nodes: vec!["a".to_owned(); 2000], ..plan.clone() }, "the number of nodes"),
        (Deployment { own: 3, ..plan.clone() }, "the number of nodes"),
        (homeless, "one that is named twice"),
        (
            Deployment { sources: [&plan.sources[..], &plan.sources[..]].concat(), ..plan.clone() },
            "two traces of one component",
        ),
        (Deployment { places: vec![ComponentId(9)], ..plan.clone() }, "a monitor without a component"),
        (
            Deployment { nodes: ["a", "../b", "c"].map(str::to_owned).to_vec(), ..plan.clone() },
            "cannot be the name",
        ),
    ];
    assert_eq!(plan.check(), Ok(()));
    for (deployment, words) in wrong {
        let why = deployment.check().unwrap_err().to_string();
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn what_could_not_be_written_down_was_not_said() {
    let case = case(Choice::Broadcast, 3, 5, &mut Random(3));
    let mut run = start(&case.plan(|name| name.to_owned())[0], None);
    assert!(run.advance(Duration::ZERO));
    assert!(run.receive(1, Mail::Ask(1)).unwrap().is_some());
    run.fail("the disk is full".to_owned());
    assert_eq!(run.receive(1, Mail::Ask(1)), Ok(None));
}

#[test]
fn monitors_of_others_are_refused() {
    let case = case(Choice::Broadcast, 3, 5, &mut Random(3));
    let plan = case.plan(|name| name.to_owned());
    let swapped = Deployment { monitors: plan[1].monitors.clone(), ..plan[0].clone() };
    let Err(why) = Run::new(swapped, None, |_, _| unreachable!()) else { panic!("it was taken") };
    assert!(why.contains("a monitor that is elsewhere"), "{why}");
    let nonsense = Deployment { monitors: vec![0xff; 20], ..plan[0].clone() };
    assert!(Run::new(nonsense, None, |_, _| unreachable!()).is_err());
}

#[test]
fn a_run_that_was_stopped_elsewhere_does_not_wait_for_ever() {
    let case = case(Choice::Orchestration, 3, 5, &mut Random(3));
    let mut run = start(&case.plan(|name| name.to_owned())[0], None);
    assert!(run.advance(Duration::ZERO));
    run.receive(1, Mail::Gone).unwrap();
    assert_eq!(run.progress().failure, None, "the other may not have begun");
    for node in [1, 2] {
        run.receive(node, Mail::Bundle(bundle(1))).unwrap();
    }
    assert!(run.advance(Duration::ZERO));
    run.receive(1, Mail::Gone).unwrap();
    assert!(run.progress().failure.unwrap().contains("stopped"));
}
