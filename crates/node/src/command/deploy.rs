//! `invigil-node run` and `invigil-node wait`

use super::Network;
use super::spec::{Spec, load};
use super::status::progress_json;
use clap::Args as Options;
use invigil_ltl::moore::Truth;
use invigil_node::client::{self, RunSummary};
use invigil_node::deployment::Deployment;
use invigil_node::link::Link;
use invigil_node::wire::RunId;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::process::ExitCode;
use std::time::Duration;

/// Exit status for a violated specification.
const VIOLATED: u8 = 1;

/// Run monitors on nodes and wait for their verdict
///
/// The exit status is 1 if the verdict is false.
#[derive(Options)]
pub(crate) struct Deploy {
    #[command(flatten)]
    spec: Spec,
    /// The node of each component: `a=attic,b=hall`
    #[arg(long, value_name = "COMPONENT=NODE", value_delimiter = ',', required = true)]
    nodes: Vec<String>,
    /// Number of rounds to continue after the traces
    #[arg(long, value_name = "ROUNDS", default_value_t = 5)]
    grace: u32,
    /// Timeout in seconds for the nodes, and then for the verdict
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    timeout: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    network: Network,
}

/// Wait for the verdict of a run that another client started, for instance because that client died
///
/// The exit status is that of `run`.
#[derive(Options)]
pub(crate) struct Wait {
    /// Id of the run, as shown by `run` and `status`
    run: RunId,
    /// Timeout in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    timeout: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    network: Network,
}

pub(crate) fn run(options: &Deploy) -> Result<ExitCode, String> {
    let spec = load(&options.spec)?;
    let mut component_nodes = BTreeMap::new();
    for assignment in &options.nodes {
        let (component, node) = assignment
            .split_once('=')
            .ok_or_else(|| format!("expected `COMPONENT=NODE`, found `{assignment}`"))?;
        if spec.system.find_component(component).is_none() {
            return Err(format!("there is no component `{component}`"));
        }
        if component_nodes.insert(component, node.to_owned()).is_some_and(|previous| previous != node) {
            return Err(format!("component `{component}` is assigned to two nodes: name it once in --nodes"));
        }
    }
    let node_of = |component: &str| component_nodes.get(component).cloned();
    let id = RunId(RandomState::new().hash_one(std::process::id()));
    let source = |component| spec.source(component);
    let deployments = Deployment::plan(id, &spec.system, &spec.prepared, node_of, source, options.grace)
        .map_err(|error| error.to_string())?;
    let nodes = deployments.first().map(|deployment| deployment.nodes.clone()).unwrap_or_default();
    let link = Link::open(&options.network.options())?;
    let timeout = Duration::from_secs(options.timeout);
    let report = client::wait_for_nodes(&link, &nodes, timeout.min(Duration::from_secs(30)))
        .and_then(|_| client::run(&link, deployments, timeout, &mut |message| eprintln!("{message}")));
    link.close();
    Ok(print_summary(&report?, options.json))
}

pub(crate) fn wait(options: &Wait) -> Result<ExitCode, String> {
    let link = Link::open(&options.network.options())?;
    let timeout = Duration::from_secs(options.timeout);
    let report = client::attach(&link, options.run, timeout, &mut |message| eprintln!("{message}"));
    link.close();
    Ok(print_summary(&report?, options.json))
}

/// Prints the result of a run and returns the exit status.
fn print_summary(report: &RunSummary, json: bool) -> ExitCode {
    if json {
        println!("{}", as_json(report));
    } else {
        print(report);
    }
    let is_violated = report.end.verdict.is_some_and(|verdict| verdict.truth == Truth::False);
    ExitCode::from(if is_violated { VIOLATED } else { 0 })
}

fn print(report: &RunSummary) {
    match report.end.verdict {
        Some(verdict) => println!(
            "verdict {} at instant {}, found by monitor {} in round {}",
            verdict.truth, verdict.instant, verdict.monitor.0, report.end.rounds
        ),
        None => println!("{} after {} rounds: the traces have ended", Truth::Unknown, report.end.rounds),
    }
    println!(
        "  {} messages, {} bytes in {} bundles, {} resent, {:.1} ms",
        report.sum(|node| node.stats.traffic.messages),
        report.sum(|node| node.stats.bytes),
        report.sum(|node| node.stats.bundles),
        report.sum(|node| node.stats.resent),
        report.took.as_secs_f64() * 1e3,
    );
    if let Some(latency) = report.latency() {
        println!("  found {latency} µs after it was observed");
    }
}

fn as_json(report: &RunSummary) -> Value {
    let nodes: BTreeMap<&str, Value> =
        report.nodes.iter().map(|(name, progress)| (name.as_str(), progress_json(progress))).collect();
    json!({
        "run": report.run.to_string(),
        "verdict": report.end.verdict.map_or(Truth::Unknown, |verdict| verdict.truth).to_string(),
        "instant": report.end.verdict.map(|verdict| verdict.instant),
        "monitor": report.end.verdict.map(|verdict| verdict.monitor.0),
        "rounds": report.end.rounds,
        "messages": report.sum(|node| node.stats.traffic.messages),
        "data": report.sum(|node| node.stats.traffic.data),
        "bytes": report.sum(|node| node.stats.bytes),
        "bundles": report.sum(|node| node.stats.bundles),
        "latency_microseconds": report.latency(),
        "milliseconds": report.took.as_secs_f64() * 1e3,
        "nodes": nodes,
    })
}
