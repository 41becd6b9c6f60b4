//! Formulae of temporal logic, and files of them.

use invigil_ltl::formula::{Formulae, Style};
use invigil_ltl::syntax::{self, SyntaxError, SyntaxTree};
use invigil_ltl::{Budget, Formula, patterns};

/// Any text is read or complained about, at a place in it. What can be read can be printed, and means the same
/// when it is read again.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut formulae = Formulae::new(&Budget { formulae: 1 << 14, ..Budget::default() });
    match formulae.parse(&text) {
        Ok(formula) => printed(&mut formulae, formula, &text),
        Err(mistake) => {
            inside(&mistake, &text);
            assert_eq!(formulae.count(), 2, "a formula that cannot be read left something behind");
        }
    }
    file(&text);
}

fn inside(mistake: &SyntaxError, text: &str) {
    assert!(text.get(mistake.span.clone()).is_some(), "a mistake outside of the text: {mistake:?}");
    assert!(!mistake.message.is_empty() && !mistake.message.contains('\n'), "no message: {mistake:?}");
}

/// What is read must be the same formula, unless there is no room for what stands between.
fn same(read: Result<Formula, SyntaxError>, formula: Formula, text: &str) {
    match read {
        Ok(again) => assert_eq!(again, formula, "printed into something else: {text}"),
        Err(mistake) => assert!(mistake.message.starts_with("too large"), "{mistake}: {text}"),
    }
}

fn printed(formulae: &mut Formulae, formula: Formula, text: &str) {
    for style in [Style::Ascii, Style::Unicode] {
        let shown = formulae.show(formula).style(style).to_string();
        if !shown.ends_with('…') {
            same(formulae.parse(&shown), formula, &shown);
        }
    }
    for style in [Style::Spot, Style::Spin] {
        let shown = formulae.show(formula).style(style).to_string();
        assert!(!shown.is_empty());
    }
    let written = SyntaxTree::parse(text).expect("what was read").to_string();
    same(formulae.parse(&written), formula, &written);
    let again = SyntaxTree::parse(&written).expect("what was written").to_string();
    assert_eq!(again, written, "writing twice is not writing once");
    if let Some(sentence) = patterns::describe(formulae, formula) {
        assert!(sentence.text.ends_with('.'), "no sentence: {}", sentence.text);
    }
}

fn file(text: &str) {
    let mut formulae = Formulae::new(&Budget { formulae: 1 << 14, ..Budget::default() });
    let before = match formulae.parse_file(text) {
        Ok(definitions) => definitions,
        Err(mistakes) => return mistakes.iter().for_each(|mistake| inside(mistake, text)),
    };
    let ordered = syntax::format(text).expect("what was read can be put in order");
    let after = formulae.parse_file(&ordered).expect("what is in order can be read");
    let formulae_of = |all: &[syntax::Definition]| all.iter().map(|one| one.formula).collect::<Vec<_>>();
    assert_eq!(formulae_of(&before), formulae_of(&after), "another meaning: {ordered}");
    assert_eq!(syntax::format(&ordered).as_ref(), Ok(&ordered), "in order is not in order");
}
