//! The node process: takes part in runs until it is stopped.

use crate::deployment::{Deployment, check_name};
use crate::link::{self, Link, NetworkEvent, Options, Outgoing};
use crate::run::Run;
use crate::store::Store;
use crate::wire::{self, Envelope, NodeMessage, NodeStatus, Payload, Reply, Request, RunId};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Maximum number of concurrent runs of a node.
pub const MAX_RUNS: usize = 64;

/// Capacity of the event queue in events and bytes. Further events are dropped. Lost bundles are requested again;
/// clients must repeat their requests.
const QUEUE_LEN: usize = 4096;
const QUEUE_BYTES: usize = 2 * <Request as Payload>::LIMIT;

/// Time to wait for links before the node registers.
const LINK_TIMEOUT: Duration = Duration::from_secs(1);

/// Time for a node of the same name to answer.
const NAME_CHECK_TIMEOUT: Duration = Duration::from_millis(500);

/// Interval between checks for due requests.
const TICK: Duration = Duration::from_millis(20);

/// Input of a node.
pub enum NodeInput {
    /// Event from the network.
    Event(NetworkEvent),
    /// Stop the node.
    Stop,
}

/// Channel for the inputs of a node.
pub type NodeChannel = (SyncSender<NodeInput>, Receiver<NodeInput>);

/// Creates the channel for the inputs of a node.
pub fn node_channel() -> NodeChannel {
    sync_channel(QUEUE_LEN)
}

/// Runs a node until it is stopped. `notify` receives messages for the user: first about resumed runs, then one that
/// the node is ready.
///
/// # Errors
/// Fails if the name is invalid or taken, if the folder is unusable or belongs to another node, or if the network is
/// not available.
pub fn serve(
    name: &str,
    options: &Options,
    folder: Option<&Path>,
    (sender, inputs): NodeChannel,
    notify: &mut dyn FnMut(&str),
) -> Result<(), String> {
    check_name(name).map_err(|error| error.to_string())?;
    let store = Store::new(folder)?;
    let mut runs = BTreeMap::new();
    for run in store.runs()? {
        match run {
            Ok(run) if run.deployment().node() != Some(name) => {
                return Err(format!(
                    "{} contains run {} of node {}: use a separate folder for each node",
                    folder.unwrap_or(Path::new("the folder")).display(),
                    run.deployment().run,
                    run.deployment().node().unwrap_or("?")
                ));
            }
            Ok(run) => {
                let id = run.deployment().run;
                notify(&format!("resuming run {id} after round {}", run.rounds().round()));
                runs.insert(id, run);
            }
            Err(why) => notify(&format!("cannot resume a run: {why}")),
        }
    }
    let link = Link::open(options)?;
    let links = options.connect.len();
    if link.wait_for_links(links, LINK_TIMEOUT)
        && link.request(name, &Request::Status, NAME_CHECK_TIMEOUT)?.is_some()
    {
        return Err(format!("another node {name} is up: choose a different name or realm"));
    }
    let queue = Arc::new(QueueMeter::default());
    let callback_queue = Arc::clone(&queue);
    let registration = link.register(name, move |event| callback_queue.put(&sender, event))?;
    notify(&format!("{name} is ready"));
    let outgoing = link.outgoing(name);
    let status = NodeStatus { name: name.to_owned(), ..NodeStatus::default() };
    let mut node = Node { began: Instant::now(), store, runs, outgoing, queue, status, notify };
    node.work(&inputs);
    drop(registration);
    link.close();
    Ok(())
}

/// Fill level of the event queue.
#[derive(Default)]
struct QueueMeter {
    bytes: AtomicUsize,
    dropped: AtomicU64,
}

impl QueueMeter {
    /// Enqueues an event without waiting: waiting for a busy node would block all senders.
    fn put(&self, sender: &SyncSender<NodeInput>, event: NetworkEvent) {
        let size = event.size();
        let has_room = self.bytes.fetch_add(size, Relaxed) + size <= QUEUE_BYTES;
        if !has_room || sender.try_send(NodeInput::Event(event)).is_err() {
            self.release(size);
            self.dropped.fetch_add(1, Relaxed);
        }
    }

