//! Scenarios: parsing, diagnostics, compiling.

use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::{report, scn};

/// No input causes a panic. A scenario without errors is compiled.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.scn", &*text);
    let (scenario, diagnostics) = scn::parse(file, &text);
    report::render(&sources, &diagnostics, true);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return;
    }
    let (compiled, diagnostics) = scn::lower("fuzz", &scenario, &[]);
    report::render(&sources, &diagnostics, true);
    let is_valid = !diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(compiled.is_some(), is_valid, "the result is inconsistent with the diagnostics");
}
