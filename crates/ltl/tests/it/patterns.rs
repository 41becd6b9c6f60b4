//! Specification patterns and sentences.

use invigil_ltl::Budget;
use invigil_ltl::formula::Formulae;
use invigil_ltl::patterns::Pattern::{self, *};
use invigil_ltl::patterns::Scope::{self, *};
use invigil_ltl::patterns::{Sentence, describe};
use invigil_test_support::tools;
use std::time::{Duration, Instant};

fn sentence(text: &str) -> Option<Sentence> {
    let mut formulae = Formulae::new(&Budget::default());
    let formula = formulae.parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    describe(&formulae, formula)
}

#[track_caller]
fn check_sentence(text: &str, words: &str) {
    assert_eq!(sentence(text).map(|sentence| sentence.text).as_deref(), Some(words), "{text}");
}

const SCOPES: [Scope; 5] = [Globally, Before, After, Between, AfterUntil];

/// Eleven patterns in five scopes, in the published order.
#[test]
fn published_patterns_are_recognised() {
    let Ok(text) = std::fs::read_to_string(tools::shared().join("models/ltl.csv")) else {
        eprintln!("skipped: no shared folder");
        return;
    };
    let patterns: [Pattern; 11] = [
        Absence,
        Existence,
        BoundedExistence,
        Universality,
        Precedence,
        Response,
        PrecedenceChain,
        ChainPrecedence,
        ChainResponse,
        ResponseChain,
        ConstrainedResponseChain,
    ];
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("dac,")).collect();
    assert_eq!(lines.len(), 55);
    for (at, line) in lines.iter().enumerate() {
        let formula = line.split(',').nth(1).unwrap();
        let found = sentence(formula).and_then(|sentence| sentence.pattern);
        assert_eq!(found, Some((patterns[at / 5], SCOPES[at % 5])), "{formula}");
        // The same with formulae instead of atoms.
        let larger = ["p0", "p1", "p2", "p3", "p4", "p5"]
            .iter()
            .enumerate()
            .fold(formula.to_owned(), |text, (at, name)| {
                text.replace(name, ["x & y", "u | v", "e", "c & d", "h | i", "g"][at])
            });
        let found = sentence(&larger).and_then(|sentence| sentence.pattern);
        assert_eq!(found, Some((patterns[at / 5], SCOPES[at % 5])), "{larger}");
    }
}

#[test]
fn patterns_have_sentences() {
    check_sentence("G !a", "`a` never holds.");
    check_sentence("!F a", "`a` never holds.");
    check_sentence("G !(a & b)", "`a & b` never holds.");
    check_sentence("G(a -> F b)", "`a` is always answered by `b`.");
    check_sentence("!F(a & G !b)", "`a` is always answered by `b`.");
    check_sentence("G(a & c -> F(b | d))", "`a & c` is always answered by `b | d`.");
    check_sentence("G(F b | !a)", "`a` is always answered by `b`.");
    check_sentence("b R (!a | b)", "`a` does not hold before `b` has.");
    check_sentence("!(!b U (a & !b))", "`a` does not hold before `b` has.");
    check_sentence("G !a | (!a U b)", "`a` does not hold before `b` has.");
    check_sentence("G(close -> G !write)", "From the first `close` on, `write` never holds.");
    check_sentence("(F end) -> (busy U end)", "Before the first `end`, `busy` always holds.");
    check_sentence("G(q & !r -> (!p W r))", "After `q` and until `r`, `p` never holds.");
    check_sentence("G F tick", "`tick` holds infinitely often.");
    check_sentence("!G F tick", "From some position on, `!tick` always holds.");
    check_sentence("G(\"q->size <= 3\")", "`\"q->size <= 3\"` always holds.");
    check_sentence("G(a -> F b) & G !c", "`a` is always answered by `b`. `c` never holds.");
}

#[test]
fn other_formulae_are_paraphrased_by_operators() {
    check_sentence("G(a -> b)", "Always: if `a` then `b`.");
    check_sentence("G(a -> X b)", "Always: if `a` then at the next position `b`.");
    check_sentence(
        "G(switch -> X(light U !switch))",
        "Always: if `switch` then at the next position (`light` until `!switch`, which must occur).",
    );
    check_sentence("G(tv -> F<=10 !tv)", "Always within 10 positions `!tv`.");
    check_sentence("G<=25 pressure", "Now and at the next 25 positions `pressure`.");
    check_sentence("G(request -> F<=3 grant)", "Always: if `request` then within 3 positions `grant`.");
    check_sentence("presence & F[2,5] water", "`presence`. 2 to 5 positions later `water`.");
    check_sentence("a U b", "`a` until `b`, which must occur.");
    check_sentence("(G a) U b", "(always `a`) until `b`, which must occur.");
    check_sentence("G(a U b)", "Always: `a` until `b`, which must occur.");
    check_sentence("G(push -> O<=3 init)", "Always: if `push` then at most 3 positions ago `init`.");
    check_sentence("G(b -> (!c S a))", "Always: if `b` then (`!c` since `a`, which must have occurred).");
    check_sentence("G F a -> G F b", "If infinitely often `a` then infinitely often `b`.");
    check_sentence("a", "`a`.");
}

#[test]
fn large_formulae_have_no_sentence() {
    let large = (0..40).map(|at| format!("(a{at} U b{at})")).collect::<Vec<_>>();
    for text in [large.join(" & "), large.join(" | "), large.join(" U "), "X F ".repeat(5000) + "a"] {
        let start = Instant::now();
        assert_eq!(sentence(&text), None);
        assert!(start.elapsed() < Duration::from_secs(1));
    }
}

/// Formulae with many symmetric operands, so that many matches must be tried.
#[test]
fn search_for_patterns_finishes_in_time() {
    let sides = (0..12).map(|at| format!("(a{at} U (b{at} | c) | G !c & d{at})")).collect::<Vec<_>>();
    for text in [format!("G({})", sides.join(" | ")), format!("F({})", sides.join(" & "))] {
        let start = Instant::now();
        let _ = sentence(&text);
        assert!(start.elapsed() < Duration::from_secs(1), "took {:?}", start.elapsed());
    }
}
