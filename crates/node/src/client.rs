//! Client operations: start a run, wait for its verdict, query nodes.

use crate::deployment::Deployment;
use crate::link::Link;
use crate::rounds::RunEnd;
use crate::run::RunProgress;
use crate::wire::{NodeStatus, Reply, Request, RunId};
use std::time::{Duration, Instant};

/// Timeout of one request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum time to search for a run that another client started.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum time to wait for absent nodes after the verdict.
const ABSENT_NODE_TIMEOUT: Duration = Duration::from_secs(5);

/// Result of a run.
#[derive(Clone, Debug)]
pub struct RunSummary {
    /// Id of the run.
    pub run: RunId,
    /// End of the run.
    pub end: RunEnd,
    /// Time from the deployment to the end, as seen by the client.
    pub took: Duration,
    /// Progress of each node that answered.
    pub nodes: Vec<(String, RunProgress)>,
}

impl RunSummary {
    /// Sums a counter over all nodes.
    pub fn sum(&self, counter: impl Fn(&RunProgress) -> u64) -> u64 {
        self.nodes.iter().map(|(_, progress)| counter(progress)).sum()
    }

    /// Returns the time in microseconds from the observation of the verdict's instant to the verdict.
    pub fn latency(&self) -> Option<u64> {
        self.nodes.iter().filter_map(|(_, progress)| progress.stats.latency).min()
    }
}

