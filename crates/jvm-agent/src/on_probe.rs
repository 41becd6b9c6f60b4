//! The way of an event from a probe to the monitors and the debugger.

use crate::agent::{Agent, agent, is_agent_thread};
use crate::evaluate::{EmptyScope, Evaluator, Scope, number, whole};
use crate::event_channel::send_and_wait;
use crate::int_capture::IntCapture;
use crate::monitor_host::{FastOutcome, HostOutcome, MAX_FAST_ARGS};
use crate::names;
use crate::probe_site::{ProbeSite, SiteUse, ValueReader};
use crate::probe_table;
use crate::protocol::{AgentEvent, Notification, ValueSource, ValueType, WireValue};
use crate::tracked_path;
use crate::vm::{Global, Jni, Primitive, Ref, Ti};
use std::cell::RefCell;

/// A value as a probe passes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProbeValue {
    Number(i64),
    Object(Option<Ref>),
}

/// A value that waits for the remaining values of its probe.
enum StagedValue {
    Number(i64),
    Object(Option<Global>),
}

thread_local! {
    /// Staged values, and the site that they belong to. The site may be disabled before the remaining values arrive.
    static STAGED: RefCell<(u32, Vec<StagedValue>)> = const { RefCell::new((0, Vec::new())) };
}

/// Longer texts are cut.
const MAX_TEXT: usize = 1 << 16;

/// Stages the first values of a probe that passes too many for one call.
pub(crate) fn stage_values(jni: Jni, id: u32, values: &[ProbeValue]) {
    if probe_table::active_site(id).is_none() || is_agent_thread() {
        return;
    }
    let stale = STAGED.with_borrow_mut(|(of, staged)| {
        let stale = if *of == id { Vec::new() } else { std::mem::take(staged) };
        *of = id;
        staged.extend(values.iter().map(|value| match value {
            ProbeValue::Number(number) => StagedValue::Number(*number),
            ProbeValue::Object(object) => StagedValue::Object(object.and_then(|object| jni.global(object))),
        }));
        stale
    });
    release_staged(jni, stale);
}

fn release_staged(jni: Jni, staged: Vec<StagedValue>) {
    for staged in staged {
        if let StagedValue::Object(Some(global)) = staged {
            jni.delete_global(global);
        }
    }
}

/// The last `count` values; earlier ones were left by a report that was interrupted. `None` if there are too few,
/// because the site was enabled in between.
fn last_values(mut values: Vec<ProbeValue>, count: usize) -> Option<Vec<ProbeValue>> {
    let first = values.len().checked_sub(count)?;
    Some(values.split_off(first))
}

/// Fastest tier: steps an integer-only event of one simple embedded monitor. Otherwise returns false and changes
/// nothing. Calls nothing in the virtual machine and cannot fail.
#[inline(always)]
pub(crate) fn on_probe_unlocked(jni: Jni, id: u32, numbers: &[i64]) -> bool {
    let Some(event) = probe_table::integer_event(id) else { return false };
    let Some(agent) = agent() else { return false };
    agent.host.step_unlocked(jni.thread(), event, numbers)
}

/// Processes a report of a probe.
pub(crate) fn on_probe(jni: Jni, id: u32, values: &[ProbeValue]) {
    let Some((place, route)) = probe_table::active_site(id) else { return };
    let Some(agent) = agent() else { return };
    let mut numbers = [0; MAX_FAST_ARGS];
    if let Some(route) = route
        && let Some(numbers) = route.read(agent, jni, values, &mut numbers)
    {
        match agent.host.step_biased(jni.thread(), route.event, numbers) {
            FastOutcome::Handled => return,
            FastOutcome::Forward(reported) => return forward_fast(agent, jni, *reported),
            FastOutcome::Unhandled => {}
        }
        if is_agent_thread() || step_locked(agent, jni, route, numbers) {
            return;
        }
    }
    if !is_agent_thread() {
        assemble(agent, jni, id, place, values);
    }
}

/// An identity that the system may reuse once the thread has ended.
struct Thread {
    who: usize,
    number: u32,
}

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(agent) = agent() {
            agent.host.forget_thread(self.who);
        }
    }
}

