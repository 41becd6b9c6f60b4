//! Printed formulae parse to themselves.

use crate::common::{atoms, random_formula};
use invigil_ltl::formula::{Formulae, Node, Proposition, Style};
use invigil_ltl::{Budget, Formula};
use invigil_test_support::{Rng, cases, tools};
use std::path::PathBuf;

fn formulae() -> Formulae {
    Formulae::new(&Budget::default())
}

/// Checks the round trip in every style.
#[track_caller]
fn check_round_trip(formulae: &mut Formulae, formula: Formula) {
    for style in [Style::Ascii, Style::Unicode, Style::Spot, Style::Spin] {
        let strong = |part: &Formula| matches!(formulae.node(*part), Node::StrongRelease(_));
        if style == Style::Spin && formulae.subformulae(formula).iter().any(strong) {
            continue;
        }
        let text = formulae.show(formula).style(style).to_string();
        let again = formulae.parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(again, formula, "{text} is read as {}", formulae.show(again));
    }
}

#[test]
fn random_formulae_survive_round_trip() {
    for seed in 0..cases(20_000) {
        let (rng, mut formulae) = (Rng::new(seed), formulae());
        let count = 1 + rng.below(4);
        let atoms = atoms(&mut formulae, count);
        let size = 1 + rng.below(30);
        let formula = random_formula(&rng, &mut formulae, &atoms, size, true);
        check_round_trip(&mut formulae, formula);
    }
}

/// Generates a text with all constructs of the language.
fn random_text(rng: &Rng, size: usize) -> String {
    if size <= 1 {
        return ["a", "b", "c", "'U'", "\"x < 1\"", "@m", "true"][rng.below(7)].to_owned();
    }
    let bound = |rng: &Rng| match rng.below(4) {
        0 => format!("[{},{}]", rng.below(3), 3 + rng.below(3)),
        1 => format!("<={}", rng.below(5)),
        2 => format!(">={}", rng.below(3)),
        _ => String::new(),
    };
    if size == 2 || rng.below(2) == 0 {
        let part = random_text(rng, size - 1);
        return match rng.below(8) {
            0 => format!("!({part})"),
            1 => format!("X[{}]({part})", rng.below(5)),
            2 => format!("Y[{}]({part})", rng.below(5)),
            3 => format!("Z[{}]({part})", rng.below(5)),
            at => format!("{}{}({part})", ["F", "G", "O", "H"][at - 4], bound(rng)),
        };
    }
    let left = 1 + rng.below(size - 2);
    let (a, b) = (random_text(rng, left), random_text(rng, size - 1 - left));
    let operator = ["&", "|", "->", "<->", "xor", "U", "R", "W", "M", "S", "T"][rng.below(11)];
    let bound = if operator.len() == 1 && operator.chars().all(char::is_alphabetic) {
        bound(rng)
    } else {
        String::new()
    };
    format!("({a}) {operator}{bound} ({b})")
}

#[test]
fn random_texts_survive_round_trip() {
    for seed in 0..cases(20_000) {
        let (rng, mut formulae) = (Rng::new(seed), formulae());
        let size = 1 + rng.below(12);
        let text = random_text(&rng, size);
        let formula = formulae.parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let shown = formulae.show(formula).to_string();
        assert_eq!(formulae.parse(&shown), Ok(formula), "{text} is printed as {shown}");
        // The syntax tree is equivalent to the text.
        let tree = invigil_ltl::syntax::SyntaxTree::parse(&text).unwrap().to_string();
        assert_eq!(formulae.parse(&tree), Ok(formula), "{text} is written as {tree}");
        assert_eq!(invigil_ltl::syntax::SyntaxTree::parse(&tree).unwrap().to_string(), tree);
    }
}

