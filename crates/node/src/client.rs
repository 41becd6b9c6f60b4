//! What a person does with nodes: starts a run on them, waits for its verdict, looks how they are.

use crate::deployment::Deployment;
use crate::link::Link;
use crate::rounds::End;
use crate::run::Progress;
use crate::wire::{NodeStatus, Reply, Request, RunId};
use std::time::{Duration, Instant};

/// How long it is waited for one answer, before it is asked again.
const ANSWER: Duration = Duration::from_secs(2);

/// How long it is looked for a run that somebody else has started.
const FINDING: Duration = Duration::from_secs(10);

/// How long the nodes that are away are waited for when the verdict is there.
const LAST: Duration = Duration::from_secs(5);

/// How a run went.
#[derive(Clone, Debug)]
pub struct Report {
    /// Which run.
    pub run: RunId,
    /// How it ended.
    pub end: End,
    /// How long it took, from the first deployment until the client knew.
    pub took: Duration,
    /// How it went on each node, as far as they could be asked.
    pub nodes: Vec<(String, Progress)>,
}

impl Report {
    /// A sum over all nodes.
    pub fn sum(&self, figure: impl Fn(&Progress) -> u64) -> u64 {
        self.nodes.iter().map(|(_, progress)| figure(progress)).sum()
    }

    /// How long it took from the observation of the instant that the verdict is of until it was found, in microseconds.
    pub fn latency(&self) -> Option<u64> {
        self.nodes.iter().filter_map(|(_, progress)| progress.figures.latency).min()
    }
}

