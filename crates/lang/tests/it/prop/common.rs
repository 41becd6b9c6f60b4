//! Helpers for the tests of the property language. Not every test needs all of them.

use invigil_expr::diag::{Diagnostic, SourceId, Sources};
use invigil_lang::prop::ast::{Action, Block, Branch, Name, Property};
use invigil_lang::{prop, report};

/// The published properties, with their names.
pub(crate) const FIXTURES: [(&str, &str); 8] = [
    ("queue", include_str!("../../fixtures/queue.prop")),
    ("queue_producers", include_str!("../../fixtures/queue_producers.prop")),
    ("zsh", include_str!("../../fixtures/zsh.prop")),
    ("zsh_article", include_str!("../../fixtures/zsh_article.prop")),
    ("raft1", include_str!("../../fixtures/raft1.prop")),
    ("raft2", include_str!("../../fixtures/raft2.prop")),
    ("raft3", include_str!("../../fixtures/raft3.prop")),
    ("raft4", include_str!("../../fixtures/raft4.prop")),
];

/// Parses a property without errors.
pub(crate) fn good(text: &str) -> Property {
    let (property, diagnostics) = prop::parse(SourceId(0), text);
    assert!(diagnostics.is_empty(), "{}", show(text, &diagnostics));
    property
}

/// Renders the diagnostics.
pub(crate) fn show(text: &str, diagnostics: &[Diagnostic]) -> String {
    let mut sources = Sources::default();
    sources.add("test.prop", text);
    report::render(&sources, diagnostics, false)
}

/// The contents of a property, without positions.
pub(crate) fn shape(property: &Property) -> String {
    let names = |names: &[Name]| names.iter().map(|n| n.text.clone()).collect::<Vec<_>>();
    let block = |block: &Option<Block>| block.as_ref().map(|block| block.dedent().text);
    let action = |action: &Option<Action>| action.as_ref().map(|action| action.text.replace("\r\n", "\n"));
    let end = |end: &Option<Branch>| {
        let target = |end: &Branch| end.target.as_ref().map(|name| name.text.clone());
        format!("{:?}", end.as_ref().map(|e| (block(&e.block), action(&e.action), target(e))))
    };
    let mut out =
        format!("slice {:?} init {:?}\n", names(&property.slice_on), block(&property.initialization));
    for state in &property.states {
        out += &format!(
            "state {} {:?} final {} {:?} import {:?}\n",
            state.name.text,
            state.acceptance.map(|(acceptance, _)| acceptance),
            state.final_span.is_some(),
            action(&state.action),
            names(&state.imports)
        );
        for transition in &state.transitions {
            let event = &transition.event;
            let params: Vec<_> =
                event.params.iter().map(|p| (&p.source, &p.name.text, p.ty.map(|(ty, _)| ty))).collect();
            let (guard, success, failure) =
                (block(&transition.guard), end(&transition.success), end(&transition.failure));
            out += &format!("{:?} {:?} {params:?} {guard:?}", event.kind, event.name.text);
            out += &format!(" success {success} failure {failure}\n");
        }
    }
    out
}
