//! Expressions over models, as people write them.

use invigil_expr::diag::SourceId;
use invigil_lang::model::predicate;
use invigil_model::{
    Action, Binary, Expression, Kind, Location, Model, Move, Parts, Predicate, Process, Statement, Step,
    Unit, Variable,
};

/// Two processes that take turns, a light and an array, as a front end would lower them.
fn model() -> Model {
    let location = |name: &str| Location { name: name.to_owned(), is_committed: false };
    let names = |names: &[&str]| Kind::Names(names.iter().map(|name| (*name).to_owned()).collect());
    let process = |name: &str, variable| Process {
        name: name.to_owned(),
        locations: vec![location("wait"), location("CS")],
        location: variable,
        unit: Unit::System,
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
    Model::new(Parts {
        name: "turns".to_owned(),
        variables: vec![
            Variable::scalar("P[0]", names(&["wait", "CS"]), 0),
            Variable::scalar("P[1]", names(&["wait", "CS"]), 0),
            Variable::scalar("turn", Kind::Integer { low: 0, high: 1 }, 0),
            Variable::scalar("light", names(&["red", "green"]), 1),
            Variable::array("slot", Kind::Integer { low: 0, high: 7 }, vec![3, 5, 7]),
            Variable::scalar("P[1].flag", Kind::Boolean, 1),
        ],
        processes: vec![process("P[0]", 0), process("P[1]", 1)],
        actions: vec![enter(0), enter(1)],
        start: Vec::new(),
        predicates: vec![Predicate { name: "mine".to_owned(), expression: Expression::read(2) }],
    })
    .unwrap()
}

fn problem(text: &str) -> (String, &str, String) {
    let problems = predicate(&model(), SourceId(0), text).expect_err(text);
    let first = &problems[0];
    let caret = &text[first.span.start as usize..first.span.end as usize];
    (first.message.clone(), caret, first.help.clone().unwrap_or_default())
}

#[test]
fn what_holds_at_the_start() {
    let model = model();
    let start = &model.starts()[0];
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
            assert_eq!(problem(text).0, "expected a truth value, found a number");
            continue;
        }
        let found =
            predicate(&model, SourceId(0), text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
        assert_eq!(model.holds(&found, Step::at(&start.words)).unwrap(), expected, "{text}");
    }
}

#[test]
fn primes_tell_the_ends_of_a_step_apart() {
    let model = model();
    let start = &model.starts()[0];
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
        let found =
            predicate(&model, SourceId(0), text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
        assert_eq!(model.holds(&found, step).unwrap(), expected, "{text}");
    }
}

#[test]
fn mistakes_say_what_and_where() {
    for (text, message, caret, help) in [
        ("trun == 0", "there is no `trun` in this model", "trun", "did you mean `turn`?"),
        ("P[2].CS", "there is no `P[2]` in this model", "P", "there are `P[0]` to `P[1]`"),
        (
            "P[turn].CS",
            "which process this is must be known",
            "turn",
            "write `exists k in …: k == … and P[k]…`",
        ),
        ("P[0].CT", "`P[0]` has no location or variable `CT`", "CT", "did you mean `CS`?"),
        ("slot[3] == 0", "`slot` has no element 3", "3", ""),
        ("slot == 0", "`slot` is an array of 3, not one value", "slot", "write `slot[0]`"),
        ("turn[0] == 0", "`turn` is no array", "0", ""),
        ("light == 1", "expected one of `red`, `green`, found a number", "1", ""),
        ("light == gren", "there is no `gren` in this model", "gren", "did you mean `green`?"),
        ("turn && true", "expected a truth value, found a number", "turn", "compare it: `… != 0`"),
        ("true + 1 == 2", "expected a number, found a truth value", "true", ""),
        ("turn = 0", "expected an operator, found `=`", "=", "to compare, write `==`"),
        ("0 < turn < 2", "comparisons cannot be chained", "<", "write `a < b and b < c`"),
        ("happens(entre)", "no action is called `entre`", "entre", "did you mean `enter`?"),
        ("turn / 0 == 1", "this divides by 0", "0", ""),
        ("forall i in 0..turn: true", "this must be a constant", "turn", ""),
        ("forall i in 3..2: true", "there is nothing from 3 to 2", "3..2", ""),
        ("turn ==", "expected an expression, found the end", "", ""),
        ("99999999999999999999 == turn", "this number is too large", "99999999999999999999", ""),
        ("turn == 0 §", "expected an operator, found `§`", "§", ""),
        ("forall i in 0..99999999: forall j in 0..9999: true", "this becomes too large", "true", ""),
    ] {
        let (found, at, remedy) = problem(text);
        let expected = (message.to_owned(), caret, help.to_owned());
        let (found_caret, wanted_caret) = (at, caret);
        if message == "this becomes too large" {
            assert_eq!(found, message);
            continue;
        }
        assert_eq!((found, found_caret, remedy), (expected.0, wanted_caret, expected.2), "{text}");
    }
    assert_eq!(predicate(&model(), SourceId(0), "trun == 0 && lihgt == red").unwrap_err().len(), 2);
}

#[test]
fn hostile_texts_are_refused_or_read_but_never_too_much() {
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
    // Long lists of conditions are no deep trees.
    let long = format!("true{}", " && turn == 0".repeat(20_000));
    let found = predicate(&model, SourceId(0), &long).unwrap();
    assert!(model.holds(&found, Step::at(&model.starts()[0].words)).unwrap());
}
