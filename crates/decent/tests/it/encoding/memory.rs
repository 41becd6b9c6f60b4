//! Memories against a map.

use crate::encoding::reference::atom;
use invigil_decent::memory::{Memory, Obligation};
use invigil_test_support::{Rng, cases};
use std::collections::BTreeMap;

#[test]
fn memory_behaves_like_a_map() {
    for seed in 0..cases(300) {
        let rng = Rng::new(seed);
        let (mut memory, mut twin) = (Memory::default(), BTreeMap::<Obligation, bool>::new());
        let mut other = Memory::default();
        for _ in 0..60 {
            // Mostly close together, rarely far apart.
            let at =
                if rng.below(10) == 0 { u32::MAX - 2 + rng.below(3) as u32 } else { rng.below(9) as u32 };
            let (what, value) = (atom(rng.below(5)), rng.flip());
            match rng.below(12) {
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
                3 if rng.below(8) == 0 => {
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
fn memory_merge_is_commutative_and_idempotent() {
    for seed in 0..cases(200) {
        let rng = Rng::new(seed);
        let mut parts: Vec<Memory> = Vec::new();
        for _ in 0..5 {
            let mut part = Memory::default();
            for _ in 0..rng.below(8) {
                part.learn(rng.below(6) as u32, atom(rng.below(3)), rng.flip());
            }
            parts.push(part);
        }
        let mut joined = [Memory::default(), Memory::default()];
        for all in &mut joined {
            let mut order: Vec<usize> = (0..5).chain([rng.below(5), rng.below(5)]).collect();
            rng.shuffle(&mut order);
            order.iter().for_each(|place| all.merge(&parts[*place]));
        }
        assert_eq!(joined[0], joined[1], "case {seed}");
    }
}

#[test]
fn memory_survives_serialization_in_any_order() {
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
