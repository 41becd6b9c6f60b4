//! Threads that report the time to scripts.

use crate::agent::{Agent, agent, locked, mark_agent_thread};
use crate::on_probe::dispatch;
use crate::protocol::{Notification, SubscriptionId};
use crate::startup::{callback, start_thread};
use invigil_monitor::event::EventId;
use jvmti_bindings::sys::jni::JNIEnv;
use jvmti_bindings::sys::jvmti::jvmtiEnv;
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whether the virtual machine is about to end, with the threads that wait for that.
static ENDING: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// Ends the threads, because the virtual machine waits for those that run native code when it ends.
pub(crate) fn stop() {
    *locked(&ENDING.0) = true;
    ENDING.1.notify_all();
}

/// Waits until `then`. Returns whether the virtual machine ends before.
pub(crate) fn ends_before(then: Instant) -> bool {
    let left = then.saturating_duration_since(Instant::now());
    let waited = ENDING.1.wait_timeout_while(locked(&ENDING.0), left, |ends| !*ends);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Events for threads that are about to start, with their periods.
static WAITING: Mutex<Vec<(EventId, Duration)>> = Mutex::new(Vec::new());

/// Starts a thread that reports this event periodically once the program runs.
pub(crate) fn start(
    agent: &Agent,
    jni: crate::vm::Jni,
    event: EventId,
    milliseconds: u32,
) -> Result<(), String> {
    let every = Duration::from_millis(milliseconds.max(1).into());
    locked(&WAITING).push((event, every));
    start_thread(agent, jni, ticks)
}

extern "system" fn ticks(_: *mut jvmtiEnv, env: *mut JNIEnv, _: *mut c_void) {
    mark_agent_thread();
    let Some((event, every)) = locked(&WAITING).pop() else { return };
    let reattach = agent().map(Agent::attachments);
    // The next debugger starts ticks of its own.
    let is_wanted = |agent: &Agent| !agent.channel.is_closed() && Some(agent.attachments()) == reattach;
    while agent().is_some_and(|agent| !agent.running.load(Ordering::Relaxed) && is_wanted(agent)) {
        if ends_before(Instant::now() + every) {
            return;
        }
    }
    let mut next = Instant::now() + every;
    while agent().is_some_and(is_wanted) && !ends_before(next) {
        callback(env, |agent, jni| {
            let time = agent.started_at.elapsed().as_secs_f64();
            let notification =
                Notification { id: SubscriptionId::Event { number: event.0 }, values: Vec::new() };
            jni.framed(|| dispatch(agent, jni, 0, time, vec![notification]));
        });
        // A late thread reports the time once instead of catching up.
        next = (next + every).max(Instant::now());
    }
}
