//! Methods of the program that scripts call, looked up in class files.

use crate::ClassPath;
use crate::route::{Mistake, classes_named, links};
use crate::target::Target;
use crate::wants::nearest_class;
use invigil_expr::diag::nearest;
use invigil_jvm_agent::names::{dotted, parameters, type_words};
use invigil_jvm_agent::protocol::{self as told, Datum, Order, Request};
use invigil_monitor::event::SymbolId;
use invigil_monitor::mac::{Argument, Call};
use invigil_session::subject::{Done, Unknown};
use invigil_weave::{Class, Method};

const STATIC: u16 = 0x0008;
const ABSTRACT: u16 = 0x0400;
/// No class has more above it.
const ANCESTORS: usize = 64;

impl Target {
    /// Tells the agent which methods will be called; gives what the program does not have.
    pub(crate) fn plan_calls(&mut self, calls: &[(SymbolId, Call)]) -> Done<Vec<Unknown>> {
        let path = self.class_path();
        let (mut found, mut unknown) = (Vec::new(), Vec::new());
        for (symbol, call) in calls {
            match resolve(path, call) {
                Ok(call) => found.push(call),
                Err((reason, help)) => {
                    unknown.push(Unknown { symbol: *symbol, param: None, reason, help, pending: false });
                }
            }
        }
        if unknown.is_empty() {
            self.ask(&Request::Calls { calls: found })?;
        }
        Ok(unknown)
    }

    /// Has the thread that waits call a method before it goes on.
    pub(crate) fn call(&mut self, call: usize) -> Done {
        if self.waiting.is_some()
            && let Some(link) = &mut self.link
            && let Err(lost) = link.order(&Order::Invoke { call: call as u32 })
        {
            return Err(self.lost(&lost));
        }
        Ok(())
    }
}

/// The method that a call means, as the class files have it.
fn resolve(path: &ClassPath, call: &Call) -> Result<told::Call, Mistake> {
    let words: Vec<&str> = call.of.split('.').collect();
    let mut first_mistake = None;
    for split in (1..=words.len()).rev() {
        let (class, members) = words.split_at(split);
        for class in classes_named(path, &class.join(".")) {
            match of_class(path, &class, members, call) {
                Ok(found) => return Ok(found),
                Err(mistake) => first_mistake = first_mistake.or(Some(mistake)),
            }
        }
    }
    Err(first_mistake.unwrap_or_else(|| {
        let help = nearest_class(path, words[0]).or_else(|| nearest_class(path, &call.of));
        let help = help.unwrap_or_else(|| "methods that are called are looked up in class files".to_owned());
        (format!("no class on the class path is meant by `{}`", call.of), help)
    }))
}

/// The same where the class is known, and members of it lead to the object.
fn of_class(path: &ClassPath, class: &Class, members: &[&str], call: &Call) -> Result<told::Call, Mistake> {
    let members: Vec<String> = members.iter().map(|member| (*member).to_owned()).collect();
    let way = links(path, &dotted(&class.name), &format!("L{};", class.name), &members)?;
    if way.first().is_some_and(|(_, is_static)| !is_static) {
        let reason =
            format!("`{}.{}` is not static: it is not known whose it is", dotted(&class.name), members[0]);
        return Err((reason, "begin with a static field".to_owned()));
    }
    let owner = match way.last() {
        None => class.clone(),
        Some((link, _)) => {
            let name = link.descriptor.strip_prefix('L').and_then(|rest| rest.strip_suffix(';'));
            name.and_then(|name| path.class(name)).ok_or_else(|| {
                let reason = format!("`{}` is of type `{}`", call.of, type_words(&link.descriptor));
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
    // One that takes the very types comes before one that takes wider ones.
    let chosen =
        fitting.min_by_key(|method| widened(&method.descriptor, &call.arguments)).ok_or_else(|| {
            let all = named.iter().map(|method| {
                let types: Vec<String> = parameters(&method.descriptor).into_iter().map(type_words).collect();
                format!("`{}({})`", method.name, types.join(", "))
            });
            let all: Vec<String> = all.collect();
            let reason = format!("no method `{}` of `{shown}` can be called as `{call}`", call.method);
            (reason, format!("there is {}", all.join(", ")))
        })?;
    if members.is_empty() && chosen.access & STATIC == 0 {
        let reason = format!("`{shown}.{}` is not static: it is not known of which object", call.method);
        return Err((reason, "begin with a static field that holds the object".to_owned()));
    }
    // A static method is its class's, however it is named.
    let is_static = chosen.access & STATIC != 0;
    let fields = if is_static { Vec::new() } else { members };
    Ok(told::Call {
        name: call.to_string(),
        class: if is_static { owner.name } else { class.name.clone() },
        fields,
        method: chosen.name.clone(),
        descriptor: chosen.descriptor.clone(),
        arguments: call.arguments.iter().map(datum).collect(),
    })
}

/// The methods of a class and of those that it extends or implements.
fn methods(path: &ClassPath, class: &Class) -> Vec<Method> {
    let mut all: Vec<Method> = Vec::new();
    let mut left = vec![class.clone()];
    for _ in 0..ANCESTORS {
        let Some(class) = left.pop() else { break };
        let callable =
            class.methods.into_iter().filter(|method| method.has_code || method.access & ABSTRACT != 0);
        all.extend(callable);
        left.splice(0..0, class.interfaces.iter().filter_map(|name| path.class(name)));
        left.extend(class.parent.as_deref().and_then(|name| path.class(name)));
    }
    all
}

/// Whether a method takes these values, as Java would have it for constants.
fn fits(descriptor: &str, arguments: &[Argument]) -> bool {
    let types = parameters(descriptor);
    types.len() == arguments.len()
        && types.iter().zip(arguments).all(|(ty, argument)| match argument {
            Argument::Boolean(_) => *ty == "Z",
            Argument::Char(unit) => {
                matches!(*ty, "C" | "I" | "J" | "F" | "D") || *ty == "S" && *unit < 0x8000
            }
            Argument::Int(value) => match *ty {
                "B" => i8::try_from(*value).is_ok(),
                "S" => i16::try_from(*value).is_ok(),
                "C" => u16::try_from(*value).is_ok(),
                ty => matches!(ty, "I" | "J" | "F" | "D"),
            },
            Argument::Long(_) => matches!(*ty, "J" | "F" | "D"),
            Argument::Float(_) => matches!(*ty, "F" | "D"),
            Argument::Double(_) => *ty == "D",
            Argument::Text(_) => {
                matches!(*ty, "Ljava/lang/String;" | "Ljava/lang/Object;" | "Ljava/lang/CharSequence;")
            }
        })
}

/// How many of the parameters are of another type than their values.
fn widened(descriptor: &str, arguments: &[Argument]) -> usize {
    let types = parameters(descriptor).into_iter().map(type_words);
    let differs = |(ty, argument): &(String, &Argument)| ty.rsplit('.').next() != Some(argument.type_word());
    types.zip(arguments).filter(differs).count()
}

fn datum(argument: &Argument) -> Datum {
    match argument {
        Argument::Boolean(value) => Datum::Bool { value: *value },
        Argument::Char(value) => Datum::Int { value: (*value).into() },
        Argument::Int(value) => Datum::Int { value: (*value).into() },
        Argument::Long(value) => Datum::Int { value: *value },
        Argument::Float(value) => Datum::Float { value: (*value).into() },
        Argument::Double(value) => Datum::Float { value: *value },
        Argument::Text(value) => Datum::Text { value: value.clone() },
    }
}
