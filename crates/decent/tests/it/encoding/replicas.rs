//! Replicas converge for any order and number of messages.

use crate::encoding::reference::{self, atom, machine, memory, monitor, part, run, seen};
use invigil_decent::automaton::Machine;
use invigil_decent::encoding::{Aggressive, Encoding, Expressions, Quick, States, WorkCounters};
use invigil_decent::memory::Memory;
use invigil_test_support::{Rng, cases};

const ATOMS: usize = 2;

/// Message between replicas.
enum Message<History> {
    Memory(Memory),
    History(Box<History>),
}

/// Messages about a run. If `even`, all histories extend to its end.
fn messages<History: Encoding>(
    rng: &Rng,
    machine: &Machine,
    run: &reference::Run,
    even: bool,
) -> Vec<Message<History>> {
    let message = || {
        let known = part(rng, run);
        if rng.below(3) == 0 {
            return Message::Memory(known);
        }
        let mut history = History::new(machine, 0);
        history.extend(machine, if even { run.len() } else { rng.below(run.len() + 1) } as u32);
        history.learn(machine, &known, &mut WorkCounters::default());
        if rng.below(3) == 0 {
            history.drop_resolved();
        }
        Message::History(Box::new(history))
    };
    (0..5).map(|_| message()).collect()
}

/// Replica that received all messages in random order, some of them twice, and incorporated its memory at random times.
/// If not `even`, it was also extended in between.
fn replica<History: Encoding>(
    rng: &Rng,
    machine: &Machine,
    length: usize,
    messages: &[Message<History>],
    even: bool,
) -> History {
    let mut history = History::new(machine, 0);
    history.extend(machine, if even { length } else { 0 } as u32);
    let mut memory = Memory::default();
    let mut order: Vec<_> = (0..messages.len()).chain((0..messages.len()).filter(|_| rng.flip())).collect();
    rng.shuffle(&mut order);
    for place in order {
        match &messages[place] {
            Message::Memory(known) => memory.merge(known),
            Message::History(other) => history.merge(machine, other, &mut WorkCounters::default()),
        }
        match rng.below(4) {
            0 => history.extend(machine, rng.below(length + 1) as u32),
            1 => drop(history.learn(machine, &memory, &mut WorkCounters::default())),
            _ => {}
        }
    }
    history.extend(machine, length as u32);
    history.learn(machine, &memory, &mut WorkCounters::default());
    history
}

/// Strong eventual consistency: the possible states are identical.
#[test]
fn replicas_of_possible_states_converge() {
    for seed in 0..cases(1500) {
        let rng = Rng::new(seed);
        let machine = machine(&rng, ATOMS);
        let length = 1 + rng.below(5);
        let run = run(&rng, ATOMS, length);
        let messages = messages::<States>(&rng, &machine, &run, false);
        let one = replica(&rng, &machine, length, &messages, false);
        for _ in 0..3 {
            let other = replica(&rng, &machine, length, &messages, false);
            assert_eq!(one.resolved(), other.resolved(), "case {seed}");
            // A replica that continues from a shortened history does not know since when the verdict holds.
            assert_eq!(one.verdict().map(|found| found.0), other.verdict().map(|found| found.0));
            for at in one.start().max(other.start())..=length as u32 {
                assert!(one.possible_at(at).eq(other.possible_at(at)), "case {seed}");
            }
        }
        let right = reference::states(&machine, &run);
        assert_eq!(
            one.resolved().map(|known| known.state),
            one.resolved().map(|known| right[known.at as usize])
        );
    }
}

/// The same for expressions, if all are extended before they are merged; compares the last known state.
fn converge<P: invigil_decent::encoding::expressions::Profile>(seed: u64) {
    let rng = Rng::new(seed);
    let machine = machine(&rng, ATOMS);
    let length = 1 + rng.below(4);
    let run = run(&rng, ATOMS, length);
    let messages = messages::<Expressions<P>>(&rng, &machine, &run, true);
    let one = replica(&rng, &machine, length, &messages, true);
    let other = replica(&rng, &machine, length, &messages, true);
    assert_eq!(one.resolved(), other.resolved(), "case {seed}");
    assert_eq!(one.verdict().map(|found| found.0), other.verdict().map(|found| found.0));
}

