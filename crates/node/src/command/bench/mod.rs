//! `invigil-node bench`

mod alone;
mod cluster;

use clap::Args as Options;
use cluster::Cluster;
use invigil_decent::algorithm::{Choice, Prepared};
use invigil_decent::system::{ComponentId, System};
use invigil_ltl::{Budget, Logic};
use invigil_node::client::{self, Report};
use invigil_node::deployment::{Deployment, Source};
use invigil_node::wire::RunId;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// How many rounds a run has of which only the verdict's latency is wanted.
const SHORT: u32 = 20;

/// Measure rounds, messages and the latency of verdicts on this machine, over TCP
///
/// All nodes are in one process. Beside each algorithm is zenoh alone: payloads as large as the bundles, from everybody to
/// everybody, and nobody goes on before all of a round have come.
#[derive(Options)]
pub(crate) struct Bench {
    /// How many nodes, each with one component
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_value = "2,5")]
    nodes: Vec<usize>,
    /// How many rounds
    #[arg(long, default_value_t = 2000)]
    rounds: u32,
    /// How many verdicts the latency is taken from
    #[arg(long, default_value_t = 200)]
    verdicts: u32,
    /// One algorithm instead of all
    #[arg(long)]
    algorithm: Option<Choice>,
    /// Write down every round in this folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(options: &Bench) -> Result<ExitCode, String> {
    for count in &options.nodes {
        if *count < 2 {
            return Err("there is nothing to measure with less than two nodes".to_owned());
        }
        println!(
            "{count} nodes over TCP on this machine, {} rounds, {} verdicts; {}\n",
            options.rounds,
            options.verdicts,
            if options.folder.is_some() { "every round is written down" } else { "nothing is written down" },
        );
        println!("{:>14}{:>10}{:>12}{:>14}{:>14}{:>22}", "", "", "", "", "zenoh alone,", "verdict after, µs");
        println!(
            "{:<14}{:>10}{:>12}{:>14}{:>14}{:>12}{:>10}",
            "algorithm", "rounds/s", "messages/s", "bytes/bundle", "rounds/s", "median", "99 %"
        );
        for choice in options.algorithm.map_or(Choice::ALL.to_vec(), |one| vec![one]) {
            measure(*count, choice, options)?;
        }
        println!();
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures one algorithm, and prints its line.
fn measure(count: usize, choice: Choice, options: &Bench) -> Result<(), String> {
    let cluster = Cluster::start(count, options.folder.as_deref())?;
    let one = |rounds, number| {
        let plan = plan(choice, cluster.names(), rounds, RunId(number))?;
        client::run(cluster.link(), plan, Duration::from_secs(600), &mut |_| {})
    };
    let long = one(options.rounds, 0)?;
    let mut latencies = (1..=u64::from(options.verdicts))
        .map(|number| one(SHORT, number).map(|report| report.latency().unwrap_or(0)))
        .collect::<Result<Vec<u64>, String>>()?;
    cluster.stop()?;
    latencies.sort_unstable();
    let size = long.sum(|node| node.figures.bytes) / long.sum(|node| node.figures.bundles).max(1);
    let alone = alone::exchange(count, options.rounds, size as usize)?;
    show(choice, &long, size, f64::from(options.rounds) / alone.as_secs_f64(), &latencies);
    Ok(())
}

/// What all wait for comes in the last round: the last component sees it then, and all others all the time. So the verdict needs what
/// everybody has seen.
fn plan(choice: Choice, names: &[String], rounds: u32, run: RunId) -> Result<Vec<Deployment>, String> {
    let mut system = System::default();
    let mut parts = Vec::new();
    for name in names {
        let component = system.component(name).map_err(|clash| clash.to_string())?;
        let proposition = format!("{name}_ok");
        system.proposition(component, &proposition).map_err(|clash| clash.to_string())?;
        parts.push(proposition);
    }
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse(&format!("F ({})", parts.join(" & "))).map_err(|error| error.to_string())?;
    let prepared = Prepared::new(choice, &mut logic, formula, &system).map_err(|error| error.to_string())?;
    let last = names.len() - 1;
    let source = |component: ComponentId| {
        let name = &parts[component.index()];
        let before = if component.index() == last { 'f' } else { 't' };
        let before = format!("{name}:{before}\n").repeat(rounds.saturating_sub(1) as usize);
        Source::Sent(format!("{before}{name}:t\n"))
    };
    let home = |component: &str| Some(component.to_owned());
    let deployments = Deployment::plan(run, &system, &prepared, home, source, 20);
    deployments.map_err(|unfit| unfit.to_string())
}

fn show(choice: Choice, report: &Report, size: u64, alone: f64, latencies: &[u64]) {
    let longest = report.nodes.iter().map(|(_, node)| node.figures.microseconds).max().unwrap_or(0);
    let seconds = (longest as f64 / 1e6).max(1e-9);
    let part = |percent: usize| {
        let place = (latencies.len() * percent / 100).min(latencies.len().saturating_sub(1));
        latencies.get(place).copied().unwrap_or(0)
    };
    println!(
        "{:<14}{:>10.0}{:>12.0}{:>14}{:>14.0}{:>12}{:>10}",
        choice.name(),
        f64::from(report.end.rounds) / seconds,
        report.sum(|node| node.figures.traffic.messages) as f64 / seconds,
        size,
        alone,
        part(50),
        part(99),
    );
}
