//! Paths in the parameters of events: `this.size` of a class that has no `size`.

use crate::ClassPath;
use crate::variable_path::{NameError, classes_named, declaring_class};
use invigil_expr::diag::nearest;
use invigil_jvm_agent::entity::Entity;
use invigil_jvm_agent::expression::Expression;
use invigil_jvm_agent::names::{argument_names, dotted, parameters, return_type, type_name};
use invigil_jvm_agent::protocol::Trigger;
use invigil_monitor::event::{EventDecl, EventId, ParamSource};
use invigil_target::UnresolvedEvent;
use invigil_weave::{Class, Method};

/// Maximum number of ancestors of a class that are searched.
const ANCESTORS: usize = 64;

/// The parameters of an event that name fields which do not exist, as far as class files reveal it. At run time a value
/// may be of a subclass that has the field. Therefore only misspellings are reported, where a field with a similar name
/// exists.
pub(crate) fn unknown_fields(
    path: &ClassPath,
    event: EventId,
    trigger: &Trigger,
    decl: &EventDecl,
) -> Vec<UnresolvedEvent> {
    let Ok(entity) = Entity::parse(&decl.name) else { return Vec::new() };
    if entity.scope.is_some() || entity.local.is_some() {
        return Vec::new();
    }
    let classes = classes_named(path, &entity.name.class);
    let mut found = Vec::new();
    for (at, param) in decl.params.iter().enumerate() {
        let (ParamSource::Name(text) | ParamSource::Expression(text)) = &param.source else { continue };
        let Ok(expression) = Expression::parse(text) else { continue };
        let places = classes.iter().flat_map(|class| places(class, trigger, &entity));
        let mut errors = places.map(|(class, method)| {
            TypeResolver { path, class, method, member: &entity.name.member }.descriptor(&expression).err()
        });
        // It is enough that one of the matching classes has the field.
        let Some(first) = errors.next() else { continue };
        if let Some((reason, help)) = first.filter(|_| errors.all(|error| error.is_some())) {
            found.push(UnresolvedEvent { event, param: Some(at), reason, help, pending: false });
        }
    }
    found
}

/// The methods of a class in which an event may occur, or the class if a field of it is written.
fn places<'a>(class: &'a Class, trigger: &Trigger, entity: &Entity) -> Vec<(&'a Class, Option<&'a Method>)> {
    if *trigger == Trigger::Write {
        return vec![(class, None)];
    }
    let meant = class.methods.iter().filter(|method| {
        entity.name.matches_method(&class.name, &method.name) && entity.name.matches_types(&method.descriptor)
    });
    meant.map(|method| (class, Some(method))).collect()
}

/// Determines the types of expressions at a site.
struct TypeResolver<'a> {
    path: &'a ClassPath,
    class: &'a Class,
    /// `None` where a field is written.
    method: Option<&'a Method>,
    /// The method or field that the event is about.
    member: &'a str,
}

impl TypeResolver<'_> {
    /// The type of an expression, if it is known. The parser bounds the depth of the expression.
    fn descriptor(&self, expression: &Expression) -> Result<Option<String>, NameError> {
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
                return Some(return_type(&method.descriptor).to_owned());
            }
        }
        let name = if self.method.is_none() && name == "ret" { self.member } else { name };
        declaring_class(self.path, self.class, name).map(|(_, field)| field.descriptor)
    }

    fn member(&self, descriptor: &str, member: &str) -> Result<Option<String>, NameError> {
        if descriptor.starts_with('[') {
            return match member {
                "length" => Ok(Some("I".to_owned())),
                _ => Err((format!("an array has no `{member}`"), "it has `length`".to_owned())),
            };
        }
        let Some(name) = descriptor.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')) else {
            let reason = format!("a value of type `{}` has no `{member}`", type_name(descriptor));
            return Err((reason, "only objects have fields".to_owned()));
        };
        let Some(class) = self.path.class(name) else { return Ok(None) };
        if let Some((_, field)) = declaring_class(self.path, &class, member) {
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

    /// The fields of a class, including inherited ones.
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
