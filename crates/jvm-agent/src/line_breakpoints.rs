//! Breakpoints at lines, by breakpoints of the virtual machine.

use crate::agent::{Agent, locked};
use crate::evaluate::Evaluator;
use crate::event_channel::send_and_wait;
use crate::expression::Expression;
use crate::inspect::scope::Frame;
use crate::inspect::stack;
use crate::names;
use crate::on_probe::wire_value;
use crate::protocol::{
    AgentEvent, Answer, DeadObjectIds, Notification, Subscription, SubscriptionId, ValueSource, ValueType,
    WireValue,
};
use crate::vm::{Jni, Method, Ref};
use jvmti_bindings::sys::jvmti as raw;
use std::sync::{Arc, Mutex};

/// A breakpoint at a line.
struct LineBreakpoint {
    subscription: Subscription,
    number: u32,
    file: String,
    line: u32,
    enabled: bool,
    locations: Vec<(Method, i64)>,
}

static BREAKPOINTS: Mutex<Vec<Arc<Mutex<LineBreakpoint>>>> = Mutex::new(Vec::new());

/// Parses `Queue.java:12`.
pub(crate) fn parse(name: &str) -> Option<(&str, u32)> {
    let (file, line) = name.rsplit_once(':')?;
    let line = line.trim().parse().ok()?;
    file.ends_with(".java").then_some((file.trim(), line))
}

/// Sets a breakpoint. The answer has its locations.
pub(crate) fn set(agent: &Agent, subscription: Subscription) -> Result<Answer, String> {
    if !agent.capabilities.can_generate_breakpoint_events() {
        return Err(
            "lines can have breakpoints only in a program that was started with `invigil run`, without another \
                    debugger: set a breakpoint at a method"
                .to_owned(),
        );
    }
    let SubscriptionId::Breakpoint { number } = subscription.id else {
        return Err("this is not a breakpoint".to_owned());
    };
    let (file, line) = parse(&subscription.name)
        .ok_or_else(|| format!("`{}` is not a line of a file", subscription.name))?;
    let (file, line) = (file.to_owned(), line);
    let point = Arc::new(Mutex::new(LineBreakpoint {
        subscription,
        number,
        file,
        line,
        enabled: true,
        locations: Vec::new(),
    }));
    let failed = crate::vm::error_text;
    agent.ti.set_event_enabled(raw::JVMTI_EVENT_BREAKPOINT, true, None).map_err(failed)?;
    agent.ti.set_event_enabled(raw::JVMTI_EVENT_CLASS_PREPARE, true, None).map_err(failed)?;
    locked(&BREAKPOINTS).push(Arc::clone(&point));
    let mut has_file = false;
    for class in agent.ti.loaded_classes().map_err(failed)? {
        has_file |= set_in_class(agent, &point, class);
    }
    let point = locked(&point);
    if point.locations.is_empty() && has_file {
        let message = format!("there is no code for line {} of `{}`", point.line, point.file);
        let number = point.number;
        drop(point);
        remove(agent, number);
        return Err(message);
    }
    let spots =
        point.locations.iter().map(|(method, location)| stack::code_location(agent, *method, *location));
    Ok(Answer::Locations { locations: spots.collect() })
}

/// The locations of a line in the loaded classes.
pub(crate) fn find(agent: &Agent, file: &str, line: u32) -> Vec<(Method, i64)> {
    let classes = agent.ti.loaded_classes().unwrap_or_default();
    classes.into_iter().flat_map(|class| locations_in(agent, class, file, line).unwrap_or_default()).collect()
}

/// The locations of a line in a class; `None` if the class is from another file.
fn locations_in(agent: &Agent, class: Ref, file: &str, line: u32) -> Option<Vec<(Method, i64)>> {
    let signature = agent.ti.signature(class).ok()?;
    let name = signature.strip_prefix('L')?.strip_suffix(';')?;
    let (folder, plain) = file.rsplit_once('/').map_or((None, file), |(folder, plain)| (Some(folder), plain));
    if folder.is_none() && names::is_platform(&names::dotted(name)) {
        return None;
    }
    let package = name.rsplit_once('/').map_or("", |(package, _)| package);
    if folder.is_some_and(|folder| !package.ends_with(folder) && !folder.ends_with(package))
        || agent.ti.source_file(class)? != plain
    {
        return None;
    }
    let mut found = Vec::new();
    for method in agent.ti.methods(class).unwrap_or_default() {
        let lines = agent.ti.lines(method).unwrap_or_default();
        // The first location: the code of one line may have several parts.
        if let Some((location, _)) = lines.iter().filter(|(_, number)| *number == line).min() {
            found.push((method, *location));
        }
    }
    Some(found)
}

