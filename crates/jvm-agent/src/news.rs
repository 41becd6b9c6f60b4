//! Telling the tool what happens, one thing at a time over all threads.

use crate::agent::{Agent, locked};
use crate::protocol::{self, Lost, News, Order};
use crate::vm::{Jni, Primitive};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The connection on which news are told. Who holds its lock is the one thread whose news are being dealt with: that makes
/// one order of all events.
#[derive(Default)]
pub(crate) struct Line {
    stream: Mutex<Option<UnixStream>>,
    lost: AtomicBool,
}

impl Line {
    pub(crate) fn open(&self, stream: UnixStream) {
        *locked(&self.stream) = Some(stream);
    }

    /// Whether nobody listens any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }
}

/// Hands on what happened, and comes back when the thread may go on. This is the one way by which events leave the program.
///
/// No handle of the machine is used while the line is held, except to call the hook for debuggers.
pub(crate) fn deliver(agent: &Agent, jni: Jni, news: &News) -> Result<(), Lost> {
    let mut line = locked(&agent.line.stream);
    if agent.line.is_lost() {
        return Err(Lost::Closed);
    }
    let Some(stream) = line.as_mut() else { return Err(Lost::Closed) };
    let mut talk = || -> Result<(), Lost> {
        protocol::send(stream, news)?;
        loop {
            match protocol::receive(stream)? {
                Order::Go => return Ok(()),
                Order::Violated { property } => show_debuggers(agent, jni, &property),
            }
        }
    };
    let told = talk();
    if told.is_err() {
        agent.line.lose();
    }
    told
}

/// Tells that the program exits. Nobody waits for an order any more.
pub(crate) fn deliver_exit(agent: &Agent, status: i32) {
    let mut line = locked(&agent.line.stream);
    if let Some(stream) = line.as_mut() {
        // If the tool is gone, nobody wants to know.
        let _ = protocol::send(stream, &News::Exits { status });
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
