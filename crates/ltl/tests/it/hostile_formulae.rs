//! Adversarial texts: a result or an error in bounded time.

use invigil_ltl::formula::Formulae;
use invigil_ltl::syntax::{SyntaxError, SyntaxTree, format};
use invigil_ltl::{Budget, Formula, Logic};
use std::time::{Duration, Instant};

const MANY: usize = 1_000_000;

/// Parses and prints a text within the time limit.
#[track_caller]
fn parse_in_time(text: &str) -> Result<Formula, SyntaxError> {
    let start = Instant::now();
    let mut formulae = Formulae::new(&Budget::default());
    let result = formulae.parse(text);
    match &result {
        Ok(formula) => {
            let shown = formulae.show(*formula).to_string();
            if !shown.ends_with('…') {
                assert_eq!(formulae.parse(&shown), Ok(*formula));
            }
            SyntaxTree::parse(text).unwrap().to_string();
        }
        Err(error) => {
            assert!(text.get(error.span.clone()).is_some(), "{error:?} is outside the text");
            assert_eq!(formulae.count(), 2, "a failed parse leaves formulae behind");
        }
    }
    assert!(start.elapsed() < Duration::from_secs(10), "took {:?}", start.elapsed());
    result
}

#[test]
fn million_operators_are_parsed() {
    assert_eq!(parse_in_time(&("!".repeat(MANY) + "true")), Ok(Formula::TRUE));
    assert!(parse_in_time(&("!".repeat(MANY) + "a")).is_ok());
    assert!(parse_in_time(&("(".repeat(MANY) + "a" + &")".repeat(MANY))).is_ok());
    assert!(parse_in_time(&("a & ".repeat(MANY) + "a")).is_ok());
    assert!(parse_in_time(&("a | ".repeat(100_000) + "a")).is_ok());
    assert!(parse_in_time(&("a -> ".repeat(MANY) + "a")).is_ok());
    assert!(parse_in_time(&("a xor ".repeat(100_000) + "a")).is_ok());
    assert!(parse_in_time(&("X ".repeat(100_000) + "a")).is_ok());
    assert!(parse_in_time(&("a U ".repeat(100_000) + "a")).is_ok());
    assert!(parse_in_time(&("!(a U ".repeat(100_000) + "b" + &")".repeat(100_000))).is_ok());
}

#[test]
fn too_many_operators_fail() {
    let unary = parse_in_time(&("X ".repeat(MANY) + "a")).unwrap_err();
    assert_eq!(unary.message, "too large: more than 262144 subformulae");
    assert!(parse_in_time(&("a U ".repeat(MANY) + "a")).is_err());
    assert_eq!(parse_in_time(&"(".repeat(MANY)).unwrap_err().span, MANY..MANY);
    assert!(parse_in_time(&")".repeat(MANY)).is_err());
    assert!(parse_in_time(&"!".repeat(MANY)).is_err());
    assert!(parse_in_time(&"a".repeat(MANY)).is_ok());
    assert!(parse_in_time(&"[]".repeat(MANY)).is_err());
    assert!(parse_in_time(&"@".repeat(MANY)).is_err());
    assert!(parse_in_time(&"\"".repeat(MANY)).is_err());
    assert!(parse_in_time(&"\u{301}".repeat(MANY)).is_err());
}

#[test]
fn long_chains_take_linear_time() {
    let names: Vec<String> = (0..100_000).map(|at| format!("a{at}")).collect();
    assert!(parse_in_time(&names.join(" & ")).is_ok());
    assert!(parse_in_time(&names.join(" -> ")).is_ok());
    assert!(parse_in_time(&names.join(" & (")).is_err());
    assert!(parse_in_time(&(names.join(" & (") + &")".repeat(names.len() - 1))).is_ok());
    // The operators between the chains prevent flattening.
    let nested = |operator: &str| {
        let nest = names.iter().fold(String::new(), |all, name| all + name + operator);
        parse_in_time(&(nest + "a" + &")".repeat(names.len()))).err()
    };
    assert_eq!(nested(" & !!("), None);
    let error = nested(" & F[0,0](").unwrap();
    assert_eq!(error.message, "too large: more than 4194304 operands of conjunctions and disjunctions");
    assert!(parse_in_time(&format!("F[0,10000]({})", names.join("|"))).is_err());
}

#[test]
fn large_bounds_are_errors_at_bound() {
    for (text, bound) in [
        ("a & F[0,1000000] b", "[0,1000000]"),
        ("G<=18446744073709551615 b", "<=18446744073709551615"),
        ("F<99999999999999999999999999 b", "<99999999999999999999999999"),
        ("X[100000000000] a", "[100000000000]"),
        ("a S>=500000 b", ">=500000"),
        ("a W[5,100000] b", "[5,100000]"),
    ] {
        let error = parse_in_time(text).unwrap_err();
        assert_eq!(&text[error.span.clone()], bound);
        assert!(error.message.starts_with("the bound is too large: "), "{error}");
        assert!(error.message.ends_with("and 262144 are allowed"), "{error}");
    }
    assert!(parse_in_time("F[0,100000] a").is_ok());
    assert!(parse_in_time("F[0,500] F[0,500] (a U[0,500] G[0,500] b)").is_ok());
    assert!(parse_in_time(&("F[0,1000]".repeat(1000) + "a")).is_err());
}

#[test]
fn hostile_files_finish_in_time() {
    let mut logic = Logic::new(Budget { nodes: 1 << 10, ..Budget::default() });
    let start = Instant::now();
    let many = |line: &dyn Fn(usize) -> String| (0..50_000).map(line).collect::<String>();
    // A long chain of references, resolved from the end.
    assert!(logic.parse_file(&many(&|at| format!("a{at} = X @a{}\n", at + 1))).is_err());
    assert!(logic.parse_file(&(many(&|at| format!("a{at} = X @a{}\n", at + 1)) + "a50000 = p")).is_ok());
    // Each formula contains the previous one twice.
    assert!(
        logic
            .parse_file(&("a0 = p\n".to_owned() + &many(&|at| format!("a{} = @a{at} U @a{at}\n", at + 1))))
            .is_ok()
    );
    // Flattened conjunctions of growing length.
    assert!(
        logic
            .parse_file(&("a0 = p\n".to_owned() + &many(&|at| format!("a{} = @a{at} & b{at}\n", at + 1))))
            .is_err()
    );
    // Unknown names, and cycles.
    assert!(logic.parse_file(&many(&|at| format!("a{at} = @b{at}\n"))).is_err());
    assert!(logic.parse_file(&many(&|at| format!("a{at} = @a0 & @a{}\n", (at + 1) % 50_000))).is_err());
    let comments = many(&|at| format!("a{at} = p // c\n & q # d\n// e\n"));
    assert!(format(&comments).is_ok());
    assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
}