/// Sets a breakpoint in a class. Returns whether the class is from its file.
fn set_in_class(agent: &Agent, point: &Mutex<LineBreakpoint>, class: Ref) -> bool {
    let (file, line, enabled) = {
        let point = locked(point);
        (point.file.clone(), point.line, point.enabled)
    };
    let Some(found) = locations_in(agent, class, &file, line) else { return false };
    for (method, location) in found {
        if enabled {
            // Another breakpoint may have set it already.
            let _ = agent.ti.set_breakpoint(method, location);
        }
        let mut point = locked(point);
        if !point.locations.contains(&(method, location)) {
            point.locations.push((method, location));
        }
    }
    true
}

fn all() -> Vec<Arc<Mutex<LineBreakpoint>>> {
    locked(&BREAKPOINTS).clone()
}

/// Called when a class can be used.
pub(crate) fn on_class_prepare(agent: &Agent, class: Ref) {
    for point in all() {
        set_in_class(agent, &point, class);
    }
}

/// Sets all breakpoints again, because the virtual machine forgets those of classes that were woven again.
pub(crate) fn reinstall(agent: &Agent) {
    if all().is_empty() {
        return;
    }
    let classes = agent.ti.loaded_classes().unwrap_or_default();
    for point in all() {
        let old = std::mem::take(&mut locked(&point).locations);
        for (method, location) in old {
            let _ = agent.ti.clear_breakpoint(method, location);
        }
    }
    for point in all() {
        for class in &classes {
            set_in_class(agent, &point, *class);
        }
    }
}

/// Removes a breakpoint. Returns whether it existed.
pub(crate) fn remove(agent: &Agent, number: u32) -> bool {
    let found = {
        let mut points = locked(&BREAKPOINTS);
        let at = points.iter().position(|point| locked(point).number == number);
        at.map(|at| points.remove(at))
    };
    let Some(point) = found else { return false };
    locked(&point).enabled = false;
    release(agent, &point);
    true
}

/// Removes all breakpoints.
pub(crate) fn remove_all(agent: &Agent) {
    let numbers: Vec<u32> = all().iter().map(|point| locked(point).number).collect();
    for number in numbers {
        remove(agent, number);
    }
}

/// Enables or disables a breakpoint. Returns whether it exists.
pub(crate) fn enable(agent: &Agent, number: u32, enabled: bool) -> bool {
    let Some(point) = all().into_iter().find(|point| locked(point).number == number) else { return false };
    locked(&point).enabled = enabled;
    if enabled {
        let places = locked(&point).locations.clone();
        for (method, location) in places {
            let _ = agent.ti.set_breakpoint(method, location);
        }
    } else {
        release(agent, &point);
    }
    true
}

/// Clears those locations of a breakpoint that no other breakpoint needs.
fn release(agent: &Agent, point: &Mutex<LineBreakpoint>) {
    let places = locked(point).locations.clone();
    for place in places {
        let needed = all().iter().any(|other| {
            let other = locked(other);
            other.enabled && other.locations.contains(&place)
        });
        if !needed {
            let _ = agent.ti.clear_breakpoint(place.0, place.1);
        }
    }
}

/// Called when a thread has reached a breakpoint.
pub(crate) fn on_breakpoint(agent: &Agent, jni: Jni, thread: Ref, method: Method, location: i64) {
    let number = agent.thread_number(jni, thread);
    let subscriptions: Vec<Subscription> = all()
        .iter()
        .map(|point| locked(point))
        .filter(|point| point.enabled && point.locations.contains(&(method, location)))
        .map(|point| point.subscription.clone())
        .collect();
    let time = agent.started_at.elapsed().as_secs_f64();
    let hits: Vec<Notification> = jni.framed(|| {
        let frame = Frame::current(agent, method, location);
        let evaluator = Evaluator { ti: agent.ti, jni, scope: &frame };
        let value = |text: &str, ty: Option<&ValueType>| {
            let expression = Expression::parse(text).ok()?;
            Some(wire_value(agent, jni, evaluator.evaluate(&expression).ok()?.value, ty))
        };
        let hit = |subscription: Subscription| {
            let values = subscription.value_requests.iter().map(|request| match &request.source {
                ValueSource::Expression { text } => {
                    value(text, request.ty.as_ref()).unwrap_or(WireValue::Unset)
                }
                _ => WireValue::Unset,
            });
            Notification { values: values.collect(), id: subscription.id }
        };
        subscriptions.into_iter().map(hit).collect()
    });
    if !hits.is_empty() {
        let _ = send_and_wait(
            agent,
            jni,
            &AgentEvent::Notified {
                thread: number,
                time,
                notifications: hits,
                dead: DeadObjectIds::default(),
            },
        );
    }
}
