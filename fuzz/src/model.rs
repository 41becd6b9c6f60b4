//! Models: reading, reporting, and the first steps.

use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::{model, report};

/// Any text is read and complained about without a panic, and what has no mistake in it can be run. The last line is
/// asked about the model, too.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::default();
    let file = sources.add("fuzz.model", &*text);
    let (loaded, problems) = model::load(file, &text);
    report::render(&sources, &problems, true);
    let usable = !problems.iter().any(Diagnostic::is_error);
    assert_eq!(loaded.is_some(), usable, "loaded or not, against what was said");
    let Some(loaded) = loaded else { return };
    let question = text.lines().last().unwrap_or_default();
    let asked = sources.add("question", question);
    if let Err(problems) = model::predicate(&loaded.model, asked, question) {
        assert!(!problems.is_empty(), "refused without a word");
        report::render(&sources, &problems, true);
    }
    // All initial configurations are computed, so a few variables are enough to make them too many.
    if loaded.model.parts().start.len() > 2 {
        return;
    }
    for start in loaded.model.starts().iter().take(4) {
        for action in loaded.model.enabled(&start.words).into_iter().take(16) {
            loaded.model.outcomes(&start.words, action);
        }
    }
}
