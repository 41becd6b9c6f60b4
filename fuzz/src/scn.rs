//! Scenarios: reading, reporting, compiling.

use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::{report, scn};

/// Any text is read, complained about and compiled without a panic, and what has no mistake in it is compiled.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.scn", &*text);
    let (written, problems) = scn::parse(file, &text);
    report::render(&sources, &problems, true);
    if problems.iter().any(Diagnostic::is_error) {
        return;
    }
    let (compiled, problems) = scn::lower("fuzz", &written, &[]);
    report::render(&sources, &problems, true);
    let usable = !problems.iter().any(Diagnostic::is_error);
    assert_eq!(compiled.is_some(), usable, "compiled or not, against what was said");
}
