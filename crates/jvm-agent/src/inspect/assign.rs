//! Assigning values to variables, fields and array elements.

use crate::agent::Agent;
use crate::evaluate::{Evaluator, Slot, number, whole};
use crate::expression::Expression;
use crate::inspect::scope::Frame;
use crate::names;
use crate::on_probe::is_instance;
use crate::vm::{Jni, Local, Primitive};

/// Assigns the value of an expression.
pub(crate) fn assign(
    agent: &Agent,
    jni: Jni,
    frame: &Frame<'_>,
    place: &str,
    value: &str,
) -> Result<(), String> {
    let evaluator = Evaluator { ti: agent.ti, jni, scope: frame };
    let to = Expression::parse(place)?;
    let new = evaluator.evaluate(&Expression::parse(value)?)?;
    if let Expression::Name(name) = &to
        && let Some(variable) = frame.find(name)
    {
        let value = convert(agent, jni, new.value, &variable.signature)?;
        let local = match value {
            Primitive::Bool(value) => Local::Int(value.into()),
            Primitive::Byte(value) => Local::Int(value.into()),
            Primitive::Char(value) => Local::Int(value.into()),
            Primitive::Short(value) => Local::Int(value.into()),
            Primitive::Int(value) => Local::Int(value),
            Primitive::Long(value) => Local::Long(value),
            Primitive::Float(value) => Local::Float(value),
            Primitive::Double(value) => Local::Double(value),
            Primitive::Object(value) => Local::Object(value),
        };
        return agent
            .ti
            .set_local(frame.thread, frame.depth, variable.slot, local)
            .map_err(|error| format!("`{name}` cannot be changed: {}", crate::vm::error_text(error)));
    }
    let old = evaluator.evaluate(&to)?;
    let value = convert(agent, jni, new.value, &old.signature)?;
    match old.slot {
        Some(Slot::Field { of, field }) => jni.set(of, field, value),
        Some(Slot::Element { of, at }) => {
            if !jni.set_element(of, at, value) {
                return Err("the array cannot hold such an object".to_owned());
            }
        }
        None => return Err(format!("`{place}` cannot be assigned to")),
    }
    Ok(())
}

/// The value converted to the type, or an error if it does not fit.
fn convert(agent: &Agent, jni: Jni, value: Primitive, signature: &str) -> Result<Primitive, String> {
    let type_error = || format!("the value does not fit into a `{}`", names::type_name(signature));
    let integer = || whole(value).ok_or_else(type_error);
    Ok(match signature.as_bytes().first() {
        Some(b'Z') => match value {
            Primitive::Bool(_) => value,
            _ => return Err(type_error()),
        },
        Some(b'B') => Primitive::Byte(i8::try_from(integer()?).map_err(|_| type_error())?),
        Some(b'C') => Primitive::Char(u16::try_from(integer()?).map_err(|_| type_error())?),
        Some(b'S') => Primitive::Short(i16::try_from(integer()?).map_err(|_| type_error())?),
        Some(b'I') => Primitive::Int(i32::try_from(integer()?).map_err(|_| type_error())?),
        Some(b'J') => Primitive::Long(integer()?),
        Some(b'F') => Primitive::Float(number(value).ok_or_else(type_error)? as f32),
        Some(b'D') => Primitive::Double(number(value).ok_or_else(type_error)?),
        _ => match value {
            Primitive::Object(None) => value,
            Primitive::Object(Some(object)) => {
                // An object of another class would corrupt the virtual machine, which relies on the types of fields.
                let class = jni.class_of(object);
                let actual = agent.ti.signature(class).unwrap_or_default();
                let fits = match signature.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')) {
                    Some("java/lang/Object") => true,
                    Some(name) => is_instance(agent.ti, jni, class, &names::dotted(name)),
                    None => actual == signature,
                };
                if fits { value } else { return Err(type_error()) }
            }
            _ => return Err(type_error()),
        },
    })
}
