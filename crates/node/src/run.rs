//! A run on one node: monitors, rounds and traces. It uses neither network nor files: the caller sends the messages and
//! saves the state.

use crate::deployment::{Deployment, DeploymentError, TraceSource};
use crate::host::{self, ComponentObservations, Host, Traffic};
use crate::rounds::{ReceiveOutcome, Rounds, RunEnd};
use crate::wire::{self, MonitorMessage, NodeMessage, Payload, RoundBundle, RunId, WireError};
use invigil_decent::algorithm::NameLengths;
use invigil_decent::system::{ComponentId, Instant, MonitorId};
use invigil_decent::text::LineReader;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io::Cursor;
use std::time::Duration;

/// Maximum number of stored start times of rounds, for the latency of a verdict.
const MAX_ROUND_TIMES: usize = 4096;

/// Progress of a run on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunProgress {
    /// Id of the run.
    pub run: RunId,
    /// Last round that was run.
    pub round: Instant,
    /// End of the run, if it has ended.
    pub end: Option<RunEnd>,
    /// Why the run failed on this node, if it did.
    pub failure: Option<String>,
    /// The nodes of the run.
    pub nodes: Vec<String>,
    /// The nodes that this one waits for.
    pub missing: Vec<String>,
    /// Counters. They survive restarts of the node, except `microseconds` and `latency`.
    pub stats: RunStats,
}

/// Counters of a run on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStats {
    /// Messages of its monitors.
    pub traffic: Traffic,
    /// Bundles sent, including repeated ones.
    pub bundles: u64,
    /// Bytes of these bundles.
    pub bytes: u64,
    /// Requests that this node sent for missing bundles.
    pub asked: u64,
    /// Requests from other nodes that it answered with a bundle.
    pub resent: u64,
    /// Duplicate bundles received.
    pub duplicates: u64,
    /// Invalid bundles received.
    pub refused: u64,
    /// Restarts of the node during the run.
    pub restarts: u32,
    /// Duration of the run in microseconds since the node was last started.
    pub microseconds: u64,
    /// Microseconds from the observation of the verdict's instant to the verdict, if it was reached here.
    pub latency: Option<u64>,
}

/// State that is saved after each round.
#[derive(Serialize, Deserialize)]
struct RunState {
    rounds: Rounds,
    monitors: Vec<u8>,
    stats: RunStats,
}

impl Payload for RunState {
    const LIMIT: usize = usize::MAX;
}

/// Run on a node.
pub struct Run {
    deployment: Deployment,
    host: Box<dyn Host>,
    rounds: Rounds,
    name_lengths: NameLengths,
    traces: Vec<LineReader>,
    stats: RunStats,
    failure: Option<String>,
    round_times: Option<RoundTimes>,
}

/// Start time of the run and of its last rounds on this node.
struct RoundTimes {
    began: Duration,
    /// Number of the first stored round.
    first: Instant,
    rounds: VecDeque<Duration>,
}

impl RoundTimes {
    fn new(began: Duration, first: Instant) -> RoundTimes {
        RoundTimes { began, first, rounds: VecDeque::new() }
    }

    fn push(&mut self, now: Duration) {
        if self.rounds.len() == MAX_ROUND_TIMES {
            self.rounds.pop_front();
            self.first += 1;
        }
        self.rounds.push_back(now);
    }

    /// Returns the time since the start of a round.
    fn since(&self, round: Instant, now: Duration) -> Option<Duration> {
        let index = round.max(1).checked_sub(self.first)?;
        self.rounds.get(index as usize).map(|start| now.saturating_sub(*start))
    }
}

