//! Stepping a thread, by lines, by bytecodes, or out of a frame.

use crate::agent::{Agent, locked};
use crate::look::show::{Style, words};
use crate::look::stack;
use crate::names;
use crate::news::deliver;
use crate::protocol::{News, Step};
use crate::vm::{Jni, Method, Primitive, Ref};
use jvmti_bindings::sys::jvmti as raw;
use std::sync::Mutex;

/// A step that is under way.
#[derive(Clone)]
struct Stepping {
    thread: u32,
    how: Step,
    /// How many frames there were up to the one that is stepped.
    height: i32,
    method: Method,
    line: Option<u32>,
    /// The frame has returned, and this is what, in words.
    landed: bool,
    returned: Option<String>,
}

static STEPPING: Mutex<Option<Stepping>> = Mutex::new(None);

/// Steps a thread when it goes on. `depth` counts frames that a user sees.
pub(crate) fn begin(agent: &Agent, jni: Jni, thread: Ref, depth: u32, how: Step) -> Result<(), String> {
    if !agent.powers.can_generate_single_step_events() {
        let words =
            "threads can be stepped only in a program that was started with `invigil run`, with a prompt";
        return Err(words.to_owned());
    }
    let depth = stack::hidden(agent, jni, Some(thread)) + depth as i32;
    let failed = crate::vm::words;
    let (method, location) = agent.ti.frame(Some(thread), depth).map_err(failed)?;
    let height = agent.ti.frame_count(Some(thread)).map_err(failed)? - depth;
    let line = stack::line_of(agent, method, location);
    let finishes = how == Step::Finish;
    let number = agent.thread_number(jni, thread);
    *locked(&STEPPING) =
        Some(Stepping { thread: number, how, height, method, line, landed: false, returned: None });
    if finishes {
        agent.ti.notify_frame_pop(thread, depth).map_err(|error| match error {
            raw::jvmtiError::OPAQUE_FRAME => "nothing can be told of the end of a native method".to_owned(),
            error => failed(error),
        })?;
        agent.ti.notify(raw::JVMTI_EVENT_METHOD_EXIT, true, Some(thread)).map_err(failed)?;
    }
    agent.ti.notify(raw::JVMTI_EVENT_FRAME_POP, true, Some(thread)).map_err(failed)?;
    agent.ti.notify(raw::JVMTI_EVENT_SINGLE_STEP, !finishes, Some(thread)).map_err(failed)
}

/// Gives a step up.
pub(crate) fn end(agent: &Agent, thread: Option<Ref>) {
    *locked(&STEPPING) = None;
    if let Some(thread) = thread {
        quiet(agent, thread);
    }
}

/// The thread of the step that is under way.
pub(crate) fn thread() -> Option<u32> {
    locked(&STEPPING).as_ref().map(|stepping| stepping.thread)
}

fn quiet(agent: &Agent, thread: Ref) {
    for event in [raw::JVMTI_EVENT_SINGLE_STEP, raw::JVMTI_EVENT_FRAME_POP, raw::JVMTI_EVENT_METHOD_EXIT] {
        // A thread that has ended makes no events either.
        let _ = agent.ti.notify(event, false, Some(thread));
    }
}

/// What to do after a bytecode.
enum Next {
    Nothing,
    /// Run on until this frame returns.
    Skip,
    /// The step is done.
    Stop(Option<String>),
}

/// The thread is about to execute a bytecode.
pub(crate) fn stepped(agent: &Agent, jni: Jni, thread: Ref, method: Method, location: i64) {
    let number = agent.thread_number(jni, thread);
    let height = agent.ti.frame_count(None).unwrap_or(0);
    // Nothing is asked of the machine while this is locked: the thread may be held there.
    let stepping = locked(&STEPPING).clone();
    let Some(stepping) = stepping.filter(|stepping| stepping.thread == number) else {
        quiet(agent, thread);
        return;
    };
    let next = match decide(agent, &stepping, method, location, height) {
        Next::Stop(_) => {
            let mut stepping = locked(&STEPPING);
            match stepping.take_if(|stepping| stepping.thread == number) {
                Some(stepping) => Next::Stop(stepping.returned),
                // It was given up in the meantime.
                None => Next::Nothing,
            }
        }
        other => other,
    };
    match next {
        Next::Nothing => {}
        Next::Skip => {
            if agent.ti.notify_frame_pop(thread, 0).is_ok() {
                let _ = agent.ti.notify(raw::JVMTI_EVENT_SINGLE_STEP, false, Some(thread));
            }
        }
        Next::Stop(returned) => {
            quiet(agent, thread);
            let _ = deliver(agent, jni, &News::Stepped { thread: number, returned });
        }
    }
}

fn decide(agent: &Agent, stepping: &Stepping, method: Method, location: i64, height: i32) -> Next {
    if stepping.landed || stepping.how == Step::Instruction {
        return Next::Stop(None);
    }
    if height == stepping.height && method == stepping.method {
        let line = stack::line_of(agent, method, location);
        return if line == stepping.line { Next::Nothing } else { Next::Stop(None) };
    }
    // Code that nobody has the source of is passed over, unless the step began there.
    let is_over = height > stepping.height && stepping.how == Step::NextLine;
    let is_shown = stack::has_source(agent, method) || !stack::has_source(agent, stepping.method);
    if is_over || !is_shown { Next::Skip } else { Next::Stop(None) }
}

/// A frame that was waited for is about to return.
pub(crate) fn popped(agent: &Agent, jni: Jni, thread: Ref) {
    let number = agent.thread_number(jni, thread);
    let height = agent.ti.frame_count(None).unwrap_or(0);
    {
        let mut stepping = locked(&STEPPING);
        let Some(stepping) = stepping.as_mut().filter(|stepping| stepping.thread == number) else { return };
        if stepping.how == Step::Finish {
            if height > stepping.height {
                return;
            }
            stepping.landed = true;
        }
    }
    let _ = agent.ti.notify(raw::JVMTI_EVENT_SINGLE_STEP, true, Some(thread));
}

/// A method returns; `read` gives the value as one of the type that it has.
pub(crate) fn exited(agent: &Agent, jni: Jni, thread: Ref, method: Method, read: &dyn Fn(&str) -> Primitive) {
    let number = agent.thread_number(jni, thread);
    let height = agent.ti.frame_count(None).unwrap_or(0);
    let is_ours = |stepping: &Stepping| stepping.thread == number && stepping.height == height;
    if !locked(&STEPPING).as_ref().is_some_and(is_ours) {
        return;
    }
    let Ok((_, descriptor)) = agent.ti.method_name(method) else { return };
    let result = names::returns(&descriptor);
    if result == "V" {
        return;
    }
    let shown = jni.framed(|| words(agent, jni, read(result), Style::WHOLE));
    if let Some(stepping) = locked(&STEPPING).as_mut().filter(|stepping| is_ours(stepping)) {
        stepping.returned = Some(shown);
    }
}
