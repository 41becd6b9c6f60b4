//! Laws of interleaving, without and with shared variables.

use invigil_semantics::{Binding, Compose, Either, Language, Semantics};
use invigil_test_support::cases;
use proptest::prelude::*;

use crate::table::{Table, explore, set, table};

/// Shares the low bit of the numbers of two tables.
struct LowBit;

impl Binding<u8, u8> for LowBit {
    type Shared = u8;

    fn left(&self, config: &u8) -> u8 {
        config & 1
    }

    fn right(&self, config: &u8) -> u8 {
        config & 1
    }

    fn set_left(&self, config: &mut u8, shared: u8) {
        *config = *config & !1 | shared;
    }

    fn set_right(&self, config: &mut u8, shared: u8) {
        *config = *config & !1 | shared;
    }
}

/// A table with four configurations, one for each setting of two bits.
fn two_bits() -> impl Strategy<Value = Table> {
    table(4).prop_map(|mut table| {
        table.moves.resize(4, vec![]);
        table
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(8192)))]

    #[test]
    fn interleaving_is_commutative(a in table(4), b in table(4)) {
        let mirrored = explore(&(&b).interleaved(&a)).rename(
            |(b, a)| (a, b),
            |action| match action {
                Either::Left(b) => Either::Right(b),
                Either::Right(a) => Either::Left(a),
            },
        );
        prop_assert_eq!(mirrored, explore(&(&a).interleaved(&b)));
    }

    #[test]
    fn reachable_set_is_product_of_sides(a in table(4), b in table(4)) {
        let (left, right) = (explore(&a), explore(&b));
        let both = explore(&(&a).interleaved(&b));
        let pairs = left.configs.iter().flat_map(|a| right.configs.iter().map(|b| (*a, *b)));
        prop_assert_eq!(both.configs, pairs.collect());
        let expected =
            left.transitions.len() * right.configs.len() + right.transitions.len() * left.configs.len();
        prop_assert_eq!(set(both.transitions).len(), expected);
    }

    #[test]
    fn deadlocked_side_does_not_block_the_other(a in table(4)) {
        let stone = Table { initial: vec![0], moves: vec![vec![]], accepting: [].into() };
        let beside = explore(&(&a).interleaved(&stone)).rename(
            |(a, _)| a,
            |action| match action {
                Either::Left(action) => action,
                Either::Right(_) => unreachable!("the stone moves"),
            },
        );
        prop_assert_eq!(beside, explore(&a));
    }

    #[test]
    fn shared_variables_agree_in_every_configuration(a in two_bits(), b in two_bits()) {
        let graph = explore(&(&a).interleaved_sharing(&b, LowBit));
        prop_assert!(graph.configs.iter().all(|(left, right)| LowBit.left(left) == LowBit.right(right)));
        let unbound = (&a).interleaved(&b);
        let agreeing = unbound.initial().into_iter().filter(|(a, b)| a & 1 == b & 1);
        prop_assert!(agreeing.eq(graph.initial));
    }

    #[test]
    fn moving_side_behaves_as_if_alone(a in two_bits(), b in two_bits()) {
        let graph = explore(&(&a).interleaved_sharing(&b, LowBit));
        for ((left, right), action, (left_after, right_after)) in graph.transitions {
            // The other side keeps everything except the shared variable.
            match action {
                Either::Left(action) => {
                    prop_assert!(a.execute(&left, &action).into_iter().any(|target| target == left_after));
                    prop_assert_eq!(right_after, right & !1 | left_after & 1);
                }
                Either::Right(action) => {
                    prop_assert!(b.execute(&right, &action).into_iter().any(|target| target == right_after));
                    prop_assert_eq!(left_after, left & !1 | right_after & 1);
                }
            }
        }
    }

    #[test]
    fn shared_interleaving_is_commutative(a in two_bits(), b in two_bits()) {
        let mirrored = explore(&(&b).interleaved_sharing(&a, LowBit)).rename(
            |(b, a)| (a, b),
            |action| match action {
                Either::Left(b) => Either::Right(b),
                Either::Right(a) => Either::Left(a),
            },
        );
        prop_assert_eq!(mirrored, explore(&(&a).interleaved_sharing(&b, LowBit)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(4096)))]

    #[test]
    fn interleaving_is_associative(a in table(3), b in table(3), c in table(3)) {
        let leftwards = explore(&(&a).interleaved(&b).interleaved(&c)).rename(
            |((a, b), c)| (a, (b, c)),
            |action| match action {
                Either::Left(Either::Left(a)) => Either::Left(a),
                Either::Left(Either::Right(b)) => Either::Right(Either::Left(b)),
                Either::Right(c) => Either::Right(Either::Right(c)),
            },
        );
        prop_assert_eq!(leftwards, explore(&(&a).interleaved((&b).interleaved(&c))));
    }
}

/// A lamp that follows a switch.
#[test]
fn system_reads_variables_of_environment() {
    struct Switch;
    impl Language for Switch {
        type Config = bool;
        type Action = &'static str;
    }
    impl Semantics for Switch {
        fn initial(&self) -> impl IntoIterator<Item = bool> {
            [false]
        }
        fn actions(&self, _: &bool) -> impl IntoIterator<Item = &'static str> {
            ["flip"]
        }
        fn execute(&self, at: &bool, _: &&'static str) -> impl IntoIterator<Item = bool> {
            [!at]
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    struct Lamp {
        input: u8,
        lit: bool,
    }
    struct Controller;
    impl Language for Controller {
        type Config = Lamp;
        type Action = ();
    }
    impl Semantics for Controller {
        fn initial(&self) -> impl IntoIterator<Item = Lamp> {
            // The initial position of the switch is unknown.
            [Lamp { input: 0, lit: false }, Lamp { input: 1, lit: false }]
        }
        fn actions(&self, at: &Lamp) -> impl IntoIterator<Item = ()> {
            (at.lit != (at.input == 1)).then_some(())
        }
        fn execute(&self, at: &Lamp, _: &()) -> impl IntoIterator<Item = Lamp> {
            [Lamp { lit: !at.lit, ..*at }]
        }
    }

    struct Port;
    impl Binding<Lamp, bool> for Port {
        type Shared = bool;
        fn left(&self, lamp: &Lamp) -> bool {
            lamp.input == 1
        }
        fn right(&self, switch: &bool) -> bool {
            *switch
        }
        fn set_left(&self, lamp: &mut Lamp, shared: bool) {
            lamp.input = u8::from(shared);
        }
        fn set_right(&self, switch: &mut bool, shared: bool) {
            *switch = shared;
        }
    }

    let setup = Controller.interleaved_sharing(Switch, Port);
    let off = (Lamp { input: 0, lit: false }, false);
    assert!(setup.initial().into_iter().eq([off]));

    let flipped = (Lamp { input: 1, lit: false }, true);
    assert!(setup.steps(&off).into_iter().eq([(Either::Right("flip"), flipped)]));
    let lit = (Lamp { input: 1, lit: true }, true);
    assert!(setup.steps(&flipped).into_iter().any(|step| step == (Either::Left(()), lit)));
    assert_eq!(explore(&setup).configs.len(), 4);
}
