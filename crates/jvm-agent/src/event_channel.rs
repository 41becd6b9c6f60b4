//! Sending events to the debugger, one at a time over all threads.

use crate::agent::{Agent, locked};
use crate::invoke;
use crate::protocol::{self, AgentEvent, Disconnected, SubscriptionId, ThreadCommand};
use crate::vm::{Global, Jni, Primitive, Ref};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The connection for events. The thread that holds its lock is the one whose event is being handled, which puts all
/// events into one order.
#[derive(Default)]
pub(crate) struct EventChannel {
    stream: Mutex<Option<UnixStream>>,
    closed: AtomicBool,
    /// The thread whose event is being handled. Kept because the virtual machine does not list virtual threads.
    waiting: Mutex<Option<(u32, Global)>>,
}

impl EventChannel {
    pub(crate) fn open(&self, stream: UnixStream) {
        let mut channel = locked(&self.stream);
        *channel = Some(stream);
        self.closed.store(false, Ordering::Relaxed);
    }

    /// Whether the debugger no longer listens.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Waits until no thread has its event handled.
    pub(crate) fn wait(&self) {
        drop(locked(&self.stream));
        // The debugger may have closed the channel while no thread was waiting.
        std::thread::sleep(Duration::from_micros(500));
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// The thread whose event is being handled, if it has this number.
    pub(crate) fn waiting(&self, jni: Jni, number: u32) -> Option<Ref> {
        let waiting = locked(&self.waiting);
        waiting.as_ref().filter(|(known, _)| *known == number).and_then(|(_, thread)| jni.local(thread.get()))
    }

    pub(crate) fn waiting_number(&self) -> Option<u32> {
        locked(&self.waiting).as_ref().map(|(number, _)| *number)
    }
}

/// Sends an event and blocks until the debugger resumes the thread. All events leave the program this way.
///
/// While the channel is locked, no handle of the virtual machine is used except for the hook for other debuggers.
pub(crate) fn send_and_wait(agent: &Agent, jni: Jni, news: &AgentEvent) -> Result<(), Disconnected> {
    let waiting = match agent.capabilities.can_support_virtual_threads() {
        true => current(agent, jni),
        false => None,
    };
    let mut channel = locked(&agent.channel.stream);
    if agent.channel.is_closed() {
        return Err(Disconnected::Closed);
    }
    let Some(stream) = channel.as_mut() else { return Err(Disconnected::Closed) };
    let mut calls = Vec::new();
    let mut talk = || -> Result<(), Disconnected> {
        protocol::send(stream, news)?;
        if let AgentEvent::Notified { notifications, .. } = news
            && notifications
                .iter()
                .any(|notification| matches!(notification.id, SubscriptionId::Event { .. }))
        {
            agent.host.mark_forwarded();
        }
        loop {
            match protocol::receive(stream)? {
                ThreadCommand::Continue => return Ok(()),
                ThreadCommand::ShowViolation { message } => show_debuggers(agent, jni, &message),
                ThreadCommand::Invoke { call } => calls.push(call),
            }
        }
    };
    *locked(&agent.channel.waiting) = waiting;
    let reported = talk();
    if reported.is_err() {
        agent.channel.close();
        agent.host.remove_monitors();
    }
    let waited = locked(&agent.channel.waiting).take();
    drop(channel);
    if let Some((_, thread)) = waited {
        jni.delete_global(thread);
    }
    // These methods may make events of their own, so the channel must be unlocked.
    invoke::perform(agent, jni, &calls);
    reported
}

fn current(agent: &Agent, jni: Jni) -> Option<(u32, Global)> {
    let thread = agent.ti.current_thread().ok()?;
    Some((agent.thread_number(jni, thread), jni.global(thread)?))
}

/// Reports that the program exits. No thread waits for a command after that.
pub(crate) fn send_exit(agent: &Agent, status: i32) {
    let mut channel = locked(&agent.channel.stream);
    // A thread that waits for the channel can no longer send: its event is included here.
    agent.channel.close();
    if let Some(stream) = channel.as_mut() {
        let replay_log = agent.host.take_final_log(agent);
        let news = AgentEvent::Exits { status, replay_log, warnings: agent.warnings() };
        // If the connection to the debugger is closed, there is no receiver.
        let _ = protocol::send(stream, &news);
    }
}

/// Calls the method in which other debuggers can wait for violations.
fn show_debuggers(agent: &Agent, jni: Jni, message: &str) {
    let Some(helper) = agent.helper.get() else { return };
    jni.framed(|| {
        let method =
            jni.static_method(helper.get(), c"onViolation", c"(Ljava/lang/String;Ljava/lang/Object;)V");
        if let (Some(method), Some(message)) = (method, jni.string(message)) {
            let arguments = [Primitive::Object(Some(message)), Primitive::Object(None)];
            jni.call_static(helper.get(), method, &arguments);
        }
    });
}
