//! Telling the tool what happens, one thing at a time over all threads.

use crate::agent::{Agent, locked};
use crate::invoke;
use crate::protocol::{self, Key, Lost, News, Order};
use crate::vm::{Global, Jni, Primitive, Ref};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The connection on which news are told. Who holds its lock is the one thread whose news are being dealt with: that makes
/// one order of all events.
#[derive(Default)]
pub(crate) struct Line {
    stream: Mutex<Option<UnixStream>>,
    lost: AtomicBool,
    /// The thread whose news are being dealt with, where the machine may not list it: it may be a virtual one.
    waiting: Mutex<Option<(u32, Global)>>,
}

impl Line {
    pub(crate) fn open(&self, stream: UnixStream) {
        let mut line = locked(&self.stream);
        *line = Some(stream);
        self.lost.store(false, Ordering::Relaxed);
    }

    /// Whether nobody listens any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Waits until no thread has its news dealt with.
    pub(crate) fn wait(&self) {
        drop(locked(&self.stream));
        // The tool may have closed it without a thread that waits for an order.
        std::thread::sleep(Duration::from_micros(500));
    }

    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// The thread whose news are being dealt with, if it has this number.
    pub(crate) fn waiting(&self, jni: Jni, number: u32) -> Option<Ref> {
        let waiting = locked(&self.waiting);
        waiting.as_ref().filter(|(known, _)| *known == number).and_then(|(_, thread)| jni.local(thread.get()))
    }

    pub(crate) fn waiting_number(&self) -> Option<u32> {
        locked(&self.waiting).as_ref().map(|(number, _)| *number)
    }
}

/// Hands on what happened, and comes back when the thread may go on. This is the one way by which events leave the program.
///
/// No handle of the machine is used while the line is held, except to call the hook for debuggers.
pub(crate) fn deliver(agent: &Agent, jni: Jni, news: &News) -> Result<(), Lost> {
    let waiting = match agent.powers.can_support_virtual_threads() {
        true => current(agent, jni),
        false => None,
    };
    let mut line = locked(&agent.line.stream);
    if agent.line.is_lost() {
        return Err(Lost::Closed);
    }
    let Some(stream) = line.as_mut() else { return Err(Lost::Closed) };
    let mut calls = Vec::new();
    let mut talk = || -> Result<(), Lost> {
        protocol::send(stream, news)?;
        if let News::Hits { hits, .. } = news
            && hits.iter().any(|hit| matches!(hit.key, Key::Event { .. }))
        {
            agent.room.told();
        }
        loop {
            match protocol::receive(stream)? {
                Order::Go => return Ok(()),
                Order::Violated { property } => show_debuggers(agent, jni, &property),
                Order::Invoke { call } => calls.push(call),
            }
        }
    };
    *locked(&agent.line.waiting) = waiting;
    let told = talk();
    if told.is_err() {
        agent.line.lose();
        agent.room.clear();
    }
    let waited = locked(&agent.line.waiting).take();
    drop(line);
    if let Some((_, thread)) = waited {
        jni.forget(thread);
    }
    // What happens in these methods is told as everything else is, so the line must be free.
    invoke::perform(agent, jni, &calls);
    told
}

fn current(agent: &Agent, jni: Jni) -> Option<(u32, Global)> {
    let thread = agent.ti.current_thread().ok()?;
    Some((agent.thread_number(jni, thread), jni.global(thread)?))
}

/// Tells that the program exits. Nobody waits for an order any more.
pub(crate) fn deliver_exit(agent: &Agent, status: i32) {
    let mut line = locked(&agent.line.stream);
    // A thread that waits for the line tells nothing any more: what it has to tell goes along.
    agent.line.lose();
    if let Some(stream) = line.as_mut() {
        let (past, due) = agent.room.take_all(agent).unzip();
        let complaints = agent.complaints();
        let news = News::Exits { status, past, due: due.unwrap_or_default(), complaints };
        // If the tool is gone, nobody wants to know.
        let _ = protocol::send(stream, &news);
    }
}

/// Calls the method in which debuggers wait for violations.
fn show_debuggers(agent: &Agent, jni: Jni, property: &str) {
    let Some(helper) = agent.helper.get() else { return };
    jni.framed(|| {
        let method =
            jni.static_method(helper.get(), c"onViolation", c"(Ljava/lang/String;Ljava/lang/Object;)V");
        if let (Some(method), Some(property)) = (method, jni.string(property)) {
            let arguments = [Primitive::Object(Some(property)), Primitive::Object(None)];
            jni.call_static(helper.get(), method, &arguments);
        }
    });
}
