//! From a probe that reports to news for the tool.

use crate::agent::{Agent, agent, is_ours};
use crate::evaluate::{Evaluator, Nowhere, Scope, number, whole};
use crate::inside::{Dealt, Outcome, QUICK};
use crate::names;
use crate::news::deliver;
use crate::path;
use crate::place::{Place, Reader, Use};
use crate::protocol::{Datum, Hit, News, Source, Type};
use crate::route::Route;
use crate::table;
use crate::vm::{Global, Jni, Primitive, Ref, Ti};
use std::cell::RefCell;

/// A value as a probe passes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Raw {
    Number(i64),
    Object(Option<Ref>),
}

/// A value that waits for the rest of its report.
enum Held {
    Number(i64),
    Object(Option<Global>),
}

thread_local! {
    /// Values that wait, and the place whose they are. The place may be turned off before the rest comes.
    static HELD: RefCell<(u32, Vec<Held>)> = const { RefCell::new((0, Vec::new())) };
}

/// Texts longer than this are cut.
const LONGEST: usize = 1 << 16;

/// The first values of a report that has too many for one call.
pub(crate) fn hold(jni: Jni, id: u32, values: &[Raw]) {
    if table::listened(id).is_none() || is_ours() {
        return;
    }
    let stale = HELD.with_borrow_mut(|(of, held)| {
        let stale = if *of == id { Vec::new() } else { std::mem::take(held) };
        *of = id;
        held.extend(values.iter().map(|value| match value {
            Raw::Number(number) => Held::Number(*number),
            Raw::Object(object) => Held::Object(object.and_then(|object| jni.global(object))),
        }));
        stale
    });
    let_go(jni, stale);
}

fn let_go(jni: Jni, held: Vec<Held>) {
    for held in held {
        if let Held::Object(Some(global)) = held {
            jni.forget(global);
        }
    }
}

/// The values of a whole report: the last so many, for those before were left by a report that was broken off. Nothing if
/// there are too few, because the place was not listened to when they were passed.
fn whole_report(mut values: Vec<Raw>, count: usize) -> Option<Vec<Raw>> {
    let first = values.len().checked_sub(count)?;
    Some(values.split_off(first))
}

/// A probe reports numbers, and all that comes of it is a step of one simple monitor, which is here. False if that is not so;
/// then nothing was done. It calls nothing and cannot fail.
#[inline(always)]
pub(crate) fn fire_at_once(jni: Jni, id: u32, numbers: &[i64]) -> bool {
    let Some(symbol) = table::brief(id) else { return false };
    let Some(agent) = agent() else { return false };
    agent.room.happened_at_once(jni.thread(), symbol, numbers)
}

/// A probe reports.
pub(crate) fn fire(jni: Jni, id: u32, values: &[Raw]) {
    let Some((place, route)) = table::listened(id) else { return };
    let Some(agent) = agent() else { return };
    let mut numbers = [0; QUICK];
    if let Some(route) = route
        && let Some(numbers) = route.read(agent, jni, values, &mut numbers)
    {
        match agent.room.happened_soon(jni.thread(), route.symbol, numbers) {
            Dealt::Quiet => return,
            Dealt::Told(told) => return tell_quickly(agent, jni, *told),
            Dealt::Not => {}
        }
        if is_ours() || quick(agent, jni, route, numbers) {
            return;
        }
    }
    if !is_ours() {
        report(agent, jni, id, place, values);
    }
}

/// What the machine may give to another thread once this one is no more.
struct Thread {
    who: usize,
    number: u32,
}

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(agent) = agent() {
            agent.room.forget(self.who);
        }
    }
}

thread_local! {
    /// This thread, once it has told something.
    static THREAD: RefCell<Option<Thread>> = const { RefCell::new(None) };
}

/// The number of the thread that runs this.
fn current_thread(agent: &Agent, jni: Jni) -> u32 {
    let number = || agent.ti.current_thread().map_or(0, |thread| agent.thread_number(jni, thread));
    // A virtual thread may go on in another one of the system's.
    if agent.powers.can_support_virtual_threads() {
        return number();
    }
    let known = THREAD.try_with(|known| known.borrow().as_ref().map(|known| known.number));
    if let Ok(Some(known)) = known {
        return known;
    }
    let number = number();
    // A thread that is about to end is not remembered.
    let _ = THREAD.try_with(|known| *known.borrow_mut() = Some(Thread { who: jni.thread(), number }));
    number
}

/// Has monitors deal with an event of whole numbers where they are. False if the long way must be taken.
fn quick(agent: &Agent, jni: Jni, route: &Route, numbers: &[i64]) -> bool {
    let thread = current_thread(agent, jni);
    let who = if agent.powers.can_support_virtual_threads() { 0 } else { jni.thread() };
    match agent.room.happened_quickly(agent, who, route.symbol, numbers, thread) {
        Dealt::Not => false,
        Dealt::Quiet => true,
        Dealt::Told(told) => {
            tell_quickly(agent, jni, *told);
            true
        }
    }
}