thread_local! {
    /// The current thread, once it has reported something.
    static THREAD: RefCell<Option<Thread>> = const { RefCell::new(None) };
}

/// The number of the current thread.
fn current_thread(agent: &Agent, jni: Jni) -> u32 {
    let number = || agent.ti.current_thread().map_or(0, |thread| agent.thread_number(jni, thread));
    // A virtual thread may move to another system thread.
    if agent.capabilities.can_support_virtual_threads() {
        return number();
    }
    let known = THREAD.try_with(|known| known.borrow().as_ref().map(|known| known.number));
    if let Ok(Some(known)) = known {
        return known;
    }
    let number = number();
    // A thread that is about to end cannot be remembered.
    let _ = THREAD.try_with(|known| *known.borrow_mut() = Some(Thread { who: jni.thread(), number }));
    number
}

/// Steps an integer-only event in the embedded monitors. Returns false if the slow path has to be taken.
fn step_locked(agent: &Agent, jni: Jni, route: &IntCapture, numbers: &[i64]) -> bool {
    let thread = current_thread(agent, jni);
    let who = if agent.capabilities.can_support_virtual_threads() { 0 } else { jni.thread() };
    match agent.host.step_locked(agent, who, route.event, numbers, thread) {
        FastOutcome::Unhandled => false,
        FastOutcome::Handled => true,
        FastOutcome::Forward(reported) => {
            forward_fast(agent, jni, *reported);
            true
        }
    }
}

#[cold]
fn forward_fast(agent: &Agent, jni: Jni, (hits, thread): (Vec<Notification>, u32)) {
    let time = agent.started_at.elapsed().as_secs_f64();
    jni.framed(|| forward(agent, jni, thread, time, hits));
}

/// Gives events to the embedded monitors, and sends the debugger what remains to be sent.
pub(crate) fn dispatch(agent: &Agent, jni: Jni, thread: u32, time: f64, hits: Vec<Notification>) {
    if let HostOutcome::Forward(hits) = agent.host.on_events(agent, hits, time, thread) {
        forward(agent, jni, thread, time, hits);
    }
}

#[cold]
fn forward(agent: &Agent, jni: Jni, thread: u32, time: f64, notifications: Vec<Notification>) {
    let dead = agent.host.dead_objects_for_session(agent);
    // If the connection to the debugger is closed, the program continues on its own.
    let _ = send_and_wait(agent, jni, &AgentEvent::Notified { thread, time, notifications, dead });
}

fn assemble(agent: &Agent, jni: Jni, id: u32, place: &ProbeSite, last: &[ProbeValue]) {
    let (of, staged) = STAGED.with_borrow_mut(std::mem::take);
    let first = staged.iter().filter(|_| of == id).map(|staged| match staged {
        StagedValue::Number(number) => ProbeValue::Number(*number),
        StagedValue::Object(object) => ProbeValue::Object(object.as_ref().map(Global::get)),
    });
    let values = first.chain(last.iter().copied()).collect();
    if let Some(values) = last_values(values, place.captures.len()) {
        jni.framed(|| capture(agent, jni, place, &values));
    }
    release_staged(jni, staged);
}

fn capture(agent: &Agent, jni: Jni, place: &ProbeSite, values: &[ProbeValue]) {
    let values: Vec<Primitive> = values
        .iter()
        .zip(&place.captures)
        .map(|(value, (_, signature))| primitive(*value, signature))
        .collect();
    let thread = current_thread(agent, jni);
    let time = agent.started_at.elapsed().as_secs_f64();
    let here = CaptureContext { agent, jni, place, values: &values, thread, time };
    let uses = place.uses.iter().filter(|each| here.counts(each) && each.resolved.is_active());
    let mut hits: Vec<Notification> = uses
        .map(|each| Notification { id: each.resolved.subscription.id.clone(), values: here.read_all(each) })
        .collect();
    hits.extend(tracked_path::undefined_variables(agent, &agent.object_ids.take_dead_for_paths(), time));
    if !hits.is_empty() {
        dispatch(agent, jni, thread, time, hits);
    }
}

