//! Examples 10 to 19 and tables 5.1 and 5.2 of [EH18 §5].
//!
//! Where the text contradicts the tables, the tables are right: in example 19 the second `⟨1,s⟩` of the first memory is
//! `⟨2,s⟩`, `s` is true at 1, and the state then is q1.

use crate::encoding::reference::{atom, monitor};
use invigil_decent::automaton::{Automaton, Edge, Machine};
use invigil_decent::encoding::{Aggressive, Encoding, Expressions, Quick, States, WorkCounters};
use invigil_decent::expression::{Pool, evaluate, simplify};
use invigil_decent::memory::{Atom, Memory, Obligation};
use invigil_ltl::moore::Truth;

/// The switch, the lamp and the presence sensor.
fn s() -> Atom {
    atom(0)
}
fn l() -> Atom {
    atom(1)
}
fn pres() -> Atom {
    atom(2)
}

fn name(of: Atom) -> String {
    ["s", "ℓ", "pres"].iter().zip(0..).find(|(_, place)| atom(*place) == of).unwrap().0.to_string()
}

/// Figure 2.2: when the switch is on, the lamp is on from the next instant until the switch is off.
fn light() -> Machine {
    let edge = |to, cube: &[(Atom, bool)]| Edge { to, cubes: vec![cube.to_vec()] };
    let automaton = Automaton {
        initial: 0,
        verdicts: vec![Truth::Unknown, Truth::Unknown, Truth::False],
        edges: vec![
            vec![edge(0, &[(s(), false)]), edge(1, &[(s(), true)])],
            vec![
                edge(0, &[(s(), false)]),
                edge(1, &[(s(), true), (l(), true)]),
                edge(2, &[(s(), true), (l(), false)]),
            ],
            vec![edge(2, &[])],
        ],
    };
    Machine::new(automaton).unwrap()
}

fn memory(known: &[(u32, Atom, bool)]) -> Memory {
    crate::encoding::reference::memory(known)
}

/// Example 15.
fn trace() -> Memory {
    memory(&[(1, s(), true), (1, l(), true), (2, s(), true), (2, l(), false)])
}

/// Expressions of each instant and state, printed.
fn table<P: invigil_decent::encoding::expressions::Profile>(
    history: &Expressions<P>,
) -> Vec<(u32, u32, String)> {
    let of_instant = |at: u32| {
        let entry = move |state| {
            let expression = history.expression(at, state)?;
            Some((at, state, history.pool().display(expression, &name).to_string()))
        };
        (0..3).filter_map(entry)
    };
    history.instants().flat_map(of_instant).collect()
}

fn rows(rows: &[(u32, u32, &str)]) -> Vec<(u32, u32, String)> {
    rows.iter().map(|(at, state, text)| (*at, *state, text.to_string())).collect()
}

#[test]
fn published_automaton_is_the_monitor_of_the_formula() {
    let made = monitor("G (a -> X (b U !a))");
    assert_eq!((&made.verdicts, made.initial), (&light().verdicts, 0));
    for state in 0..3 {
        for letter in 0..4 {
            let value = |of: Atom| Some(if of == s() { letter & 1 == 1 } else { letter & 2 == 2 });
            assert_eq!(made.next(state, value), light().next(state, value));
        }
    }
}

/// Examples 12 and 14, with basic laws applied during rewriting, as THEMIS does.
#[test]
fn published_expression_is_rewritten_and_evaluated() {
    let mut pool = Pool::default();
    let [s1, l1, pres1] = [s(), l(), pres()].map(|atom| pool.atom(Obligation { at: 1, atom }));
    let either = pool.or([s1, l1]);
    let all = pool.and([either, pres1]);
    assert_eq!(pool.display(all, &name).to_string(), "⟨1,pres⟩ ∧ (⟨1,s⟩ ∨ ⟨1,ℓ⟩)");
    let known = memory(&[(1, s(), true), (1, l(), false)]);
    let mut rest = Pool::default();
    let rewritten = pool.rewrite([all], &known, &mut rest)[0];
    assert_eq!(rest.display(rewritten, &name).to_string(), "⟨1,pres⟩");
    assert_eq!(evaluate(&pool, all, &known), None);
    let known = memory(&[(1, s(), true), (1, pres(), true)]);
    assert_eq!(evaluate(&pool, all, &known), Some(true));
    assert_eq!(evaluate(&pool, all, &memory(&[(1, pres(), false)])), Some(false));
}

