//! Paths in the parameters of events: `this.size` of a class that has no `size`.

use crate::ClassPath;
use crate::route::{Mistake, classes_named, declaring};
use invigil_expr::diag::nearest;
use invigil_jvm_agent::entity::Entity;
use invigil_jvm_agent::expression::Expression;
use invigil_jvm_agent::names::{argument_names, dotted, parameters, returns, type_words};
use invigil_jvm_agent::protocol::Moment;
use invigil_monitor::event::{Source, Symbol, SymbolId};
use invigil_session::subject::Unknown;
use invigil_weave::{Class, Method};

/// No class has more above it.
const ANCESTORS: usize = 64;

/// The parameters of an event that lead over fields which are not there, as far as class files tell. What a value has that is
/// of another class than its declaration says is known when the program runs; so only slips are told: where a field is
/// much alike.
pub(crate) fn strange(path: &ClassPath, symbol: SymbolId, moment: &Moment, written: &Symbol) -> Vec<Unknown> {
    let Ok(entity) = Entity::parse(&written.name) else { return Vec::new() };
    if entity.scope.is_some() || entity.local.is_some() {
        return Vec::new();
    }
    let classes = classes_named(path, &entity.name.class);
    let mut found = Vec::new();
    for (at, param) in written.params.iter().enumerate() {
        let (Source::Name(text) | Source::Expression(text)) = &param.source else { continue };
        let Ok(expression) = Expression::parse(text) else { continue };
        let places = classes.iter().flat_map(|class| places(class, moment, &entity));
        let mut wrong = places.map(|(class, method)| {
            Walk { path, class, method, member: &entity.name.member }.descriptor(&expression).err()
        });
        // It is enough that one of those that are meant has it.
        let Some(first) = wrong.next() else { continue };
        if let Some((reason, help)) = first.filter(|_| wrong.all(|wrong| wrong.is_some())) {
            found.push(Unknown { symbol, param: Some(at), reason, help, pending: false });
        }
    }
    found
}

/// Where an event may happen: in methods of a class, or where a field of it is written.
fn places<'a>(class: &'a Class, moment: &Moment, entity: &Entity) -> Vec<(&'a Class, Option<&'a Method>)> {
    if *moment == Moment::Write {
        return vec![(class, None)];
    }
    let meant = class.methods.iter().filter(|method| {
        entity.name.means_method(&class.name, &method.name) && entity.name.means_types(&method.descriptor)
    });
    meant.map(|method| (class, Some(method))).collect()
}

/// What names mean at a place.
struct Walk<'a> {
    path: &'a ClassPath,
    class: &'a Class,
    /// Nothing where a field is written.
    method: Option<&'a Method>,
    /// The method or field that the event is about.
    member: &'a str,
}

impl Walk<'_> {
    /// The type of an expression, if it is known. The depth of the expression is bounded by its parser.
    fn descriptor(&self, expression: &Expression) -> Result<Option<String>, Mistake> {
        match expression {
            Expression::Literal(_) => Ok(None),
            Expression::Name(name) => Ok(self.named(name)),
            Expression::Unary(_, of) => self.descriptor(of).map(|_| None),
            Expression::Binary(_, one, other) => {
                self.descriptor(one)?;
                self.descriptor(other).map(|_| None)
            }
            Expression::Index(of, index) => {
                self.descriptor(index)?;
                let array = self.descriptor(of)?;
                Ok(array.and_then(|array| Some(array.strip_prefix('[')?.to_owned())))
            }
            Expression::Member(of, member) => match self.descriptor(of)? {
                Some(descriptor) => self.member(&descriptor, member),
                None => Ok(None),
            },
        }
    }

    fn named(&self, name: &str) -> Option<String> {
        if name == "this" {
            return Some(format!("L{};", self.class.name));
        }
        if let Some(method) = self.method {
            let at = argument_names(method).iter().position(|argument| argument.as_deref() == Some(name));
            if let Some(at) = at {
                return parameters(&method.descriptor).get(at).map(|descriptor| (*descriptor).to_owned());
            }
            if name == "ret" {
                return Some(returns(&method.descriptor).to_owned());
            }
        }
        let name = if self.method.is_none() && name == "ret" { self.member } else { name };
        declaring(self.path, self.class, name).map(|(_, field)| field.descriptor)
    }

    fn member(&self, descriptor: &str, member: &str) -> Result<Option<String>, Mistake> {
        if descriptor.starts_with('[') {
            return match member {
                "length" => Ok(Some("I".to_owned())),
                _ => Err((format!("an array has no `{member}`"), "it has `length`".to_owned())),
            };
        }
        let Some(name) = descriptor.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')) else {
            let reason = format!("a value of type `{}` has no `{member}`", type_words(descriptor));
            return Err((reason, "only objects have fields".to_owned()));
        };
        let Some(class) = self.path.class(name) else { return Ok(None) };
        if let Some((_, field)) = declaring(self.path, &class, member) {
            return Ok(Some(field.descriptor));
        }
        let fields = self.fields(&class);
        match nearest(member, fields.iter().map(String::as_str)) {
            Some(near) => {
                let reason = format!("the class `{}` has no field `{member}`", dotted(name));
                Err((reason, format!("did you mean `{near}`?")))
            }
            None => Ok(None),
        }
    }

    /// The fields of a class, with those that it inherits.
    fn fields(&self, class: &Class) -> Vec<String> {
        let mut all = Vec::new();
        let mut next = Some(class.clone());
        for _ in 0..ANCESTORS {
            let Some(class) = next else { break };
            all.extend(class.fields.iter().map(|field| field.name.clone()));
            next = class.parent.as_deref().and_then(|parent| self.path.class(parent));
        }
        all
    }
}
