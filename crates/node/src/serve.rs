//! A node: it takes part in runs until it is told to stop.

use crate::deployment::{Deployment, check_name};
use crate::link::{self, Event, Link, Options, Post};
use crate::run::Run;
use crate::store::Store;
use crate::wire::{self, Envelope, Mail, NodeStatus, Payload, Reply, Request, RunId};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How many runs a node takes part in at once.
pub const MOST_RUNS: usize = 64;

/// How many messages wait to be handled, and how many bytes they may have. More are let go: what is missing is asked for again.
const WAITING: usize = 4096;
const WAITING_BYTES: usize = 2 * <Request as Payload>::LIMIT;

/// How long a node waits for its links before it appears.
const SETTLING: Duration = Duration::from_secs(1);

/// How long a namesake has to answer.
const NAMESAKE: Duration = Duration::from_millis(500);

/// How often it is looked whether someone has to be asked again.
const TICK: Duration = Duration::from_millis(20);

/// What a node is told from outside of the network.
pub enum Signal {
    /// Something came from the network.
    Event(Event),
    /// It is to stop.
    Stop,
}

/// A way to tell a node something.
pub type Signals = (SyncSender<Signal>, Receiver<Signal>);

/// The signals of a node.
pub fn signals() -> Signals {
    sync_channel(WAITING)
}

/// Is a node, until it is told to stop. `say` is told what people may want to know, the first time when it is ready.
///
/// # Errors
/// If there is no way into the network, if its folder cannot be used, or if there is a node of this name.
pub fn serve(
    name: &str,
    options: &Options,
    folder: Option<&Path>,
    (sender, signals): Signals,
    say: &mut dyn FnMut(&str),
) -> Result<(), String> {
    check_name(name).map_err(|unfit| unfit.to_string())?;
    let store = Store::new(folder)?;
    let mut runs = BTreeMap::new();
    for run in store.runs()? {
        match run {
            Ok(run) if run.deployment().node() != Some(name) => {
                return Err(format!(
                    "its folder has run {} of node {}: give each node a folder of its own",
                    run.deployment().run,
                    run.deployment().node().unwrap_or("?")
                ));
            }
            Ok(run) => {
                let id = run.deployment().run;
                say(&format!("goes on with run {id} after round {}", run.rounds().round()));
                runs.insert(id, run);
            }
            Err(why) => say(&format!("cannot go on with a run: {why}")),
        }
    }
    let link = Link::open(options)?;
    let links = options.connect.len();
    if link.settle(links, SETTLING) && link.request(name, &Request::Status, NAMESAKE)?.is_some() {
        return Err(format!(
            "there is another node {name} in the network: give it another name, or a realm of its own"
        ));
    }
    let queue = Arc::new(Queue::default());
    let waiting = Arc::clone(&queue);
    let presence = link.appear(name, move |event| waiting.put(&sender, event))?;
    say(&format!("{name} is ready"));
    let post = link.post(name);
    let status = NodeStatus { name: name.to_owned(), ..NodeStatus::default() };
    let mut node = Node { began: Instant::now(), store, runs, post, queue, status, say };
    node.work(&signals);
    drop(presence);
    link.close();
    Ok(())
}

/// How much waits to be handled.
#[derive(Default)]
struct Queue {
    bytes: AtomicUsize,
    let_go: AtomicU64,
}

