//! Frames and code locations.

use crate::agent::{Agent, HELPER};
use crate::names;
use crate::protocol::CodeLocation;
use crate::vm::{Jni, Method, Ref};

/// Number of innermost frames that belong to a probe and are hidden from the user.
pub(crate) fn hidden_frames(agent: &Agent, jni: Jni, thread: Option<Ref>) -> i32 {
    let Some(helper) = agent.helper.get() else { return 0 };
    let frames = agent.ti.stack(thread, 4).unwrap_or_default();
    let agent_frames = frames.iter().take_while(|(method, _)| {
        agent.ti.declaring_class(*method).is_ok_and(|class| {
            let same = jni.is_same(class, helper.get());
            jni.delete_local(class);
            same
        })
    });
    agent_frames.count() as i32
}

/// The line of a bytecode in a method.
pub(crate) fn line_of(agent: &Agent, method: Method, location: i64) -> Option<u32> {
    let mut lines = agent.ti.lines(method).ok()?;
    lines.sort_unstable();
    // Code before the first line is the probe at the method's entry.
    let at = lines.partition_point(|(start, _)| *start <= location).saturating_sub(1);
    lines.get(at).map(|(_, line)| *line)
}

/// Whether a user may have the source of a method.
pub(crate) fn has_source(agent: &Agent, method: Method) -> bool {
    let Ok(class) = agent.ti.declaring_class(method) else { return false };
    let signature = agent.ti.signature(class).unwrap_or_default();
    let name = signature.trim_start_matches('L').trim_end_matches(';');
    !agent.ti.is_native(method)
        && name != HELPER
        && !names::is_platform(&names::dotted(name))
        && agent.ti.lines(method).is_ok_and(|lines| !lines.is_empty())
}

/// The code location of a bytecode.
pub(crate) fn code_location(agent: &Agent, method: Method, location: i64) -> CodeLocation {
    let class = agent.ti.declaring_class(method).ok();
    let signature = class.and_then(|class| agent.ti.signature(class).ok()).unwrap_or_default();
    let name = signature.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')).unwrap_or_default();
    CodeLocation {
        class: name.replace('/', "."),
        method: agent.ti.method_name(method).map_or_else(|_| "?".to_owned(), |(name, _)| name),
        file: class.and_then(|class| agent.ti.source_file(class)).unwrap_or_default(),
        line: line_of(agent, method, location).unwrap_or(0),
        bytecode_index: location.max(0) as u64,
    }
}
