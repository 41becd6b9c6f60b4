//! The values to capture at a site, so that a parameter of an event can be reported.

use super::{NameError, ResolvedSubscription, STATIC, has_only_own_members, signature, suggestion};
use crate::expression::Expression;
use crate::names::{self, argument_names};
use crate::protocol::{Trigger, ValueRequest, ValueSource};
use invigil_expr::diag::nearest;
use invigil_weave::{Capture, Class, Method};

impl ResolvedSubscription {
    /// The values that a parameter needs, with their names in its expression.
    pub(crate) fn roots(
        &self,
        request: &ValueRequest,
        class: &Class,
        method: &Method,
    ) -> Result<Vec<(String, Capture)>, NameError> {
        match &request.source {
            ValueSource::Thread | ValueSource::Process | ValueSource::Time => Ok(Vec::new()),
            ValueSource::Argument { number } => {
                let count = names::parameters(&method.descriptor).len();
                match (*number as usize).checked_sub(1).filter(|at| *at < count) {
                    Some(at) => Ok(vec![(String::new(), Capture::Argument(at as u16))]),
                    None => Err((
                        format!("`{}` has no argument {number}", signature(method)),
                        format!("it has {count}, counted from 1"),
                    )),
                }
            }
            ValueSource::Result => self.result(method).map(|capture| vec![(String::new(), capture)]),
            ValueSource::Expression { text } => {
                let expression = Expression::parse(text).map_err(|reason| (reason, String::new()))?;
                let mut roots = Vec::new();
                for name in expression.names() {
                    if let Some(capture) = self.root(name, class, method)? {
                        roots.push((name.to_owned(), capture));
                    }
                }
                Ok(roots)
            }
        }
    }

    fn result(&self, method: &Method) -> Result<Capture, NameError> {
        match self.subscription.trigger {
            Trigger::Write => Ok(Capture::Value),
            Trigger::Return if names::return_type(&method.descriptor) != "V" => Ok(Capture::Result),
            Trigger::Return => Err((format!("`{}` returns nothing", signature(method)), String::new())),
            Trigger::Enter | Trigger::Line => Err((
                format!("the result of `{}` is not known before it returns", signature(method)),
                "write `after event`".to_owned(),
            )),
        }
    }

    fn unavailable_for_local(&self, name: &str) -> Result<Option<Capture>, NameError> {
        let reason = format!("`{name}` is not available for a local variable");
        Err((reason, "for the value of the variable, write `ret` or its name".to_owned()))
    }

    /// What a name denotes at the site; `None` for a static field or a class, which need no captured value.
    fn root(&self, name: &str, class: &Class, method: &Method) -> Result<Option<Capture>, NameError> {
        if self.is_at_calls() {
            if argument_names(method).iter().flatten().any(|argument| argument == name) {
                let help = "where a method is called, its parameters have numbers: write `arg 1`".to_owned();
                return Err((format!("the parameter `{name}` has no name where the method is called"), help));
            }
            // Non-static fields belong to the object whose method is called.
            return Ok((!name.starts_with(|letter: char| letter.is_uppercase())).then_some(Capture::Owner));
        }
        if self.path.is_some() {
            let member = self.entity.members.last().unwrap_or(&self.entity.name.member);
            return Ok(Some(if name == member { Capture::Value } else { Capture::Owner }));
        }
        if self.is_local() {
            let is_it = self.entity.local.as_deref() == Some(name);
            return if is_it { Ok(Some(Capture::Value)) } else { self.unavailable_for_local(name) };
        }
        if self.subscription.trigger == Trigger::Write {
            // The write may be in any class: a name is the field itself, or another field of its object.
            return Ok(Some(if name == self.entity.name.member { Capture::Value } else { Capture::Owner }));
        }
        let is_static = method.access & STATIC != 0;
        let in_constructor = method.name == "<init>" && self.subscription.trigger == Trigger::Enter;
        let this = || match (is_static, in_constructor) {
            (true, _) => Err((
                format!("`{}` is static: it has no `this`", signature(method)),
                "name a parameter or a static field".to_owned(),
            )),
            (_, true) => Err((
                "an object does not exist yet when its constructor is entered".to_owned(),
                "write `after event`".to_owned(),
            )),
            _ => Ok(Some(Capture::This)),
        };
        if name == "this" {
            return this();
        }
        let arguments = argument_names(method);
        if let Some(at) = arguments.iter().position(|argument| argument.as_deref() == Some(name)) {
            return Ok(Some(Capture::Argument(at as u16)));
        }
        if name == "ret" {
            return self.result(method).map(Some);
        }
        match class.fields.iter().find(|field| field.name == name) {
            Some(field) if field.access & STATIC != 0 => return Ok(None),
            Some(_) => return this(),
            None => {}
        }
        if name.starts_with(|letter: char| letter.is_uppercase()) {
            return Ok(None);
        }
        if !has_only_own_members(class) && !is_static {
            return this();
        }
        let known = arguments.iter().flatten().map(String::as_str);
        let near = nearest(name, known.chain(class.fields.iter().map(|field| field.name.as_str())));
        let reason =
            format!("`{}` has no parameter `{name}`, and its class has no such field", signature(method));
        let help = match near {
            None if arguments.iter().any(Option::is_none) => {
                "the class file does not have the names of parameters: compile with `javac -g`, or write `arg 1`"
                    .to_owned()
            }
            near => suggestion(near),
        };
        Err((reason, help))
    }
}
