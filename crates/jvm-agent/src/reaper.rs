//! A thread that drops the slices of collected objects.
//!
//! The garbage collector reports collected objects at any time, when no function of the virtual machine may be called.
//! This thread checks periodically how many there are. Events therefore cost nothing extra.

use crate::agent::{Agent, agent, mark_agent_thread};
use crate::startup::start_thread;
use crate::ticks::ends_before;
use crate::vm::Jni;
use invigil_monitor::slices::DeadObjects;
use jvmti_bindings::sys::jni::JNIEnv;
use jvmti_bindings::sys::jvmti::jvmtiEnv;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Period of the check.
const CHECK_PERIOD: Duration = Duration::from_millis(20);

static IS_RUNNING: AtomicBool = AtomicBool::new(false);

/// Starts the thread, unless it is running.
pub(crate) fn start(agent: &Agent, jni: Jni) -> Result<(), String> {
    if IS_RUNNING.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    start_thread(agent, jni, run_reaper).inspect_err(|_| IS_RUNNING.store(false, Ordering::SeqCst))
}

extern "system" fn run_reaper(_: *mut jvmtiEnv, _: *mut JNIEnv, _: *mut c_void) {
    mark_agent_thread();
    let mut slices = 0;
    while let Some(agent) = agent().filter(|agent| !agent.channel.is_closed())
        && !ends_before(Instant::now() + CHECK_PERIOD)
    {
        // Locking the host blocks threads with events, so it is locked only when there is enough to collect.
        if agent.object_ids.waiting() >= DeadObjects::collection_threshold(slices) {
            slices = agent.host.collect_slices(agent);
        }
    }
    IS_RUNNING.store(false, Ordering::SeqCst);
}
