//! Compiles the raw syntax tree to a specification: resolves names and checks consistency.

use super::loaded::{LoadedSpecification, MonitorSpans};
use super::parser::nearest_help;
use super::raw::{RawBody, RawMonitor, RawSpecification};
use super::report;
use super::text::Text;
use invigil_decent::memory::Atom;
use invigil_decent::spec::{MonitorBody, Specification};
use invigil_decent::system::{ComponentId, MonitorId, System, SystemError};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_ltl::formula::Proposition;
use invigil_ltl::syntax::SyntaxTree;
use std::collections::HashMap;

/// Compiles a specification; adds errors to `diagnostics`.
pub(crate) fn lower(raw: RawSpecification, diagnostics: &mut Vec<Diagnostic>) -> Option<LoadedSpecification> {
    let before = diagnostics.len();
    check_names(&raw, diagnostics);
    let mut specification = Specification::new(system(&raw, diagnostics));
    let whole = Span::new(raw.source, 0, 0);
    let mut monitor_spans: Vec<MonitorSpans> = Vec::new();
    for monitor in &raw.monitors {
        let component = match &monitor.component {
            Some((name, span)) => Some(find_component(&specification.system, name, *span, diagnostics)),
            None => None,
        };
        if let Some(first) = specification.find(&monitor.name) {
            let diagnostic = Diagnostic::error(monitor.span, format!("duplicate monitor `{}`", monitor.name));
            let first = monitor_spans[first.index()].name;
            report(diagnostics, diagnostic.related(first, "first declaration").help("rename one of them"));
            continue;
        }
        let Some((body, names)) = body(monitor) else { continue };
        match specification.add(&monitor.name, body, component.flatten()) {
            Ok(_) => monitor_spans.push(MonitorSpans { name: monitor.span, names }),
            Err(diagnostic) => {
                let reported = Diagnostic::error(monitor.span, diagnostic.message);
                report(diagnostics, diagnostic.help.map_or(reported.clone(), |help| reported.help(help)));
            }
        }
    }
    specification.root = root(&raw, &specification, &monitor_spans, whole, diagnostics);
    let loaded = LoadedSpecification { specification, monitor_spans, whole };
    let reported = loaded.diagnostics(loaded.specification.check());
    // Errors of the whole specification are consequences of earlier ones, if there are any.
    let has_errors = !diagnostics.is_empty();
    reported
        .into_iter()
        .filter(|diagnostic| !(has_errors && diagnostic.span == whole))
        .for_each(|diagnostic| report(diagnostics, diagnostic));
    (diagnostics.len() == before).then_some(loaded)
}

/// Rejects names that the language cannot represent. They only come from other formats and from arguments.
fn check_names(raw: &RawSpecification, diagnostics: &mut Vec<Diagnostic>) {
    let components = raw.components.iter().map(|component| (&component.name, component.span));
    let propositions =
        raw.components.iter().flat_map(|component| &component.propositions).map(|(name, span)| (name, *span));
    let monitors = raw.monitors.iter().map(|monitor| (&monitor.name, monitor.span));
    let is_bad = |letter: char| letter.is_control() || matches!(letter, '\'' | '"' | '#');
    for (name, span) in components.chain(propositions).chain(monitors) {
        if name.is_empty() || name.contains(is_bad) {
            let diagnostic =
                Diagnostic::error(span, format!("`{}` is not a valid name", name.escape_debug()));
            report(diagnostics, diagnostic.help("names contain no quotes, no `#` and no line breaks"));
        }
    }
}

