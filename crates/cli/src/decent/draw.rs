//! `invigil decent draw`: draws specifications and automata.

use super::args::Draw as Args;
use super::loaded_spec::{LoadedSpec, SpecKind};
use crate::terminal::Terminal;
use crate::{CliError, files};
use invigil_decent::automaton::{Automaton, Edge as AutomatonEdge};
use invigil_decent::memory::Atom;
use invigil_decent::network::Network;
use invigil_decent::system::{MonitorId, System};
use invigil_lang::prop::picture::{BranchKind, Edge, Graph, Node, NodeClass};
use invigil_ltl::moore::Truth;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let spec = LoadedSpec::load(&args.spec_args, None, terminal)?;
    let graph = match (&spec.kind, &args.monitor) {
        (SpecKind::Formula(_), Some(_)) => {
            return Err(CliError::new("a formula has only one automaton; omit --monitor"));
        }
        (SpecKind::Formula(tree), None) => {
            automaton(&spec.automaton(tree)?, |atom| name(&spec.system, None, atom))
        }
        (SpecKind::Specification(loaded), wanted) => {
            let network = spec.network(loaded, terminal)?;
            match wanted {
                None => references(&network, &spec.system),
                Some(wanted) => {
                    let part =
                        network.monitors.iter().find(|part| part.name == *wanted).ok_or_else(|| {
                            let names: Vec<&str> =
                                network.monitors.iter().map(|part| part.name.as_str()).collect();
                            CliError::new(format_args!(
                                "no monitor is named `{wanted}`; expected one of {}",
                                names.join(", ")
                            ))
                        })?;
                    automaton(&part.automaton, |atom| name(&spec.system, Some(&network), atom))
                }
            }
        }
    };
    if let Some(path) = &args.svg {
        files::write(path, &graph.to_svg(), terminal)?;
    }
    if let Some(path) = args.dot.as_deref().or(args.svg.is_none().then_some(Path::new("-"))) {
        files::write(path, &graph.to_dot(), terminal)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The graph of references between monitors. The root is the initial node.
fn references(network: &Network, system: &System) -> Graph {
    let ids = || (0..network.monitors.len() as u32).map(MonitorId);
    let node = |id: MonitorId| {
        let part = network.monitor(id);
        Node {
            is_initial: id == network.root,
            note: vec![format!("on {}", system.component_name(part.at))],
            ..Node::new(&part.name, NodeClass::Neutral)
        }
    };
    let edges = ids().flat_map(|id| {
        let edge = move |other: MonitorId| Edge {
            from: id.index(),
            to: other.index(),
            label: Vec::new(),
            branch: BranchKind::Success,
        };
        network.references(id).into_iter().map(edge)
    });
    Graph { nodes: ids().map(node).collect(), edges: edges.collect() }
}

fn automaton(automaton: &Automaton, name: impl Fn(Atom) -> String) -> Graph {
    let node = |(state, verdict): (usize, &Truth)| {
        let class = match verdict {
            Truth::True => NodeClass::Accepting,
            Truth::False => NodeClass::NonAccepting,
            Truth::Unknown => NodeClass::Neutral,
        };
        Node {
            is_initial: state == automaton.initial as usize,
            is_final: *verdict != Truth::Unknown,
            ..Node::new(format!("q{state}"), class)
        }
    };
    let label = |edge: &AutomatonEdge| {
        let cube = |cube: &Vec<(Atom, bool)>| {
            let literals =
                cube.iter().map(|(atom, value)| format!("{}{}", if *value { "" } else { "!" }, name(*atom)));
            let literals: Vec<String> = literals.collect();
            if literals.is_empty() { "true".to_owned() } else { literals.join(" & ") }
        };
        edge.cubes.iter().map(cube).collect()
    };
    let edges = automaton.edges.iter().enumerate().flat_map(|(from, edges)| {
        let edge = |edge: &AutomatonEdge| Edge {
            from,
            to: edge.to as usize,
            label: label(edge),
            branch: BranchKind::Success,
        };
        edges.iter().map(edge).collect::<Vec<_>>()
    });
    Graph { nodes: automaton.verdicts.iter().enumerate().map(node).collect(), edges: edges.collect() }
}

fn name(system: &System, network: Option<&Network>, atom: Atom) -> String {
    match atom {
        Atom::Observed(proposition) => system.proposition_name(proposition).to_owned(),
        Atom::Verdict(monitor) => {
            network.map_or(String::new(), |network| format!("@{}", network.monitor(monitor).name))
        }
    }
}
