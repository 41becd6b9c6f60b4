//! `invigil-node run` and `invigil-node wait`

use super::Network;
use super::look::told;
use super::spec::{Spec, load};
use clap::Args as Options;
use invigil_ltl::moore::Truth;
use invigil_node::client::{self, Report};
use invigil_node::deployment::Deployment;
use invigil_node::link::Link;
use invigil_node::wire::RunId;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::process::ExitCode;
use std::time::Duration;

/// The specification is violated.
const VIOLATED: u8 = 1;

/// Run monitors on nodes, and wait for their verdict
///
/// The exit status is 1 if the verdict is false.
#[derive(Options)]
pub(crate) struct Deploy {
    #[command(flatten)]
    spec: Spec,
    /// The node of each component: `a=attic,b=hall`
    #[arg(long, value_name = "COMPONENT=NODE", value_delimiter = ',', required = true)]
    nodes: Vec<String>,
    /// For how many rounds to go on after the traces
    #[arg(long, value_name = "ROUNDS", default_value_t = 5)]
    grace: u32,
    /// For how many seconds to wait for nodes, and then for the verdict
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    timeout: u64,
    /// Tell it as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    network: Network,
}

/// Wait for the verdict of a run that somebody else has started, for instance because its client died
///
/// The exit status is that of `run`.
#[derive(Options)]
pub(crate) struct Wait {
    /// Its number, as `run` and `status` show it
    run: RunId,
    /// For how many seconds to wait
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    timeout: u64,
    /// Tell it as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    network: Network,
}

pub(crate) fn run(options: &Deploy) -> Result<ExitCode, String> {
    let wanted = load(&options.spec)?;
    let mut homes = BTreeMap::new();
    for home in &options.nodes {
        let (component, node) =
            home.split_once('=').ok_or_else(|| format!("expected `COMPONENT=NODE`, found `{home}`"))?;
        if wanted.system.find_component(component).is_none() {
            return Err(format!("there is no component `{component}`"));
        }
        if homes.insert(component, node.to_owned()).is_some_and(|known| known != node) {
            return Err(format!("component `{component}` is put on two nodes: name it once in --nodes"));
        }
    }
    let home = |component: &str| homes.get(component).cloned();
    let id = RunId(RandomState::new().hash_one(std::process::id()));
    let source = |component| wanted.source(component);
    let deployments = Deployment::plan(id, &wanted.system, &wanted.prepared, home, source, options.grace)
        .map_err(|unfit| unfit.to_string())?;
    let nodes = deployments.first().map(|deployment| deployment.nodes.clone()).unwrap_or_default();
    let link = Link::open(&options.network.options())?;
    let patience = Duration::from_secs(options.timeout);
    let report = client::gather(&link, &nodes, patience.min(Duration::from_secs(30)))
        .and_then(|_| client::run(&link, deployments, patience, &mut |words| eprintln!("{words}")));
    link.close();
    Ok(tell(&report?, options.json))
}

pub(crate) fn wait(options: &Wait) -> Result<ExitCode, String> {
    let link = Link::open(&options.network.options())?;
    let patience = Duration::from_secs(options.timeout);
    let report = client::take_up(&link, options.run, patience, &mut |words| eprintln!("{words}"));
    link.close();
    Ok(tell(&report?, options.json))
}

/// Prints how a run went. Gives the exit status.
fn tell(report: &Report, json: bool) -> ExitCode {
    if json {
        println!("{}", as_json(report));
    } else {
        print(report);
    }
    let is_violated = report.end.verdict.is_some_and(|verdict| verdict.truth == Truth::False);
    ExitCode::from(if is_violated { VIOLATED } else { 0 })
}

fn print(report: &Report) {
    match report.end.verdict {
        Some(verdict) => println!(
            "{} of instant {}, found by monitor {} in round {}",
            verdict.truth, verdict.of, verdict.by.0, report.end.rounds
        ),
        None => println!("{} after {} rounds: the traces are over", Truth::Unknown, report.end.rounds),
    }
    println!(
        "  {} messages, {} bytes in {} bundles, {} sent again, {:.1} ms",
        report.sum(|node| node.figures.traffic.messages),
        report.sum(|node| node.figures.bytes),
        report.sum(|node| node.figures.bundles),
        report.sum(|node| node.figures.resent),
        report.took.as_secs_f64() * 1e3,
    );
    if let Some(latency) = report.latency() {
        println!("  found {latency} µs after it was observed");
    }
}

fn as_json(report: &Report) -> Value {
    let nodes: BTreeMap<&str, Value> =
        report.nodes.iter().map(|(name, progress)| (name.as_str(), told(progress))).collect();
    json!({
        "run": report.run.to_string(),
        "verdict": report.end.verdict.map_or(Truth::Unknown, |verdict| verdict.truth).to_string(),
        "instant": report.end.verdict.map(|verdict| verdict.of),
        "monitor": report.end.verdict.map(|verdict| verdict.by.0),
        "rounds": report.end.rounds,
        "messages": report.sum(|node| node.figures.traffic.messages),
        "data": report.sum(|node| node.figures.traffic.data),
        "bytes": report.sum(|node| node.figures.bytes),
        "bundles": report.sum(|node| node.figures.bundles),
        "latency_microseconds": report.latency(),
        "milliseconds": report.took.as_secs_f64() * 1e3,
        "nodes": nodes,
    })
}
