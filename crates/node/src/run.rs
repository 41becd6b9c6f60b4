//! A run on one node: its monitors, its rounds and its traces. Neither network nor files: whoever calls this sends what it says and
//! writes down what it is.

use crate::deployment::{Deployment, Source, Unfit};
use crate::host::{self, Host, Seen, Traffic};
use crate::rounds::{End, Received, Rounds};
use crate::wire::{self, Bundle, Letter, Mail, Payload, Refusal, RunId};
use invigil_decent::algorithm::Names;
use invigil_decent::system::{ComponentId, Instant, MonitorId};
use invigil_decent::text::Lines;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io::Cursor;
use std::time::Duration;

/// How many beginnings of rounds are remembered, to tell how long a verdict took.
const REMEMBERED: usize = 4096;

/// How a run is doing on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Which run.
    pub run: RunId,
    /// The last round that was run.
    pub round: Instant,
    /// How it ended, if it did.
    pub end: Option<End>,
    /// Why it cannot go on here, if it cannot.
    pub failure: Option<String>,
    /// The nodes that take part.
    pub nodes: Vec<String>,
    /// Those that it waits for.
    pub missing: Vec<String>,
    /// Figures since it began, also before the node was started again.
    pub figures: Figures,
}

/// Figures of a run on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// What its monitors sent.
    pub traffic: Traffic,
    /// Bundles that it sent, those that were asked for again too.
    pub bundles: u64,
    /// How many bytes these had.
    pub bytes: u64,
    /// How often it asked for a bundle.
    pub asked: u64,
    /// How often it was asked for one.
    pub resent: u64,
    /// Bundles that it already had.
    pub duplicates: u64,
    /// Bundles that it refused.
    pub refused: u64,
    /// How often the node was started again during the run.
    pub restarts: u32,
    /// How long the run took, in microseconds, since the node was last started.
    pub microseconds: u64,
    /// How long it took from the observation of the instant that the verdict is of until it was found, if it was found here.
    pub latency: Option<u64>,
}

/// What is written down after each round.
#[derive(Serialize, Deserialize)]
struct Saved {
    rounds: Rounds,
    monitors: Vec<u8>,
    figures: Figures,
}

impl Payload for Saved {
    const LIMIT: usize = usize::MAX;
}

/// A run on a node.
pub struct Run {
    deployment: Deployment,
    host: Box<dyn Host>,
    rounds: Rounds,
    names: Names,
    traces: Vec<Lines>,
    figures: Figures,
    failure: Option<String>,
    past: Option<Past>,
}

/// When the run began here, and when its last rounds did.
struct Past {
    began: Duration,
    /// The number of the first that is remembered.
    first: Instant,
    rounds: VecDeque<Duration>,
}

impl Past {
    fn new(began: Duration, first: Instant) -> Past {
        Past { began, first, rounds: VecDeque::new() }
    }

    fn push(&mut self, now: Duration) {
        if self.rounds.len() == REMEMBERED {
            self.rounds.pop_front();
            self.first += 1;
        }
        self.rounds.push_back(now);
    }

    /// How long it has been since a round.
    fn since(&self, round: Instant, now: Duration) -> Option<Duration> {
        let place = round.max(1).checked_sub(self.first)?;
        self.rounds.get(place as usize).map(|began| now.saturating_sub(*began))
    }
}

impl Run {
    /// A run before its first round, or as it was [saved](Run::save). `own` opens the trace of a component in the node's folder.
    ///
    /// # Errors
    /// If it does not fit together, or if a trace cannot be opened.
    pub fn new(
        deployment: Deployment,
        saved: Option<&[u8]>,
        own: impl Fn(u32, &str) -> Result<Box<dyn std::io::BufRead + Send>, String>,
    ) -> Result<Run, String> {
        deployment.check().map_err(|unfit| unfit.to_string())?;
        let refused = |refusal: Refusal| Unfit::Refused(refusal).to_string();
        let saved = saved.map(wire::decode::<Saved>).transpose().map_err(refused)?;
        let (rounds, monitors, mut figures) = match saved {
            Some(saved) if saved.rounds.nodes() == (usize::from(deployment.own), deployment.nodes.len()) => {
                (saved.rounds, saved.monitors, saved.figures)
            }
            Some(_) => return Err("what was written down is of another run".to_owned()),
            None => {
                let rounds =
                    Rounds::new(usize::from(deployment.own), deployment.nodes.len(), deployment.grace);
                (rounds, deployment.monitors.clone(), Figures::default())
            }
        };
        figures.restarts += u32::from(rounds.round() > 0);
        let host = host::host(deployment.kind, &monitors).map_err(refused)?;
        let is_home = |(id, at)| {
            deployment.places.get(MonitorId::index(id)) == Some(&at)
                && deployment.node_of(id) == Some(usize::from(deployment.own))
        };
        if !host.places().into_iter().all(is_home) {
            return Err(Unfit::Inconsistent("a monitor that is elsewhere").to_string());
        }
        let mut traces = Vec::new();
        for (component, source) in &deployment.sources {
            let name = deployment.system.component_name(*component);
            let mut lines = match source {
                Source::Own(number) => {
                    Lines::new(*component, format!("{number}-{name}.trace"), own(*number, name)?)
                }
                Source::Sent(text) => {
                    Lines::new(*component, format!("trace of {name}"), Cursor::new(text.clone()))
                }
            };
            lines.skip(rounds.round()).map_err(|trouble| trouble.to_string())?;
            traces.push(lines);
        }
        Ok(Run {
            names: Names::of(&deployment.system),
            host,
            rounds,
            traces,
            figures,
            failure: None,
            past: None,
            deployment,
        })
    }