/// Waits until the given nodes are up, and returns all nodes that are.
///
/// # Errors
/// Fails if one is not up in time.
pub fn wait_for_nodes(link: &Link, required: &[String], timeout: Duration) -> Result<Vec<String>, String> {
    let deadline = Instant::now() + timeout;
    loop {
        let names = link.nodes(REQUEST_TIMEOUT)?;
        let Some(missing) = required.iter().find(|name| !names.contains(name)) else { return Ok(names) };
        if Instant::now() >= deadline {
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(format!(
                "node {missing} is not up (nodes that are: {names}): start it, or check --connect"
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Repeats a request until the node answers.
fn request_until_answered(
    link: &Link,
    node: &str,
    request: &Request,
    deadline: Instant,
) -> Result<Reply, String> {
    loop {
        let remaining = deadline.saturating_duration_since(Instant::now());
        if let Some(reply) =
            link.request(node, request, REQUEST_TIMEOUT.min(remaining.max(Duration::from_millis(1))))?
        {
            return Ok(reply);
        }
        if remaining.is_zero() {
            return Err(format!("{node} does not answer"));
        }
        // A request to an absent node fails immediately.
        std::thread::sleep(Duration::from_millis(50).min(remaining));
    }
}

/// Deploys a run, waits for its end, at most for `timeout`, and stops it everywhere. `notify` receives progress
/// messages.
///
/// # Errors
/// Fails if a node rejects the run, if the run fails on one, or after the timeout.
pub fn run(
    link: &Link,
    deployments: Vec<Deployment>,
    timeout: Duration,
    notify: &mut dyn FnMut(&str),
) -> Result<RunSummary, String> {
    let began = Instant::now();
    let Some(first) = deployments.first() else { return Err("there is no node to run on".to_owned()) };
    let (run, nodes) = (first.run, first.nodes.clone());
    notify(&format!("run {run} on {}", nodes.join(", ")));
    let outcome = deploy(link, deployments, began + timeout)
        .and_then(|()| wait(link, run, &nodes, began + timeout, notify))
        .map(|(end, nodes)| RunSummary { run, end, took: began.elapsed(), nodes });
    stop_everywhere(link, run, &nodes, notify)?;
    outcome
}

/// Attaches to a run whose client has exited: waits for its end, at most for `timeout`, and stops it everywhere.
///
/// # Errors
/// Fails if no node knows the run, if it fails on one, or after the timeout; the run then continues.
pub fn attach(
    link: &Link,
    run: RunId,
    timeout: Duration,
    notify: &mut dyn FnMut(&str),
) -> Result<RunSummary, String> {
    let began = Instant::now();
    let nodes = nodes_of(link, run, timeout.min(SEARCH_TIMEOUT))?;
    let (end, progress) = wait(link, run, &nodes, began + timeout, notify)?;
    stop_everywhere(link, run, &nodes, notify)?;
    Ok(RunSummary { run, end, took: began.elapsed(), nodes: progress })
}

fn stop_everywhere(
    link: &Link,
    run: RunId,
    nodes: &[String],
    notify: &mut dyn FnMut(&str),
) -> Result<(), String> {
    for node in nodes {
        if link.request(node, &Request::Stop(run), REQUEST_TIMEOUT)?.is_none() {
            notify(&format!(
                "{node} does not answer: it will find out that run {run} is over when it is back"
            ));
        }
    }
    Ok(())
}

fn deploy(link: &Link, deployments: Vec<Deployment>, deadline: Instant) -> Result<(), String> {
    for deployment in deployments {
        let Some(node) = deployment.nodes.get(usize::from(deployment.own_node)).cloned() else { continue };
        match request_until_answered(link, &node, &Request::Deploy(Box::new(deployment)), deadline)? {
            Reply::Done => {}
            Reply::Refused(why) => return Err(format!("{node} rejects the run: {why}")),
            Reply::Status(_) => return Err(format!("unexpected reply from {node}")),
        }
    }
    Ok(())
}

/// Waits until all nodes have ended, or until one has and others do not answer for some time.
fn wait(
    link: &Link,
    run: RunId,
    nodes: &[String],
    deadline: Instant,
    notify: &mut dyn FnMut(&str),
) -> Result<(RunEnd, Vec<(String, RunProgress)>), String> {
    let mut pause = Duration::from_millis(2);
    let mut last_absent = Vec::new();
    let mut ended = None;
    loop {
        let mut answers = Vec::new();
        let mut without_run = None;
        for node in nodes {
            let answer = link.request(node, &Request::Status, REQUEST_TIMEOUT)?;
            let Some(Reply::Status(NodeStatus { runs, .. })) = answer else { continue };
            match runs.into_iter().find(|progress| progress.run == run) {
                Some(progress) => answers.push((node.clone(), progress)),
                None => without_run = Some(node),
            }
        }
        let end = answers.iter().find_map(|(_, progress)| progress.end);
        let failure = answers.iter().find_map(|(node, one)| Some((node, one.failure.as_ref()?)));
        match (end, failure, without_run) {
            (Some(_), ..) | (None, None, None) => {}
            (None, Some((node, why)), _) => return Err(format!("the run fails on {node}: {why}")),
            (None, None, Some(node)) => {
                return Err(format!(
                    "{node} does not know run {run}: it was stopped there, or {node} was restarted without its folder"
                ));
            }
        }
        let have_all_ended =
            answers.iter().filter(|(_, progress)| progress.end.is_some()).count() == nodes.len();
        // All nodes reach the same end, so absent nodes are needed only for their counters.
        if let Some(end) = end {
            let since = *ended.get_or_insert_with(Instant::now);
            if have_all_ended || since.elapsed() > ABSENT_NODE_TIMEOUT || Instant::now() >= deadline {
                return Ok((end, answers));
            }
        }
        let absent: Vec<String> =
            nodes.iter().filter(|node| !answers.iter().any(|(name, _)| name == *node)).cloned().collect();
        if absent != last_absent {
            if !absent.is_empty() {
                notify(&format!("no answer from {}", absent.join(", ")));
            }
            last_absent = absent;
        }
        if Instant::now() >= deadline {
            let round = answers.iter().map(|(_, progress)| progress.round).min().unwrap_or(0);
            let waiting = answers.iter().find(|(_, progress)| !progress.missing.is_empty());
            let waiting = waiting
                .map(|(node, progress)| format!(", where {node} waits for {}", progress.missing.join(", ")));
            let waiting = waiting.unwrap_or_default();
            return Err(format!("timeout in round {round}{waiting}: increase it with --timeout"));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}

/// Returns the status of all nodes that are up.
///
/// # Errors
/// Fails if the network cannot be queried.
pub fn status(link: &Link) -> Result<Vec<NodeStatus>, String> {
    let mut all = Vec::new();
    for name in link.nodes(REQUEST_TIMEOUT)? {
        match link.request(&name, &Request::Status, REQUEST_TIMEOUT) {
            Ok(Some(Reply::Status(status))) => all.push(status),
            Ok(_) => all.push(NodeStatus {
                name,
                last_refusal: Some("no answer".to_owned()),
                ..NodeStatus::default()
            }),
            Err(why) => all.push(NodeStatus { name, last_refusal: Some(why), ..NodeStatus::default() }),
        }
    }
    Ok(all)
}

/// Stops a run on all of its nodes, as soon as one of them is found. Returns their number.
///
/// # Errors
/// Fails if no node that is up takes part, or if one of them does not answer.
pub fn stop(link: &Link, run: RunId, timeout: Duration) -> Result<usize, String> {
    let nodes = nodes_of(link, run, timeout)?;
    for node in &nodes {
        if let Reply::Refused(why) =
            request_until_answered(link, node, &Request::Stop(run), Instant::now() + timeout)?
        {
            return Err(format!("{node}: {why}"));
        }
    }
    Ok(nodes.len())
}

/// Returns the nodes of a run, as soon as one of them is found.
fn nodes_of(link: &Link, run: RunId, timeout: Duration) -> Result<Vec<String>, String> {
    let deadline = Instant::now() + timeout;
    loop {
        let mut runs = status(link)?.into_iter().flat_map(|node| node.runs);
        if let Some(progress) = runs.find(|progress| progress.run == run) {
            return Ok(progress.nodes);
        }
        if Instant::now() >= deadline {
            return Err(format!("no node that is up takes part in run {run}: see `invigil-node status`"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
