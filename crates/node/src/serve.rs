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
pub const MOST_RUNS: usize = 64;

/// Capacity of the event queue in messages and bytes. Further messages are dropped; what is missing is requested again.
const QUEUE_LEN: usize = 4096;
const QUEUE_BYTES: usize = 2 * <Request as Payload>::LIMIT;

/// Time to wait for links before the node registers.
const SETTLING: Duration = Duration::from_secs(1);

/// Time for a node of the same name to answer.
const NAMESAKE: Duration = Duration::from_millis(500);

/// Interval between checks for due requests.
const TICK: Duration = Duration::from_millis(20);

/// Signal to a node.
pub enum Signal {
    /// Event from the network.
    Event(NetworkEvent),
    /// Stop the node.
    Stop,
}

/// Channel for signals to a node.
pub type Signals = (SyncSender<Signal>, Receiver<Signal>);

/// Creates the channel for signals to a node.
pub fn signals() -> Signals {
    sync_channel(QUEUE_LEN)
}

/// Runs a node until it is stopped. `notify` receives messages for the user, the first when the node is ready.
///
/// # Errors
/// Fails if the network or the folder is not available, or if the name is taken.
pub fn serve(
    name: &str,
    options: &Options,
    folder: Option<&Path>,
    (sender, signals): Signals,
    notify: &mut dyn FnMut(&str),
) -> Result<(), String> {
    check_name(name).map_err(|unfit| unfit.to_string())?;
    let store = Store::new(folder)?;
    let mut runs = BTreeMap::new();
    for run in store.runs()? {
        match run {
            Ok(run) if run.deployment().node() != Some(name) => {
                return Err(format!(
                    "its folder contains run {} of node {}: use a separate folder for each node",
                    run.deployment().run,
                    run.deployment().node().unwrap_or("?")
                ));
            }
            Ok(run) => {
                let id = run.deployment().run;
                notify(&format!("resumes run {id} after round {}", run.rounds().round()));
                runs.insert(id, run);
            }
            Err(why) => notify(&format!("cannot resume a run: {why}")),
        }
    }
    let link = Link::open(options)?;
    let links = options.connect.len();
    if link.wait_for_links(links, SETTLING) && link.request(name, &Request::Status, NAMESAKE)?.is_some() {
        return Err(format!("another node {name} is up: choose a different name or realm"));
    }
    let queue = Arc::new(Queue::default());
    let waiting = Arc::clone(&queue);
    let registration = link.register(name, move |event| waiting.put(&sender, event))?;
    notify(&format!("{name} is ready"));
    let outgoing = link.outgoing(name);
    let status = NodeStatus { name: name.to_owned(), ..NodeStatus::default() };
    let mut node = Node { began: Instant::now(), store, runs, outgoing, queue, status, notify };
    node.work(&signals);
    drop(registration);
    link.close();
    Ok(())
}

/// Fill level of the event queue.
#[derive(Default)]
struct Queue {
    bytes: AtomicUsize,
    dropped: AtomicU64,
}

impl Queue {
    /// Enqueues an event without waiting: waiting for a busy node would block all senders.
    fn put(&self, sender: &SyncSender<Signal>, event: NetworkEvent) {
        let size = event.size();
        let is_room = self.bytes.fetch_add(size, Relaxed) + size <= QUEUE_BYTES;
        if !is_room || sender.try_send(Signal::Event(event)).is_err() {
            self.take(size);
            self.dropped.fetch_add(1, Relaxed);
        }
    }

    fn take(&self, size: usize) {
        self.bytes.fetch_sub(size, Relaxed);
    }
}

struct Node<'a> {
    began: Instant,
    store: Store,
    runs: BTreeMap<RunId, Run>,
    outgoing: Outgoing<'a>,
    queue: Arc<Queue>,
    status: NodeStatus,
    notify: &'a mut dyn FnMut(&str),
}

