//! `invigil-node status` and `invigil-node stop`

use super::Network;
use clap::Args as Options;
use invigil_decent::simulate::SimulationResult;
use invigil_node::client;
use invigil_node::link::Link;
use invigil_node::run::RunProgress;
use invigil_node::wire::RunId;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Show the nodes that are up, their runs and counters
#[derive(Options)]
pub(crate) struct Status {
    #[command(flatten)]
    network: Network,
    /// Wait up to ten seconds for this many nodes [default: one for each endpoint, for up to two seconds]
    #[arg(long, value_name = "COUNT")]
    wait_for: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Stop a run on all of its nodes
#[derive(Options)]
pub(crate) struct Stop {
    /// Id of the run, as shown by `status`
    run: RunId,
    #[command(flatten)]
    network: Network,
}

pub(crate) fn status(options: &Status) -> Result<ExitCode, String> {
    let link = Link::open(&options.network.options())?;
    // Links take a moment to be established.
    let (count, timeout) = match options.wait_for {
        Some(count) => (count, Duration::from_secs(10)),
        None => (options.network.connect.len().max(1), Duration::from_secs(2)),
    };
    let began = Instant::now();
    let mut nodes = client::status(&link)?;
    while nodes.len() < count && began.elapsed() < timeout {
        std::thread::sleep(Duration::from_millis(50));
        nodes = client::status(&link)?;
    }
    link.close();
    if options.json {
        let nodes: Vec<Value> = nodes
            .iter()
            .map(|node| {
                json!({
                    "name": node.name,
                    "seconds": node.seconds,
                    "refused": node.refused,
                    "last_refusal": node.last_refusal,
                    "let_go": node.dropped,
                    "runs": node.runs.iter().map(progress_json).collect::<Vec<_>>(),
                })
            })
            .collect();
        println!("{}", Value::Array(nodes));
        return Ok(ExitCode::SUCCESS);
    }
    if nodes.is_empty() {
        println!("no nodes are up");
    }
    for node in nodes {
        println!(
            "{}: up for {} s, {} runs, {} rejected, {} dropped",
            node.name,
            node.seconds,
            node.runs.len(),
            node.refused,
            node.dropped
        );
        if let Some(why) = node.last_refusal {
            println!("  last rejection: {why}");
        }
        for RunProgress { run, round, end, failure, missing, stats, .. } in node.runs {
            let state = match (end, failure) {
                (Some(end), _) => {
                    end.verdict.map_or("over".to_owned(), |verdict| format!("verdict {}", verdict.truth))
                }
                (None, Some(why)) => why,
                (None, None) if missing.is_empty() => "running".to_owned(),
                (None, None) => format!("waits for {}", missing.join(", ")),
            };
            println!(
                "  run {run}: round {round}, {state}; {} messages, {} bytes in {} bundles, {} resent",
                stats.traffic.messages, stats.bytes, stats.bundles, stats.resent
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn stop(options: &Stop) -> Result<ExitCode, String> {
    let link = Link::open(&options.network.options())?;
    let count = client::stop(&link, options.run, Duration::from_secs(10));
    link.close();
    let count = count?;
    println!("stopped on {count} nodes");
    Ok(ExitCode::SUCCESS)
}

/// Returns the progress of a run as JSON.
pub(crate) fn progress_json(progress: &RunProgress) -> Value {
    let stats = progress.stats;
    json!({
        "run": progress.run.to_string(),
        "round": progress.round,
        "verdict": progress.end.map(|end| SimulationResult::from(end).verdict.to_string()),
        "failure": progress.failure,
        "nodes": progress.nodes,
        "missing": progress.missing,
        "messages": stats.traffic.messages,
        "data": stats.traffic.data,
        "bundles": stats.bundles,
        "bytes": stats.bytes,
        "asked": stats.asked,
        "resent": stats.resent,
        "duplicates": stats.duplicates,
        "refused": stats.refused,
        "restarts": stats.restarts,
        "microseconds": stats.microseconds,
        "latency_microseconds": stats.latency,
    })
}
