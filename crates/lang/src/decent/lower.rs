//! From what is written to a specification: names are looked up, and what does not fit is told.

use super::draft::{Draft, DraftBody, DraftMonitor};
use super::loaded::{Loaded, Place};
use super::parser::nearest_help;
use super::tell;
use super::text::Text;
use invigil_decent::memory::Atom;
use invigil_decent::spec::{Body, Specification};
use invigil_decent::system::{Clash, ComponentId, MonitorId, System};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_ltl::formula::Proposition;
use invigil_ltl::syntax::Tree;
use std::collections::HashMap;

/// The specification of a draft; what is wrong with it is added to the problems.
pub(crate) fn lower(draft: Draft, problems: &mut Vec<Diagnostic>) -> Option<Loaded> {
    let before = problems.len();
    check_names(&draft, problems);
    let mut specification = Specification::new(system(&draft, problems));
    let whole = Span::new(draft.source, 0, 0);
    let mut places: Vec<Place> = Vec::new();
    for monitor in &draft.monitors {
        let at = match &monitor.at {
            Some((name, span)) => Some(component(&specification.system, name, *span, problems)),
            None => None,
        };
        if let Some(first) = specification.find(&monitor.name) {
            let problem =
                Diagnostic::error(monitor.span, format!("there are two monitors `{}`", monitor.name));
            let first = places[first.index()].name;
            tell(problems, problem.related(first, "the first one").help("rename one of them"));
            continue;
        }
        let Some((body, names)) = body(monitor) else { continue };
        match specification.add(&monitor.name, body, at.flatten()) {
            Ok(_) => places.push(Place { name: monitor.span, names }),
            Err(problem) => {
                let told = Diagnostic::error(monitor.span, problem.message);
                tell(problems, problem.help.map_or(told.clone(), |help| told.help(help)));
            }
        }
    }
    specification.root = root(&draft, &specification, &places, whole, problems);
    let loaded = Loaded { specification, places, whole };
    let told = loaded.told(loaded.specification.check());
    // What is wrong with the whole follows from what was said before, if there was something.
    let said = !problems.is_empty();
    told.into_iter()
        .filter(|problem| !(said && problem.span == whole))
        .for_each(|problem| tell(problems, problem));
    (problems.len() == before).then_some(loaded)
}

/// Names that could not be written down again are refused. They can only come from other formats and from arguments.
fn check_names(draft: &Draft, problems: &mut Vec<Diagnostic>) {
    let components = draft.components.iter().map(|component| (&component.name, component.span));
    let propositions = draft
        .components
        .iter()
        .flat_map(|component| &component.propositions)
        .map(|(name, span)| (name, *span));
    let monitors = draft.monitors.iter().map(|monitor| (&monitor.name, monitor.span));
    let is_bad = |letter: char| letter.is_control() || matches!(letter, '\'' | '"' | '#');
    for (name, span) in components.chain(propositions).chain(monitors) {
        if name.is_empty() || name.contains(is_bad) {
            let problem = Diagnostic::error(span, format!("`{}` cannot be a name", name.escape_debug()));
            tell(problems, problem.help("a name has no quotes, no `#`, and stands on one line"));
        }
    }
}

fn system(draft: &Draft, problems: &mut Vec<Diagnostic>) -> System {
    let mut system = draft.system.clone().unwrap_or_default();
    let mut first: HashMap<&str, Span> = HashMap::new();
    let mut observed: HashMap<&str, Span> = HashMap::new();
    for component in &draft.components {
        if let Some(first) = first.insert(&component.name, component.span) {
            let problem =
                Diagnostic::error(component.span, format!("there are two components `{}`", component.name));
            tell(
                problems,
                problem.related(first, "the first one").help("name all that it observes in one place"),
            );
            continue;
        }
        let id = match system.component(&component.name) {
            Ok(id) => id,
            Err(clash) => {
                tell(problems, Diagnostic::error(component.span, clash.to_string()));
                return system;
            }
        };
        for (name, span) in &component.propositions {
            match system.proposition(id, name) {
                Ok(_) => {
                    observed.entry(name).or_insert(*span);
                }
                Err(clash @ Clash::Shared { .. }) => {
                    let problem = Diagnostic::error(*span, clash.to_string());
                    let problem = match observed.get(name.as_str()) {
                        Some(first) => problem.related(*first, "here, too"),
                        None => problem,
                    };
                    tell(
                        problems,
                        problem.help("a proposition belongs to one component: rename one of them"),
                    );
                }
                Err(clash) => tell(problems, Diagnostic::error(*span, clash.to_string())),
            }
        }
    }
    for ((from, here), (to, there)) in &draft.links {
        let ends = (component(&system, from, *here, problems), component(&system, to, *there, problems));
        if let (Some(from), Some(to)) = ends {
            system.link(from, to);
        }
    }
    system
}

fn component(system: &System, name: &str, span: Span, problems: &mut Vec<Diagnostic>) -> Option<ComponentId> {
    let found = system.find_component(name);
    if found.is_none() {
        let known = system.components().map(|id| system.component_name(id));
        let problem = Diagnostic::error(span, format!("there is no component `{name}`"));
        tell(problems, nearest_help(problem, name, known));
    }
    found
}

/// The body of a monitor, and where its names stand.
fn body(monitor: &DraftMonitor) -> Option<(Body, Vec<(String, Span)>)> {
    Some(match &monitor.body {
        DraftBody::Read(tree, text) => (Body::Formula(tree.clone()), names(tree, text)),
        DraftBody::Automaton((drawn, labels)) => {
            let names = labels.iter().flat_map(|(tree, text)| names(tree, text)).collect();
            (Body::Automaton(drawn.clone()), names)
        }
        DraftBody::BlackBox { file } => (Body::BlackBox { file: file.clone() }, Vec::new()),
        // It could not be read, which was told.
        DraftBody::Formula(_) => return None,
    })
}

pub(super) fn names(tree: &Tree, text: &Text) -> Vec<(String, Span)> {
    let name = |proposition: &Proposition| match proposition {
        Proposition::Name(name) | Proposition::Monitor(name) | Proposition::Expression(name) => name.clone(),
        Proposition::Fresh(_) => String::new(),
    };
    tree.atoms().map(|(proposition, place)| (name(proposition), text.span(place))).collect()
}

/// The monitor that is said to be the root, or is called so, or is the only one that no other refers to.
fn root(
    draft: &Draft,
    specification: &Specification,
    places: &[Place],
    whole: Span,
    problems: &mut Vec<Diagnostic>,
) -> Option<MonitorId> {
    if let Some((name, span)) = &draft.root {
        let found = specification.find(name);
        if found.is_none() && !draft.monitors.iter().any(|monitor| monitor.name == *name) {
            let known = specification.monitors().map(|id| specification.name(id));
            let problem = Diagnostic::error(*span, format!("there is no monitor `{name}`"));
            tell(problems, nearest_help(problem, name, known));
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
            let problem =
                Diagnostic::error(whole, "every monitor is referred to by another: none is plainly the root");
            tell(problems, problem.help("say which it is: root name"));
        }
        [first, second, ..] => {
            let [one, two] = [first, second].map(|id| specification.name(*id));
            let words = format!("nothing refers to `{one}`, nor to `{two}`: which is the root?");
            let problem = Diagnostic::error(places[second.index()].name, words);
            let problem = problem.related(places[first.index()].name, "this one?");
            tell(problems, problem.help(format!("say which it is: root {one}")));
        }
    }
    None
}
