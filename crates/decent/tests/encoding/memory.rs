//! Memories against a plain map.

use crate::dice::{Dice, cases};
use crate::world::atom;
use invigil_decent::memory::{Memory, Obligation};
use std::collections::BTreeMap;

#[test]
fn a_memory_is_a_map_whatever_is_done_to_it() {
    for seed in cases(300) {
        let mut dice = Dice::new(seed);
        let (mut memory, mut twin) = (Memory::default(), BTreeMap::<Obligation, bool>::new());
        let mut other = Memory::default();
        for _ in 0..60 {
            // Mostly near each other, seldom far away.
            let at =
                if dice.below(10) == 0 { u32::MAX - 2 + dice.below(3) as u32 } else { dice.below(9) as u32 };
            let (what, value) = (atom(dice.below(5)), dice.flip());
            match dice.below(12) {
                0 => {
                    memory.forget_before(at.min(9));
                    twin.retain(|known, _| known.at >= at.min(9));
                }
                1 => {
                    for (known, value) in other.iter() {
                        *twin.entry(known).or_default() |= value;
                    }
                    memory.merge(&other);
                }
                2 => other.learn(at, what, value),
                3 if dice.below(8) == 0 => {
                    memory.clear();
                    twin.clear();
                }
                _ => {
                    memory.learn(at, what, value);
                    *twin.entry(Obligation { at, atom: what }).or_default() |= value;
                }
            }
            assert_eq!(memory.get(at, what), twin.get(&Obligation { at, atom: what }).copied());
            assert_eq!((memory.len(), memory.is_empty()), (twin.len(), twin.is_empty()));
        }
        assert!(memory.iter().eq(twin.iter().map(|(known, value)| (*known, *value))), "case {seed}");
        for at in 0..9 {
            let here = twin.iter().filter(|(known, _)| known.at == at);
            assert!(memory.at(at).iter().copied().eq(here.map(|(known, value)| (known.atom, *value))));
        }
    }
}

#[test]
fn memories_join_in_any_order_and_as_often_as_one_likes() {
    for seed in cases(200) {
        let mut dice = Dice::new(seed);
        let mut parts: Vec<Memory> = Vec::new();
        for _ in 0..5 {
            let mut part = Memory::default();
            for _ in 0..dice.below(8) {
                part.learn(dice.below(6) as u32, atom(dice.below(3)), dice.flip());
            }
            parts.push(part);
        }
        let mut joined = [Memory::default(), Memory::default()];
        for all in &mut joined {
            let mut order: Vec<usize> = (0..5).chain([dice.below(5), dice.below(5)]).collect();
            dice.shuffle(&mut order);
            order.iter().for_each(|place| all.merge(&parts[*place]));
        }
        assert_eq!(joined[0], joined[1], "case {seed}");
    }
}

#[test]
fn memories_survive_the_way_in_any_order() {
    let mut memory = Memory::default();
    for (at, place, value) in [(1, 0, true), (1, 1, false), (7, 0, false)] {
        memory.learn(at, atom(place), value);
    }
    let sent = serde_json::to_value(&memory).unwrap();
    assert_eq!(serde_json::from_value::<Memory>(sent.clone()).unwrap(), memory);
    let serde_json::Value::Array(mut rows) = sent else { panic!("no list") };
    rows.reverse();
    assert_eq!(serde_json::from_value::<Memory>(rows.into()).unwrap(), memory);
}
