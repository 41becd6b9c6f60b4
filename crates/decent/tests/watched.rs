//! Monitors that are watched say of one instant after the other what the plain meaning says, and keep little meanwhile.

mod spec_common;

use invigil_decent::algorithm::hierarchy::{Member, Told, watch};
use invigil_decent::algorithm::{Monitor, Outbox};
use invigil_decent::encoding::{Encoding, Expressions, States};
use invigil_decent::network::Network;
use invigil_decent::simulate::{Conditions, Hooks, Simulator, Trace};
use invigil_decent::spec::reference::verdicts;
use invigil_decent::system::{ComponentId, Instant, MonitorId, PropositionId, System};
use invigil_ltl::moore::Truth;
use spec_common::{Random, network, specification, system};

/// What each monitor said, and the most that it kept.
struct Heard {
    said: Vec<Vec<(Instant, bool)>>,
    kept: Vec<usize>,
}

impl<E: Encoding> Hooks<Member<E>> for Heard {
    fn in_monitor(&mut self, id: MonitorId, _: ComponentId, monitor: &Member<E>, out: &Outbox<Told>) {
        self.said[id.index()].extend(&out.said);
        let kept = &mut self.kept[id.index()];
        *kept = monitor.kept().max(*kept);
    }
}

fn hear<E: Encoding>(
    system: &System,
    network: &Network,
    trace: &[Vec<(PropositionId, bool)>],
    conditions: Conditions,
) -> Heard {
    let all: Vec<MonitorId> = (0..network.parts.len() as u32).map(MonitorId).collect();
    let placed = watch::<E>(network, &all).unwrap();
    let mut seen = Trace::new(system);
    for round in trace {
        let own = |at: ComponentId| -> Vec<_> {
            round.iter().copied().filter(|(known, _)| system.owner(*known) == at).collect()
        };
        let parts: Vec<Vec<_>> = system.components().map(own).collect();
        seen.push(parts.iter().map(Vec::as_slice));
    }
    let mut heard = Heard { said: vec![Vec::new(); all.len()], kept: vec![0; all.len()] };
    Simulator::new(system, &placed, conditions).run(&mut seen.replay(), &mut heard).unwrap();
    heard
}

/// Each says what is known, in order, up to the first instant of which nothing is known.
fn agrees<E: Encoding>(seed: u64, cases: usize, length: usize) {
    let mut random = Random(seed);
    let system = system("one: a b, two: c");
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    for case in 0..cases {
        let below = random.formula(&names(&["a", "b"]), 2, case % 3 > 0);
        let beside = random.formula(&names(&["c", "@below"]), 2, case % 3 > 1);
        let above = random.formula(&names(&["a", "@below", "@beside"]), 2, case % 2 > 0);
        let written = [("above", "one", &*above), ("below", "one", &*below), ("beside", "two", &*beside)];
        let network = network(&specification(system.clone(), &written));
        let trace = random.trace(&system, length);
        // Formulae that look ahead for a bounded time find out about all but the last instants.
        let least = if case % 6 == 5 { length - 12 } else { 0 };
        let expected = verdicts(&network, &trace);
        let jitter = Conditions {
            jitter: 2,
            shuffle: true,
            duplication: 0.2,
            seed,
            grace: 20,
            ..Conditions::default()
        };
        for conditions in [Conditions { grace: 20, ..Conditions::default() }, jitter] {
            let heard = hear::<E>(&system, &network, &trace, conditions);
            for (id, said) in (0..).map(MonitorId).zip(&heard.said) {
                let known = (1..).map(|at| (at, expected.of(id, at)));
                let known: Vec<(Instant, bool)> = known
                    .take_while(|(_, truth)| *truth != Truth::Unknown)
                    .map(|(at, truth)| (at, truth == Truth::True))
                    .collect();
                let words = format!("{} of {written:?}", network.part(id).name);
                // At the end of the trace, what one is not told for an earlier instant holds up what it would be told of later ones.
                let told = if network.references(id).is_empty() { known.len() } else { said.len() };
                assert_eq!(said.get(..), known.get(..told), "{words}");
                assert!(said.len() >= least, "{words}: {}", said.len());
            }
        }
    }
}

#[test]
fn they_say_what_the_plain_meaning_says() {
    agrees::<States>(5, 400, 60);
    agrees::<Expressions>(6, 60, 20);
}

/// What is well for ever has no verdict; nothing need be kept of it, and when it fails it has failed from every instant on.
#[test]
fn what_goes_on_for_long_is_not_kept() {
    let system = system("door: open, lamp: lit");
    let written = [
        ("well", "lamp", "@follows"),
        ("follows", "door", "G(open -> X(@bright U !open))"),
        ("bright", "lamp", "lit"),
    ];
    let network = network(&specification(system.clone(), &written));
    let [open, lit] = ["open", "lit"].map(|name| system.find(name).unwrap());
    let mut trace: Vec<Vec<_>> =
        (0..20_000).map(|at| vec![(open, at % 100 < 50), (lit, at % 100 < 50)]).collect();
    trace[15_020][1].1 = false;
    let heard = hear::<States>(&system, &network, &trace, Conditions::default());
    let follows = &heard.said[1];
    assert_eq!((follows.len(), follows.iter().filter(|(_, holds)| *holds).count()), (15_020, 0));
    assert_eq!(heard.said[0].len(), 15_020);
    assert_eq!(heard.said[2].len(), 20_000);
    // Before it fails there is little; then all that it says is on its way at once.
    let before = hear::<States>(&system, &network, &trace[..15_000], Conditions::default());
    assert!(before.said[1].is_empty() && before.kept.iter().all(|kept| *kept < 50), "{:?}", before.kept);
}
