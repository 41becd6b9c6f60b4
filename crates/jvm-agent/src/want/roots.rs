//! Which values must be taken at a site, so that a parameter of an event can be told.

use super::{Mistake, STATIC, Wanted, is_plain, meant, signature};
use crate::expression::Expression;
use crate::names::{self, argument_names};
use crate::protocol::{Ask, Moment, Source};
use invigil_expr::diag::nearest;
use invigil_weave::{Capture, Class, Method};

impl Wanted {
    /// The values that a parameter needs, with their names in its expression.
    pub(crate) fn roots(
        &self,
        ask: &Ask,
        class: &Class,
        method: &Method,
    ) -> Result<Vec<(String, Capture)>, Mistake> {
        match &ask.source {
            Source::Thread | Source::Process | Source::Time => Ok(Vec::new()),
            Source::Argument { number } => {
                let count = names::parameters(&method.descriptor).len();
                match (*number as usize).checked_sub(1).filter(|at| *at < count) {
                    Some(at) => Ok(vec![(String::new(), Capture::Argument(at as u16))]),
                    None => Err((
                        format!("`{}` has no argument {number}", signature(method)),
                        format!("it has {count}, counted from 1"),
                    )),
                }
            }
            Source::Result => self.result(method).map(|capture| vec![(String::new(), capture)]),
            Source::Expression { text } => {
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

    fn result(&self, method: &Method) -> Result<Capture, Mistake> {
        match self.want.moment {
            Moment::Write => Ok(Capture::Value),
            Moment::Leave if names::returns(&method.descriptor) != "V" => Ok(Capture::Result),
            Moment::Leave => Err((format!("`{}` returns nothing", signature(method)), String::new())),
            Moment::Enter | Moment::Line => Err((
                format!("what `{}` returns is not known before it does", signature(method)),
                "write `after event`".to_owned(),
            )),
        }
    }

    fn nothing_but(&self, name: &str) -> Result<Option<Capture>, Mistake> {
        let reason = format!("`{name}` is not told with a local variable");
        Err((reason, "its value is `ret`, or its name".to_owned()))
    }

    /// What a name stands for at the site; nothing for a static field or a class, which need no value from there.
    fn root(&self, name: &str, class: &Class, method: &Method) -> Result<Option<Capture>, Mistake> {
        if self.is_at_calls() {
            if argument_names(method).iter().flatten().any(|argument| argument == name) {
                let help = "where a method is called, its parameters have numbers: write `arg 1`".to_owned();
                return Err((format!("the parameter `{name}` has no name where the method is called"), help));
            }
            // What is not static is of the object whose method is called.
            return Ok((!name.starts_with(|letter: char| letter.is_uppercase())).then_some(Capture::Owner));
        }
        if self.path.is_some() {
            let member = self.entity.members.last().unwrap_or(&self.entity.name.member);
            return Ok(Some(if name == member { Capture::Value } else { Capture::Owner }));
        }
        if self.is_local() {
            let is_it = self.entity.local.as_deref() == Some(name);
            return if is_it { Ok(Some(Capture::Value)) } else { self.nothing_but(name) };
        }
        if self.want.moment == Moment::Write {
            // The code that writes may be anybody's: a name is the field itself, or of the object that has it.
            return Ok(Some(if name == self.entity.name.member { Capture::Value } else { Capture::Owner }));
        }
        let is_static = method.access & STATIC != 0;
        let in_constructor = method.name == "<init>" && self.want.moment == Moment::Enter;
        let this = || match (is_static, in_constructor) {
            (true, _) => Err((
                format!("`{}` is static: it has no `this`", signature(method)),
                "name a parameter or a static field".to_owned(),
            )),
            (_, true) => Err((
                "an object is not there yet when its constructor begins".to_owned(),
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
        if !is_plain(class) && !is_static {
            return this();
        }
        let known = arguments.iter().flatten().map(String::as_str);
        let near = nearest(name, known.chain(class.fields.iter().map(|field| field.name.as_str())));
        let reason =
            format!("`{}` has no parameter `{name}`, and its class no such field", signature(method));
        let help = match near {
            None if arguments.iter().any(Option::is_none) => {
                "the class file does not have the names of parameters: compile with `javac -g`, or write `arg 1`"
                    .to_owned()
            }
            near => meant(near),
        };
        Err((reason, help))
    }
}
