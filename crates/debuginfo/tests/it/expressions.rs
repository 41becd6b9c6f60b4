//! The expression language: parsing, printing, evaluation.

use invigil_debuginfo::machine::{Inaccessible, Memory};
use invigil_debuginfo::program::Program;
use invigil_debuginfo::value::expression::Expression;
use invigil_debuginfo::value::format::FormatLimits;
use invigil_debuginfo::value::scope::Scope;
use invigil_debuginfo::value::type_index::TypeIndex;
use invigil_test_support::cases;
use proptest::prelude::*;

struct Nothing;

impl Memory for Nothing {
    fn read(&self, at: u64, _: &mut [u8]) -> Result<(), Inaccessible> {
        Err(Inaccessible(at))
    }
}

/// Evaluates an expression without a program.
fn value(text: &str) -> String {
    let (program, catalog) = (Program::new(), TypeIndex::new());
    let scope = Scope::new(&program, &catalog, &Nothing, &[], 0);
    match Expression::parse(text).and_then(|expression| scope.evaluate(&expression)) {
        Ok(datum) => scope.show(&datum, &FormatLimits::default()),
        Err(mistake) => format!("error at {}: {mistake}", mistake.at),
    }
}

#[test]
fn literals_follow_c_and_rust() {
    for (text, shown) in [
        ("0x1F", "31"),
        ("017", "15"),
        ("0b101", "5"),
        ("1_000", "1000"),
        ("10u", "10"),
        ("4294967295", "4294967295"),
        ("18446744073709551615", "18446744073709551615"),
        ("1e3", "1000"),
        (".5", "0.5"),
        ("2.5f", "2.5"),
        ("'a'", "97 'a'"),
        ("'\\n'", "10 '\\n'"),
        ("'\\x41'", "65 'A'"),
        ("\"a\\\"b\"", "\"a\\\"b\""),
        ("sizeof(long double)", "16"),
        ("sizeof(unsigned char *)", "8"),
        ("sizeof \"abc\"", "4"),
        ("(unsigned char) 300", "44 ','"),
        ("-1 as u8", "255"),
        ("(float) 1 / 3", "0.3333333333333333"),
        ("1 ? 2 : 3", "2"),
        ("0 && 1 / 0", "false"),
        ("1 || 1 / 0", "true"),
        ("1 / 0", "<division by zero>"),
        ("(unsigned) -1 > 0", "true"),
        ("-1 < 0u", "false"),
        ("true + 1", "2"),
        ("!3", "false"),
        ("- -3", "3"),
        ("2 + 3 * 4 - 10 % 4", "12"),
        ("1 << 2 + 1", "8"),
        ("5 & 6 | 8 ^ 1", "13"),
        ("^1", "<the caller is unknown>"),
    ] {
        assert_eq!(value(text), shown, "{text}");
    }
}

#[test]
fn errors_have_position_and_message() {
    for (text, message) in [
        ("", "error at 0: expected an operand at the end"),
        ("1 +", "error at 3: expected an operand at the end"),
        ("a = 1", "error at 2: an assignment has no value; compare with `==`"),
        ("(1", "error at 2: expected `)`"),
        ("1 2", "error at 2: expected the end of the expression"),
        ("\"abc", "error at 0: the closing `\"` is missing"),
        ("1 + ;", "error at 4: `;` has no meaning in an expression"),
        ("0xg", "error at 0: not a number, or one of more than 64 bits"),
        ("a.", "error at 2: expected the name of a member"),
        ("2.5 % 2", "error at 4: `%` needs integers"),
        ("*1.5", "error at 0: `*` needs a pointer, but this has type `double`"),
        ("1 + unknown", "error at 4: no symbol `unknown` in this frame"),
        (
            "f(1)",
            "error at 0: `f` cannot be called here; only macros in the debug information (`-g3`) can be used like functions",
        ),
        ("(nonesuch) 1", "error at 0: no type `nonesuch`"),
    ] {
        assert_eq!(value(text), message, "{text}");
    }
    let deep = "(".repeat(100_000);
    assert!(value(&deep).contains("nested too deeply"));
    let long = "1+".repeat(100_000) + "1";
    assert!(value(&long).contains("nested too deeply"));
    assert!(value(&("-".repeat(100_000) + "1")).contains("nested too deeply"));
    assert!(value(&("a".to_owned() + &".b".repeat(100_000))).contains("nested too deeply"));
}

/// Texts composed of the tokens of expressions.
fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "b::c",
        "::d",
        "12",
        "0x7fu",
        "1.5",
        "'x'",
        "\"s\"",
        "$rax",
        "(",
        ")",
        "[",
        "]",
        ".",
        "->",
        "*",
        "&",
        "-",
        "+",
        "!",
        "~",
        "sizeof",
        "/",
        "%",
        "<<",
        ">>",
        "<",
        "<=",
        "==",
        "!=",
        "&&",
        "||",
        "?",
        ":",
        "@",
        "^",
        "|",
        ",",
        "int",
        "struct s",
        "char *",
        "as",
        "u8",
        "0",
        "file.c::x",
        " ",
        "'quoted name'",
        "const",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.join(" "))
}

/// Expressions over small numbers with their values in C.
fn arithmetic_expressions() -> impl Strategy<Value = (String, Option<i32>)> {
    let leaf = any::<i16>().prop_map(|n| match n {
        ..0 => (format!("({n})"), Some(i32::from(n))),
        _ => (n.to_string(), Some(i32::from(n))),
    });
    leaf.prop_recursive(5, 40, 2, |inner| {
        let operators =
            prop::sample::select(vec!["+", "-", "*", "/", "%", "&", "|", "^", "<", "==", "<<", ">>"]);
        (inner.clone(), operators, inner).prop_map(|((a, x), operator, (b, y))| {
            let text = format!("({a} {operator} {b})");
            let result = x.zip(y).and_then(|(x, y)| {
                Some(match operator {
                    "+" => x.wrapping_add(y),
                    "-" => x.wrapping_sub(y),
                    "*" => x.wrapping_mul(y),
                    "/" => (y != 0).then(|| x.wrapping_div(y))?,
                    "%" => (y != 0).then(|| x.wrapping_rem(y))?,
                    "&" => x & y,
                    "|" => x | y,
                    "^" => x ^ y,
                    "<" => i32::from(x < y),
                    "==" => i32::from(x == y),
                    "<<" => x.wrapping_shl(y as u32),
                    _ => x.wrapping_shr(y as u32),
                })
            });
            (text, result)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2000)))]

    #[test]
    fn parser_accepts_any_text_without_panic(text in ".{0,60}") {
        let _ = value(&text);
        let _ = Expression::parse_assignment(&text);
    }

    #[test]
    fn printed_expression_parses_to_itself(text in texts()) {
        if let Ok(expression) = Expression::parse(&text) {
            let printed = expression.to_string();
            let again = Expression::parse(&printed);
            prop_assert_eq!(again.as_ref(), Ok(&expression), "{} became {}", text, printed);
        }
        let _ = value(&text);
    }

    #[test]
    fn arithmetic_agrees_with_c((text, expected) in arithmetic_expressions()) {
        let expected = expected.map_or("<division by zero>".to_owned(), |n| n.to_string());
        prop_assert_eq!(value(&format!("{text} + 0")), expected, "{}", text);
    }
}