    /// What this node was given to do.
    pub fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// Its rounds.
    pub fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    /// How it is doing.
    pub fn progress(&self) -> Progress {
        Progress {
            run: self.deployment.run,
            round: self.rounds.round(),
            end: self.rounds.end(),
            failure: self.failure.clone(),
            nodes: self.deployment.nodes.clone(),
            missing: self.rounds.missing().map(|node| self.deployment.nodes[node].clone()).collect(),
            figures: self.figures,
        }
    }

    /// Whether it is at its end, or cannot go on here.
    pub fn is_over(&self) -> bool {
        self.failure.is_some() || self.rounds.end().is_some()
    }

    /// It cannot go on here.
    pub fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why);
    }

    /// Runs the next round, if it is due. Says whether it was. Whoever calls this [saves](Run::save) the run before it sends
    /// [the bundles](Run::bundles) of the round: a node must not come back without having done what others know that it did.
    pub fn advance(&mut self, now: Duration) -> bool {
        if self.failure.is_some() {
            return false;
        }
        let Run { deployment, host, rounds, names, traces, figures, .. } = self;
        let mut found = None;
        let turn = |at, letters| {
            let mut seen: Vec<(ComponentId, Seen)> = Vec::new();
            for trace in traces.iter_mut() {
                let observed = trace.next(&deployment.system).map_err(|trouble| trouble.to_string())?;
                seen.push((trace.component(), observed));
            }
            // A component without a trace observes nothing, but does not hold up the end.
            let of = |component| {
                seen.iter().find(|(known, _)| *known == component).and_then(|(_, seen)| seen.clone())
            };
            let mut turn = host.round(at, &of, letters, (names, &mut figures.traffic))?;
            turn.is_over = seen.iter().all(|(_, seen)| seen.is_none());
            found = turn.verdict;
            Ok(turn)
        };
        let node_of = |letter: &Letter| deployment.node_of(letter.to);
        match rounds.advance(node_of, turn) {
            Ok(false) => false,
            Ok(true) => {
                let past = self.past.get_or_insert_with(|| Past::new(now, rounds.round()));
                past.push(now);
                figures.microseconds = micros(now.saturating_sub(past.began));
                figures.latency = found.and_then(|verdict| past.since(verdict.of, now)).map(micros);
                true
            }
            Err(why) => {
                self.fail(why);
                false
            }
        }
    }

    /// The bundles of the last round, and for whom they are.
    pub fn bundles(&self) -> Vec<(usize, Mail)> {
        let bundle =
            |node| Some((node, Mail::Bundle(self.rounds.bundle(node, self.rounds.round())?.clone())));
        self.rounds.others().filter_map(bundle).collect()
    }

    /// Mail came from a node. Gives what is to be sent to it.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn receive(&mut self, from: usize, mail: Mail) -> Result<Option<Mail>, String> {
        match mail {
            Mail::Bundle(bundle) => {
                let received = self.take(from, bundle);
                self.figures.refused += u64::from(received.is_err());
                self.figures.duplicates += u64::from(received == Ok(Received::Known));
                received.map(|_| None)
            }
            Mail::Ask(round) => {
                // What could not be written down was not said.
                let said = self.failure.is_none().then_some(&self.rounds);
                let bundle = said.and_then(|rounds| rounds.bundle(from, round)).cloned();
                self.figures.resent += u64::from(bundle.is_some());
                Ok(bundle.map(Mail::Bundle))
            }
            Mail::Gone => {
                // Who has not begun may not know yet.
                if self.rounds.round() > 1 && self.rounds.end().is_none() {
                    let name = self.deployment.nodes.get(from).map_or("?", String::as_str);
                    self.fail(format!("{name} does not know the run any more: it was stopped there"));
                }
                Ok(None)
            }
        }
    }

    fn take(&mut self, from: usize, bundle: Bundle) -> Result<Received, String> {
        if bundle.letters.iter().any(|letter| self.deployment.node_of(letter.from) != Some(from)) {
            return Err("a message is from a monitor of another node".to_owned());
        }
        self.host.check(&bundle.letters).map_err(|refusal| format!("a message cannot be used: {refusal}"))?;
        self.rounds.receive(from, bundle).map_err(|impossible| impossible.to_string())
    }

    /// Whom to ask again.
    pub fn ask(&mut self, now: Duration) -> Vec<(usize, Mail)> {
        if self.failure.is_some() {
            return Vec::new();
        }
        let round = self.rounds.round();
        let asked = self.rounds.ask(now);
        self.figures.asked += asked.len() as u64;
        asked.into_iter().map(|node| (node, Mail::Ask(round))).collect()
    }

    /// A node has come back: it is asked at once.
    pub fn hurry(&mut self, name: &str) {
        if let Some(node) = self.deployment.nodes.iter().position(|known| known == name) {
            self.rounds.hurry(node);
        }
    }

    /// Counts what was sent.
    pub fn count(&mut self, bytes: usize) {
        self.figures.bundles += 1;
        self.figures.bytes += bytes as u64;
    }

    /// All that it needs to go on later, beside its deployment.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self) -> Result<Vec<u8>, Refusal> {
        let (rounds, monitors) = (self.rounds.clone(), self.host.save()?);
        wire::encode(&Saved { rounds, monitors, figures: self.figures })
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
