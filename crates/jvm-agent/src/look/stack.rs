//! Frames and places.

use crate::agent::{Agent, HELPER};
use crate::names;
use crate::protocol::Spot;
use crate::vm::{Jni, Method, Ref};

/// How many of the innermost frames are the probe's own, and nobody's business.
pub(crate) fn hidden(agent: &Agent, jni: Jni, thread: Option<Ref>) -> i32 {
    let Some(helper) = agent.helper.get() else { return 0 };
    let frames = agent.ti.stack(thread, 4).unwrap_or_default();
    let ours = frames.iter().take_while(|(method, _)| {
        agent.ti.declaring_class(*method).is_ok_and(|class| {
            let same = jni.is_same(class, helper.get());
            jni.let_go(class);
            same
        })
    });
    ours.count() as i32
}

/// The line of a place in a method.
pub(crate) fn line_of(agent: &Agent, method: Method, location: i64) -> Option<u32> {
    let mut lines = agent.ti.lines(method).ok()?;
    lines.sort_unstable();
    // What comes before the first line is the probe at the method's begin.
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

/// A place in words and numbers.
pub(crate) fn spot(agent: &Agent, method: Method, location: i64) -> Spot {
    let class = agent.ti.declaring_class(method).ok();
    let signature = class.and_then(|class| agent.ti.signature(class).ok()).unwrap_or_default();
    let name = signature.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')).unwrap_or_default();
    Spot {
        class: name.replace('/', "."),
        method: agent.ti.method_name(method).map_or_else(|_| "?".to_owned(), |(name, _)| name),
        file: class.and_then(|class| agent.ti.source_file(class)).unwrap_or_default(),
        line: line_of(agent, method, location).unwrap_or(0),
        location: location.max(0) as u64,
    }
}