/// The value of a number that was passed as `long`, by its type.
fn primitive(value: ProbeValue, signature: &str) -> Primitive {
    match (value, signature.as_bytes().first()) {
        (ProbeValue::Object(object), _) => Primitive::Object(object),
        (ProbeValue::Number(number), Some(b'Z')) => Primitive::Bool(number != 0),
        (ProbeValue::Number(number), Some(b'B')) => Primitive::Byte(number as i8),
        (ProbeValue::Number(number), Some(b'C')) => Primitive::Char(number as u16),
        (ProbeValue::Number(number), Some(b'S')) => Primitive::Short(number as i16),
        (ProbeValue::Number(number), Some(b'J')) => Primitive::Long(number),
        (ProbeValue::Number(number), Some(b'F')) => Primitive::Float(f64::from_bits(number as u64) as f32),
        (ProbeValue::Number(number), Some(b'D')) => Primitive::Double(f64::from_bits(number as u64)),
        (ProbeValue::Number(number), _) => Primitive::Int(number as i32),
    }
}

/// What is known while the values of a report are captured.
struct CaptureContext<'a> {
    agent: &'a Agent,
    jni: Jni,
    place: &'a ProbeSite,
    values: &'a [Primitive],
    thread: u32,
    time: f64,
}

impl CaptureContext<'_> {
    fn object(&self) -> Option<Ref> {
        match self.values.get(self.place.this?) {
            Some(Primitive::Object(object)) => *object,
            _ => None,
        }
    }

    /// Whether the object is one of those that are meant.
    fn counts(&self, each: &SiteUse) -> bool {
        if let Some(step) = &each.step {
            let changes = each.resolved.entity.is_by_path;
            return step.path.observe(self.agent, self.jni, &step.role, step.seen(self.values), changes);
        }
        if !each.if_instance {
            return true;
        }
        self.object().is_some_and(|object| {
            is_instance(self.agent.ti, self.jni, self.jni.class_of(object), &each.resolved.entity.name.class)
        })
    }

    fn read_all(&self, each: &SiteUse) -> Vec<WireValue> {
        let values = each.readers.iter().enumerate().map(|(at, (reader, ty))| {
            let value = self.read(reader, ty.as_ref());
            if matches!(value, WireValue::Int { .. } | WireValue::Float { .. }) {
                each.resolved.mark_integer(at);
            }
            value
        });
        values.collect()
    }

    fn read(&self, reader: &ValueReader, ty: Option<&ValueType>) -> WireValue {
        match reader {
            ValueReader::Unavailable => WireValue::Unset,
            ValueReader::Changed => tracked_path::changed(),
            ValueReader::Context(ValueSource::Thread) => WireValue::Int { value: self.thread.into() },
            ValueReader::Context(ValueSource::Process) => WireValue::Int { value: std::process::id().into() },
            ValueReader::Context(ValueSource::Time) => WireValue::Float { value: self.time },
            ValueReader::Context(_) => WireValue::Unset,
            ValueReader::Captured(at) => self
                .values
                .get(*at)
                .map_or(WireValue::Unset, |value| wire_value(self.agent, self.jni, *value, ty)),
            ValueReader::Computed { expression, names } => {
                let scope = CapturedScope { here: self, names };
                let evaluator = Evaluator { ti: self.agent.ti, jni: self.jni, scope: &scope };
                match evaluator.evaluate(expression) {
                    Ok(found) => wire_value(self.agent, self.jni, found.value, ty),
                    Err(_) => WireValue::Unset,
                }
            }
        }
    }
}

/// Resolves names to the values that a probe passed.
struct CapturedScope<'a> {
    here: &'a CaptureContext<'a>,
    names: &'a [(String, usize)],
}

impl Scope for CapturedScope<'_> {
    fn variable(&self, name: &str) -> Option<Result<Primitive, String>> {
        let (_, at) = self.names.iter().find(|(known, _)| known == name)?;
        self.here.values.get(*at).map(|value| Ok(*value))
    }

    fn this(&self) -> Option<Ref> {
        self.here.object()
    }

    fn class(&self) -> Option<Ref> {
        // The innermost frame is that of the probe.
        let (method, _) = self.here.agent.ti.frame(None, 1).ok()?;
        self.here.agent.ti.declaring_class(method).ok()
    }
}

