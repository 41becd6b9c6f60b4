//! Decentralized specifications: reading, reporting, printing, and what is made of them.

use invigil_decent::spec::reference::verdict;
use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::decent::{self, LoadedSpecification};
use invigil_lang::{report, themis};
use invigil_ltl::Budget;

/// Any text is read and complained about without a panic. What has no mistake in it can be printed, is the same when it is read
/// again, and becomes automata unless they are too large.
pub(crate) fn dec(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.dec", &*text);
    checked(&sources, decent::load(file, &text));
}

/// The same for the XML of THEMIS.
pub(crate) fn xml(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.xml", &*text);
    checked(&sources, themis::load(file, &text, None));
}

fn checked(sources: &Sources, (loaded, problems): (Option<LoadedSpecification>, Vec<Diagnostic>)) {
    report::render(sources, &problems, true);
    let usable = !problems.iter().any(Diagnostic::is_error);
    assert_eq!(loaded.is_some(), usable, "loaded or not, against what was said");
    let Some(loaded) = loaded else { return };
    let printed = decent::print(&loaded.specification);
    let (again, problems) = decent::load(SourceId(0), &printed);
    let again = again.unwrap_or_else(|| panic!("cannot be read again: {problems:?}\n{printed}"));
    assert_eq!(decent::print(&again.specification), printed, "printing twice is not printing once");
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
            let seen = loaded.specification.system.propositions().map(|at| (at, at.0 % 2 == 0)).collect();
            verdict(&network, &[seen, Vec::new()]);
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a word");
            report::render(sources, &problems, true);
        }
    }
}
