//! Prints specifications.

use invigil_decent::spec::{AutomatonSpec, MonitorBody, Specification};
use invigil_ltl::moore::Truth;
use std::fmt::Write;

/// Prints a specification so that loading it yields the same specification. Templates are expanded.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::decent::{load, print};
///
/// let text = "component hall: door\n\nm @ hall = always(not door)\n\nroot m\n";
/// let loaded = load(SourceId(0), text).0.unwrap();
/// assert_eq!(print(&loaded.specification), "component hall: door\n\nm @ hall = G !door\n\nroot m\n");
/// ```
pub fn print(specification: &Specification) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(specification, &mut out);
    out
}

fn write(specification: &Specification, out: &mut String) -> std::fmt::Result {
    let system = &specification.system;
    for component in system.components() {
        let own = system.propositions().filter(|at| system.owner(*at) == component);
        let names: Vec<String> = own
            .filter(|at| !specification.is_black_box(*at))
            .map(|at| name(system.proposition_name(at)))
            .collect();
        let colon = if names.is_empty() { "" } else { ": " };
        writeln!(out, "component {}{colon}{}", name(system.component_name(component)), names.join(", "))?;
    }
    if let Some(links) = system.links() {
        writeln!(out)?;
        for (from, to) in links {
            writeln!(
                out,
                "link {} -> {}",
                name(system.component_name(from)),
                name(system.component_name(to))
            )?;
        }
    }
    writeln!(out)?;
    for id in specification.monitors() {
        let monitor = specification.monitor(id);
        write!(out, "{}", name(specification.name(id)))?;
        if let Some(at) = monitor.at {
            write!(out, " @ {}", name(system.component_name(at)))?;
        }
        match &monitor.body {
            MonitorBody::Formula(tree) => writeln!(out, " = {tree}")?,
            MonitorBody::BlackBox { file } => writeln!(out, " = black box \"{file}\"")?,
            MonitorBody::Automaton(automaton) => write_automaton(automaton, out)?,
        }
    }
    match specification.root {
        Some(root) => writeln!(out, "\nroot {}", name(specification.name(root))),
        None => Ok(()),
    }
}

fn write_automaton(automaton: &AutomatonSpec, out: &mut String) -> std::fmt::Result {
    writeln!(out, " = automaton")?;
    for state in &automaton.states {
        let verdict = match state.verdict {
            Truth::True => " = true",
            Truth::False => " = false",
            Truth::Unknown => "",
        };
        writeln!(out, "    state {}{verdict}", name(&state.name))?;
        for edge in &state.edges {
            let to = automaton.states.get(edge.to).map_or("?", |state| &state.name);
            match &edge.label {
                Some(label) => writeln!(out, "        {} when {label}", name(to))?,
                None => writeln!(out, "        {} otherwise", name(to))?,
            }
        }
    }
    Ok(())
}

/// Quotes a name if necessary.
fn name(text: &str) -> String {
    let plain = !text.is_empty()
        && text.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$'));
    let is_keyword = ["component", "link", "root", "template", "use", "state"].contains(&text);
    if plain && !is_keyword { text.to_owned() } else { format!("'{text}'") }
}
