//! `invigil decent check-spec`: monitorability and equivalence of specifications.

use super::args::CheckSpec as Args;
use super::loaded_spec::{LoadedSpec, SpecKind};
use crate::terminal::Terminal;
use crate::{CliError, VIOLATED};
use invigil_decent::network::Network;
use invigil_decent::spec::equivalence::{Comparison, Difference, compare};
use invigil_decent::spec::monitorability::{Monitorability, Prefix};
use invigil_decent::spec::split::{Goal, split};
use invigil_decent::system::{MonitorId, System};
use invigil_lang::decent::print;
use invigil_ltl::Budget;
use invigil_ltl::moore::Truth;
use std::fmt::Write as _;
use std::process::ExitCode;

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let spec = LoadedSpec::load(&args.spec_args, None, terminal)?;
    let system = &spec.system;
    let mut out = String::new();
    let network = match &spec.kind {
        SpecKind::Specification(loaded) => spec.network(loaded, terminal)?,
        SpecKind::Formula(tree) => {
            let split = split(tree, system, Goal::Messages, Budget::default()).map_err(CliError::new)?;
            // Writing to a string does not fail.
            let _ = write!(
                out,
                "Split for few messages ({} for each instant, delay {}):\n\n{}\n",
                split.cost.messages,
                split.cost.delay,
                print(&split.specification)
            );
            split.network
        }
    };
    write_monitors(&mut out, &network, system);
    let mut is_good = write_monitorability(&mut out, &network, system);
    if let Some(path) = &args.same_as {
        let is_xml = path.extension().is_some_and(|ending| ending == "xml");
        let other = LoadedSpec::file(path, is_xml, Some(system), terminal)?;
        let SpecKind::Specification(loaded) = &other.kind else {
            return Err(CliError::new("expected a specification"));
        };
        if other.system != *system {
            return Err(CliError::new(format_args!(
                "{}: different components or propositions; the specifications cannot be compared",
                path.display()
            )));
        }
        let other = other.network(loaded, terminal)?;
        is_good &= write_comparison(&mut out, &compare(system, &network, &other, Budget::default()), system);
    }
    terminal.print(&out)?;
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(VIOLATED) })
}

/// Lists the monitors with their components and references. Reachability has been checked when the file was loaded.
fn write_monitors(out: &mut String, network: &Network, system: &System) {
    for (at, part) in network.monitors.iter().enumerate() {
        let id = MonitorId(at as u32);
        let needed: Vec<&str> =
            network.references(id).into_iter().map(|other| network.monitor(other).name.as_str()).collect();
        let depth = match network.depth(id) {
            u32::MAX => "in a cycle".to_owned(),
            depth => format!("depth {depth}"),
        };
        let _ = writeln!(
            out,
            "{}{} on {}: {} states, {depth}{}",
            part.name,
            if id == network.root { " (root)" } else { "" },
            system.component_name(part.at),
            part.automaton.verdicts.len(),
            if needed.is_empty() { String::new() } else { format!(", needs {}", needed.join(", ")) }
        );
    }
    out.push_str("It fits the system: every verdict can reach the monitors that need it.\n");
}

/// Writes whether a network is monitorable. Returns false if it is not, or if that is undecided.
fn write_monitorability(out: &mut String, network: &Network, system: &System) -> bool {
    let name = |id: &MonitorId| network.monitor(*id).name.clone();
    let (text, is_good) = match network.monitorability(system, Budget::default()) {
        Monitorability::Always => ("It is monitorable: a verdict always remains possible.".to_owned(), true),
        Monitorability::ByStructure(because) => (
            format!("It is monitorable by a structural check; the exact check exceeds a limit ({because})."),
            true,
        ),
        Monitorability::NotMonitorable { monitor, after } => {
            let after = after.map_or("some observations".to_owned(), |prefix| shown(&prefix, system));
            (
                format!("It is not monitorable: after {after}, {} cannot reach a verdict.", name(&monitor)),
                false,
            )
        }
        Monitorability::Undecided { cycle, limit } => {
            let cycle: Vec<String> = cycle.iter().map(name).collect();
            let cycle = cycle.join(" and ");
            (format!("Monitorability is undecided: {cycle} refer to each other ({limit})."), false)
        }
    };
    let _ = writeln!(out, "{text}");
    is_good
}

/// Writes the result of a comparison. Returns false if the specifications differ.
fn write_comparison(out: &mut String, comparison: &Comparison, system: &System) -> bool {
    let word = |truth: Truth| match truth {
        Truth::True => "true",
        Truth::False => "false",
        Truth::Unknown => "undecided",
    };
    let describe = |difference: &Difference| {
        let [first, second] = difference.verdicts.map(word);
        format!(
            "after {} the verdict of the first is {first}, of the second {second}",
            shown(&difference.after, system)
        )
    };
    let (text, is_good) = match comparison {
        Comparison::Same => ("Both always give the same verdict.".to_owned(), true),
        Comparison::OneIsSlower(difference) => (format!("One is slower: {}.", describe(difference)), true),
        Comparison::Different(difference) => (format!("They differ: {}.", describe(difference)), false),
        Comparison::SameUpTo { length, limit } => (
            format!(
                "They agree on all traces of up to {length} rounds; longer traces exceed a limit ({limit})."
            ),
            true,
        ),
    };
    let _ = writeln!(out, "{text}");
    is_good
}

/// Observations in the syntax of traces. Propositions that are false are omitted.
fn shown(prefix: &Prefix, system: &System) -> String {
    let round = |names: &Vec<_>| {
        let names: Vec<String> =
            names.iter().map(|id| format!("{}:t", system.proposition_name(*id))).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(",") }
    };
    match prefix.is_empty() {
        true => "no observation at all".to_owned(),
        false => format!("`{}`", prefix.iter().map(round).collect::<Vec<_>>().join(" > ")),
    }
}