impl Queue {
    /// Who sends more than can be handled is not waited for, since that would hold up everybody else.
    fn put(&self, sender: &SyncSender<Signal>, event: Event) {
        let size = event.size();
        let is_room = self.bytes.fetch_add(size, Relaxed) + size <= WAITING_BYTES;
        if !is_room || sender.try_send(Signal::Event(event)).is_err() {
            self.take(size);
            self.let_go.fetch_add(1, Relaxed);
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
    post: Post<'a>,
    queue: Arc<Queue>,
    status: NodeStatus,
    say: &'a mut dyn FnMut(&str),
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
            // All that is there, so that a round is not held up by what came before.
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

    /// One round of each run that can go on, and whatever is to be asked again. Says whether something went on.
    fn advance(&mut self) -> bool {
        let now = self.began.elapsed();
        let mut went_on = false;
        for run in self.runs.values_mut() {
            let mut mail = run.ask(now);
            if run.advance(now) {
                went_on = true;
                // Before others know: who comes back must remember what it said.
                if let Err(why) = self.store.save(run) {
                    let round = run.rounds().round();
                    run.fail(format!("what it did in round {round} cannot be written down: {why}"));
                    continue;
                }
                mail = run.bundles();
            }
            for (to, mail) in mail {
                send(run, &mut self.post, to, mail);
            }
        }
        went_on
    }

    fn handle(&mut self, event: Event) {
        match event {
            // Names come from anybody, and are written to terminals.
            Event::Mail(name, _) | Event::Here(name) | Event::Gone(name) if check_name(&name).is_err() => {
                self.refuse("something of somebody whose name cannot be one");
            }
            Event::Mail(sender, mail) => {
                let opened = link::open(&mail).map_err(|refusal| refusal.to_string());
                if let Err(why) = opened.and_then(|envelope| self.mail(&sender, envelope)) {
                    self.refuse(&format!("mail of {sender}: {why}"));
                }
            }
            Event::Request(query) => {
                let reply = match link::request(&query) {
                    Ok(request) => self.answer(request),
                    Err(refusal) => {
                        self.refuse(&format!("a request: {refusal}"));
                        Reply::Refused(refusal.to_string())
                    }
                };
                if let Err(why) = link::reply(&query, &reply) {
                    (self.say)(&format!("cannot answer a request: {why}"));
                }
            }
            Event::Here(name) => {
                if name != self.status.name {
                    (self.say)(&format!("{name} is here"));
                }
                self.runs.values_mut().for_each(|run| run.hurry(&name));
            }
            Event::Gone(name) => {
                let waits = self
                    .runs
                    .values()
                    .any(|run| run.rounds().end().is_none() && run.deployment().nodes.contains(&name));
                let words = if waits { " is missing: its runs wait until it comes back" } else { " is gone" };
                (self.say)(&format!("{name}{words}"));
            }
        }
    }

    fn mail(&mut self, sender: &str, envelope: Envelope) -> Result<(), String> {
        let Envelope { run: id, from, mail } = envelope;
        let Some(run) = self.runs.get_mut(&id) else {
            // Bundles may come before the deployment: they are asked for then.
            if matches!(mail, Mail::Ask(_)) {
                let gone = Envelope { run: id, from: 0, mail: Mail::Gone };
                let bytes = wire::encode(&gone).map_err(|refusal| refusal.to_string())?;
                return self.post.send_once(sender, bytes);
            }
            return Ok(());
        };
        let nodes = &run.deployment().nodes;
        let from = if mail == Mail::Gone {
            // Who does not know the run does not know its place in it.
            nodes.iter().position(|known| known == sender).ok_or("it takes no part in this run")?
        } else {
            usize::from(from)
        };
        if nodes.get(from).map(String::as_str) != Some(sender) {
            return Err(format!("it takes no part in run {id} in this place"));
        }
        if let Some(answer) = run.receive(from, mail)? {
            send(run, &mut self.post, from, answer);
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
                self.status.let_go = self.queue.let_go.load(Relaxed);
                self.status.runs = self.runs.values().map(Run::progress).collect();
                Reply::Status(self.status.clone())
            }
            Request::Stop(run) => {
                if self.runs.remove(&run).is_some() {
                    (self.say)(&format!("run {run} is stopped"));
                }
                self.store.forget(run).map_or_else(Reply::Refused, |()| Reply::Done)
            }
        }
    }

    fn deploy(&mut self, deployment: Deployment) -> Result<(), String> {
        let id = deployment.run;
        if let Some(known) = self.runs.get(&id) {
            let is_same = *known.deployment() == deployment;
            return if is_same { Ok(()) } else { Err(format!("there is another run {id}")) };
        }
        if deployment.node() != Some(&self.status.name) {
            return Err(format!("this is for another node than {}", self.status.name));
        }
        let run = self.store.run(deployment, None)?;
        if self.runs.len() >= MOST_RUNS {
            // One that is over, which nobody has asked for.
            let over = self.runs.iter().find(|(_, run)| run.is_over()).map(|(id, _)| *id);
            let over = over.ok_or_else(|| {
                format!("{MOST_RUNS} runs are enough: stop one (`invigil-node status` shows them)")
            })?;
            self.runs.remove(&over);
            self.store.forget(over)?;
        }
        if let Err(why) = self.store.begin(run.deployment()) {
            // What was written of it must not be found later.
            self.store.forget(id)?;
            return Err(why);
        }
        (self.say)(&format!("takes part in run {id}"));
        self.runs.insert(id, run);
        Ok(())
    }

    fn refuse(&mut self, why: &str) {
        self.status.refused += 1;
        self.status.last_refusal = Some(why.to_owned());
        // A flood of nonsense must not become a flood of lines.
        if self.status.refused.is_power_of_two() {
            (self.say)(&format!("refused {why} ({} so far)", self.status.refused));
        }
    }
}

fn send(run: &mut Run, post: &mut Post<'_>, to: usize, mail: Mail) {
    let Deployment { run: id, own, ref nodes, .. } = *run.deployment();
    let Some(name) = nodes.get(to).cloned() else { return };
    let is_bundle = matches!(mail, Mail::Bundle(_));
    match wire::encode(&Envelope { run: id, from: own, mail }) {
        Ok(bytes) => {
            if is_bundle {
                run.count(bytes.len());
            }
            // What does not get through is asked for again.
            let _ = post.send(&name, bytes);
        }
        Err(refusal) => {
            run.fail(format!("what the monitors send to {name} in one round is too much: {refusal}"))
        }
    }
}