#[test]
fn formulae_are_printed_in_canonical_form() {
    for text in [
        "G(a -> F b)",
        "a U b U c",
        "a U (b W c)",
        "(a U b) U c",
        "a & b | c & d",
        "(a | b) & c",
        "a & b -> c | d",
        "a -> !b",
        "!(a & b)",
        "a | b",
        "a <-> b",
        "a xor b",
        "(a <-> b) & F c",
        "a xor b xor c",
        "F a <-> G(b & c)",
        "X X a",
        "X[3] a",
        "X[25](a & b)",
        "F[0,25] a",
        "F[2,4](a | b)",
        "G[0,3](a & b)",
        "F[1,3] a -> b",
        "G[1,3] a | b",
        "a -> F[0,3] b",
        "G(a & b -> F[0,2](c | d))",
        "O[1,4] a & H[0,2] b",
        "a -> O[0,2] b",
        "Y Y a",
        "Z[4] a",
        "!X a",
        "G F a -> G F b",
        "a | X a",
        "true U a",
        "'F' & \"x < 3\" & @m",
        "'next' -> F 'release'",
    ] {
        let mut formulae = formulae();
        let formula = formulae.parse(text).unwrap();
        assert_eq!(formulae.show(formula).to_string(), text);
        check_round_trip_of_plain(&mut formulae, formula);
    }
}

/// Checks the round trip of formulae with plain names; in Spot's style, other names become expressions.
fn check_round_trip_of_plain(formulae: &mut Formulae, formula: Formula) {
    let is_plain = |formulae: &Formulae| {
        let atoms: Vec<_> = formulae.subformulae(formula);
        atoms.iter().all(|part| match formulae.node(*part) {
            Node::Atom(atom) => matches!(formulae.proposition(*atom), Proposition::Name(name) if name.len() == 1 && name != "F"),
            _ => true,
        })
    };
    if is_plain(formulae) {
        check_round_trip(formulae, formula);
    }
}

#[test]
fn styles_follow_syntax_of_tools() {
    let shown = |text: &str, style: Style| {
        let mut formulae = formulae();
        let formula = formulae.parse(text).unwrap();
        formulae.show(formula).style(style).to_string()
    };
    let spot = "G(a -> F[0:2] b) & \"x y\" & 1 U \"ns::f\"";
    assert_eq!(shown("G(a -> F<=2 b) & 'x y' & true U ns::f", Style::Spot), spot);
    assert_eq!(shown("G(a xor b) & (a M b)", Style::Spin), "[](a <-> !b) && b U (a && b)");
    assert_eq!(shown("X[3] (a R b)", Style::Spin), "X X X(a V b)");
    assert_eq!(shown("H(a S O[0,2] b) <-> ¬⊥ ∧ c", Style::Unicode), "■(a S ◆[0,2] b) ↔ c");
}

#[test]
fn exponential_text_is_truncated() {
    // Each level contains the previous one twice: 2^40 operators as text.
    let mut formulae = formulae();
    let mut formula = formulae.parse("a").unwrap();
    for _ in 0..40 {
        let next = formulae.next(formula).unwrap();
        formula = formulae.until(next, formula).unwrap();
    }
    let text = formulae.show(formula).to_string();
    assert!(text.len() < 2 << 20 && text.ends_with('…'));
    assert_eq!(formulae.show(formula).truncated_to(9).to_string(), "X(X(X(X(X…");
}

/// Returns the folder of shared files, if it has the published formulae.
fn shared() -> Option<PathBuf> {
    let folder = tools::shared();
    folder.join("models/ltl.csv").exists().then_some(folder)
}

#[test]
fn published_formulae_survive_round_trip() {
    let Some(shared) = shared() else {
        eprintln!("skipped: no shared folder");
        return;
    };
    let text = std::fs::read_to_string(shared.join("models/ltl.csv")).unwrap();
    let mut count = 0;
    for line in text.lines().skip(1) {
        let mut formulae = formulae();
        let formula = formulae.parse(line.split(',').nth(1).unwrap()).unwrap();
        check_round_trip(&mut formulae, formula);
        count += 1;
    }
    assert_eq!(count, 94);
}
