//! Methods of the program that scripts call, looked up in class files.

use crate::ClassPath;
use crate::subscriptions::nearest_class;
use crate::target::JavaTarget;
use crate::variable_path::{NameError, classes_named, path_fields};
use invigil_expr::diag::nearest;
use invigil_jvm_agent::names::{dotted, parameters, type_name};
use invigil_jvm_agent::protocol::{self as wire, Request, ThreadCommand, WireValue};
use invigil_monitor::event::EventId;
use invigil_monitor::mac::{JavaConstant, MethodCall};
use invigil_target::{TargetResult, UnresolvedEvent};
use invigil_weave::{Class, Method};

const STATIC: u16 = 0x0008;
const ABSTRACT: u16 = 0x0400;
/// Maximum number of ancestors of a class that are searched.
const ANCESTORS: usize = 64;

impl JavaTarget {
    /// Sends the agent the methods that will be called. Returns those that the program does not have.
    pub(crate) fn plan_calls(
        &mut self,
        calls: &[(EventId, MethodCall)],
    ) -> TargetResult<Vec<UnresolvedEvent>> {
        let path = self.class_path();
        let (mut found, mut unknown) = (Vec::new(), Vec::new());
        for (event, call) in calls {
            match resolve(path, call) {
                Ok(call) => found.push(call),
                Err((reason, help)) => {
                    unknown.push(UnresolvedEvent {
                        event: *event,
                        param: None,
                        reason,
                        help,
                        pending: false,
                    });
                }
            }
        }
        if unknown.is_empty() {
            self.request(&Request::PrepareCalls { calls: found })?;
        }
        Ok(unknown)
    }

    /// Makes the stopped thread call a method before it continues.
    pub(crate) fn invoke_call(&mut self, call: usize) -> TargetResult {
        if self.stopped_thread.is_some()
            && let Some(link) = &mut self.link
            && let Err(lost) = link.command(&ThreadCommand::Invoke { call: call as u32 })
        {
            return Err(self.on_disconnect(&lost));
        }
        Ok(())
    }
}

