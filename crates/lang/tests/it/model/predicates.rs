//! Expressions over models, as users write them.

use invigil_expr::diag::SourceId;
use invigil_lang::model::predicate;
use invigil_model::{
    Action, Binary, Domain, Expression, Location, Model, ModelParts, Move, Predicate, Process, Side,
    Statement, Step, Variable,
};

/// Two processes that take turns, a light and an array, as a front end would lower them.
pub(crate) fn model() -> Model {
    let location = |name: &str| Location { name: name.to_owned(), is_committed: false };
    let names = |names: &[&str]| Domain::Names(names.iter().map(|name| (*name).to_owned()).collect());
    let process = |name: &str, variable| Process {
        name: name.to_owned(),
        locations: vec![location("wait"), location("CS")],
        location: variable,
        side: Side::System,
    };
    let enter = |process: u32| Action {
        name: format!("P[{process}]: wait → CS"),
        event: Some("enter".to_owned()),
        moves: vec![Move { process, from: 0, to: 1 }],
        guard: Expression::binary(
            Binary::Equal,
            Expression::read(2),
            Expression::Constant(i64::from(process)),
        ),
        effect: vec![Statement::assign(
            2,
            Expression::binary(Binary::Subtract, Expression::Constant(1), Expression::read(2)),
        )],
        ..Action::named("enter")
    };
    Model::new(ModelParts {
        name: "turns".to_owned(),
        variables: vec![
            Variable::scalar("P[0]", names(&["wait", "CS"]), 0),
            Variable::scalar("P[1]", names(&["wait", "CS"]), 0),
            Variable::scalar("turn", Domain::Integer { low: 0, high: 1 }, 0),
            Variable::scalar("light", names(&["red", "green"]), 1),
            Variable::array("slot", Domain::Integer { low: 0, high: 7 }, vec![3, 5, 7]),
            Variable::scalar("P[1].flag", Domain::Boolean, 1),
        ],
        processes: vec![process("P[0]", 0), process("P[1]", 1)],
        actions: vec![enter(0), enter(1)],
        start: Vec::new(),
        predicates: vec![Predicate { name: "mine".to_owned(), expression: Expression::read(2) }],
    })
    .unwrap()
}

#[test]
fn predicates_hold_in_initial_configuration() {
    let model = model();
    let start = &model.initial_states()[0];
    for (text, expected) in [
        ("turn == 0", true),
        ("turn", false),
        ("P[0].wait", true),
        ("P[0] == CS", false),
        ("CS == P[1]", false),
        ("P[0].CS or P[1].wait", true),
        ("light == green && green == light", true),
        ("light != red", true),
        ("P[1].flag", true),
        ("not P[1].flag", false),
        ("P[1].flag == true implies turn < 1", true),
        ("slot[0] + slot[1] * 2 == 13", true),
        ("slot[turn + 1] - 1 == 4", true),
        ("forall i in 0..2: slot[i] >= 3", true),
        ("exists i in 0..1: P[i].CS", false),
        ("forall i in 0..1: forall j in 0..1: i == j || !(P[i].CS && P[j].CS)", true),
        ("(turn == 0 ? slot[0] : slot[1]) == 3", true),
        ("mine", false),
        ("enabled(enter)", true),
        ("enabled(P[0].enter) and not enabled(P[1].enter)", true),
        ("enabled(\"P[1]: wait → CS\")", false),
        ("happens(enter)", false),
        ("-slot[0] == -3 && ~0 == -1 && 7 & 3 | 4 == 7 && 1 << 3 == 0x8", true),
        ("7 / 2 == 3 and 7 % 2 == 1 and 5 ^ 1 == 4 and 8 >> 1 == 4", true),
        ("turn == 0 -> light == green", true),
    ] {
        if text == "turn" {
            let diagnostics = predicate(&model, SourceId(0), text).unwrap_err();
            assert_eq!(diagnostics[0].message, "expected a Boolean, found a number");
            continue;
        }
        let found = predicate(&model, SourceId(0), text)
            .unwrap_or_else(|diagnostics| panic!("{text}: {diagnostics:?}"));
        assert_eq!(model.holds(&found, Step::at(&start.words)).unwrap(), expected, "{text}");
    }
}

#[test]
fn primes_distinguish_source_and_target_of_a_step() {
    let model = model();
    let start = &model.initial_states()[0];
    let next = &model.outcomes(&start.words, 0)[0];
    let step = Step { source: Some(&start.words), action: Some(0), target: &next.words };
    for (text, expected) in [
        ("turn == 1", true),
        ("turn' == turn + 1", true),
        ("turn' == 1 && turn == 0", true),
        ("P[0].CS' && P[0].wait", true),
        ("slot[turn]' == 5 && slot[turn] == 3", true),
        ("turn' == turn + 1 && enabled(P[0].enter)", true),
        ("turn' == 1 && enabled(P[0].enter)'", false),
        ("enabled(P[0].enter)", false),
        ("happens(enter) && happens(P[0]) && not happens(P[1])", true),
        ("happens(enter) && turn' != turn", true),
    ] {
        let found = predicate(&model, SourceId(0), text)
            .unwrap_or_else(|diagnostics| panic!("{text}: {diagnostics:?}"));
        assert_eq!(model.holds(&found, step).unwrap(), expected, "{text}");
    }
}

#[test]
fn hostile_predicates_stay_within_limits() {
    let model = model();
    let million = 1_000_000;
    for text in [
        "(".repeat(million),
        "!".repeat(million),
        "-".repeat(million),
        format!("{}turn == 0", "not ".repeat(million)),
        format!("turn{}", " + turn".repeat(million)),
        format!("turn{}", "[turn".repeat(million)),
        "forall i in 0..1: ".repeat(million),
        "true ? ".repeat(million),
        "true -> ".repeat(million),
        "\u{202e}𝔘\0".repeat(1000),
        "\"".repeat(1000),
        String::new(),
    ] {
        assert!(predicate(&model, SourceId(0), &text).is_err(), "{}", &text[..text.len().min(40)]);
    }
    // Long conjunctions are flat, not deep trees.
    let long = format!("true{}", " && turn == 0".repeat(20_000));
    let found = predicate(&model, SourceId(0), &long).unwrap();
    assert!(model.holds(&found, Step::at(&model.initial_states()[0].words)).unwrap());
}
