//! Formulae of temporal logic, and files of them.

use invigil_ltl::formula::{Formulae, Style};
use invigil_ltl::syntax::{self, SyntaxError, SyntaxTree};
use invigil_ltl::{Budget, Formula, patterns};

/// No input causes a panic, and errors have a position in the text. A valid formula survives printing and parsing.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut formulae = Formulae::new(&Budget { formulae: 1 << 14, ..Budget::default() });
    match formulae.parse(&text) {
        Ok(formula) => check_printed(&mut formulae, formula, &text),
        Err(error) => {
            assert_position(&error, &text);
            assert_eq!(formulae.count(), 2, "a rejected formula was stored");
        }
    }
    check_file(&text);
}

fn assert_position(error: &SyntaxError, text: &str) {
    assert!(text.get(error.span.clone()).is_some(), "the error is outside the text: {error:?}");
    assert!(!error.message.is_empty() && !error.message.contains('\n'), "no message: {error:?}");
}

/// Asserts that parsing yields the same formula, unless intermediate formulae exceed the budget.
fn assert_same(read: Result<Formula, SyntaxError>, formula: Formula, text: &str) {
    match read {
        Ok(again) => assert_eq!(again, formula, "printed as a different formula: {text}"),
        Err(error) => assert!(error.message.starts_with("too large"), "{error}: {text}"),
    }
}

fn check_printed(formulae: &mut Formulae, formula: Formula, text: &str) {
    for style in [Style::Ascii, Style::Unicode] {
        let shown = formulae.show(formula).style(style).to_string();
        if !shown.ends_with('…') {
            assert_same(formulae.parse(&shown), formula, &shown);
        }
    }
    for style in [Style::Spot, Style::Spin] {
        let shown = formulae.show(formula).style(style).to_string();
        assert!(!shown.is_empty());
    }
    let written = SyntaxTree::parse(text).expect("the text is valid").to_string();
    assert_same(formulae.parse(&written), formula, &written);
    let again = SyntaxTree::parse(&written).expect("the written text is valid").to_string();
    assert_eq!(again, written, "writing is not idempotent");
    if let Some(sentence) = patterns::describe(formulae, formula) {
        assert!(sentence.text.ends_with('.'), "no sentence: {}", sentence.text);
    }
}

fn check_file(text: &str) {
    let mut formulae = Formulae::new(&Budget { formulae: 1 << 14, ..Budget::default() });
    let before = match formulae.parse_file(text) {
        Ok(definitions) => definitions,
        Err(errors) => return errors.iter().for_each(|error| assert_position(error, text)),
    };
    let formatted = syntax::format(text).expect("a valid file can be formatted");
    let after = formulae.parse_file(&formatted).expect("a formatted file is valid");
    let formulae_of = |all: &[syntax::Definition]| all.iter().map(|one| one.formula).collect::<Vec<_>>();
    assert_eq!(formulae_of(&before), formulae_of(&after), "formatting changed the meaning: {formatted}");
    assert_eq!(syntax::format(&formatted).as_ref(), Ok(&formatted), "formatting is not idempotent");
}