/// The method that a call denotes, as in the class files.
fn resolve(path: &ClassPath, call: &MethodCall) -> Result<wire::MethodCall, NameError> {
    let words: Vec<&str> = call.receiver.split('.').collect();
    let mut first_error = None;
    for split in (1..=words.len()).rev() {
        let (class, members) = words.split_at(split);
        for class in classes_named(path, &class.join(".")) {
            match of_class(path, &class, members, call) {
                Ok(found) => return Ok(found),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
    }
    Err(first_error.unwrap_or_else(|| {
        let help = nearest_class(path, words[0]).or_else(|| nearest_class(path, &call.receiver));
        let help = help.unwrap_or_else(|| "called methods are looked up in class files".to_owned());
        (format!("`{}` matches no class on the class path", call.receiver), help)
    }))
}

/// The method if the class is known, and `members` lead to the object.
fn of_class(
    path: &ClassPath,
    class: &Class,
    members: &[&str],
    call: &MethodCall,
) -> Result<wire::MethodCall, NameError> {
    let members: Vec<String> = members.iter().map(|member| (*member).to_owned()).collect();
    let fields = path_fields(path, &dotted(&class.name), &format!("L{};", class.name), &members)?;
    if fields.first().is_some_and(|(_, is_static)| !is_static) {
        let reason = format!("`{}.{}` is not static: its object is unknown", dotted(&class.name), members[0]);
        return Err((reason, "start with a static field".to_owned()));
    }
    let owner = match fields.last() {
        None => class.clone(),
        Some((link, _)) => {
            let name = link.descriptor.strip_prefix('L').and_then(|rest| rest.strip_suffix(';'));
            name.and_then(|name| path.class(name)).ok_or_else(|| {
                let reason = format!("`{}` is of type `{}`", call.receiver, type_name(&link.descriptor));
                (reason, "its class is not on the class path".to_owned())
            })?
        }
    };
    let all = methods(path, &owner);
    let shown = dotted(&owner.name);
    let named: Vec<&Method> = all.iter().filter(|method| method.name == call.method).collect();
    if named.is_empty() {
        let known = all.iter().map(|method| method.name.as_str()).filter(|name| !name.starts_with('<'));
        let near =
            nearest(&call.method, known).map_or(String::new(), |near| format!("did you mean `{near}`?"));
        return Err((format!("the class `{shown}` has no method `{}`", call.method), near));
    }
    let fitting = named.iter().copied().filter(|method| fits(&method.descriptor, &call.arguments));
    // Exact parameter types are preferred to wider ones.
    let chosen =
        fitting.min_by_key(|method| widened(&method.descriptor, &call.arguments)).ok_or_else(|| {
            let all = named.iter().map(|method| {
                let types: Vec<String> = parameters(&method.descriptor).into_iter().map(type_name).collect();
                format!("`{}({})`", method.name, types.join(", "))
            });
            let all: Vec<String> = all.collect();
            let reason = format!("no method `{}` of `{shown}` can be called as `{call}`", call.method);
            (reason, format!("there is {}", all.join(", ")))
        })?;
    if members.is_empty() && chosen.access & STATIC == 0 {
        let reason = format!("`{shown}.{}` is not static: its object is unknown", call.method);
        return Err((reason, "start with a static field that holds the object".to_owned()));
    }
    // A static method belongs to its class, whatever path names it.
    let is_static = chosen.access & STATIC != 0;
    let fields = if is_static { Vec::new() } else { members };
    Ok(wire::MethodCall {
        name: call.to_string(),
        class: if is_static { owner.name } else { class.name.clone() },
        fields,
        method: chosen.name.clone(),
        descriptor: chosen.descriptor.clone(),
        arguments: call.arguments.iter().map(wire_value).collect(),
    })
}

/// The methods of a class and its ancestors.
fn methods(path: &ClassPath, class: &Class) -> Vec<Method> {
    let mut all: Vec<Method> = Vec::new();
    let mut pending = vec![class.clone()];
    for _ in 0..ANCESTORS {
        let Some(class) = pending.pop() else { break };
        let callable =
            class.methods.into_iter().filter(|method| method.has_code || method.access & ABSTRACT != 0);
        all.extend(callable);
        pending.splice(0..0, class.interfaces.iter().filter_map(|name| path.class(name)));
        pending.extend(class.parent.as_deref().and_then(|name| path.class(name)));
    }
    all
}

/// Whether a method accepts these arguments, by Java's rules for constants.
fn fits(descriptor: &str, arguments: &[JavaConstant]) -> bool {
    let types = parameters(descriptor);
    types.len() == arguments.len()
        && types.iter().zip(arguments).all(|(ty, argument)| match argument {
            JavaConstant::Boolean(_) => *ty == "Z",
            JavaConstant::Char(unit) => {
                matches!(*ty, "C" | "I" | "J" | "F" | "D") || *ty == "S" && *unit < 0x8000
            }
            JavaConstant::Int(value) => match *ty {
                "B" => i8::try_from(*value).is_ok(),
                "S" => i16::try_from(*value).is_ok(),
                "C" => u16::try_from(*value).is_ok(),
                ty => matches!(ty, "I" | "J" | "F" | "D"),
            },
            JavaConstant::Long(_) => matches!(*ty, "J" | "F" | "D"),
            JavaConstant::Float(_) => matches!(*ty, "F" | "D"),
            JavaConstant::Double(_) => *ty == "D",
            JavaConstant::Text(_) => {
                matches!(*ty, "Ljava/lang/String;" | "Ljava/lang/Object;" | "Ljava/lang/CharSequence;")
            }
        })
}

/// How many of the parameters are of another type than their values.
fn widened(descriptor: &str, arguments: &[JavaConstant]) -> usize {
    let types = parameters(descriptor).into_iter().map(type_name);
    let differs =
        |(ty, argument): &(String, &JavaConstant)| ty.rsplit('.').next() != Some(argument.type_word());
    types.zip(arguments).filter(differs).count()
}

fn wire_value(argument: &JavaConstant) -> WireValue {
    match argument {
        JavaConstant::Boolean(value) => WireValue::Bool { value: *value },
        JavaConstant::Char(value) => WireValue::Int { value: (*value).into() },
        JavaConstant::Int(value) => WireValue::Int { value: (*value).into() },
        JavaConstant::Long(value) => WireValue::Int { value: *value },
        JavaConstant::Float(value) => WireValue::Float { value: (*value).into() },
        JavaConstant::Double(value) => WireValue::Float { value: *value },
        JavaConstant::Text(value) => WireValue::Text { value: value.clone() },
    }
}
