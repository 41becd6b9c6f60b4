//! Models: parsing, diagnostics, and the first steps.

use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::{model, report};

/// No input causes a panic, and a valid model can be executed. The last line is also parsed as a predicate over the
/// model.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.model", &*text);
    let (loaded, diagnostics) = model::load(file, &text);
    report::render(&sources, &diagnostics, true);
    let is_valid = !diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(loaded.is_some(), is_valid, "the result is inconsistent with the diagnostics");
    let Some(loaded) = loaded else { return };
    let predicate_text = text.lines().last().unwrap_or_default();
    let predicate_source = sources.add("predicate", predicate_text);
    if let Err(diagnostics) = model::predicate(&loaded.model, predicate_source, predicate_text) {
        assert!(!diagnostics.is_empty(), "rejected without a diagnostic");
        report::render(&sources, &diagnostics, true);
    }
    // All initial configurations are computed, so a few variables are enough to make them too many.
    if loaded.model.parts().start.len() > 2 {
        return;
    }
    for start in loaded.model.initial_states().iter().take(4) {
        for action in loaded.model.enabled(&start.words).into_iter().take(16) {
            loaded.model.outcomes(&start.words, action);
        }
    }
}