/// Example 13.
#[test]
fn published_expression_is_simplified() {
    let mut pool = Pool::default();
    let [s1, l1] = [s(), l()].map(|atom| pool.atom(Obligation { at: 1, atom }));
    let dark = pool.not(l1);
    let [lit, unlit] = [l1, dark].map(|other| pool.and([s1, other]));
    let either = pool.or([lit, unlit]);
    assert_eq!(simplify(&mut pool, either).unwrap(), s1);
    assert_eq!(evaluate(&pool, either, &memory(&[(1, s(), true)])), Some(true));
}

/// Examples 15 and 16.
#[test]
fn mov_gives_the_published_table() {
    let (light, trace) = (light(), trace());
    let first = light.next(0, |atom| trace.get(1, atom));
    assert_eq!((first, light.verdict(first)), (1, Truth::Unknown));
    let second = light.next(first, |atom| trace.get(2, atom));
    assert_eq!((second, light.verdict(second)), (2, Truth::False));
    // Without an event the state does not change.
    assert_eq!(light.next(first, |_| None), first);
}

/// Example 17, table 5.1. The thesis prints the path over q1 first for q1 and last for q0; here it is always last.
#[test]
fn table_5_1() {
    let mut history = Expressions::<Quick>::new(&light(), 0);
    history.extend(&light(), 2);
    let expected = rows(&[
        (0, 0, "⊤"),
        (1, 0, "¬⟨1,s⟩"),
        (1, 1, "⟨1,s⟩"),
        (2, 0, "(¬⟨1,s⟩ ∧ ¬⟨2,s⟩) ∨ (⟨1,s⟩ ∧ ¬⟨2,s⟩)"),
        (2, 1, "(¬⟨1,s⟩ ∧ ⟨2,s⟩) ∨ (⟨1,s⟩ ∧ ⟨2,s⟩ ∧ ⟨2,ℓ⟩)"),
        (2, 2, "⟨1,s⟩ ∧ ⟨2,s⟩ ∧ ¬⟨2,ℓ⟩"),
    ]);
    assert_eq!(table(&history), expected);
}

/// Example 18.
#[test]
fn published_trace_gives_the_published_tables() {
    let light = light();
    let mut history = Expressions::<Quick>::new(&light, 0);
    history.extend(&light, 2);
    let values: Vec<_> = (0..3)
        .map(|state| evaluate(history.pool(), history.expression(2, state).unwrap(), &trace()))
        .collect();
    assert_eq!(values, [Some(false), Some(false), Some(true)]);
    assert_eq!(history.select(&trace(), 2), Some(2));
    assert_eq!(history.verdict_at(&light, &trace(), 2), Truth::False);
    assert_eq!(history.verdict_at(&light, &memory(&[]), 2), Truth::Unknown);
    assert_eq!(history.select(&trace(), 3), None);
}

/// Example 19, table 5.2.
#[test]
fn table_5_2() {
    let (light, work) = (light(), &mut WorkCounters::default());
    let mut whole = Expressions::<Quick>::new(&light, 0);
    whole.extend(&light, 2);
    let memories = [memory(&[(1, s(), true), (2, s(), true)]), memory(&[(1, l(), true), (2, l(), false)])];
    let [mut first, mut second] = [whole.clone(), whole.clone()];
    first.incorporate(&light, &memories[0], work);
    second.incorporate(&light, &memories[1], work);
    let stays = "(¬⟨1,s⟩ ∧ ¬⟨2,s⟩) ∨ (⟨1,s⟩ ∧ ¬⟨2,s⟩)";
    let expected =
        rows(&[(0, 0, "⊤"), (1, 0, "⊥"), (1, 1, "⊤"), (2, 0, "⊥"), (2, 1, "⟨2,ℓ⟩"), (2, 2, "¬⟨2,ℓ⟩")]);
    assert_eq!(table(&first), expected);
    let expected = rows(&[
        (0, 0, "⊤"),
        (1, 0, "¬⟨1,s⟩"),
        (1, 1, "⟨1,s⟩"),
        (2, 0, stays),
        (2, 1, "¬⟨1,s⟩ ∧ ⟨2,s⟩"),
        (2, 2, "⟨1,s⟩ ∧ ⟨2,s⟩"),
    ]);
    assert_eq!(table(&second), expected);

    let mut both = first.clone();
    both.merge_all(&light, &second);
    let expected = rows(&[
        (0, 0, "⊤"),
        (1, 0, "¬⟨1,s⟩"),
        (1, 1, "⊤"),
        (2, 0, stays),
        (2, 1, "⟨2,ℓ⟩ ∨ (¬⟨1,s⟩ ∧ ⟨2,s⟩)"),
        (2, 2, "¬⟨2,ℓ⟩ ∨ (⟨1,s⟩ ∧ ⟨2,s⟩)"),
    ]);
    assert_eq!(table(&both), expected);
    let mut other_way = second.clone();
    other_way.merge_all(&light, &first);

    let (no, yes) = (Some(false), Some(true));
    let expected = [[yes, no, yes, no, None, yes], [yes, None, yes, None, None, yes]];
    for (memory, expected) in memories.iter().zip(expected) {
        for history in [&both, &other_way] {
            let values: Vec<_> = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
                .map(|(at, state)| evaluate(history.pool(), history.expression(at, state).unwrap(), memory))
                .to_vec();
            assert_eq!(values, expected);
        }
    }
}

