//! Models in DVE: reading, reporting, lowering, and a few steps.

use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::dve::{Options, load};
use invigil_lang::report;

/// Any text is read and complained about without a panic, and what has no mistake in it is a model that can start.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.dve", &*text);
    for wraps in [false, true] {
        let (loaded, problems) = load(file, &text, &Options { wraps });
        report::render(&sources, &problems, true);
        let is_usable = !problems.iter().any(Diagnostic::is_error);
        assert_eq!(loaded.is_some(), is_usable, "a model or not, against what was said");
        let Some(loaded) = loaded else { continue };
        let model = &loaded.model;
        assert_eq!(loaded.actions.len(), model.parts().actions.len(), "each action has a place");
        let mut state = model.starts().remove(0);
        for step in 0..20 {
            let enabled = model.enabled(&state.words);
            let Some(action) = enabled.get(step % enabled.len().max(1)) else { break };
            let next = model.outcomes(&state.words, *action).remove(0);
            if next.fault.is_some() {
                break;
            }
            state = next;
        }
    }
}
