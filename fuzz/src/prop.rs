//! Properties: parsing, diagnostics, formatting.

use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::{prop, report};

/// No input causes a panic. A valid property can be formatted; the result is valid, formatted, and differs in white
/// space only.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if !is_valid(&text) {
        assert!(prop::format(SourceId(0), &text).is_err(), "an invalid property was formatted");
        return;
    }
    let printed = format(&text);
    assert!(is_valid(&printed), "the formatted property is invalid:\n{printed}");
    assert_eq!(format(&printed), printed, "formatting is not idempotent");
    assert_eq!(significant_text(&printed), significant_text(&text), "formatting changed the text");
}

fn format(text: &str) -> String {
    prop::format(SourceId(0), text)
        .unwrap_or_else(|diagnostics| panic!("not formatted: {diagnostics:?}\n{text}"))
}

fn is_valid(text: &str) -> bool {
    let mut sources = Sources::default();
    let file = sources.add("fuzz.prop", text);
    let (_, diagnostics) = prop::parse(file, text);
    report::render(&sources, &diagnostics, true);
    !diagnostics.iter().any(Diagnostic::is_error)
}

/// The text without white space and byte order marks, with one kind of hyphen.
fn significant_text(text: &str) -> String {
    let hyphens = ['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2212}'];
    let plain = |c: char| if hyphens.contains(&c) { '-' } else { c };
    text.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}').map(plain).collect()
}