/// The same with sums of products, which decide what the table leaves open: q0 is reached at 2 if and only if the
/// switch is off.
#[test]
fn sums_of_products_are_shorter_than_published_expressions() {
    let light = light();
    let mut history = Expressions::<Aggressive>::new(&light, 0);
    history.extend(&light, 2);
    let before = history.size(&light, &|_| 1);
    let mut work = WorkCounters::default();
    history.incorporate(&light, &memory(&[(1, l(), true), (2, l(), false)]), &mut work);
    assert_eq!(table(&history)[3], (2, 0, "¬⟨2,s⟩".into()));
    assert_eq!(table(&history)[5], (2, 2, "⟨1,s⟩ ∧ ⟨2,s⟩".into()));
    // One expression still has several products after rewriting; the quick profile simplifies all but the constant.
    assert_eq!(work, WorkCounters { simplifications: 1, evaluations: 5 });
    let (mut quick, mut asked) = (Expressions::<Quick>::new(&light, 0), WorkCounters::default());
    quick.extend(&light, 2);
    quick.incorporate(&light, &memory(&[(1, l(), true), (2, l(), false)]), &mut asked);
    assert_eq!(asked, WorkCounters { simplifications: 5, evaluations: 5 });
    let after = history.size(&light, &|_| 1);
    assert!(after < before, "{after} {before}");
    // Six entries with instant and state; ⊤, ¬⟨1,s⟩, ⟨1,s⟩, ¬⟨2,s⟩, ¬⟨1,s⟩ ∧ ⟨2,s⟩, ⟨1,s⟩ ∧ ⟨2,s⟩.
    assert_eq!(after, 6 * 8 + 1 + 6 + 5 + 6 + 12 + 11);
}

/// With complete observations no simplifier is needed: the reason why orchestration has no simplifications in [EH18
/// §8.2].
#[test]
fn complete_observations_need_no_simplification() {
    let (light, mut work) = (light(), WorkCounters::default());
    let mut history = Expressions::<Aggressive>::new(&light, 0);
    for at in 1..=2 {
        history.extend(&light, at);
        history.learn(&light, &trace(), &mut work);
        assert_eq!(history.drop_resolved(), 1);
    }
    // Two successors of the first state, three of the second, of which the last one is the state.
    assert_eq!(work, WorkCounters { simplifications: 0, evaluations: 5 });
    assert_eq!(history.verdict(), Some((Truth::False, 2)));
    // The known state at its instant.
    assert_eq!(history.size(&light, &|_| 1), 9);
}

/// Possible states keep what merging expressions loses in example 19: q0 stays unreachable.
#[test]
fn possible_states_keep_what_table_5_2_loses() {
    let (light, work) = (light(), &mut WorkCounters::default());
    let mut histories =
        [memory(&[(1, s(), true), (2, s(), true)]), memory(&[(1, l(), true), (2, l(), false)])].map(
            |memory| {
                let mut history = States::new(&light, 0);
                history.extend(&light, 2);
                history.learn(&light, &memory, work);
                history
            },
        );
    let possible = |history: &States| [1, 2].map(|at| history.possible_at(at).collect::<Vec<_>>());
    assert_eq!(possible(&histories[0]), [vec![1], vec![1, 2]]);
    assert_eq!(possible(&histories[1]), [vec![0, 1], vec![0, 1, 2]]);
    let first = histories[0].clone();
    histories[1].merge(&light, &first, work);
    assert_eq!(possible(&histories[1]), [vec![1], vec![2]]);
    assert_eq!(histories[1].verdict(), Some((Truth::False, 2)));
}
