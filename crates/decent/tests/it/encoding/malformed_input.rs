//! Malformed input from the network.

use crate::encoding::reference::{machine, monitor, part, run};
use invigil_decent::automaton::{Automaton, Edge, Machine, MachineError};
use invigil_decent::encoding::{Aggressive, Encoding, Expressions, Quick, States, WorkCounters};
use invigil_decent::expression::Pool;
use invigil_ltl::moore::Truth;
use invigil_test_support::{Rng, cases};
use serde_json::Value;

fn comes_back<History: Encoding>(history: &History) -> History {
    serde_json::from_str(&serde_json::to_string(history).unwrap()).unwrap()
}

#[test]
fn histories_survive_serialization() {
    for seed in 0..cases(200) {
        let rng = Rng::new(seed);
        let machine = machine(&rng, 2);
        let run = run(&rng, 2, 4);
        let known = part(&rng, &run);
        let sent: Machine = serde_json::from_str(&serde_json::to_string(&machine).unwrap()).unwrap();
        assert_eq!(sent, machine);
        let mut states = States::new(&machine, 0);
        states.extend(&machine, 4);
        states.learn(&machine, &known, &mut WorkCounters::default());
        assert!(comes_back(&states).fits(&sent));
        assert_eq!(comes_back(&states), states);
        let mut expressions = Expressions::<Quick>::new(&machine, 0);
        expressions.extend(&machine, 4);
        expressions.learn(&machine, &known, &mut WorkCounters::default());
        expressions.drop_resolved();
        let back = comes_back(&expressions);
        assert!(back.fits(&sent));
        assert_eq!(back.resolved(), expressions.resolved());
        assert_eq!(back.size(&machine, &|_| 2), expressions.size(&machine, &|_| 2));
    }
}

/// Replaces any number in a message by another one: the result is rejected, or it is valid and usable.
fn survives<History: Encoding>(seed: u64) -> bool {
    let rng = Rng::new(seed);
    let machine = machine(&rng, 2);
    let run = run(&rng, 2, 4);
    let mut history = History::new(&machine, 0);
    history.extend(&machine, 3);
    history.learn(&machine, &part(&rng, &run), &mut WorkCounters::default());
    let mut sent = serde_json::to_value(&history).unwrap();
    let mut numbers = Vec::new();
    collect(&mut sent, &mut numbers);
    for _ in 0..1 + rng.below(3) {
        let place = rng.below(numbers.len());
        *numbers[place] = [0, 1, 2, 3, 7, 64, u64::from(u32::MAX), u64::MAX][rng.below(8)].into();
    }
    let Ok(came) = serde_json::from_value::<History>(sent) else { return false };
    let work = &mut WorkCounters::default();
    history.merge(&machine, &came, work);
    history.extend(&machine, 4);
    history.learn(&machine, &part(&rng, &run), work);
    history.drop_resolved();
    let _ = (history.open_obligations(&machine).count(), history.size(&machine, &|_| 1), history.verdict());
    came.fits(&machine)
}

fn collect<'a>(value: &'a mut Value, numbers: &mut Vec<&'a mut Value>) {
    match value {
        Value::Number(_) => numbers.push(value),
        Value::Array(parts) => parts.iter_mut().for_each(|part| collect(part, numbers)),
        Value::Object(parts) => parts.values_mut().for_each(|part| collect(part, numbers)),
        _ => {}
    }
}

#[test]
fn malformed_histories_never_panic() {
    let refused = (0..cases(2000)).filter(|seed| !survives::<States>(*seed)).count();
    assert!(refused > 0);
    for seed in 0..cases(1000) {
        survives::<Expressions<Quick>>(seed);
        survives::<Expressions<Aggressive>>(seed);
    }
}

#[test]
fn histories_of_other_automata_are_rejected() {
    let [small, large] = ["F a", "F (a & F (b & F (c & F d)))"].map(monitor);
    let mut history = States::new(&large, 0);
    history.extend(&large, 3);
    assert!(!history.fits(&small));
    let mut own = States::new(&small, 0);
    let before = own.clone();
    own.merge(&small, &history, &mut WorkCounters::default());
    assert_eq!(own, before);
}

#[test]
fn malformed_automata_and_expressions_are_rejected() {
    let edge = |to| vec![Edge { to, cubes: vec![vec![]] }];
    let automaton = |initial, edges| Automaton { initial, verdicts: vec![Truth::Unknown], edges };
    let refused = |automaton| Machine::new(automaton).unwrap_err();
    assert_eq!(refused(automaton(0, vec![edge(1)])), MachineError::NoState { state: 1, count: 1 });
    assert_eq!(refused(automaton(4, vec![edge(0)])), MachineError::NoState { state: 4, count: 1 });
    assert_eq!(refused(automaton(0, vec![])), MachineError::Uneven { edges: 0, verdicts: 1 });
    for damaged in [
        "[]",
        r#"[{"Constant":true}]"#,
        r#"[{"Constant":true},{"Constant":false}]"#,
        r#"[{"Constant":false},{"Constant":true},{"Not":2}]"#,
        r#"[{"Constant":false},{"Constant":true},{"And":[]}]"#,
        r#"[{"Constant":false},{"Constant":true},{"Or":[0,9]}]"#,
        r#"[{"Constant":false},{"Constant":true},{"Constant":true}]"#,
    ] {
        let error = serde_json::from_str::<Pool>(damaged).unwrap_err().to_string();
        assert!(error.contains("malformed list of expressions"), "{error}");
    }
}