/// Whether a class is, extends or implements one that a name means.
pub(crate) fn is_instance(ti: Ti, jni: Jni, class: Ref, name: &str) -> bool {
    let mut left = vec![class];
    // The bound guards against malformed class hierarchies.
    for _ in 0..256 {
        let Some(class) = left.pop() else { return false };
        let signature = ti.signature(class).unwrap_or_default();
        let known = signature.strip_prefix('L').and_then(|rest| rest.strip_suffix(';'));
        if known.is_some_and(|known| names::matches_name(name, known)) {
            return true;
        }
        left.extend(ti.interfaces(class).unwrap_or_default());
        left.extend(jni.superclass(class));
    }
    false
}

/// A value for the monitors: strings and boxed numbers by value, other objects by their ids.
pub(crate) fn wire_value(agent: &Agent, jni: Jni, value: Primitive, ty: Option<&ValueType>) -> WireValue {
    let evaluator = Evaluator { ti: agent.ti, jni, scope: &EmptyScope };
    let value = evaluator.unboxed(value);
    let text = |value: String| match ty {
        None | Some(ValueType::Text) => WireValue::Text { value },
        Some(_) => WireValue::Unset,
    };
    match (value, ty) {
        (Primitive::Bool(value), None | Some(ValueType::Bool)) => WireValue::Bool { value },
        (Primitive::Bool(value), Some(ValueType::Int)) => WireValue::Int { value: value.into() },
        (Primitive::Bool(_), _) => WireValue::Unset,
        (Primitive::Char(unit), None | Some(ValueType::Text)) => text(String::from_utf16_lossy(&[unit])),
        (Primitive::Object(None), _) => WireValue::Null,
        (Primitive::Object(Some(object)), ty) => {
            let class = jni.class_of(object);
            if agent.ti.signature(class).is_ok_and(|signature| signature == "Ljava/lang/String;") {
                return text(jni.text(object, MAX_TEXT).0);
            }
            match ty {
                None | Some(ValueType::Int) => {
                    WireValue::Object { number: agent.object_ids.number(agent.ti, object) }
                }
                Some(ValueType::Text) => {
                    match evaluator.field(Some(object), class, "name").map(|found| found.value) {
                        // The name of an enumeration constant.
                        Some(Primitive::Object(Some(name)))
                            if is_instance(agent.ti, jni, class, "java.lang.Enum") =>
                        {
                            text(jni.text(name, MAX_TEXT).0)
                        }
                        _ => WireValue::Unset,
                    }
                }
                Some(_) => WireValue::Unset,
            }
        }
        (value, None | Some(ValueType::Int)) if whole(value).is_some() => {
            whole(value).map_or(WireValue::Unset, |value| WireValue::Int { value })
        }
        (value, Some(ValueType::Bool)) if whole(value).is_some() => {
            WireValue::Bool { value: whole(value) != Some(0) }
        }
        (value, None | Some(ValueType::Float)) => {
            number(value).map_or(WireValue::Unset, |value| WireValue::Float { value })
        }
        _ => WireValue::Unset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_report_does_not_affect_the_next() {
        let values = |numbers: &[i64]| numbers.iter().map(|number| ProbeValue::Number(*number)).collect();
        let reported = |numbers: &[i64], count| {
            let whole: Option<Vec<ProbeValue>> = last_values(values(numbers), count);
            whole.map(|values| {
                let numbers = values.iter().map(|value| match value {
                    ProbeValue::Number(number) => *number,
                    ProbeValue::Object(_) => 0,
                });
                numbers.collect::<Vec<i64>>()
            })
        };
        assert_eq!(reported(&[1, 2, 3, 4, 5], 5), Some(vec![1, 2, 3, 4, 5]));
        // The site was disabled after the first four values of another report.
        assert_eq!(reported(&[9, 9, 9, 9, 1, 2, 3, 4, 5], 5), Some(vec![1, 2, 3, 4, 5]));
        // It was enabled in the middle of a report.
        assert_eq!(reported(&[5], 5), None);
    }
}
