//! Points at lines, by breakpoints of the machine.

use crate::agent::{Agent, locked};
use crate::evaluate::Evaluator;
use crate::expression::Expression;
use crate::fire::datum;
use crate::look::scope::Frame;
use crate::look::stack;
use crate::names;
use crate::news::deliver;
use crate::protocol::{Answer, Datum, Gone, Hit, Key, News, Source, Type, Want};
use crate::vm::{Jni, Method, Ref};
use jvmti_bindings::sys::jvmti as raw;
use std::sync::{Arc, Mutex};

/// A point at a line.
struct Point {
    want: Want,
    number: u32,
    file: String,
    line: u32,
    enabled: bool,
    places: Vec<(Method, i64)>,
}

static POINTS: Mutex<Vec<Arc<Mutex<Point>>>> = Mutex::new(Vec::new());

/// `Queue.java:12`, taken apart.
pub(crate) fn parse(name: &str) -> Option<(&str, u32)> {
    let (file, line) = name.rsplit_once(':')?;
    let line = line.trim().parse().ok()?;
    file.ends_with(".java").then_some((file.trim(), line))
}

/// Sets a point; answers where it is.
pub(crate) fn set(agent: &Agent, want: Want) -> Result<Answer, String> {
    if !agent.powers.can_generate_breakpoint_events() {
        return Err(
            "lines can carry points only in a program that was started with `invigil run`, without another \
                    debugger: set a point at a method"
                .to_owned(),
        );
    }
    let Key::Point { number } = want.key else { return Err("this is no point".to_owned()) };
    let (file, line) = parse(&want.name).ok_or_else(|| format!("`{}` is no line of a file", want.name))?;
    let (file, line) = (file.to_owned(), line);
    let point = Arc::new(Mutex::new(Point { want, number, file, line, enabled: true, places: Vec::new() }));
    let failed = crate::vm::words;
    agent.ti.notify(raw::JVMTI_EVENT_BREAKPOINT, true, None).map_err(failed)?;
    agent.ti.notify(raw::JVMTI_EVENT_CLASS_PREPARE, true, None).map_err(failed)?;
    locked(&POINTS).push(Arc::clone(&point));
    let mut has_file = false;
    for class in agent.ti.loaded_classes().map_err(failed)? {
        has_file |= place(agent, &point, class);
    }
    let point = locked(&point);
    if point.places.is_empty() && has_file {
        let words = format!("there is no code for line {} of `{}`", point.line, point.file);
        let number = point.number;
        drop(point);
        remove(agent, number);
        return Err(words);
    }
    let spots = point.places.iter().map(|(method, location)| stack::spot(agent, *method, *location));
    Ok(Answer::Spots { spots: spots.collect() })
}

/// Where a line is, in the classes that are loaded.
pub(crate) fn find(agent: &Agent, file: &str, line: u32) -> Vec<(Method, i64)> {
    let classes = agent.ti.loaded_classes().unwrap_or_default();
    classes.into_iter().flat_map(|class| places(agent, class, file, line).unwrap_or_default()).collect()
}

/// The places of a line in a class; nothing if the class is from another file.
fn places(agent: &Agent, class: Ref, file: &str, line: u32) -> Option<Vec<(Method, i64)>> {
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
        // Where the line begins: code of one line may lie in several parts.
        if let Some((location, _)) = lines.iter().filter(|(_, number)| *number == line).min() {
            found.push((method, *location));
        }
    }
    Some(found)
}

/// Puts a point into a class; says whether the class is from its file.
fn place(agent: &Agent, point: &Mutex<Point>, class: Ref) -> bool {
    let (file, line, enabled) = {
        let point = locked(point);
        (point.file.clone(), point.line, point.enabled)
    };
    let Some(found) = places(agent, class, &file, line) else { return false };
    for (method, location) in found {
        if enabled {
            // It may be there already, for another point.
            let _ = agent.ti.set_breakpoint(method, location);
        }
        let mut point = locked(point);
        if !point.places.contains(&(method, location)) {
            point.places.push((method, location));
        }
    }
    true
}

