//! DVE models: parsing, diagnostics, lowering, and some steps.

use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::dve::{Options, load};
use invigil_lang::report;

/// No input causes a panic. A valid text yields a model with an initial configuration.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.dve", &*text);
    for wraps in [false, true] {
        let (loaded, diagnostics) = load(file, &text, &Options { wraps });
        report::render(&sources, &diagnostics, true);
        let is_valid = !diagnostics.iter().any(Diagnostic::is_error);
        assert_eq!(loaded.is_some(), is_valid, "the result is inconsistent with the diagnostics");
        let Some(loaded) = loaded else { continue };
        let model = &loaded.model;
        assert_eq!(loaded.action_spans.len(), model.parts().actions.len(), "not every action has a location");
        let mut state = model.initial_states().remove(0);
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
