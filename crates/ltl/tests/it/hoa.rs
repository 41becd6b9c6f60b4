//! The HOA format: round trips, variants and errors.

use crate::common::random_automata::random_automaton;
use crate::common::{atoms, random_lasso};
use invigil_ltl::automaton::Automaton;
use invigil_ltl::formula::{Atom, Proposition};
use invigil_ltl::word::Lasso;
use invigil_ltl::{Budget, Logic};
use invigil_test_support::{Rng, cases};

fn read(logic: &mut Logic, text: &str) -> Automaton {
    let mut all = logic.read_hoa(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// Checks that automata agree on random words.
fn check_agreement(rng: &Rng, logic: &Logic, atoms: &[Atom], all: &[Automaton]) {
    let mut accepted = 0;
    for _ in 0..200 {
        let word = random_lasso(rng, atoms);
        let accepts = all[0].accepts(&logic.labels, &word);
        accepted += usize::from(accepts);
        for (at, other) in all.iter().enumerate() {
            assert_eq!(other.accepts(&logic.labels, &word), accepts, "{at}: {word:?}");
        }
    }
    assert!((1..200).contains(&accepted));
}

#[test]
fn random_automata_survive_round_trip() {
    for seed in 0..cases(3000) {
        let rng = Rng::new(seed + 1);
        let mut logic = Logic::new(Budget { nodes: 1 << 14, ..Budget::default() });
        let count = 1 + rng.below(4);
        let atoms = atoms(&mut logic.formulae, count);
        let automaton = random_automaton(&rng, &mut logic, &atoms);
        let text = automaton.to_hoa(&logic, Some("a \"random\" one \\ \n")).unwrap();
        assert_eq!(read(&mut logic, &text), automaton, "{text}");
        // White space is insignificant.
        let packed = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(read(&mut logic, &packed), automaton);
        // Via another logic, whose atoms have other numbers.
        let mut other = Logic::new(Budget { nodes: 1 << 14, ..Budget::default() });
        other.formulae.name("another").unwrap();
        let text = read(&mut other, &text).to_hoa(&other, None).unwrap();
        assert_eq!(read(&mut logic, &text), automaton, "{text}");
    }
}

#[test]
fn automaton_is_formatted_as_expected() {
    let mut logic = Logic::new(Budget::default());
    let text = r#"HOA: v1 AP: 2 "b" "a" Start: 0 Acceptance: 2 Inf(1)&Inf(!0)
        --BODY-- State: 0 [!0 & 1] 0 {0} [0 | !1] 1 {1} State: 1 {1} [t] 1 --END--"#;
    let automaton = read(&mut logic, text);
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        r#"HOA: v1
tool: "invigil" "{version}"
name: "not \"a U b\""
States: 2
Start: 0
AP: 2 "b" "a"
acc-name: generalized-Buchi 2
Acceptance: 2 Inf(0)&Inf(1)
properties: trans-labels explicit-labels no-univ-branch trans-acc complete deterministic inherently-weak
--BODY--
State: 0
[!0&1] 0
[0 | !1] 1 {{0 1}}
State: 1
[t] 1 {{0 1}}
--END--
"#
    );
    assert_eq!(automaton.to_hoa(&logic, Some("not \"a U b\"")).unwrap(), expected);
    let state_based = read(&mut logic, &text.replace("0 {0} [0", "0 [0").replace("1 {1} State", "1 State"));
    let text = state_based.to_hoa(&logic, None).unwrap();
    assert!(text.contains("trans-labels explicit-labels no-univ-branch state-acc complete deterministic"));
    assert!(text.contains("State: 0 {1}\n[!0&1] 0\n[0 | !1] 1\nState: 1 {0 1}\n[t] 1\n"), "{text}");
}

#[test]
fn all_kinds_of_propositions_survive_round_trip() {
    let mut logic = Logic::new(Budget::default());
    let all = [
        Proposition::Name("a".into()),
        Proposition::Name("Straße_2".into()),
        Proposition::Name("ns::push".into()),
        Proposition::Name("next".into()),
        Proposition::Name("x <= 3".into()),
        Proposition::Name("@m".into()),
        Proposition::Name(String::new()),
        Proposition::Expression("x <= 3".into()),
        Proposition::Expression("'x <= 3'".into()),
        Proposition::Expression("\"".into()),
        Proposition::Monitor("m n".into()),
        Proposition::Monitor(String::new()),
        Proposition::Expression("q->size <= 3".into()),
        Proposition::Expression("a".into()),
        Proposition::Expression("@m".into()),
        Proposition::Expression("\"a\"".into()),
        Proposition::Expression(String::new()),
        Proposition::Expression("say(\"\\n\") \n */".into()),
        Proposition::Monitor("m".into()),
    ];
    let mut edges = Vec::new();
    for proposition in all {
        let atom = logic.formulae.atom_for(proposition);
        let label = logic.labels.atom(atom).unwrap();
        edges.push(invigil_ltl::automaton::Edge { label, marks: 0, target: 0 });
    }
    let automaton = Automaton { initial: 0, edges: vec![edges], sets: 0 };
    let text = automaton.to_hoa(&logic, None).unwrap();
    assert_eq!(read(&mut logic, &text), automaton, "{text}");
    let mut other = Logic::new(Budget::default());
    read(&mut other, &text);
    assert!(logic.formulae.atoms().eq(other.formulae.atoms()));
}

/// Variants of `G F a`.
#[test]
fn variants_of_format_yield_equivalent_automata() {
    let header = r#"HOA: v1 name: "GF \"a\"" States: 2 AP: 2 "a" "b" "#;
    let texts = [
        // Marks on edges.
        r#"Start: 0 Acceptance: 1 Inf(0) --BODY-- State: 0 [0] 0 {0} [!0] 0 State: 1 --END--"#,
        // Marks on states, named states, comments, headers in any order, unknown ones.
        r#"acc-name: Buchi custom: t 3 "x" y properties: state-acc deterministic properties: foo
           Acceptance: 1 Inf(0) /* a /* nested */ comment */ Start: 1
           --BODY-- State: 1 "waits" [!0] 1 [0] 0 State: 0 "has /* seen */ it" {0} [!0]1[0]0 --END--"#,
        // Labels on states, several initial states.
        r#"Start: 0 Start: 1 Acceptance: 1 Inf(0) --BODY-- State: [0] 0 {0} 0 1 State: [!0] 1 0 1 --END--"#,
        // Implicit labels: b is the second proposition.
        r#"Start: 0 Acceptance: 1 Inf(0) --BODY-- State: 0 0 0 {0} 0 0 {0} State: 1 1 1 1 1 --END--"#,
        // Complemented sets, and a redundant clause.
        r#"Start: 0 Acceptance: 2 Inf(!1) & (Inf(!1) | Inf(0)) & t
           --BODY-- State: 0 [0] 0 {0} [!0] 0 {1} State: 1 {0 1} [t] 0 --END--"#,
        // Disjunction of two sets.
        r#"Start: 0 Acceptance: 3 (f | Inf(0) | Inf(2)) & (Inf(2) | Inf(0) | Inf(1))
           --BODY-- State: 0 [0&1] 0 {0} [0&!1] 0 {2} [!0] 0 {1} State: 1 --END--"#,
        // Aliases, precedence, parentheses; an alias may refer to propositions that are declared later.
        r#"Alias: @p 0 Alias: @not-p !@p Alias: @2 !(1 | !1) | @p & (t & @p) | !!@p & f
           Start: 0 Acceptance: 1 Inf(0)
           --BODY-- State: 0 [@2] 0 {0} [@not-p & (0 | !@p)] 0 [f] 1 State: 1 --END--"#,
    ];
    let mut logic = Logic::new(Budget::default());
    let (rng, atoms) = (Rng::new(1), atoms(&mut logic.formulae, 2));
    let mut all: Vec<Automaton> =
        texts.iter().map(|text| read(&mut logic, &format!("{header}{text}"))).collect();
    // Without `States:`, all in one stream, with aborted automata in between.
    let bare = header.replace("States: 2", "");
    let stream = texts.map(|text| format!("{bare}{text}\n{header} Start: 0 Acceptance: --ABORT--")).join("");
    all.extend(logic.read_hoa(&stream).unwrap());
    assert_eq!(all.len(), 14);
    check_agreement(&rng, &logic, &atoms, &all);
    assert_eq!(all[3].edges[0].len(), 2, "letters with the same target are merged to one edge");
}

#[test]
fn automata_of_empty_language_are_read() {
    let mut logic = Logic::new(Budget::default());
    let texts = [
        "HOA: v1 Acceptance: 0 t --BODY-- --END--",
        "HOA: v1 States: 0 Acceptance: 0 t --BODY-- --END--",
        "HOA: v1 Start: 0 Acceptance: 0 f --BODY-- State: 0 [t] 0 --END--",
        "HOA: v1 Start: 0 Acceptance: 2 f & Inf(0) --BODY-- State: 0 {0 1} [t] 0 --END--",
        "HOA: v1 Start: 0 Acceptance: 1 Inf(0) --BODY-- State: 0 [t] 0 --END--",
        "HOA: v1 Start: 0 Acceptance: 0 t --BODY-- State: 0 --END--",
    ];
    for text in texts {
        assert!(read(&mut logic, text).is_empty(), "{text}");
    }
    assert_eq!(logic.read_hoa("/* nothing */ ").unwrap(), []);
    let everything = read(&mut logic, "HOA: v1 Start: 0 Acceptance: 0 t --BODY-- State: 0 0 --END--");
    assert!(everything.accepts(&logic.labels, &Lasso { prefix: vec![], cycle: vec![Default::default()] }));
}

#[test]
fn errors_have_position_and_message() {
    let cases = [
        ("never { }", "1:1: expected an automaton in HOA format, which starts with `HOA: v1`, not `never`"),
        ("HOA: v2\n", "1:6: expected version `v1` of the format, not `v2`"),
        ("HOA: v1.1\n", "1:6: expected version `v1` of the format, not `v1.1`"),
        ("HOA: v1\n--BODY-- --END--", "2:1: `Acceptance:` is missing"),
        (
            "HOA: v1 Acceptance: 1 Fin(0)",
            "1:23: acceptance with `Fin` (co-Büchi, Rabin, Streett, parity) is not \
          supported; convert the automaton to generalised Büchi acceptance first",
        ),
        ("HOA: v1 Acceptance: 1 Inf(1)", "1:27: unknown acceptance set 1: 1 are declared"),
        ("HOA: v1 Acceptance: 65 t", "1:24: too large: more than 64 acceptance sets"),
        ("HOA: v1 Acceptance: 1 (Inf(0)", "1:30: expected `)`, `&` or `|`, not the end of the text"),
        (
            "HOA: v1 Acceptance: 1 !Inf(0)",
            "1:23: expected an acceptance condition: `Inf(…)`, `t` or `f`, not `!`",
        ),
        (
            "HOA: v1 Start: 0&1",
            "1:17: alternating automata (`&` between states) are not supported; remove the \
          alternation first",
        ),
        ("HOA: v1 States: 99999999", "1:25: too large: more than 100 states"),
        ("HOA: v1 States: 99999999999", "1:17: number too large"),
        ("HOA: v1 States: 01", "1:17: a number cannot start with `0`"),
        ("HOA: v1 States: 1 States: 1", "1:19: duplicate `States:`"),
        (
            "HOA: v1 Strange: 1",
            "1:9: `Strange:` is not supported, and cannot be ignored because it starts with a capital letter",
        ),
        (
            "HOA: v1 AP: 2 \"a\" Start: 0",
            "1:19: expected the names of 2 propositions, in quotes, not `Start:`",
        ),
        ("HOA: v1 AP: 2 \"a\" \"a\" Start: 0", "1:19: duplicate proposition \"a\""),
        ("HOA: v1 Alias: @b @a", "1:19: unknown alias `@a`; define it before its use"),
        ("HOA: v1 Alias: @a t Alias: @a t", "1:28: the alias `@a` is defined twice"),
        ("HOA: v1 name: \"ü\" \"", "1:19: unterminated string: `\"` is missing"),
        ("HOA: v1 /* /* */", "1:9: unterminated comment: `*/` is missing"),
        ("HOA: v1 Ⅷ", "1:9: unexpected 'Ⅷ'"),
        ("HOA: v1 --END", "1:9: unexpected `-`; expected `--BODY--`, `--END--` or `--ABORT--`"),
    ];
    let body = [
        ("[0] 0", "2:1: expected `State:` or `--END--`, not `[`"),
        ("State: 0 [1] 0", "2:11: unknown proposition 1: 1 are declared"),
        (
            "State: 0 [] 0",
            "2:11: expected a label: `t`, `f`, the number of a proposition, or an alias, not `]`",
        ),
        ("State: 0 [0] 1", "2:14: unknown state 1: 1 are declared"),
        ("State: 0 [0 0] 0", "2:13: expected `]`, not `0`"),
        ("State: 0 [0] 0 {1}", "2:17: unknown acceptance set 1: 1 are declared"),
        ("State: 0 [0] 0 State: 0", "2:23: state 0 is defined twice"),
        ("State: 0 [0] 0 0", "2:16: either all edges of a state have labels, or none"),
        ("State: [0] 0 [0] 0", "2:18: an edge of a labelled state cannot have its own label"),
        (
            "State: 0 0 --END--",
            "2:10: 1 edges without labels: with 1 propositions there is one for each of 2^1 \
          letters",
        ),
        (
            "State: 0 0&0 --END--",
            "2:11: alternating automata (`&` between states) are not supported; remove the \
          alternation first",
        ),
        ("--END--", "1:26: state 0 is not defined"),
        ("State: 0", "2:9: expected `State:` or `--END--`, not the end of the text"),
    ];
    let header = "HOA: v1 AP: 1 \"a\" Start: 0 Acceptance: 1 Inf(0) States: 1 --BODY--\n";
    let bodies = body.iter().map(|(text, expected)| (format!("{header}{text}"), *expected));
    let all = cases.iter().map(|(text, expected)| ((*text).to_owned(), *expected)).chain(bodies);
    for (text, expected) in all {
        let mut logic = Logic::new(Budget { states: 100, ..Budget::default() });
        let error = logic.read_hoa(&text).unwrap_err();
        let message = format!("{}:{}: {}", error.line, error.column, error.message);
        assert_eq!(message, expected, "{text}");
    }
    let mut logic = Logic::new(Budget::default());
    let error = logic.read_hoa("HOA:\nv2").unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 1: expected version `v1` of the format, not `v2`");
}

#[test]
fn hostile_texts_finish_in_time() {
    let mut logic = Logic::new(Budget { states: 1000, edges: 1000, ..Budget::default() });
    let deep = |inner: &str| format!("{}{inner}{}", "(".repeat(200_000), ")".repeat(200_000));
    let with = |acceptance: &str, label: &str| {
        format!(
            "HOA: v1 AP: 1 \"a\" Start: 0 Acceptance: 1 {acceptance} --BODY-- State: 0 [{label}] 0 {{0}} --END--"
        )
    };
    let plain = read(&mut logic, &with("Inf(0)", "0"));
    assert_eq!(read(&mut logic, &with(&deep("Inf(0)"), &deep("0"))), plain);
    assert_eq!(read(&mut logic, &with("Inf(0)", &format!("{}0", "!".repeat(200_000)))), plain);
    assert_eq!(read(&mut logic, &with("Inf(0)", &format!("{}0", "0&(t|f)&".repeat(50_000)))), plain);
    assert_eq!(
        read(&mut logic, &format!("{}{}{}", "/*".repeat(100_000), "*/".repeat(100_000), with("Inf(0)", "0"))),
        plain
    );
    let mut error = |text: &str| logic.read_hoa(text).unwrap_err().message;
    assert!(error("HOA: v1 Acceptance: 0 t --BODY-- State: 2000000000").contains("too large"));
    assert!(
        error(&with("Inf(0)", "0").replace("0]", &format!("0] {}", "0 [0]".repeat(2000))))
            .contains("too large")
    );
    let names: Vec<String> = (0..60000).map(|at| format!("\"p{at}\"")).collect();
    let all: Vec<String> = (0..60000).map(|at| at.to_string()).collect();
    let many = format!(
        "HOA: v1 AP: 60000 {} Start: 0 Acceptance: 0 t --BODY-- State: 0 [{}] 0 --END--",
        names.join(" "),
        all.join("&")
    );
    assert_eq!(error(&many), "too large: more than 2048 variables");
}