impl Run {
    /// Creates a run, new or from its [saved](Run::save) state. `open_trace` opens a trace in the node's folder: that
    /// with this number, of the component with this name.
    ///
    /// # Errors
    /// Fails if the deployment or the state is inconsistent, or a trace cannot be opened.
    pub fn new(
        deployment: Deployment,
        saved: Option<&[u8]>,
        open_trace: impl Fn(u32, &str) -> Result<Box<dyn std::io::BufRead + Send>, String>,
    ) -> Result<Run, String> {
        deployment.check().map_err(|error| error.to_string())?;
        let error_text = |error: WireError| DeploymentError::Wire(error).to_string();
        let saved = saved.map(wire::decode::<RunState>).transpose().map_err(error_text)?;
        let (rounds, monitors, mut stats) = match saved {
            Some(saved)
                if saved.rounds.nodes() == (usize::from(deployment.own_node), deployment.nodes.len()) =>
            {
                (saved.rounds, saved.monitors, saved.stats)
            }
            Some(_) => return Err("the saved state belongs to another run".to_owned()),
            None => {
                let rounds =
                    Rounds::new(usize::from(deployment.own_node), deployment.nodes.len(), deployment.grace);
                (rounds, deployment.monitors.clone(), RunStats::default())
            }
        };
        stats.restarts += u32::from(rounds.round() > 0);
        let host = host::load_monitors(deployment.kind, &monitors).map_err(error_text)?;
        let is_own = |(id, component)| {
            deployment.monitor_components.get(MonitorId::index(id)) == Some(&component)
                && deployment.node_of(id) == Some(usize::from(deployment.own_node))
        };
        if !host.monitor_components().into_iter().all(is_own) {
            return Err(DeploymentError::Inconsistent("a monitor of another node").to_string());
        }
        let mut traces = Vec::new();
        for (component, source) in &deployment.sources {
            let name = deployment.system.component_name(*component);
            let mut lines = match source {
                TraceSource::Local(number) => {
                    LineReader::new(*component, format!("{number}-{name}.trace"), open_trace(*number, name)?)
                }
                TraceSource::Inline(text) => {
                    LineReader::new(*component, format!("trace of {name}"), Cursor::new(text.clone()))
                }
            };
            lines.skip(rounds.round()).map_err(|error| error.to_string())?;
            traces.push(lines);
        }
        Ok(Run {
            name_lengths: NameLengths::of(&deployment.system),
            host,
            rounds,
            traces,
            stats,
            failure: None,
            round_times: None,
            deployment,
        })
    }

    /// Returns the deployment.
    pub fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// Returns the rounds.
    pub fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    /// Returns the progress.
    pub fn progress(&self) -> RunProgress {
        RunProgress {
            run: self.deployment.run,
            round: self.rounds.round(),
            end: self.rounds.end(),
            failure: self.failure.clone(),
            nodes: self.deployment.nodes.clone(),
            missing: self.rounds.missing().map(|node| self.deployment.nodes[node].clone()).collect(),
            stats: self.stats,
        }
    }

    /// Returns whether the run has ended or failed here.
    pub fn is_over(&self) -> bool {
        self.failure.is_some() || self.rounds.end().is_some()
    }

