//! Texts that no person would write: an answer or a mistake, and soon.

use invigil_ltl::formula::Formulae;
use invigil_ltl::syntax::{Mistake, Tree, format};
use invigil_ltl::{Budget, Formula, Logic};
use std::time::{Duration, Instant};

const MANY: usize = 1_000_000;

/// Reads, and prints what was read, within the time that the tests have for it.
#[track_caller]
fn soon(text: &str) -> Result<Formula, Mistake> {
    let start = Instant::now();
    let mut formulae = Formulae::new(&Budget::default());
    let found = formulae.parse(text);
    match &found {
        Ok(formula) => {
            let shown = formulae.show(*formula).to_string();
            if !shown.ends_with('…') {
                assert_eq!(formulae.parse(&shown), Ok(*formula));
            }
            Tree::parse(text).unwrap().to_string();
        }
        Err(mistake) => {
            assert!(text.get(mistake.span.clone()).is_some(), "{mistake:?} is not a place of the text");
            assert_eq!(formulae.count(), 2, "what failed leaves nothing");
        }
    }
    assert!(start.elapsed() < Duration::from_secs(10), "took {:?}", start.elapsed());
    found
}

#[test]
fn a_million_operators() {
    assert_eq!(soon(&("!".repeat(MANY) + "true")), Ok(Formula::TRUE));
    assert!(soon(&("!".repeat(MANY) + "a")).is_ok());
    assert!(soon(&("(".repeat(MANY) + "a" + &")".repeat(MANY))).is_ok());
    assert!(soon(&("a & ".repeat(MANY) + "a")).is_ok());
    assert!(soon(&("a | ".repeat(100_000) + "a")).is_ok());
    assert!(soon(&("a -> ".repeat(MANY) + "a")).is_ok());
    assert!(soon(&("a xor ".repeat(100_000) + "a")).is_ok());
    assert!(soon(&("X ".repeat(100_000) + "a")).is_ok());
    assert!(soon(&("a U ".repeat(100_000) + "a")).is_ok());
    assert!(soon(&("!(a U ".repeat(100_000) + "b" + &")".repeat(100_000))).is_ok());
}

#[test]
fn too_many_operators() {
    let unary = soon(&("X ".repeat(MANY) + "a")).unwrap_err();
    assert_eq!(unary.message, "too large: more than 262144 subformulae");
    assert!(soon(&("a U ".repeat(MANY) + "a")).is_err());
    assert_eq!(soon(&"(".repeat(MANY)).unwrap_err().span, MANY..MANY);
    assert!(soon(&")".repeat(MANY)).is_err());
    assert!(soon(&"!".repeat(MANY)).is_err());
    assert!(soon(&"a".repeat(MANY)).is_ok());
    assert!(soon(&"[]".repeat(MANY)).is_err());
    assert!(soon(&"@".repeat(MANY)).is_err());
    assert!(soon(&"\"".repeat(MANY)).is_err());
    assert!(soon(&"\u{301}".repeat(MANY)).is_err());
}

#[test]
fn chains_do_not_cost_the_square_of_their_length() {
    let names: Vec<String> = (0..100_000).map(|at| format!("a{at}")).collect();
    assert!(soon(&names.join(" & ")).is_ok());
    assert!(soon(&names.join(" -> ")).is_ok());
    assert!(soon(&names.join(" & (")).is_err());
    assert!(soon(&(names.join(" & (") + &")".repeat(names.len() - 1))).is_ok());
    // Here the chains are hidden from each other.
    let hidden = |operator: &str| {
        let nest = names.iter().fold(String::new(), |all, name| all + name + operator);
        soon(&(nest + "a" + &")".repeat(names.len()))).err()
    };
    assert_eq!(hidden(" & !!("), None);
    let mistake = hidden(" & F[0,0](").unwrap();
    assert_eq!(mistake.message, "too large: more than 4194304 operands of conjunctions and disjunctions");
    assert!(soon(&format!("F[0,10000]({})", names.join("|"))).is_err());
}

#[test]
fn large_bounds_are_mistakes_at_the_bound() {
    for (text, bound) in [
        ("a & F[0,1000000] b", "[0,1000000]"),
        ("G<=18446744073709551615 b", "<=18446744073709551615"),
        ("F<99999999999999999999999999 b", "<99999999999999999999999999"),
        ("X[100000000000] a", "[100000000000]"),
        ("a S>=500000 b", ">=500000"),
        ("a W[5,100000] b", "[5,100000]"),
    ] {
        let mistake = soon(text).unwrap_err();
        assert_eq!(&text[mistake.span.clone()], bound);
        assert!(mistake.message.starts_with("the bound is too large: "), "{mistake}");
        assert!(mistake.message.ends_with("and 262144 are allowed"), "{mistake}");
    }
    assert!(soon("F[0,100000] a").is_ok());
    assert!(soon("F[0,500] F[0,500] (a U[0,500] G[0,500] b)").is_ok());
    assert!(soon(&("F[0,1000]".repeat(1000) + "a")).is_err());
}

#[test]
fn hostile_files() {
    let mut logic = Logic::new(Budget { nodes: 1 << 10, ..Budget::default() });
    let start = Instant::now();
    let many = |line: &dyn Fn(usize) -> String| (0..50_000).map(line).collect::<String>();
    // A long chain of references, from the end to the beginning.
    assert!(logic.parse_file(&many(&|at| format!("a{at} = X @a{}\n", at + 1))).is_err());
    assert!(logic.parse_file(&(many(&|at| format!("a{at} = X @a{}\n", at + 1)) + "a50000 = p")).is_ok());
    // Each has the one before it twice.
    assert!(
        logic
            .parse_file(&("a0 = p\n".to_owned() + &many(&|at| format!("a{} = @a{at} U @a{at}\n", at + 1))))
            .is_ok()
    );
    // The conjunctions grow.
    assert!(
        logic
            .parse_file(&("a0 = p\n".to_owned() + &many(&|at| format!("a{} = @a{at} & b{at}\n", at + 1))))
            .is_err()
    );
    // Everything is unknown, or refers to what it is part of.
    assert!(logic.parse_file(&many(&|at| format!("a{at} = @b{at}\n"))).is_err());
    assert!(logic.parse_file(&many(&|at| format!("a{at} = @a0 & @a{}\n", (at + 1) % 50_000))).is_err());
    let comments = many(&|at| format!("a{at} = p // c\n & q # d\n// e\n"));
    assert!(format(&comments).is_ok());
    assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
}
