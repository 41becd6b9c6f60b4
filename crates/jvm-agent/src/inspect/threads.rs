//! Threads: listing, suspending and resuming them.

use crate::agent::{Agent, locked};
use crate::inspect::stack;
use crate::protocol::Thread;
use crate::vm::{Global, Jni, Ref};
use jvmti_bindings::sys::jvmti::{self as raw, jvmtiCapabilities};
use std::sync::Mutex;

/// Whether the program's threads are suspended.
enum Suspension {
    /// They run.
    Running,
    /// These were suspended.
    Suspended(Vec<Global>),
    /// They were to be suspended, but the capability is not available.
    Refused,
}

static SUSPENSION: Mutex<Suspension> = Mutex::new(Suspension::Running);

/// The program's threads, without those of the virtual machine and of debuggers.
fn program_threads(agent: &Agent, jni: Jni) -> Vec<Ref> {
    let is_program = |thread: &Ref| match agent.ti.thread_info(*thread) {
        Ok((_, Some(group))) => {
            let name = agent.ti.group_name(group).unwrap_or_default();
            jni.delete_local(group);
            name != "system" && name != "InnocuousThreadGroup"
        }
        Ok((_, None)) => true,
        Err(_) => false,
    };
    agent.ti.threads().unwrap_or_default().into_iter().filter(is_program).collect()
}

/// Suspends the program's threads, as far as the virtual machine allows.
pub(crate) fn suspend_all(agent: &Agent, jni: Jni) {
    let mut suspension = locked(&SUSPENSION);
    if !matches!(*suspension, Suspension::Running) {
        return;
    }
    let mut capabilities = jvmtiCapabilities::default();
    capabilities.set_can_suspend(true);
    if agent.ti.add_capabilities(&capabilities).is_err() {
        agent.warn(
            "another debugger holds the capability to suspend threads: only threads that reach an event are stopped"
                .to_owned(),
        );
        *suspension = Suspension::Refused;
        return;
    }
    let _ = agent.ti.suspend_virtual();
    let mut all = Vec::new();
    // Threads may start others in the meantime: repeat until there are no new ones.
    for _ in 0..100 {
        let mut new = false;
        for thread in program_threads(agent, jni) {
            if agent.ti.suspend(thread) == Ok(()) {
                new = true;
                all.extend(jni.global(thread));
            }
        }
        if !new {
            break;
        }
    }
    *suspension = Suspension::Suspended(all);
}

/// Resumes the threads suspended by [`suspend_all`].
pub(crate) fn resume_all(agent: &Agent, jni: Jni) {
    let suspension = std::mem::replace(&mut *locked(&SUSPENSION), Suspension::Running);
    let Suspension::Suspended(all) = suspension else { return };
    for thread in all {
        // A thread that has ended cannot be resumed.
        let _ = agent.ti.resume(thread.get());
        jni.delete_global(thread);
    }
    let _ = agent.ti.resume_virtual();
    let mut capabilities = jvmtiCapabilities::default();
    capabilities.set_can_suspend(true);
    // Other debuggers may need it.
    let _ = agent.ti.relinquish_capabilities(&capabilities);
}

/// The thread with this number.
pub(crate) fn find(agent: &Agent, jni: Jni, number: u32) -> Result<Ref, String> {
    listed_threads(agent, jni)
        .into_iter()
        .find(|thread| agent.thread_number(jni, *thread) == number)
        .ok_or_else(|| format!("there is no thread {number}; see `info threads`"))
}

/// The program's threads. If the thread that waits for a command is virtual, the virtual machine does not list it, so
/// it is added.
fn listed_threads(agent: &Agent, jni: Jni) -> Vec<Ref> {
    let mut all = program_threads(agent, jni);
    if let Some(number) = agent.channel.waiting_number()
        && !all.iter().any(|thread| agent.thread_number(jni, *thread) == number)
    {
        all.extend(agent.channel.waiting(jni, number));
    }
    all
}

/// Descriptions of the threads.
pub(crate) fn list(agent: &Agent, jni: Jni) -> Vec<Thread> {
    let reported = |thread: Ref| {
        let depth = stack::hidden_frames(agent, jni, Some(thread));
        let at = agent.ti.frame(Some(thread), depth).ok();
        Thread {
            id: agent.thread_number(jni, thread),
            name: agent.ti.thread_info(thread).map_or(String::new(), |(name, _)| name),
            state: state(agent.ti.thread_state(thread).unwrap_or(0)).to_owned(),
            location: at.map(|(method, location)| stack::code_location(agent, method, location)),
        }
    };
    let mut all: Vec<Thread> = listed_threads(agent, jni).into_iter().map(reported).collect();
    all.sort_by_key(|thread| thread.id);
    all
}

fn state(bits: i32) -> &'static str {
    let is = |bit| bits & bit != 0;
    if is(raw::JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) {
        "waits for a lock"
    } else if is(raw::JVMTI_THREAD_STATE_SLEEPING) {
        "sleeps"
    } else if is(raw::JVMTI_THREAD_STATE_WAITING) {
        "waits"
    } else {
        ""
    }
}