#[cold]
fn tell_quickly(agent: &Agent, jni: Jni, (hits, thread): (Vec<Hit>, u32)) {
    let time = agent.began.elapsed().as_secs_f64();
    jni.framed(|| tell_tool(agent, jni, thread, time, hits));
}

/// Lets the monitors that are here deal with events, and tells the tool what is left to tell.
pub(crate) fn hand_on(agent: &Agent, jni: Jni, thread: u32, time: f64, hits: Vec<Hit>) {
    if let Outcome::Told(hits) = agent.room.happened(agent, hits, time, thread) {
        tell_tool(agent, jni, thread, time, hits);
    }
}

#[cold]
fn tell_tool(agent: &Agent, jni: Jni, thread: u32, time: f64, hits: Vec<Hit>) {
    let gone = agent.room.gone_for_tool(agent);
    // When nobody listens any more the program goes on by itself.
    let _ = deliver(agent, jni, &News::Hits { thread, time, hits, gone });
}

fn report(agent: &Agent, jni: Jni, id: u32, place: &Place, last: &[Raw]) {
    let (of, held) = HELD.with_borrow_mut(std::mem::take);
    let first = held.iter().filter(|_| of == id).map(|held| match held {
        Held::Number(number) => Raw::Number(*number),
        Held::Object(object) => Raw::Object(object.as_ref().map(Global::get)),
    });
    let values = first.chain(last.iter().copied()).collect();
    if let Some(values) = whole_report(values, place.captures.len()) {
        jni.framed(|| tell(agent, jni, place, &values));
    }
    let_go(jni, held);
}

fn tell(agent: &Agent, jni: Jni, place: &Place, values: &[Raw]) {
    let values: Vec<Primitive> = values
        .iter()
        .zip(&place.captures)
        .map(|(value, (_, signature))| primitive(*value, signature))
        .collect();
    let thread = current_thread(agent, jni);
    let time = agent.began.elapsed().as_secs_f64();
    let here = Here { agent, jni, place, values: &values, thread, time };
    let uses = place.uses.iter().filter(|each| here.counts(each) && each.wanted.is_active());
    let mut hits: Vec<Hit> =
        uses.map(|each| Hit { key: each.wanted.want.key.clone(), values: here.read_all(each) }).collect();
    hits.extend(path::gone(agent, &agent.identities.gone_from_paths(), time));
    if !hits.is_empty() {
        hand_on(agent, jni, thread, time, hits);
    }
}

/// What a number that was passed as `long` is, by its type.
fn primitive(value: Raw, signature: &str) -> Primitive {
    match (value, signature.as_bytes().first()) {
        (Raw::Object(object), _) => Primitive::Object(object),
        (Raw::Number(number), Some(b'Z')) => Primitive::Bool(number != 0),
        (Raw::Number(number), Some(b'B')) => Primitive::Byte(number as i8),
        (Raw::Number(number), Some(b'C')) => Primitive::Char(number as u16),
        (Raw::Number(number), Some(b'S')) => Primitive::Short(number as i16),
        (Raw::Number(number), Some(b'J')) => Primitive::Long(number),
        (Raw::Number(number), Some(b'F')) => Primitive::Float(f64::from_bits(number as u64) as f32),
        (Raw::Number(number), Some(b'D')) => Primitive::Double(f64::from_bits(number as u64)),
        (Raw::Number(number), _) => Primitive::Int(number as i32),
    }
}

/// Where a report is made.
struct Here<'a> {
    agent: &'a Agent,
    jni: Jni,
    place: &'a Place,
    values: &'a [Primitive],
    thread: u32,
    time: f64,
}

impl Here<'_> {
    fn object(&self) -> Option<Ref> {
        match self.values.get(self.place.this?) {
            Some(Primitive::Object(object)) => *object,
            _ => None,
        }
    }

    /// Whether the object is one of those that are meant.
    fn counts(&self, each: &Use) -> bool {
        if let Some(step) = &each.step {
            let changes = each.wanted.entity.is_by_path;
            return step.path.sees(self.agent, self.jni, &step.role, step.seen(self.values), changes);
        }
        if !each.for_some {
            return true;
        }
        self.object().is_some_and(|object| {
            is_instance(self.agent.ti, self.jni, self.jni.class_of(object), &each.wanted.entity.name.class)
        })
    }

    fn read_all(&self, each: &Use) -> Vec<Datum> {
        let values = each.readers.iter().enumerate().map(|(at, (reader, ty))| {
            let value = self.read(reader, ty.as_ref());
            if matches!(value, Datum::Int { .. } | Datum::Float { .. }) {
                each.wanted.is_plain(at);
            }
            value
        });
        values.collect()
    }

    fn read(&self, reader: &Reader, ty: Option<&Type>) -> Datum {
        match reader {
            Reader::Nothing => Datum::Unset,
            Reader::Changed => path::changed(),
            Reader::Known(Source::Thread) => Datum::Int { value: self.thread.into() },
            Reader::Known(Source::Process) => Datum::Int { value: std::process::id().into() },
            Reader::Known(Source::Time) => Datum::Float { value: self.time },
            Reader::Known(_) => Datum::Unset,
            Reader::Taken(at) => {
                self.values.get(*at).map_or(Datum::Unset, |value| datum(self.agent, self.jni, *value, ty))
            }
            Reader::Computed { expression, names } => {
                let scope = Taken { here: self, names };
                let evaluator = Evaluator { ti: self.agent.ti, jni: self.jni, scope: &scope };
                match evaluator.evaluate(expression) {
                    Ok(found) => datum(self.agent, self.jni, found.value, ty),
                    Err(_) => Datum::Unset,
                }
            }
        }
    }
}

