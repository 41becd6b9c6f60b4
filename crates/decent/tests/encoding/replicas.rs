//! Replicas that talk: whatever the order of messages, and however often they come, all find out the same.

use crate::dice::{Dice, cases};
use crate::world::{self, atom, machine, memory, monitor, part, run, seen};
use invigil_decent::automaton::Machine;
use invigil_decent::encoding::{Aggressive, Encoding, Expressions, Quick, States, Work};
use invigil_decent::memory::Memory;

const ATOMS: usize = 2;

/// What replicas send to each other.
enum Message<History> {
    Memory(Memory),
    History(Box<History>),
}

/// Messages about a run. If `even`, all histories go to its end.
fn messages<History: Encoding>(
    dice: &mut Dice,
    machine: &Machine,
    run: &world::Run,
    even: bool,
) -> Vec<Message<History>> {
    let mut message = || {
        let known = part(dice, run);
        if dice.below(3) == 0 {
            return Message::Memory(known);
        }
        let mut history = History::new(machine, 0);
        history.extend(machine, if even { run.len() } else { dice.below(run.len() + 1) } as u32);
        history.learn(machine, &known, &mut Work::default());
        if dice.below(3) == 0 {
            history.drop_resolved();
        }
        Message::History(Box::new(history))
    };
    (0..5).map(|_| message()).collect()
}

/// A replica that got all messages in some order, some of them twice, and learned in between as it liked. If not `even`, it
/// went on in between, too.
fn replica<History: Encoding>(
    dice: &mut Dice,
    machine: &Machine,
    length: usize,
    messages: &[Message<History>],
    even: bool,
) -> History {
    let mut history = History::new(machine, 0);
    history.extend(machine, if even { length } else { 0 } as u32);
    let mut memory = Memory::default();
    let mut order: Vec<_> = (0..messages.len()).chain((0..messages.len()).filter(|_| dice.flip())).collect();
    dice.shuffle(&mut order);
    for place in order {
        match &messages[place] {
            Message::Memory(known) => memory.merge(known),
            Message::History(other) => history.merge(machine, other, &mut Work::default()),
        }
        match dice.below(4) {
            0 => history.extend(machine, dice.below(length + 1) as u32),
            1 => drop(history.learn(machine, &memory, &mut Work::default())),
            _ => {}
        }
    }
    history.extend(machine, length as u32);
    history.learn(machine, &memory, &mut Work::default());
    history
}

/// Strong eventual consistency: the same states are possible, to the last bit.
#[test]
fn possible_states_converge() {
    for seed in cases(1500) {
        let mut dice = Dice::new(seed);
        let machine = machine(&mut dice, ATOMS);
        let length = 1 + dice.below(5);
        let run = run(&mut dice, ATOMS, length);
        let messages = messages::<States>(&mut dice, &machine, &run, false);
        let one = replica(&mut dice, &machine, length, &messages, false);
        for _ in 0..3 {
            let other = replica(&mut dice, &machine, length, &messages, false);
            assert_eq!(one.resolved(), other.resolved(), "case {seed}");
            // Since when it holds is not known any more to who took over from one who had forgotten.
            assert_eq!(one.verdict().map(|found| found.0), other.verdict().map(|found| found.0));
            for at in one.start().max(other.start())..=length as u32 {
                assert!(one.possible_at(at).eq(other.possible_at(at)), "case {seed}");
            }
        }
        let right = world::states(&machine, &run);
        assert_eq!(
            one.resolved().map(|known| known.state),
            one.resolved().map(|known| right[known.at as usize])
        );
    }
}

/// The same of expressions, if all have gone on before they talk; the last known state is asked for.
fn converge<P: invigil_decent::encoding::expressions::Profile>(seed: u64) {
    let mut dice = Dice::new(seed);
    let machine = machine(&mut dice, ATOMS);
    let length = 1 + dice.below(4);
    let run = run(&mut dice, ATOMS, length);
    let messages = messages::<Expressions<P>>(&mut dice, &machine, &run, true);
    let one = replica(&mut dice, &machine, length, &messages, true);
    let other = replica(&mut dice, &machine, length, &messages, true);
    assert_eq!(one.resolved(), other.resolved(), "case {seed}");
    assert_eq!(one.verdict().map(|found| found.0), other.verdict().map(|found| found.0));
}

#[test]
fn expressions_converge() {
    for seed in cases(1000) {
        converge::<Quick>(seed);
        converge::<Aggressive>(seed);
    }
}

/// Why they must have gone on before: what comes later does not get into the expressions of the instants that follow. So
/// replicas with the same knowledge differ, and only possible states converge.
#[test]
fn what_expressions_tell_depends_on_when_one_went_on() {
    let machine = monitor("G (a -> X (b U !a))");
    let told = memory(&[(1, atom(0), true)]);
    let then = memory(&[(2, atom(0), true), (2, atom(1), false)]);
    assert_eq!([1, 2].map(|own| told_when::<States>(&machine, own, &told, &then)), [Some(2), Some(2)]);
    assert_eq!(
        [1, 2].map(|own| told_when::<Expressions<Aggressive>>(&machine, own, &told, &then)),
        [Some(2), Some(1)]
    );
}

/// The last instant that is known to a history that was at `own` when it was told of the first, went on to 2, and saw that.
fn told_when<History: Encoding>(machine: &Machine, own: u32, told: &Memory, then: &Memory) -> Option<u32> {
    let work = &mut Work::default();
    let [mut here, mut there] = [own, 1].map(|to| {
        let mut history = History::new(machine, 0);
        history.extend(machine, to);
        history
    });
    there.learn(machine, told, work);
    here.merge(machine, &there, work);
    here.extend(machine, 2);
    here.learn(machine, then, work).map(|found| found.at)
}

/// Whatever is done, possible states know at least what expressions know.
#[test]
fn possible_states_are_never_behind_expressions() {
    let mut ahead = 0;
    for seed in cases(1000) {
        let mut dice = Dice::new(seed);
        let machine = machine(&mut dice, ATOMS);
        let length = 1 + dice.below(5);
        let run = run(&mut dice, ATOMS, length);
        let (mut states, mut expressions) = (Vec::new(), Vec::new());
        let mut memories = vec![Memory::default(); 3];
        for _ in 0..3 {
            states.push(States::new(&machine, 0));
            expressions.push(Expressions::<Aggressive>::new(&machine, 0));
        }
        for _ in 0..30 {
            let (one, two) = (dice.below(3), dice.below(3));
            let to = dice.below(length + 1) as u32;
            let work = &mut Work::default();
            match dice.below(5) {
                0 => {
                    let all = seen(&mut dice, &run);
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
            let right = world::states(&machine, &run);
            assert!(known.is_none_or(|(at, state)| right[at as usize] == state));
            if let Some((verdict, at)) = expressions[one].verdict() {
                assert!(states[one].verdict().is_some_and(|(same, when)| same == verdict && when <= at));
            }
        }
    }
    // What the disjunction loses is not needed often, but it is.
    assert!(ahead > 0);
}