    /// Subtracts an event that is no longer in the queue.
    fn release(&self, size: usize) {
        self.bytes.fetch_sub(size, Relaxed);
    }
}

struct Node<'a> {
    began: Instant,
    store: Store,
    runs: BTreeMap<RunId, Run>,
    outgoing: Outgoing<'a>,
    queue: Arc<QueueMeter>,
    status: NodeStatus,
    notify: &'a mut dyn FnMut(&str),
}

impl Node<'_> {
    fn work(&mut self, inputs: &Receiver<NodeInput>) {
        loop {
            let advanced = self.advance();
            let mut input = inputs.recv_timeout(if advanced { Duration::ZERO } else { TICK });
            // Handles all queued events before the next `advance`: the bundle that completes a round may be the last
            // one.
            loop {
                match input {
                    Ok(NodeInput::Event(event)) => {
                        self.queue.release(event.size());
                        self.handle(event);
                    }
                    Ok(NodeInput::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => break,
                }
                input = inputs.try_recv().map_err(|_| RecvTimeoutError::Timeout);
            }
        }
    }

    /// Advances each run by a round if it can, saves it and sends its bundles; otherwise sends its due requests.
    /// Returns whether any run advanced.
    fn advance(&mut self) -> bool {
        let now = self.began.elapsed();
        let mut advanced = false;
        for run in self.runs.values_mut() {
            let mut messages = run.take_due_requests(now);
            if run.advance(now) {
                advanced = true;
                // Saved before it is sent: a restarted node must know everything it has published.
                if let Err(why) = self.store.save(run) {
                    let round = run.rounds().round();
                    run.fail(format!("cannot save the state of round {round}: {why}"));
                    continue;
                }
                messages = run.bundles();
            }
            for (to, message) in messages {
                send(run, &mut self.outgoing, to, message);
            }
        }
        advanced
    }

    fn handle(&mut self, event: NetworkEvent) {
        match event {
            // Names come from the network and are printed to terminals, so they must not contain control characters.
            NetworkEvent::Message(name, _) | NetworkEvent::NodeUp(name) | NetworkEvent::NodeDown(name)
                if check_name(&name).is_err() =>
            {
                self.refuse("an event from a node with an invalid name");
            }
            NetworkEvent::Message(sender, message) => {
                let decoded = link::decode_message(&message).map_err(|error| error.to_string());
                if let Err(why) = decoded.and_then(|envelope| self.handle_message(&sender, envelope)) {
                    self.refuse(&format!("a message from {sender}: {why}"));
                }
            }
            NetworkEvent::Request(query) => {
                let reply = match link::decode_request(&query) {
                    Ok(request) => self.answer(request),
                    Err(error) => {
                        self.refuse(&format!("a request: {error}"));
                        Reply::Refused(error.to_string())
                    }
                };
                if let Err(why) = link::reply(&query, &reply) {
                    (self.notify)(&format!("cannot answer a request: {why}"));
                }
            }
            NetworkEvent::NodeUp(name) => {
                if name != self.status.name {
                    (self.notify)(&format!("{name} is up"));
                }
                self.runs.values_mut().for_each(|run| run.retry_now(&name));
            }
            NetworkEvent::NodeDown(name) => {
                let is_awaited = self
                    .runs
                    .values()
                    .any(|run| run.rounds().end().is_none() && run.deployment().nodes.contains(&name));
                let text = if is_awaited { " is down: runs that include it wait" } else { " is down" };
                (self.notify)(&format!("{name}{text}"));
            }
        }
    }

    fn handle_message(&mut self, sender: &str, envelope: Envelope) -> Result<(), String> {
        let Envelope { run: id, from, message } = envelope;
        let Some(run) = self.runs.get_mut(&id) else {
            // Bundles may arrive before the deployment and are requested again then.
            if matches!(message, NodeMessage::Resend(_)) {
                let unknown_run = Envelope { run: id, from: 0, message: NodeMessage::UnknownRun };
                let bytes = wire::encode(&unknown_run).map_err(|error| error.to_string())?;
                return self.outgoing.send_once(sender, bytes);
            }
            return Ok(());
        };
        let nodes = &run.deployment().nodes;
        let from = if message == NodeMessage::UnknownRun {
            // A node that does not know the run does not know its index in it.
            nodes
                .iter()
                .position(|node| node == sender)
                .ok_or_else(|| format!("{sender} does not take part in run {id}"))?
        } else {
            usize::from(from)
        };
        if nodes.get(from).map(String::as_str) != Some(sender) {
            return Err(format!("{sender} is not node {from} of run {id}"));
        }
        if let Some(answer) = run.receive(from, message)? {
            send(run, &mut self.outgoing, from, answer);
        }
        Ok(())
    }

    fn answer(&mut self, request: Request) -> Reply {
        match request {
            Request::Deploy(deployment) => {
                let id = deployment.run;
                match self.deploy(*deployment) {
                    Ok(()) => Reply::Done,
                    Err(why) => {
                        self.refuse(&format!("run {id}: {why}"));
                        Reply::Refused(why)
                    }
                }
            }
            Request::Status => {
                self.status.seconds = self.began.elapsed().as_secs();
                self.status.dropped = self.queue.dropped.load(Relaxed);
                self.status.runs = self.runs.values().map(Run::progress).collect();
                Reply::Status(self.status.clone())
            }
            Request::Stop(run) => {
                if self.runs.remove(&run).is_some() {
                    (self.notify)(&format!("run {run} was removed"));
                }
                self.store.remove_run(run).map_or_else(Reply::Refused, |()| Reply::Done)
            }
        }
    }

    fn deploy(&mut self, deployment: Deployment) -> Result<(), String> {
        let id = deployment.run;
        if let Some(run) = self.runs.get(&id) {
            let is_same = *run.deployment() == deployment;
            return if is_same {
                Ok(())
            } else {
                Err(format!("run {id} is already deployed, with another deployment"))
            };
        }
        if deployment.node() != Some(&self.status.name) {
            return Err(format!("the deployment is not for node {}", self.status.name));
        }
        let run = self.store.create_run(deployment, None)?;
        if self.runs.len() >= MAX_RUNS {
            // Replaces a run that is over and was not stopped by its client.
            let finished = self.runs.iter().find(|(_, run)| run.is_over()).map(|(id, _)| *id);
            let finished = finished.ok_or_else(|| {
                format!(
                    "the limit of {MAX_RUNS} runs is reached: stop one (`invigil-node status` lists them)"
                )
            })?;
            self.runs.remove(&finished);
            self.store.remove_run(finished)?;
        }
        if let Err(why) = self.store.save_deployment(run.deployment()) {
            // Partially written files must not be found later.
            self.store.remove_run(id)?;
            return Err(why);
        }
        (self.notify)(&format!("joined run {id}"));
        self.runs.insert(id, run);
        Ok(())
    }

    fn refuse(&mut self, why: &str) {
        self.status.refused += 1;
        self.status.last_refusal = Some(why.to_owned());
        // Reports only the 1st, 2nd, 4th, 8th, … refusal, so that malformed messages do not flood the log.
        if self.status.refused.is_power_of_two() {
            (self.notify)(&format!("refused {why} ({} so far)", self.status.refused));
        }
    }
}

fn send(run: &mut Run, outgoing: &mut Outgoing<'_>, to: usize, message: NodeMessage) {
    let Deployment { run: id, own_node, ref nodes, .. } = *run.deployment();
    let Some(name) = nodes.get(to).cloned() else { return };
    let is_bundle = matches!(message, NodeMessage::Bundle(_));
    match wire::encode(&Envelope { run: id, from: own_node, message }) {
        Ok(bytes) => {
            if is_bundle {
                run.count_sent(bytes.len());
            }
            // A lost message is requested again.
            let _ = outgoing.send(&name, bytes);
        }
        Err(error) => run.fail(format!("cannot encode a message to {name}: {error}")),
    }
}