#[test]
fn replicas_of_expressions_converge() {
    for seed in 0..cases(1000) {
        converge::<Quick>(seed);
        converge::<Aggressive>(seed);
    }
}

/// Why they must be extended first: later knowledge does not reach the expressions of the instants after it. So
/// replicas with the same knowledge differ; only possible states converge.
#[test]
fn knowledge_of_expressions_depends_on_time_of_extension() {
    let machine = monitor("G (a -> X (b U !a))");
    let reported = memory(&[(1, atom(0), true)]);
    let then = memory(&[(2, atom(0), true), (2, atom(1), false)]);
    assert_eq!([1, 2].map(|own| told_when::<States>(&machine, own, &reported, &then)), [Some(2), Some(2)]);
    assert_eq!(
        [1, 2].map(|own| told_when::<Expressions<Aggressive>>(&machine, own, &reported, &then)),
        [Some(2), Some(1)]
    );
}

/// Last known instant of a history that was at `own` when it incorporated the first observation, and was then extended
/// to 2 and incorporated the second.
fn told_when<History: Encoding>(
    machine: &Machine,
    own: u32,
    reported: &Memory,
    then: &Memory,
) -> Option<u32> {
    let work = &mut WorkCounters::default();
    let [mut here, mut there] = [own, 1].map(|to| {
        let mut history = History::new(machine, 0);
        history.extend(machine, to);
        history
    });
    there.learn(machine, reported, work);
    here.merge(machine, &there, work);
    here.extend(machine, 2);
    here.learn(machine, then, work).map(|found| found.at)
}

/// Possible states always know at least as much as expressions.
#[test]
fn possible_states_know_at_least_as_much_as_expressions() {
    let mut ahead = 0;
    for seed in 0..cases(1000) {
        let rng = Rng::new(seed);
        let machine = machine(&rng, ATOMS);
        let length = 1 + rng.below(5);
        let run = run(&rng, ATOMS, length);
        let (mut states, mut expressions) = (Vec::new(), Vec::new());
        let mut memories = vec![Memory::default(); 3];
        for _ in 0..3 {
            states.push(States::new(&machine, 0));
            expressions.push(Expressions::<Aggressive>::new(&machine, 0));
        }
        for _ in 0..30 {
            let (one, two) = (rng.below(3), rng.below(3));
            let to = rng.below(length + 1) as u32;
            let work = &mut WorkCounters::default();
            match rng.below(5) {
                0 => {
                    let all = seen(&rng, &run);
                    memories[one].merge(&memory(&all[..1]));
                }
                1 => {
                    let (other, theirs) = (states[two].clone(), expressions[two].clone());
                    states[one].merge(&machine, &other, work);
                    expressions[one].merge(&machine, &theirs, work);
                }
                2 => {
                    states[one].extend(&machine, to);
                    expressions[one].extend(&machine, to);
                }
                3 => {
                    states[one].drop_resolved();
                    expressions[one].drop_resolved();
                }
                _ => {}
            }
            let known = states[one].learn(&machine, &memories[one], work);
            let theirs = expressions[one].learn(&machine, &memories[one], work);
            let [known, theirs] = [known, theirs].map(|found| found.map(|found| (found.at, found.state)));
            assert!(known >= theirs, "case {seed}: {known:?} {theirs:?}");
            ahead += usize::from(known > theirs);
            let right = reference::states(&machine, &run);
            assert!(known.is_none_or(|(at, state)| right[at as usize] == state));
            if let Some((verdict, at)) = expressions[one].verdict() {
                assert!(states[one].verdict().is_some_and(|(same, when)| same == verdict && when <= at));
            }
        }
    }
    // The information that merging loses matters rarely, but it does.
    assert!(ahead > 0);
}
