//! A run on one node: monitors, rounds and traces. Without network and files: the caller sends the messages and saves
//! the state.

use crate::deployment::{Deployment, DeploymentError, TraceSource};
use crate::host::{self, ComponentObservations, Host, Traffic};
use crate::rounds::{Received, Rounds, RunEnd};
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
    /// Counters, including the time before restarts of the node.
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
    /// Requests for bundles sent.
    pub asked: u64,
    /// Requests for bundles answered.
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
    names: NameLengths,
    traces: Vec<LineReader>,
    stats: RunStats,
    failure: Option<String>,
    past: Option<RoundTimes>,
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
        let place = round.max(1).checked_sub(self.first)?;
        self.rounds.get(place as usize).map(|began| now.saturating_sub(*began))
    }
}

impl Run {
    /// Creates a run, new or from its [saved](Run::save) state. `own` opens the trace of a component in the node's
    /// folder.
    ///
    /// # Errors
    /// Fails if the deployment or the state is inconsistent, or a trace cannot be opened.
    pub fn new(
        deployment: Deployment,
        saved: Option<&[u8]>,
        own: impl Fn(u32, &str) -> Result<Box<dyn std::io::BufRead + Send>, String>,
    ) -> Result<Run, String> {
        deployment.check().map_err(|unfit| unfit.to_string())?;
        let refused = |refusal: WireError| DeploymentError::Wire(refusal).to_string();
        let saved = saved.map(wire::decode::<RunState>).transpose().map_err(refused)?;
        let (rounds, monitors, mut stats) = match saved {
            Some(saved) if saved.rounds.nodes() == (usize::from(deployment.own), deployment.nodes.len()) => {
                (saved.rounds, saved.monitors, saved.stats)
            }
            Some(_) => return Err("the saved state belongs to another run".to_owned()),
            None => {
                let rounds =
                    Rounds::new(usize::from(deployment.own), deployment.nodes.len(), deployment.grace);
                (rounds, deployment.monitors.clone(), RunStats::default())
            }
        };
        stats.restarts += u32::from(rounds.round() > 0);
        let host = host::load_monitors(deployment.kind, &monitors).map_err(refused)?;
        let is_home = |(id, at)| {
            deployment.monitor_components.get(MonitorId::index(id)) == Some(&at)
                && deployment.node_of(id) == Some(usize::from(deployment.own))
        };
        if !host.places().into_iter().all(is_home) {
            return Err(DeploymentError::Inconsistent("a monitor of another node").to_string());
        }
        let mut traces = Vec::new();
        for (component, source) in &deployment.sources {
            let name = deployment.system.component_name(*component);
            let mut lines = match source {
                TraceSource::Local(number) => {
                    LineReader::new(*component, format!("{number}-{name}.trace"), own(*number, name)?)
                }
                TraceSource::Inline(text) => {
                    LineReader::new(*component, format!("trace of {name}"), Cursor::new(text.clone()))
                }
            };
            lines.skip(rounds.round()).map_err(|error| error.to_string())?;
            traces.push(lines);
        }
        Ok(Run {
            names: NameLengths::of(&deployment.system),
            host,
            rounds,
            traces,
            stats,
            failure: None,
            past: None,
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
        let Run { deployment, host, rounds, names, traces, stats, .. } = self;
        let mut found = None;
        let turn = |at, messages| {
            let mut seen: Vec<(ComponentId, ComponentObservations)> = Vec::new();
            for trace in traces.iter_mut() {
                let observed = trace.next(&deployment.system).map_err(|error| error.to_string())?;
                seen.push((trace.component(), observed));
            }
            // A component without a trace observes nothing and does not delay the end.
            let of = |component| {
                seen.iter().find(|(known, _)| *known == component).and_then(|(_, seen)| seen.clone())
            };
            let mut turn = host.round(at, &of, messages, (names, &mut stats.traffic))?;
            turn.is_over = seen.iter().all(|(_, seen)| seen.is_none());
            found = turn.verdict;
            Ok(turn)
        };
        let node_of = |message: &MonitorMessage| deployment.node_of(message.to);
        match rounds.advance(node_of, turn) {
            Ok(false) => false,
            Ok(true) => {
                let past = self.past.get_or_insert_with(|| RoundTimes::new(now, rounds.round()));
                past.push(now);
                stats.microseconds = micros(now.saturating_sub(past.began));
                stats.latency = found.and_then(|verdict| past.since(verdict.of, now)).map(micros);
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
                let received = self.take(from, bundle);
                self.stats.refused += u64::from(received.is_err());
                self.stats.duplicates += u64::from(received == Ok(Received::Duplicate));
                received.map(|_| None)
            }
            NodeMessage::Resend(round) => {
                // A round that could not be saved was not published.
                let said = self.failure.is_none().then_some(&self.rounds);
                let bundle = said.and_then(|rounds| rounds.bundle(from, round)).cloned();
                self.stats.resent += u64::from(bundle.is_some());
                Ok(bundle.map(NodeMessage::Bundle))
            }
            NodeMessage::UnknownRun => {
                // A node in its first round may not have received its deployment yet.
                if self.rounds.round() > 1 && self.rounds.end().is_none() {
                    let name = self.deployment.nodes.get(from).map_or("?", String::as_str);
                    self.fail(format!("{name} no longer knows the run: it was stopped there"));
                }
                Ok(None)
            }
        }
    }

    fn take(&mut self, from: usize, bundle: RoundBundle) -> Result<Received, String> {
        if bundle.messages.iter().any(|message| self.deployment.node_of(message.from) != Some(from)) {
            return Err("the bundle contains a message from a monitor of another node".to_owned());
        }
        self.host.check(&bundle.messages).map_err(|refusal| format!("invalid message: {refusal}"))?;
        self.rounds.receive(from, bundle).map_err(|impossible| impossible.to_string())
    }

    /// Returns the requests for missing bundles that are due.
    pub fn ask(&mut self, now: Duration) -> Vec<(usize, NodeMessage)> {
        if self.failure.is_some() {
            return Vec::new();
        }
        let round = self.rounds.round();
        let asked = self.rounds.nodes_to_ask(now);
        self.stats.asked += asked.len() as u64;
        asked.into_iter().map(|node| (node, NodeMessage::Resend(round))).collect()
    }

    /// Requests missing bundles from a node immediately, since it is back.
    pub fn retry_now(&mut self, name: &str) {
        if let Some(node) = self.deployment.nodes.iter().position(|known| known == name) {
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