fn all() -> Vec<Arc<Mutex<Point>>> {
    locked(&POINTS).clone()
}

/// A class can be used from now on.
pub(crate) fn prepared(agent: &Agent, class: Ref) {
    for point in all() {
        place(agent, &point, class);
    }
}

/// After classes were woven again: the machine has forgotten their breakpoints.
pub(crate) fn renew(agent: &Agent) {
    if all().is_empty() {
        return;
    }
    let classes = agent.ti.loaded_classes().unwrap_or_default();
    for point in all() {
        let old = std::mem::take(&mut locked(&point).places);
        for (method, location) in old {
            let _ = agent.ti.clear_breakpoint(method, location);
        }
    }
    for point in all() {
        for class in &classes {
            place(agent, &point, *class);
        }
    }
}

/// Removes a point; says whether there is one.
pub(crate) fn remove(agent: &Agent, number: u32) -> bool {
    let found = {
        let mut points = locked(&POINTS);
        let at = points.iter().position(|point| locked(point).number == number);
        at.map(|at| points.remove(at))
    };
    let Some(point) = found else { return false };
    locked(&point).enabled = false;
    release(agent, &point);
    true
}

/// Removes all points.
pub(crate) fn remove_all(agent: &Agent) {
    let numbers: Vec<u32> = all().iter().map(|point| locked(point).number).collect();
    for number in numbers {
        remove(agent, number);
    }
}

/// Turns a point on or off; says whether there is one.
pub(crate) fn enable(agent: &Agent, number: u32, enabled: bool) -> bool {
    let Some(point) = all().into_iter().find(|point| locked(point).number == number) else { return false };
    locked(&point).enabled = enabled;
    if enabled {
        let places = locked(&point).places.clone();
        for (method, location) in places {
            let _ = agent.ti.set_breakpoint(method, location);
        }
    } else {
        release(agent, &point);
    }
    true
}

/// Takes the breakpoints of a point away that no other needs.
fn release(agent: &Agent, point: &Mutex<Point>) {
    let places = locked(point).places.clone();
    for place in places {
        let needed = all().iter().any(|other| {
            let other = locked(other);
            other.enabled && other.places.contains(&place)
        });
        if !needed {
            let _ = agent.ti.clear_breakpoint(place.0, place.1);
        }
    }
}

/// A thread has come to a breakpoint.
pub(crate) fn reached(agent: &Agent, jni: Jni, thread: Ref, method: Method, location: i64) {
    let number = agent.thread_number(jni, thread);
    let wants: Vec<Want> = all()
        .iter()
        .map(|point| locked(point))
        .filter(|point| point.enabled && point.places.contains(&(method, location)))
        .map(|point| point.want.clone())
        .collect();
    let time = agent.began.elapsed().as_secs_f64();
    let hits: Vec<Hit> = jni.framed(|| {
        let frame = Frame::current(agent, method, location);
        let evaluator = Evaluator { ti: agent.ti, jni, scope: &frame };
        let value = |text: &str, ty: Option<&Type>| {
            let expression = Expression::parse(text).ok()?;
            Some(datum(agent, jni, evaluator.evaluate(&expression).ok()?.value, ty))
        };
        let hit = |want: Want| {
            let values = want.asks.iter().map(|ask| match &ask.source {
                Source::Expression { text } => value(text, ask.ty.as_ref()).unwrap_or(Datum::Unset),
                _ => Datum::Unset,
            });
            Hit { values: values.collect(), key: want.key }
        };
        wants.into_iter().map(hit).collect()
    });
    if !hits.is_empty() {
        let _ = deliver(agent, jni, &News::Hits { thread: number, time, hits, gone: Gone::default() });
    }
}