fn system(raw: &RawSpecification, diagnostics: &mut Vec<Diagnostic>) -> System {
    let mut system = raw.system.clone().unwrap_or_default();
    let mut first: HashMap<&str, Span> = HashMap::new();
    let mut observed: HashMap<&str, Span> = HashMap::new();
    for component in &raw.components {
        if let Some(first) = first.insert(&component.name, component.span) {
            let diagnostic =
                Diagnostic::error(component.span, format!("duplicate component `{}`", component.name));
            report(
                diagnostics,
                diagnostic
                    .related(first, "first declaration")
                    .help("list all its propositions in one declaration"),
            );
            continue;
        }
        let id = match system.component(&component.name) {
            Ok(id) => id,
            Err(error) => {
                report(diagnostics, Diagnostic::error(component.span, error.to_string()));
                return system;
            }
        };
        for (name, span) in &component.propositions {
            match system.proposition(id, name) {
                Ok(_) => {
                    observed.entry(name).or_insert(*span);
                }
                Err(error @ SystemError::Shared { .. }) => {
                    let diagnostic = Diagnostic::error(*span, error.to_string());
                    let diagnostic = match observed.get(name.as_str()) {
                        Some(first) => diagnostic.related(*first, "also here"),
                        None => diagnostic,
                    };
                    report(
                        diagnostics,
                        diagnostic.help("a proposition belongs to one component: rename one of them"),
                    );
                }
                Err(error) => report(diagnostics, Diagnostic::error(*span, error.to_string())),
            }
        }
    }
    for ((from, from_span), (to, to_span)) in &raw.links {
        let ends = (
            find_component(&system, from, *from_span, diagnostics),
            find_component(&system, to, *to_span, diagnostics),
        );
        if let (Some(from), Some(to)) = ends {
            system.link(from, to);
        }
    }
    system
}

fn find_component(
    system: &System,
    name: &str,
    span: Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<ComponentId> {
    let found = system.find_component(name);
    if found.is_none() {
        let known = system.components().map(|id| system.component_name(id));
        let diagnostic = Diagnostic::error(span, format!("unknown component `{name}`"));
        report(diagnostics, nearest_help(diagnostic, name, known));
    }
    found
}

/// Returns the body of a monitor, with the positions of the names in it.
fn body(monitor: &RawMonitor) -> Option<(MonitorBody, Vec<(String, Span)>)> {
    Some(match &monitor.body {
        RawBody::ParsedFormula(tree, text) => (MonitorBody::Formula(tree.clone()), names(tree, text)),
        RawBody::Automaton((automaton, labels)) => {
            let names = labels.iter().flat_map(|(tree, text)| names(tree, text)).collect();
            (MonitorBody::Automaton(automaton.clone()), names)
        }
        RawBody::BlackBox { file } => (MonitorBody::BlackBox { file: file.clone() }, Vec::new()),
        // It has syntax errors, which have been reported.
        RawBody::Formula(_) => return None,
    })
}

pub(super) fn names(tree: &SyntaxTree, text: &Text) -> Vec<(String, Span)> {
    let name = |proposition: &Proposition| match proposition {
        Proposition::Name(name) | Proposition::Monitor(name) | Proposition::Expression(name) => name.clone(),
        Proposition::Fresh(_) => String::new(),
    };
    tree.atoms().map(|(proposition, place)| (name(proposition), text.span(place))).collect()
}

/// Finds the root: the declared one, or a monitor called `root`, or the only one that no other refers to.
fn root(
    raw: &RawSpecification,
    specification: &Specification,
    monitor_spans: &[MonitorSpans],
    whole: Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<MonitorId> {
    if let Some((name, span)) = &raw.root {
        let found = specification.find(name);
        if found.is_none() && !raw.monitors.iter().any(|monitor| monitor.name == *name) {
            let known = specification.monitors().map(|id| specification.name(id));
            let diagnostic = Diagnostic::error(*span, format!("unknown monitor `{name}`"));
            report(diagnostics, nearest_help(diagnostic, name, known));
        }
        return found;
    }
    if let Some(root) = specification.find("root") {
        return Some(root);
    }
    let mut referred = vec![false; specification.monitors().len()];
    for id in specification.monitors() {
        for atom in specification.atoms(id) {
            if let Atom::Verdict(other) = atom {
                referred[other.index()] |= other != id;
            }
        }
    }
    let tops: Vec<MonitorId> = specification.monitors().filter(|id| !referred[id.index()]).collect();
    match tops.as_slice() {
        [only] => return Some(*only),
        [] if specification.monitors().len() == 0 => {}
        [] => {
            let diagnostic =
                Diagnostic::error(whole, "the root is ambiguous: every monitor is referred to by another");
            report(diagnostics, diagnostic.help("declare it: root name"));
        }
        [first, second, ..] => {
            let [one, two] = [first, second].map(|id| specification.name(*id));
            let message = format!("the root is ambiguous: nothing refers to `{one}` or `{two}`");
            let diagnostic = Diagnostic::error(monitor_spans[second.index()].name, message);
            let diagnostic = diagnostic.related(monitor_spans[first.index()].name, "also a candidate");
            report(diagnostics, diagnostic.help(format!("declare it: root {one}")));
        }
    }
    None
}
