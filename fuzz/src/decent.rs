//! Decentralized specifications: parsing, diagnostics, printing, and translation to automata.

use invigil_decent::spec::reference::verdict;
use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::decent::{self, LoadedSpecification};
use invigil_lang::{report, themis};
use invigil_ltl::Budget;

/// No input causes a panic. A valid specification survives printing and parsing, and is translated to automata unless
/// they are too large.
pub(crate) fn dec(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.dec", &*text);
    check(&sources, decent::load(file, &text));
}

/// The same for the XML format of THEMIS.
pub(crate) fn xml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.xml", &*text);
    check(&sources, themis::load(file, &text, None));
}

fn check(sources: &Sources, (loaded, diagnostics): (Option<LoadedSpecification>, Vec<Diagnostic>)) {
    report::render(sources, &diagnostics, true);
    let is_valid = !diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(loaded.is_some(), is_valid, "the result is inconsistent with the diagnostics");
    let Some(loaded) = loaded else { return };
    let printed = decent::print(&loaded.specification);
    let (again, diagnostics) = decent::load(SourceId(0), &printed);
    let again = again.unwrap_or_else(|| panic!("cannot be parsed again: {diagnostics:?}\n{printed}"));
    assert_eq!(decent::print(&again.specification), printed, "printing is not idempotent");
    let budget = Budget {
        formulae: 1 << 12,
        states: 64,
        edges: 256,
        nodes: 1 << 12,
        variables: 1 << 8,
        seconds: Some(1),
    };
    match loaded.network(budget) {
        Ok(network) => {
            let observations =
                loaded.specification.system.propositions().map(|at| (at, at.0 % 2 == 0)).collect();
            verdict(&network, &[observations, Vec::new()]);
        }
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "rejected without a diagnostic");
            report::render(sources, &diagnostics, true);
        }
    }
}