    /// Marks the run as failed on this node.
    pub fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why);
    }

    /// Runs the next round if it is due. Returns whether it was run.
    ///
    /// The caller must [save](Run::save) the run before it sends the [bundles](Run::bundles) of the round: a node must
    /// not restart in a state before a round that others know about.
    pub fn advance(&mut self, now: Duration) -> bool {
        if self.failure.is_some() {
            return false;
        }
        let Run { deployment, host, rounds, name_lengths, traces, stats, .. } = self;
        let mut round_verdict = None;
        let run_round = |round, messages| {
            let mut observations: Vec<(ComponentId, ComponentObservations)> = Vec::new();
            for trace in traces.iter_mut() {
                let observed = trace.next(&deployment.system).map_err(|error| error.to_string())?;
                observations.push((trace.component(), observed));
            }
            // A component without a trace observes nothing and does not delay the end.
            let observations_of = |component| {
                let of_component = observations.iter().find(|(owner, _)| *owner == component);
                of_component.and_then(|(_, observed)| observed.clone())
            };
            let mut result =
                host.round(round, &observations_of, messages, (name_lengths, &mut stats.traffic))?;
            result.is_over = observations.iter().all(|(_, observed)| observed.is_none());
            round_verdict = result.verdict;
            Ok(result)
        };
        let node_of = |message: &MonitorMessage| deployment.node_of(message.to);
        match rounds.advance(node_of, run_round) {
            Ok(false) => false,
            Ok(true) => {
                let times = self.round_times.get_or_insert_with(|| RoundTimes::new(now, rounds.round()));
                times.push(now);
                stats.microseconds = micros(now.saturating_sub(times.began));
                stats.latency =
                    round_verdict.and_then(|verdict| times.since(verdict.instant, now)).map(micros);
                true
            }
            Err(why) => {
                self.fail(why);
                false
            }
        }
    }

    /// Returns the bundles of the last round with their receivers.
    pub fn bundles(&self) -> Vec<(usize, NodeMessage)> {
        let bundle =
            |node| Some((node, NodeMessage::Bundle(self.rounds.bundle(node, self.rounds.round())?.clone())));
        self.rounds.others().filter_map(bundle).collect()
    }

    /// Processes a message from a node. Returns the answer, if there is one.
    ///
    /// # Errors
    /// Fails if the message is invalid.
    pub fn receive(&mut self, from: usize, message: NodeMessage) -> Result<Option<NodeMessage>, String> {
        match message {
            NodeMessage::Bundle(bundle) => {
                let received = self.receive_bundle(from, bundle);
                self.stats.refused += u64::from(received.is_err());
                self.stats.duplicates += u64::from(received == Ok(ReceiveOutcome::Duplicate));
                received.map(|_| None)
            }
            NodeMessage::Resend(round) => {
                // A round that could not be saved was not published.
                let published = self.failure.is_none().then_some(&self.rounds);
                let bundle = published.and_then(|rounds| rounds.bundle(from, round)).cloned();
                self.stats.resent += u64::from(bundle.is_some());
                Ok(bundle.map(NodeMessage::Bundle))
            }
            NodeMessage::UnknownRun => {
                // While this node is in round 1, other nodes may not have received their deployment yet.
                if self.rounds.round() > 1 && self.rounds.end().is_none() {
                    let name = self.deployment.nodes.get(from).map_or("?", String::as_str);
                    self.fail(format!(
                        "{name} no longer has the run: it was stopped there, or the node restarted without a folder"
                    ));
                }
                Ok(None)
            }
        }
    }

    fn receive_bundle(&mut self, from: usize, bundle: RoundBundle) -> Result<ReceiveOutcome, String> {
        if bundle.messages.iter().any(|message| self.deployment.node_of(message.from) != Some(from)) {
            return Err("the bundle contains a message from a monitor of another node".to_owned());
        }
        self.host.check(&bundle.messages).map_err(|error| format!("invalid message: {error}"))?;
        self.rounds.receive(from, bundle).map_err(|error| error.to_string())
    }

    /// Returns the requests for missing bundles that are due, and schedules the next ones.
    pub fn take_due_requests(&mut self, now: Duration) -> Vec<(usize, NodeMessage)> {
        if self.failure.is_some() {
            return Vec::new();
        }
        let round = self.rounds.round();
        let nodes = self.rounds.nodes_to_request(now);
        self.stats.asked += nodes.len() as u64;
        nodes.into_iter().map(|node| (node, NodeMessage::Resend(round))).collect()
    }

    /// Makes requests to a node due immediately.
    pub fn retry_now(&mut self, name: &str) {
        if let Some(node) = self.deployment.nodes.iter().position(|node| node == name) {
            self.rounds.retry_now(node);
        }
    }

    /// Counts a sent bundle.
    pub fn count_sent(&mut self, bytes: usize) {
        self.stats.bundles += 1;
        self.stats.bytes += bytes as u64;
    }

    /// Serializes everything that is needed to resume, besides the deployment.
    ///
    /// # Errors
    /// Fails if the state cannot be encoded.
    pub fn save(&self) -> Result<Vec<u8>, WireError> {
        let (rounds, monitors) = (self.rounds.clone(), self.host.save()?);
        wire::encode(&RunState { rounds, monitors, stats: self.stats })
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
