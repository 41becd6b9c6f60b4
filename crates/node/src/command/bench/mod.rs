//! `invigil-node bench`

mod cluster;
mod zenoh_baseline;

use clap::Args as Options;
use cluster::Cluster;
use invigil_decent::algorithm::{Algorithm, MonitorSet};
use invigil_decent::system::{ComponentId, System};
use invigil_ltl::{Budget, Logic};
use invigil_node::client::{self, RunSummary};
use invigil_node::deployment::{Deployment, TraceSource};
use invigil_node::wire::RunId;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Rounds of a run that measures only the latency of its verdict.
const SHORT_ROUNDS: u32 = 20;

/// Measure rounds, messages and latencies of verdicts on this machine, over TCP
///
/// All nodes run in one process. For comparison, zenoh alone exchanges payloads of the same size: every node sends one
/// payload to every other node, and waits for all payloads of the round.
#[derive(Options)]
pub(crate) struct Bench {
    /// Numbers of nodes, each with one component
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_value = "2,5")]
    nodes: Vec<usize>,
    /// Number of rounds
    #[arg(long, default_value_t = 2000)]
    rounds: u32,
    /// Number of verdicts for the latency
    #[arg(long, default_value_t = 200)]
    verdicts: u32,
    /// Measure only this algorithm
    #[arg(long)]
    algorithm: Option<Algorithm>,
    /// Save every round in this folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(options: &Bench) -> Result<ExitCode, String> {
    for count in &options.nodes {
        if *count < 2 {
            return Err("at least two nodes are needed".to_owned());
        }
        println!(
            "{count} nodes over TCP on this machine, {} rounds, {} verdicts; {}\n",
            options.rounds,
            options.verdicts,
            if options.folder.is_some() { "every round is saved" } else { "nothing is saved" },
        );
        println!("{:>14}{:>10}{:>12}{:>14}{:>14}{:>22}", "", "", "", "", "zenoh alone,", "verdict after, µs");
        println!(
            "{:<14}{:>10}{:>12}{:>14}{:>14}{:>12}{:>10}",
            "algorithm", "rounds/s", "messages/s", "bytes/bundle", "rounds/s", "median", "99 %"
        );
        for algorithm in options.algorithm.map_or(Algorithm::ALL.to_vec(), |one| vec![one]) {
            measure(*count, algorithm, options)?;
        }
        println!();
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures one algorithm and prints its row.
fn measure(count: usize, algorithm: Algorithm, options: &Bench) -> Result<(), String> {
    let cluster = Cluster::start(count, options.folder.as_deref())?;
    let run_once = |rounds, number| {
        let plan = plan(algorithm, cluster.names(), rounds, RunId(number))?;
        client::run(cluster.link(), plan, Duration::from_secs(600), &mut |_| {})
    };
    let long = run_once(options.rounds, 0)?;
    let mut latencies = (1..=u64::from(options.verdicts))
        .map(|number| run_once(SHORT_ROUNDS, number).map(|report| report.latency().unwrap_or(0)))
        .collect::<Result<Vec<u64>, String>>()?;
    cluster.stop()?;
    latencies.sort_unstable();
    let size = long.sum(|node| node.stats.bytes) / long.sum(|node| node.stats.bundles).max(1);
    let baseline = zenoh_baseline::exchange(count, options.rounds, size as usize)?;
    show(algorithm, &long, size, f64::from(options.rounds) / baseline.as_secs_f64(), &latencies);
    Ok(())
}

/// Creates a run whose verdict needs the last observation of every node: the last component is true only in the last
/// round, all others always.
fn plan(algorithm: Algorithm, names: &[String], rounds: u32, run: RunId) -> Result<Vec<Deployment>, String> {
    let mut system = System::default();
    let mut parts = Vec::new();
    for name in names {
        let component = system.component(name).map_err(|error| error.to_string())?;
        let proposition = format!("{name}_ok");
        system.proposition(component, &proposition).map_err(|error| error.to_string())?;
        parts.push(proposition);
    }
    let mut logic = Logic::new(Budget::default());
    let formula = logic.parse(&format!("F ({})", parts.join(" & "))).map_err(|error| error.to_string())?;
    let prepared =
        MonitorSet::new(algorithm, &mut logic, formula, &system).map_err(|error| error.to_string())?;
    let last = names.len() - 1;
    let source = |component: ComponentId| {
        let name = &parts[component.index()];
        let before = if component.index() == last { 'f' } else { 't' };
        let before = format!("{name}:{before}\n").repeat(rounds.saturating_sub(1) as usize);
        TraceSource::Inline(format!("{before}{name}:t\n"))
    };
    let node_of = |component: &str| Some(component.to_owned());
    let deployments = Deployment::plan(run, &system, &prepared, node_of, source, 20);
    deployments.map_err(|error| error.to_string())
}

fn show(algorithm: Algorithm, report: &RunSummary, size: u64, baseline: f64, latencies: &[u64]) {
    let duration = report.nodes.iter().map(|(_, node)| node.stats.microseconds).max().unwrap_or(0);
    let seconds = (duration as f64 / 1e6).max(1e-9);
    let percentile = |percent: usize| {
        let index = (latencies.len() * percent / 100).min(latencies.len().saturating_sub(1));
        latencies.get(index).copied().unwrap_or(0)
    };
    println!(
        "{:<14}{:>10.0}{:>12.0}{:>14}{:>14.0}{:>12}{:>10}",
        algorithm.name(),
        f64::from(report.end.rounds) / seconds,
        report.sum(|node| node.stats.traffic.messages) as f64 / seconds,
        size,
        baseline,
        percentile(50),
        percentile(99),
    );
}
