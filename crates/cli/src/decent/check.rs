//! `invigil decent check-spec`.

use super::args::CheckSpec as Args;
use super::subject::{Subject, What};
use crate::terminal::Terminal;
use crate::{Trouble, VIOLATED};
use invigil_decent::network::Network;
use invigil_decent::spec::equivalent::{Comparison, Difference, compare};
use invigil_decent::spec::monitorable::{Monitorability, Prefix};
use invigil_decent::spec::split::{Goal, split};
use invigil_decent::system::{MonitorId, System};
use invigil_lang::decent::print;
use invigil_ltl::Budget;
use invigil_ltl::moore::Truth;
use std::fmt::Write as _;
use std::process::ExitCode;

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let subject = Subject::load(&args.subject, None, terminal)?;
    let system = &subject.system;
    let mut out = String::new();
    let network = match &subject.what {
        What::Specification(loaded) => subject.network(loaded, terminal)?,
        What::Formula(tree) => {
            let split = split(tree, system, Goal::Messages, Budget::default()).map_err(Trouble::new)?;
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
    monitors(&mut out, &network, system);
    let mut is_good = monitorable(&mut out, &network, system);
    if let Some(path) = &args.same_as {
        let is_xml = path.extension().is_some_and(|ending| ending == "xml");
        let other = Subject::file(path, is_xml, Some(system), terminal)?;
        let What::Specification(loaded) = &other.what else {
            return Err(Trouble::new("give a specification"));
        };
        if other.system != *system {
            return Err(Trouble::new(format_args!(
                "{}: its components or propositions are others, so the two cannot be compared",
                path.display()
            )));
        }
        let other = other.network(loaded, terminal)?;
        is_good &= same(&mut out, &compare(system, &network, &other, Budget::default()), system);
    }
    terminal.print(&out)?;
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(VIOLATED) })
}

/// Where everybody is, and whom they need. That verdicts can go where they must was found out when it was read.
fn monitors(out: &mut String, network: &Network, system: &System) {
    for (at, part) in network.parts.iter().enumerate() {
        let id = MonitorId(at as u32);
        let needed: Vec<&str> =
            network.references(id).into_iter().map(|other| network.part(other).name.as_str()).collect();
        let depth = match network.depth(id) {
            u32::MAX => "in a circle".to_owned(),
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
    out.push_str("It fits: every verdict can go where it is needed.\n");
}

fn monitorable(out: &mut String, network: &Network, system: &System) -> bool {
    let name = |id: &MonitorId| network.part(*id).name.clone();
    let (words, is_good) = match network.monitorability(system, Budget::default()) {
        Monitorability::Always => {
            ("It is monitorable: whatever was observed, a verdict can still come.".to_owned(), true)
        }
        Monitorability::ByShape(because) => {
            (format!("It is monitorable by its shape; to be exact would take too much ({because})."), true)
        }
        Monitorability::Blind { monitor, after } => {
            let after = after.map_or("some observations".to_owned(), |prefix| shown(&prefix, system));
            (
                format!(
                    "It is not monitorable: after {after} no verdict of {} can come any more.",
                    name(&monitor)
                ),
                false,
            )
        }
        Monitorability::Undecided { circle, because } => {
            let circle: Vec<String> = circle.iter().map(name).collect();
            let circle = circle.join(" and ");
            (format!("Undecided whether it is monitorable: {circle} refer to each other ({because})."), false)
        }
    };
    let _ = writeln!(out, "{words}");
    is_good
}

fn same(out: &mut String, comparison: &Comparison, system: &System) -> bool {
    let word = |truth: Truth| match truth {
        Truth::True => "true",
        Truth::False => "false",
        Truth::Unknown => "nothing yet",
    };
    let told = |difference: &Difference| {
        let [first, second] = difference.said.map(word);
        format!("after {} the first says {first}, the second {second}", shown(&difference.after, system))
    };
    let (words, is_good) = match comparison {
        Comparison::Same => ("Both always say the same.".to_owned(), true),
        Comparison::OneIsSlower(difference) => (format!("One is slower: {}.", told(difference)), true),
        Comparison::Different(difference) => (format!("They differ: {}.", told(difference)), false),
        Comparison::SameUpTo { length, because } => (
            format!(
                "They say the same on all traces of up to {length} rounds; more would take too much ({because})."
            ),
            true,
        ),
    };
    let _ = writeln!(out, "{words}");
    is_good
}

/// Observations as traces have them; what does not hold is left out.
fn shown(prefix: &Prefix, system: &System) -> String {
    let round = |names: &Vec<_>| {
        let names: Vec<String> = names.iter().map(|known| format!("{}:t", system.name(*known))).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(",") }
    };
    match prefix.is_empty() {
        true => "no observation at all".to_owned(),
        false => format!("`{}`", prefix.iter().map(round).collect::<Vec<_>>().join(" > ")),
    }
}