impl Node<'_> {
    fn work(&mut self, signals: &Receiver<Signal>) {
        loop {
            let went_on = self.advance();
            let mut signal = signals.recv_timeout(if went_on { Duration::ZERO } else { TICK }).map_err(
                |error| match error {
                    RecvTimeoutError::Timeout => false,
                    RecvTimeoutError::Disconnected => true,
                },
            );
            // Drains the queue, so that a round is not delayed by earlier events.
            loop {
                match signal {
                    Ok(Signal::Event(event)) => {
                        self.queue.take(event.size());
                        self.handle(event);
                    }
                    Ok(Signal::Stop) | Err(true) => return,
                    Err(false) => break,
                }
                signal = signals.try_recv().map_err(|_| false);
            }
        }
    }

    /// Runs one round of each run that can continue and sends due requests. Returns whether any run advanced.
    fn advance(&mut self) -> bool {
        let now = self.began.elapsed();
        let mut went_on = false;
        for run in self.runs.values_mut() {
            let mut message = run.ask(now);
            if run.advance(now) {
                went_on = true;
                // Saved before it is sent: a restarted node must know everything it has published.
                if let Err(why) = self.store.save(run) {
                    let round = run.rounds().round();
                    run.fail(format!("cannot save the state of round {round}: {why}"));
                    continue;
                }
                message = run.bundles();
            }
            for (to, message) in message {
                send(run, &mut self.outgoing, to, message);
            }
        }
        went_on
    }

    fn handle(&mut self, event: NetworkEvent) {
        match event {
            // Names come from the network and are printed to terminals.
            NetworkEvent::Message(name, _) | NetworkEvent::NodeUp(name) | NetworkEvent::NodeDown(name)
                if check_name(&name).is_err() =>
            {
                self.refuse("a message whose sender has an invalid name");
            }
            NetworkEvent::Message(sender, message) => {
                let opened = link::decode_message(&message).map_err(|refusal| refusal.to_string());
                if let Err(why) = opened.and_then(|envelope| self.message(&sender, envelope)) {
                    self.refuse(&format!("a message of {sender}: {why}"));
                }
            }
            NetworkEvent::Request(query) => {
                let reply = match link::decode_request(&query) {
                    Ok(request) => self.answer(request),
                    Err(refusal) => {
                        self.refuse(&format!("a request: {refusal}"));
                        Reply::Refused(refusal.to_string())
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
                let waits = self
                    .runs
                    .values()
                    .any(|run| run.rounds().end().is_none() && run.deployment().nodes.contains(&name));
                let words = if waits { " is down: its runs wait until it is back" } else { " is down" };
                (self.notify)(&format!("{name}{words}"));
            }
        }
    }

    fn message(&mut self, sender: &str, envelope: Envelope) -> Result<(), String> {
        let Envelope { run: id, from, message } = envelope;
        let Some(run) = self.runs.get_mut(&id) else {
            // Bundles may arrive before the deployment and are requested again then.
            if matches!(message, NodeMessage::Resend(_)) {
                let gone = Envelope { run: id, from: 0, message: NodeMessage::UnknownRun };
                let bytes = wire::encode(&gone).map_err(|refusal| refusal.to_string())?;
                return self.outgoing.send_once(sender, bytes);
            }
            return Ok(());
        };
        let nodes = &run.deployment().nodes;
        let from = if message == NodeMessage::UnknownRun {
            // A node that does not know the run does not know its index in it.
            nodes.iter().position(|known| known == sender).ok_or("it does not take part in this run")?
        } else {
            usize::from(from)
        };
        if nodes.get(from).map(String::as_str) != Some(sender) {
            return Err(format!("it does not take part in run {id} with this index"));
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
                    (self.notify)(&format!("run {run} is stopped"));
                }
                self.store.forget(run).map_or_else(Reply::Refused, |()| Reply::Done)
            }
        }
    }

    fn deploy(&mut self, deployment: Deployment) -> Result<(), String> {
        let id = deployment.run;
        if let Some(known) = self.runs.get(&id) {
            let is_same = *known.deployment() == deployment;
            return if is_same { Ok(()) } else { Err(format!("a different run {id} is deployed already")) };
        }
        if deployment.node() != Some(&self.status.name) {
            return Err(format!("the deployment is for another node than {}", self.status.name));
        }
        let run = self.store.run(deployment, None)?;
        if self.runs.len() >= MOST_RUNS {
            // Replaces a run that is over and was not stopped by its client.
            let over = self.runs.iter().find(|(_, run)| run.is_over()).map(|(id, _)| *id);
            let over = over.ok_or_else(|| {
                format!(
                    "the limit of {MOST_RUNS} runs is reached: stop one (`invigil-node status` lists them)"
                )
            })?;
            self.runs.remove(&over);
            self.store.forget(over)?;
        }
        if let Err(why) = self.store.begin(run.deployment()) {
            // Partially written files must not be found later.
            self.store.forget(id)?;
            return Err(why);
        }
        (self.notify)(&format!("takes part in run {id}"));
        self.runs.insert(id, run);
        Ok(())
    }

    fn refuse(&mut self, why: &str) {
        self.status.refused += 1;
        self.status.last_refusal = Some(why.to_owned());
        // Rate limit: malformed messages must not flood the log.
        if self.status.refused.is_power_of_two() {
            (self.notify)(&format!("refused {why} ({} so far)", self.status.refused));
        }
    }
}

fn send(run: &mut Run, outgoing: &mut Outgoing<'_>, to: usize, message: NodeMessage) {
    let Deployment { run: id, own, ref nodes, .. } = *run.deployment();
    let Some(name) = nodes.get(to).cloned() else { return };
    let is_bundle = matches!(message, NodeMessage::Bundle(_));
    match wire::encode(&Envelope { run: id, from: own, message }) {
        Ok(bytes) => {
            if is_bundle {
                run.count_sent(bytes.len());
            }
            // A lost message is requested again.
            let _ = outgoing.send(&name, bytes);
        }
        Err(refusal) => run.fail(format!("cannot send the messages of one round to {name}: {refusal}")),
    }
}
