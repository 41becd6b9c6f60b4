//! Stepping a thread by lines, by bytecodes, or out of a frame.

use crate::agent::{Agent, locked};
use crate::event_channel::send_and_wait;
use crate::inspect::render::{Style, render};
use crate::inspect::stack;
use crate::names;
use crate::protocol::{AgentEvent, StepKind};
use crate::vm::{Jni, Method, Primitive, Ref};
use jvmti_bindings::sys::jvmti as raw;
use std::sync::Mutex;

/// A step in progress.
#[derive(Clone)]
struct Stepping {
    thread: u32,
    kind: StepKind,
    /// The depth of the call stack up to the stepped frame.
    height: i32,
    method: Method,
    line: Option<u32>,
    /// Whether the stepped frame has returned.
    frame_returned: bool,
    /// The value that it returns, as text.
    returned: Option<String>,
}

static STEPPING: Mutex<Option<Stepping>> = Mutex::new(None);

/// Steps a thread when it is resumed. `depth` counts the frames that a user sees.
pub(crate) fn start(agent: &Agent, jni: Jni, thread: Ref, depth: u32, kind: StepKind) -> Result<(), String> {
    if !agent.capabilities.can_generate_single_step_events() {
        let message =
            "stepping is available only in a program that was started with `invigil run` and a prompt";
        return Err(message.to_owned());
    }
    let depth = stack::hidden_frames(agent, jni, Some(thread)) + depth as i32;
    let failed = crate::vm::error_text;
    let (method, location) = agent.ti.frame(Some(thread), depth).map_err(failed)?;
    let height = agent.ti.frame_count(Some(thread)).map_err(failed)? - depth;
    let line = stack::line_of(agent, method, location);
    let finishes = kind == StepKind::Finish;
    let number = agent.thread_number(jni, thread);
    *locked(&STEPPING) =
        Some(Stepping { thread: number, kind, height, method, line, frame_returned: false, returned: None });
    if finishes {
        agent.ti.notify_frame_pop(thread, depth).map_err(|error| match error {
            raw::jvmtiError::OPAQUE_FRAME => "the return of a native method cannot be observed".to_owned(),
            error => failed(error),
        })?;
        agent.ti.set_event_enabled(raw::JVMTI_EVENT_METHOD_EXIT, true, Some(thread)).map_err(failed)?;
    }
    agent.ti.set_event_enabled(raw::JVMTI_EVENT_FRAME_POP, true, Some(thread)).map_err(failed)?;
    agent.ti.set_event_enabled(raw::JVMTI_EVENT_SINGLE_STEP, !finishes, Some(thread)).map_err(failed)
}

/// Cancels a step.
pub(crate) fn cancel(agent: &Agent, thread: Option<Ref>) {
    *locked(&STEPPING) = None;
    if let Some(thread) = thread {
        disable_events(agent, thread);
    }
}

/// The thread of the step in progress.
pub(crate) fn thread() -> Option<u32> {
    locked(&STEPPING).as_ref().map(|stepping| stepping.thread)
}

fn disable_events(agent: &Agent, thread: Ref) {
    for event in [raw::JVMTI_EVENT_SINGLE_STEP, raw::JVMTI_EVENT_FRAME_POP, raw::JVMTI_EVENT_METHOD_EXIT] {
        // A thread that has ended causes no events anyway.
        let _ = agent.ti.set_event_enabled(event, false, Some(thread));
    }
}

/// What to do after a bytecode.
enum Next {
    Nothing,
    /// Run on until this frame returns.
    Skip,
    /// The step is complete.
    Stop(Option<String>),
}

/// Called when a stepped thread is about to execute a bytecode.
pub(crate) fn on_single_step(agent: &Agent, jni: Jni, thread: Ref, method: Method, location: i64) {
    let number = agent.thread_number(jni, thread);
    let height = agent.ti.frame_count(None).unwrap_or(0);
    // The virtual machine must not be called with the lock held: the thread may be suspended there.
    let stepping = locked(&STEPPING).clone();
    let Some(stepping) = stepping.filter(|stepping| stepping.thread == number) else {
        disable_events(agent, thread);
        return;
    };
    let next = match decide(agent, &stepping, method, location, height) {
        Next::Stop(_) => {
            let mut stepping = locked(&STEPPING);
            match stepping.take_if(|stepping| stepping.thread == number) {
                Some(stepping) => Next::Stop(stepping.returned),
                // The step was cancelled in the meantime.
                None => Next::Nothing,
            }
        }
        other => other,
    };
    match next {
        Next::Nothing => {}
        Next::Skip => {
            if agent.ti.notify_frame_pop(thread, 0).is_ok() {
                let _ = agent.ti.set_event_enabled(raw::JVMTI_EVENT_SINGLE_STEP, false, Some(thread));
            }
        }
        Next::Stop(returned) => {
            disable_events(agent, thread);
            let _ = send_and_wait(agent, jni, &AgentEvent::Stepped { thread: number, returned });
        }
    }
}

fn decide(agent: &Agent, stepping: &Stepping, method: Method, location: i64, height: i32) -> Next {
    if stepping.frame_returned || stepping.kind == StepKind::Instruction {
        return Next::Stop(None);
    }
    if height == stepping.height && method == stepping.method {
        let line = stack::line_of(agent, method, location);
        return if line == stepping.line { Next::Nothing } else { Next::Stop(None) };
    }
    // Code without source is skipped, unless the step started there.
    let is_stepped_over = height > stepping.height && stepping.kind == StepKind::NextLine;
    let is_shown = stack::has_source(agent, method) || !stack::has_source(agent, stepping.method);
    if is_stepped_over || !is_shown { Next::Skip } else { Next::Stop(None) }
}

/// Called when an awaited frame is about to return.
pub(crate) fn on_frame_pop(agent: &Agent, jni: Jni, thread: Ref) {
    let number = agent.thread_number(jni, thread);
    let height = agent.ti.frame_count(None).unwrap_or(0);
    {
        let mut stepping = locked(&STEPPING);
        let Some(stepping) = stepping.as_mut().filter(|stepping| stepping.thread == number) else { return };
        if stepping.kind == StepKind::Finish {
            if height > stepping.height {
                return;
            }
            stepping.frame_returned = true;
        }
    }
    let _ = agent.ti.set_event_enabled(raw::JVMTI_EVENT_SINGLE_STEP, true, Some(thread));
}

/// Called when a method returns; `read` gives the value as one of the given type.
pub(crate) fn on_method_exit(
    agent: &Agent,
    jni: Jni,
    thread: Ref,
    method: Method,
    read: &dyn Fn(&str) -> Primitive,
) {
    let number = agent.thread_number(jni, thread);
    let height = agent.ti.frame_count(None).unwrap_or(0);
    let is_stepped_frame = |stepping: &Stepping| stepping.thread == number && stepping.height == height;
    if !locked(&STEPPING).as_ref().is_some_and(is_stepped_frame) {
        return;
    }
    let Ok((_, descriptor)) = agent.ti.method_name(method) else { return };
    let result = names::return_type(&descriptor);
    if result == "V" {
        return;
    }
    let shown = jni.framed(|| render(agent, jni, read(result), Style::WHOLE));
    if let Some(stepping) = locked(&STEPPING).as_mut().filter(|stepping| is_stepped_frame(stepping)) {
        stepping.returned = Some(shown);
    }
}
