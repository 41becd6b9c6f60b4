//! The automaton of a property as SVG, with the current states highlighted.
//!
//! Current states of any slice are green if accepting, red if non-accepting and yellow if undecided. The transitions
//! taken at the last event are brown, and their source states are grey.

use crate::command::CommandContext;
use std::fmt::Write as _;

const CURRENT_ACCEPTING: &str = "#2da44e";
const CURRENT_NON_ACCEPTING: &str = "#e5534b";
const CURRENT_UNDECIDED: &str = "#d4a72c";
const LAST_TRANSITION: &str = "#8b4513";
const LAST_SOURCE: &str = "#b1b8c0";

/// Renders the current property as SVG.
pub(crate) fn render_svg(context: &CommandContext<'_>) -> Result<String, String> {
    let property = context.session.current_property();
    let loaded = &context.repl.loaded;
    let Some(monitor) = context.session.monitor(property) else {
        return Err("no property is loaded".to_owned());
    };
    let graph = match loaded.property_sources.get(property) {
        Some(source) => source.graph(monitor.automaton(), &loaded.catalog, &loaded.sources),
        // The properties of scripts have no source text of their own.
        None => invigil_lang::ltl::graph(monitor.automaton(), &loaded.catalog),
    };
    let mut style = String::new();
    let last = context.session.event_count();
    let past = context.session.events(last..=last).pop();
    for step in past.iter().flat_map(|past| &past.steps).filter(|step| step.property == property) {
        // The CSS selectors use state names; names with special characters cannot be selected and stay plain.
        if !is_plain(&step.from) || !is_plain(&step.to) {
            continue;
        }
        let edge = format!(
            ".automaton .edge.{}[data-from=\"{}\"][data-to=\"{}\"]",
            step.branch.word(),
            step.from,
            step.to
        );
        // Writing to a string cannot fail.
        let _ = writeln!(style, "{edge} .line{{stroke:{LAST_TRANSITION};stroke-width:2.6}}");
        let _ = writeln!(style, "{edge} .head,{edge} .label{{fill:{LAST_TRANSITION}}}");
        let _ = writeln!(style, ".automaton .state[data-state=\"{}\"] rect{{fill:{LAST_SOURCE}}}", step.from);
    }
    for name in monitor.current_states().filter(|name| is_plain(name)) {
        let state = format!(".automaton .state[data-state=\"{name}\"]");
        let _ = writeln!(style, "{state} rect{{fill:{CURRENT_UNDECIDED};stroke-width:3.5}}");
        let _ = writeln!(style, "{state}.accepting rect{{fill:{CURRENT_ACCEPTING}}}");
        let _ = writeln!(style, "{state}.non-accepting rect{{fill:{CURRENT_NON_ACCEPTING}}}");
        let _ = writeln!(style, "{state} rect.inner{{fill:none}}");
    }
    let svg = graph.to_svg();
    Ok(svg.replacen("</style>", &format!("{style}</style>"), 1))
}

fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}
