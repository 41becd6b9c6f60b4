//! Properties: reading, reporting, formatting.

use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::{prop, report};

/// Any text is read and complained about without a panic. What can be read can be formatted; that can be
/// read again, is formatted already, and has every word of the original.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if !is_readable(&text) {
        assert!(prop::format(SourceId(0), &text).is_err(), "formatted what cannot be read");
        return;
    }
    let printed = format(&text);
    assert!(is_readable(&printed), "formatted into what cannot be read:\n{printed}");
    assert_eq!(format(&printed), printed, "formatting twice is not formatting once");
    assert_eq!(words(&printed), words(&text), "words were lost or made up");
}

fn format(text: &str) -> String {
    prop::format(SourceId(0), text).unwrap_or_else(|problems| panic!("not formatted: {problems:?}\n{text}"))
}

fn is_readable(text: &str) -> bool {
    let mut sources = Sources::default();
    let file = sources.add("fuzz.prop", text);
    let (_, problems) = prop::parse(file, text);
    report::render(&sources, &problems, true);
    !problems.iter().any(Diagnostic::is_error)
}

/// The text without white space (a byte order mark counts as such), and with one kind of hyphen.
fn words(text: &str) -> String {
    let hyphens = ['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2212}'];
    let plain = |c: char| if hyphens.contains(&c) { '-' } else { c };
    text.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}').map(plain).collect()
}