/// What names mean where a probe reports: what it passed.
struct Taken<'a> {
    here: &'a Here<'a>,
    names: &'a [(String, usize)],
}

impl Scope for Taken<'_> {
    fn variable(&self, name: &str) -> Option<Result<Primitive, String>> {
        let (_, at) = self.names.iter().find(|(known, _)| known == name)?;
        self.here.values.get(*at).map(|value| Ok(*value))
    }

    fn this(&self) -> Option<Ref> {
        self.here.object()
    }

    fn class(&self) -> Option<Ref> {
        // The innermost frame is the probe.
        let (method, _) = self.here.agent.ti.frame(None, 1).ok()?;
        self.here.agent.ti.declaring_class(method).ok()
    }
}

/// Whether a class is, extends or implements one that is meant by a name.
pub(crate) fn is_instance(ti: Ti, jni: Jni, class: Ref, name: &str) -> bool {
    let mut left = vec![class];
    // Each class has few above it; a bound keeps a strange one from taking for ever.
    for _ in 0..256 {
        let Some(class) = left.pop() else { return false };
        let signature = ti.signature(class).unwrap_or_default();
        let known = signature.strip_prefix('L').and_then(|rest| rest.strip_suffix(';'));
        if known.is_some_and(|known| names::means(name, known)) {
            return true;
        }
        left.extend(ti.interfaces(class).unwrap_or_default());
        left.extend(jni.superclass(class));
    }
    false
}

/// A value for the monitors: strings and numbers in boxes by value, other objects by identity.
pub(crate) fn datum(agent: &Agent, jni: Jni, value: Primitive, ty: Option<&Type>) -> Datum {
    let evaluator = Evaluator { ti: agent.ti, jni, scope: &Nowhere };
    let value = evaluator.unboxed(value);
    let text = |value: String| match ty {
        None | Some(Type::Text) => Datum::Text { value },
        Some(_) => Datum::Unset,
    };
    match (value, ty) {
        (Primitive::Bool(value), None | Some(Type::Bool)) => Datum::Bool { value },
        (Primitive::Bool(value), Some(Type::Int)) => Datum::Int { value: value.into() },
        (Primitive::Bool(_), _) => Datum::Unset,
        (Primitive::Char(unit), None | Some(Type::Text)) => text(String::from_utf16_lossy(&[unit])),
        (Primitive::Object(None), _) => Datum::Null,
        (Primitive::Object(Some(object)), ty) => {
            let class = jni.class_of(object);
            if agent.ti.signature(class).is_ok_and(|signature| signature == "Ljava/lang/String;") {
                return text(jni.text(object, LONGEST).0);
            }
            match ty {
                None | Some(Type::Int) => Datum::Object { number: agent.identities.number(agent.ti, object) },
                Some(Type::Text) => {
                    match evaluator.field(Some(object), class, "name").map(|found| found.value) {
                        // The name of a constant of an enumeration.
                        Some(Primitive::Object(Some(name)))
                            if is_instance(agent.ti, jni, class, "java.lang.Enum") =>
                        {
                            text(jni.text(name, LONGEST).0)
                        }
                        _ => Datum::Unset,
                    }
                }
                Some(_) => Datum::Unset,
            }
        }
        (value, None | Some(Type::Int)) if whole(value).is_some() => {
            whole(value).map_or(Datum::Unset, |value| Datum::Int { value })
        }
        (value, Some(Type::Bool)) if whole(value).is_some() => Datum::Bool { value: whole(value) != Some(0) },
        (value, None | Some(Type::Float)) => {
            number(value).map_or(Datum::Unset, |value| Datum::Float { value })
        }
        _ => Datum::Unset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_was_broken_off_does_not_spoil_the_next() {
        let values = |numbers: &[i64]| numbers.iter().map(|number| Raw::Number(*number)).collect();
        let told = |numbers: &[i64], count| {
            let whole: Option<Vec<Raw>> = whole_report(values(numbers), count);
            whole.map(|values| {
                let numbers = values.iter().map(|value| match value {
                    Raw::Number(number) => *number,
                    Raw::Object(_) => 0,
                });
                numbers.collect::<Vec<i64>>()
            })
        };
        assert_eq!(told(&[1, 2, 3, 4, 5], 5), Some(vec![1, 2, 3, 4, 5]));
        // The place was turned off after the first four of another report.
        assert_eq!(told(&[9, 9, 9, 9, 1, 2, 3, 4, 5], 5), Some(vec![1, 2, 3, 4, 5]));
        // It was turned on in the midst of one.
        assert_eq!(told(&[5], 5), None);
    }
}
