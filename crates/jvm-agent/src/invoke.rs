//! Calling methods of the program on behalf of scripts: in the thread of the event, before it continues.

use crate::agent::{Agent, as_program, locked};
use crate::evaluate::{EmptyScope, Evaluator};
use crate::names::{dotted, parameters, return_type, type_name};
use crate::protocol::{MethodCall, WireValue};
use crate::vm::{Jni, Primitive, Receiver, Ref, c_string};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

static CALLS: Mutex<Vec<Arc<MethodCall>>> = Mutex::new(Vec::new());

thread_local! {
    /// The calls that this thread still has to make; `None` if it is not calling.
    static DUE: RefCell<Option<VecDeque<u32>>> = const { RefCell::new(None) };
}

/// Sets the methods that will be called.
pub(crate) fn prepare(calls: Vec<MethodCall>) {
    *locked(&CALLS) = calls.into_iter().map(Arc::new).collect();
}

/// Calls methods, by their positions. Calls that such a method triggers are made after it, not inside it.
pub(crate) fn perform(agent: &Agent, jni: Jni, calls: &[u32]) {
    if calls.is_empty() {
        return;
    }
    let is_busy = DUE.with_borrow_mut(|due| {
        let is_busy = due.is_some();
        due.get_or_insert_default().extend(calls);
        is_busy
    });
    if is_busy {
        return;
    }
    while let Some(number) = DUE.with_borrow_mut(|due| due.as_mut().and_then(VecDeque::pop_front)) {
        let call = locked(&CALLS).get(number as usize).cloned();
        let Some(call) = call else { continue };
        if let Err(reason) = as_program(|| jni.framed(|| perform_one(agent, jni, &call))) {
            agent.warn(format!("`{}` was not called: {reason}", call.name));
        }
    }
    DUE.set(None);
}

fn perform_one(agent: &Agent, jni: Jni, call: &MethodCall) -> Result<(), String> {
    let shown = dotted(&call.class);
    let class =
        find(agent, jni, &call.class).ok_or_else(|| format!("the class `{shown}` is not loaded yet"))?;
    let evaluator = Evaluator { ti: agent.ti, jni, scope: &EmptyScope };
    let mut at: Option<Ref> = None;
    let mut path = shown;
    for field in &call.fields {
        let of = at.map_or(class, |object| jni.class_of(object));
        let found = evaluator.field(at, of, field).map(|found| found.value);
        path = format!("{path}.{field}");
        match found {
            Some(Primitive::Object(Some(object))) => at = Some(object),
            Some(Primitive::Object(None)) => return Err(format!("`{path}` is null")),
            Some(_) => return Err(format!("`{path}` is not an object")),
            None => return Err(format!("there is no field `{path}`")),
        }
    }
    let arguments = parameters(&call.descriptor).into_iter().zip(&call.arguments);
    let arguments: Vec<Primitive> = arguments
        .map(|(ty, argument)| argument_of(jni, ty, argument))
        .collect::<Option<_>>()
        .ok_or("the arguments do not match its parameters")?;
    let (name, descriptor) = (c_string(&call.method), c_string(&call.descriptor));
    let (of, method) = match at {
        None => (Receiver::Static(class), jni.static_method(class, &name, &descriptor)),
        Some(object) => (Receiver::Of(object), jni.method(jni.class_of(object), &name, &descriptor)),
    };
    let method = method.ok_or("there is no such method")?;
    jni.call_any(of, method, return_type(&call.descriptor), &arguments).map_err(|thrown| {
        let class = agent.ti.signature(jni.class_of(thrown)).unwrap_or_default();
        format!("it threw `{}`", type_name(&class))
    })
}

fn find(agent: &Agent, jni: Jni, name: &str) -> Option<Ref> {
    let expected = format!("L{name};");
    let mut found = None;
    for class in agent.ti.loaded_classes().ok()? {
        match found.is_none() && agent.ti.signature(class).is_ok_and(|known| known == expected) {
            true => found = Some(class),
            false => jni.delete_local(class),
        }
    }
    found
}

/// A value as a parameter of this type takes it.
fn argument_of(jni: Jni, ty: &str, value: &WireValue) -> Option<Primitive> {
    Some(match (ty, value) {
        ("Z", WireValue::Bool { value }) => Primitive::Bool(*value),
        ("B", WireValue::Int { value }) => Primitive::Byte(*value as i8),
        ("C", WireValue::Int { value }) => Primitive::Char(*value as u16),
        ("S", WireValue::Int { value }) => Primitive::Short(*value as i16),
        ("I", WireValue::Int { value }) => Primitive::Int(*value as i32),
        ("J", WireValue::Int { value }) => Primitive::Long(*value),
        ("F", WireValue::Int { value }) => Primitive::Float(*value as f32),
        ("D", WireValue::Int { value }) => Primitive::Double(*value as f64),
        ("F", WireValue::Float { value }) => Primitive::Float(*value as f32),
        ("D", WireValue::Float { value }) => Primitive::Double(*value),
        (ty, WireValue::Text { value }) if ty.starts_with('L') => Primitive::Object(Some(jni.string(value)?)),
        _ => return None,
    })
}
