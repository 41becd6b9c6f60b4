//! Has monitors forget objects that are no more.
//!
//! The collector tells of them at any time, and nothing may be asked of the machine then. So a thread looks from time to
//! time how many there are, and sees to it when there are enough. Events cost nothing more by that.

use crate::agent::{Agent, agent, works_for_agent};
use crate::load::start_thread;
use crate::ticks::ends_before;
use crate::vm::Jni;
use invigil_monitor::slices::Gone;
use jvmti_bindings::sys::jni::JNIEnv;
use jvmti_bindings::sys::jvmti::jvmtiEnv;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often to look.
const EVERY: Duration = Duration::from_millis(20);

static IS_RUNNING: AtomicBool = AtomicBool::new(false);

/// Starts the thread, if there is none.
pub(crate) fn start(agent: &Agent, jni: Jni) -> Result<(), String> {
    if IS_RUNNING.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    start_thread(agent, jni, sweeps).inspect_err(|_| IS_RUNNING.store(false, Ordering::SeqCst))
}

extern "system" fn sweeps(_: *mut jvmtiEnv, _: *mut JNIEnv, _: *mut c_void) {
    works_for_agent();
    let mut slices = 0;
    while let Some(agent) = agent().filter(|agent| !agent.line.is_lost())
        && !ends_before(Instant::now() + EVERY)
    {
        // Whoever goes in keeps threads out that have something to tell.
        if agent.identities.waiting() >= Gone::enough(slices) {
            slices = agent.room.forget_gone(agent);
        }
    }
    IS_RUNNING.store(false, Ordering::SeqCst);
}