/// The nodes that are here, as soon as all that are wanted are, or when time is over.
///
/// # Errors
/// If one that is wanted does not come.
pub fn gather(link: &Link, wanted: &[String], patience: Duration) -> Result<Vec<String>, String> {
    let deadline = Instant::now() + patience;
    loop {
        let here = link.nodes(ANSWER)?;
        let Some(missing) = wanted.iter().find(|name| !here.contains(name)) else { return Ok(here) };
        if Instant::now() >= deadline {
            let known = if here.is_empty() { "nobody".to_owned() } else { here.join(", ") };
            return Err(format!(
                "node {missing} is not here; here is {known}: start it, or look at --connect"
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Asks a node until it answers.
fn insist(link: &Link, node: &str, request: &Request, deadline: Instant) -> Result<Reply, String> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if let Some(reply) = link.request(node, request, ANSWER.min(left.max(Duration::from_millis(1))))? {
            return Ok(reply);
        }
        if left.is_zero() {
            return Err(format!("{node} does not answer"));
        }
        // A node that is just not there says so at once.
        std::thread::sleep(Duration::from_millis(50).min(left));
    }
}

/// Deploys a run and waits for its end, at most for `patience`; then stops it everywhere. `say` is told how far it is.
///
/// # Errors
/// If a node refuses, if the run fails on one, or if time is over.
pub fn run(
    link: &Link,
    deployments: Vec<Deployment>,
    patience: Duration,
    say: &mut dyn FnMut(&str),
) -> Result<Report, String> {
    let began = Instant::now();
    let Some(first) = deployments.first() else { return Err("there is no node to run on".to_owned()) };
    let (run, nodes) = (first.run, first.nodes.clone());
    say(&format!("run {run} on {}", nodes.join(", ")));
    let outcome = deploy(link, deployments, began + patience)
        .and_then(|()| wait(link, run, &nodes, began + patience, say))
        .map(|(end, nodes)| Report { run, end, took: began.elapsed(), nodes });
    forget(link, run, &nodes, say)?;
    outcome
}

/// Takes up a run whose client is gone: waits for its end, at most for `patience`, and then stops it everywhere.
///
/// # Errors
/// If no node knows it, if the run fails on one, or if time is over; then it goes on.
pub fn take_up(
    link: &Link,
    run: RunId,
    patience: Duration,
    say: &mut dyn FnMut(&str),
) -> Result<Report, String> {
    let began = Instant::now();
    let nodes = nodes_of(link, run, patience.min(FINDING))?;
    let (end, known) = wait(link, run, &nodes, began + patience, say)?;
    forget(link, run, &nodes, say)?;
    Ok(Report { run, end, took: began.elapsed(), nodes: known })
}

fn forget(link: &Link, run: RunId, nodes: &[String], say: &mut dyn FnMut(&str)) -> Result<(), String> {
    for node in nodes {
        if link.request(node, &Request::Stop(run), ANSWER)?.is_none() {
            say(&format!("{node} does not answer: when it comes back, it finds out that run {run} is over"));
        }
    }
    Ok(())
}

fn deploy(link: &Link, deployments: Vec<Deployment>, deadline: Instant) -> Result<(), String> {
    for deployment in deployments {
        let Some(node) = deployment.nodes.get(usize::from(deployment.own)).cloned() else { continue };
        match insist(link, &node, &Request::Deploy(Box::new(deployment)), deadline)? {
            Reply::Done => {}
            Reply::Refused(why) => return Err(format!("{node} refuses: {why}")),
            Reply::Status(_) => return Err(format!("{node} answers something else than it was asked")),
        }
    }
    Ok(())
}

/// Waits until all nodes are at the end, or until one is and others do not answer for some time.
fn wait(
    link: &Link,
    run: RunId,
    nodes: &[String],
    deadline: Instant,
    say: &mut dyn FnMut(&str),
) -> Result<(End, Vec<(String, Progress)>), String> {
    let mut pause = Duration::from_millis(2);
    let mut told = Vec::new();
    let mut ended = None;
    loop {
        let mut known = Vec::new();
        let mut stranger = None;
        for node in nodes {
            let answer = link.request(node, &Request::Status, ANSWER)?;
            let Some(Reply::Status(NodeStatus { runs, .. })) = answer else { continue };
            match runs.into_iter().find(|progress| progress.run == run) {
                Some(progress) => known.push((node.clone(), progress)),
                None => stranger = Some(node),
            }
        }
        let end = known.iter().find_map(|(_, progress)| progress.end);
        let failure = known.iter().find_map(|(node, one)| Some((node, one.failure.as_ref()?)));
        match (end, failure, stranger) {
            (Some(_), ..) | (None, None, None) => {}
            (None, Some((node, why)), _) => return Err(format!("the run fails on {node}: {why}")),
            (None, None, Some(node)) => {
                return Err(format!(
                    "{node} does not know run {run}: it was stopped there, or {node} was started again without its folder"
                ));
            }
        }
        let are_all_there =
            known.iter().filter(|(_, progress)| progress.end.is_some()).count() == nodes.len();
        // Who is away is not needed, except for figures: all nodes find the same end.
        if let Some(end) = end {
            let since = *ended.get_or_insert_with(Instant::now);
            if are_all_there || since.elapsed() > LAST || Instant::now() >= deadline {
                return Ok((end, known));
            }
        }
        let away: Vec<String> =
            nodes.iter().filter(|node| !known.iter().any(|(known, _)| known == *node)).cloned().collect();
        if away != told {
            if !away.is_empty() {
                say(&format!("no answer from {}", away.join(", ")));
            }
            told = away;
        }
        if Instant::now() >= deadline {
            let round = known.iter().map(|(_, progress)| progress.round).min().unwrap_or(0);
            let waits = known.iter().find(|(_, progress)| !progress.missing.is_empty());
            let waits = waits
                .map(|(node, progress)| format!(", where {node} waits for {}", progress.missing.join(", ")));
            let waits = waits.unwrap_or_default();
            return Err(format!("time is over in round {round}{waits}: give it more with --timeout"));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}

/// How all nodes are that are here.
///
/// # Errors
/// If the network cannot be asked.
pub fn status(link: &Link) -> Result<Vec<NodeStatus>, String> {
    let mut all = Vec::new();
    for name in link.nodes(ANSWER)? {
        match link.request(&name, &Request::Status, ANSWER) {
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

/// Stops a run on all of its nodes, as soon as one of them is found. Gives how many they are.
///
/// # Errors
/// If no node that is here takes part in it, or if one of them does not answer.
pub fn stop(link: &Link, run: RunId, patience: Duration) -> Result<usize, String> {
    let nodes = nodes_of(link, run, patience)?;
    for node in &nodes {
        if let Reply::Refused(why) = insist(link, node, &Request::Stop(run), Instant::now() + patience)? {
            return Err(format!("{node}: {why}"));
        }
    }
    Ok(nodes.len())
}

/// The nodes of a run, as soon as one of them is found.
fn nodes_of(link: &Link, run: RunId, patience: Duration) -> Result<Vec<String>, String> {
    let deadline = Instant::now() + patience;
    loop {
        let mut runs = status(link)?.into_iter().flat_map(|node| node.runs);
        if let Some(progress) = runs.find(|progress| progress.run == run) {
            return Ok(progress.nodes);
        }
        if Instant::now() >= deadline {
            return Err(format!(
                "no node that is here takes part in run {run}: look at `invigil-node status`"
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
