//! Telling scripts that time passes.

use crate::agent::{Agent, agent, locked, works_for_agent};
use crate::fire::hand_on;
use crate::load::{callback, start_thread};
use crate::protocol::{Hit, Key};
use invigil_monitor::event::SymbolId;
use jvmti_bindings::sys::jni::JNIEnv;
use jvmti_bindings::sys::jvmti::jvmtiEnv;
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whether the machine is about to end, and who waits for that.
static ENDING: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// The machine is about to end: it waits for threads that run code of their own.
pub(crate) fn stop() {
    *locked(&ENDING.0) = true;
    ENDING.1.notify_all();
}

/// Waits until then; whether the machine ends before.
pub(crate) fn ends_before(then: Instant) -> bool {
    let left = then.saturating_duration_since(Instant::now());
    let waited = ENDING.1.wait_timeout_while(locked(&ENDING.0), left, |ends| !*ends);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

/// The events that threads are about to tell, and how often.
static WAITING: Mutex<Vec<(SymbolId, Duration)>> = Mutex::new(Vec::new());

/// Has a thread tell this event, every so many milliseconds, once the program runs.
pub(crate) fn start(
    agent: &Agent,
    jni: crate::vm::Jni,
    symbol: SymbolId,
    milliseconds: u32,
) -> Result<(), String> {
    let every = Duration::from_millis(milliseconds.max(1).into());
    locked(&WAITING).push((symbol, every));
    start_thread(agent, jni, ticks)
}

extern "system" fn ticks(_: *mut jvmtiEnv, env: *mut JNIEnv, _: *mut c_void) {
    works_for_agent();
    let Some((symbol, every)) = locked(&WAITING).pop() else { return };
    let visit = agent().map(Agent::visits);
    // The next tool has ticks of its own.
    let is_wanted = |agent: &Agent| !agent.line.is_lost() && Some(agent.visits()) == visit;
    while agent().is_some_and(|agent| !agent.running.load(Ordering::Relaxed) && is_wanted(agent)) {
        if ends_before(Instant::now() + every) {
            return;
        }
    }
    let mut next = Instant::now() + every;
    while agent().is_some_and(is_wanted) && !ends_before(next) {
        callback(env, |agent, jni| {
            let time = agent.began.elapsed().as_secs_f64();
            let hit = Hit { key: Key::Event { number: symbol.0 }, values: Vec::new() };
            jni.framed(|| hand_on(agent, jni, 0, time, vec![hit]));
        });
        // One that is late tells the time once, and not as often as it should have.
        next = (next + every).max(Instant::now());
    }
}
