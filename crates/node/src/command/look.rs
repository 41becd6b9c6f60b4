//! `invigil-node status` and `invigil-node stop`

use super::Network;
use clap::Args as Options;
use invigil_decent::simulate::Outcome;
use invigil_node::client;
use invigil_node::link::Link;
use invigil_node::run::Progress;
use invigil_node::wire::RunId;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Show which nodes are here, their runs and figures
#[derive(Options)]
pub(crate) struct Status {
    #[command(flatten)]
    network: Network,
    /// Wait for so many nodes, at most ten seconds; otherwise for one at each endpoint, at most two seconds
    #[arg(long, value_name = "COUNT")]
    wait_for: Option<usize>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Stop a run on all of its nodes
#[derive(Options)]
pub(crate) struct Stop {
    /// Its number, as `status` shows it
    run: RunId,
    #[command(flatten)]
    network: Network,
}

pub(crate) fn status(options: &Status) -> Result<ExitCode, String> {
    let link = Link::open(&options.network.options())?;
    // Links take a moment.
    let (count, patience) = match options.wait_for {
        Some(count) => (count, Duration::from_secs(10)),
        None => (options.network.connect.len().max(1), Duration::from_secs(2)),
    };
    let began = Instant::now();
    let mut nodes = client::status(&link)?;
    while nodes.len() < count && began.elapsed() < patience {
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
                    "let_go": node.let_go,
                    "runs": node.runs.iter().map(told).collect::<Vec<_>>(),
                })
            })
            .collect();
        println!("{}", Value::Array(nodes));
        return Ok(ExitCode::SUCCESS);
    }
    if nodes.is_empty() {
        println!("nobody is here");
    }
    for node in nodes {
        println!(
            "{}: here for {} s, {} runs, {} refused, {} let go",
            node.name,
            node.seconds,
            node.runs.len(),
            node.refused,
            node.let_go
        );
        if let Some(why) = node.last_refusal {
            println!("  refused last: {why}");
        }
        for Progress { run, round, end, failure, missing, figures, .. } in node.runs {
            let how = match (end, failure) {
                (Some(end), _) => {
                    end.verdict.map_or("over".to_owned(), |verdict| format!("verdict {}", verdict.truth))
                }
                (None, Some(why)) => why,
                (None, None) if missing.is_empty() => "goes on".to_owned(),
                (None, None) => format!("waits for {}", missing.join(", ")),
            };
            println!(
                "  run {run}: round {round}, {how}; {} messages, {} bytes in {} bundles, {} sent again",
                figures.traffic.messages, figures.bytes, figures.bundles, figures.resent
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

/// How a run is doing, as JSON.
pub(crate) fn told(progress: &Progress) -> Value {
    let figures = progress.figures;
    json!({
        "run": progress.run.to_string(),
        "round": progress.round,
        "verdict": progress.end.map(|end| Outcome::from(end).verdict.to_string()),
        "failure": progress.failure,
        "nodes": progress.nodes,
        "missing": progress.missing,
        "messages": figures.traffic.messages,
        "data": figures.traffic.data,
        "bundles": figures.bundles,
        "bytes": figures.bytes,
        "asked": figures.asked,
        "resent": figures.resent,
        "duplicates": figures.duplicates,
        "refused": figures.refused,
        "restarts": figures.restarts,
        "microseconds": figures.microseconds,
        "latency_microseconds": figures.latency,
    })
}
