//! The picture of a property, with where it stands.
//!
//! States that a slice is in are green if they are accepting and red if not; the transitions that were taken
//! on the last event are brown, and the states that they left are grey.

use crate::command::Scene;
use std::fmt::Write as _;

const CURRENT_GOOD: &str = "#2da44e";
const CURRENT_BAD: &str = "#e5534b";
const CURRENT_OPEN: &str = "#d4a72c";
const TAKEN: &str = "#8b4513";
const LEFT: &str = "#b1b8c0";

/// The current property as SVG.
pub(crate) fn picture(scene: &Scene<'_>) -> Result<String, String> {
    let property = scene.session.current_property();
    let loaded = &scene.desk.loaded;
    let Some(watch) = scene.session.watch(property) else {
        return Err("no property is watched".to_owned());
    };
    let graph = match loaded.written.get(property) {
        Some(written) => written.graph(watch.automaton(), &loaded.catalog, &loaded.sources),
        // Those of scripts are made, not written.
        None => invigil_lang::ltl::graph(watch.automaton(), &loaded.catalog),
    };
    let mut style = String::new();
    let last = scene.session.event_count();
    let past = scene.session.events(last..=last).pop();
    for step in past.iter().flat_map(|past| &past.steps).filter(|step| step.property == property) {
        // The picture's own names of things; those with odd characters cannot be selected, and stay plain.
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
        let _ = writeln!(style, "{edge} .line{{stroke:{TAKEN};stroke-width:2.6}}");
        let _ = writeln!(style, "{edge} .head,{edge} .label{{fill:{TAKEN}}}");
        let _ = writeln!(style, ".automaton .state[data-state=\"{}\"] rect{{fill:{LEFT}}}", step.from);
    }
    for name in watch.current_states().filter(|name| is_plain(name)) {
        let state = format!(".automaton .state[data-state=\"{name}\"]");
        let _ = writeln!(style, "{state} rect{{fill:{CURRENT_OPEN};stroke-width:3.5}}");
        let _ = writeln!(style, "{state}.accepting rect{{fill:{CURRENT_GOOD}}}");
        let _ = writeln!(style, "{state}.non-accepting rect{{fill:{CURRENT_BAD}}}");
        let _ = writeln!(style, "{state} rect.inner{{fill:none}}");
    }
    let svg = graph.to_svg();
    Ok(svg.replacen("</style>", &format!("{style}</style>"), 1))
}

fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}
