//! Resolving names of variables that are reached through objects: which part is the class, and which fields follow.

use crate::ClassPath;
use invigil_expr::diag::nearest;
use invigil_jvm_agent::entity::Entity;
use invigil_jvm_agent::names::{dotted, matches_name, type_name};
use invigil_jvm_agent::protocol::{FieldRef, PathRoot, VariablePath};
use invigil_weave::{Class, Field};

const STATIC: u16 = 0x0008;
/// Maximum number of ancestors of a class that are searched.
const ANCESTORS: usize = 64;
/// Maximum number of classes that a name may match; the first one with the member counts.
const CANDIDATES: usize = 20;

/// An error about a name: what is wrong, and the remedy.
pub(crate) type NameError = (String, String);

/// The classes that match a dotted name.
pub(crate) fn classes_named(path: &ClassPath, name: &str) -> Vec<Class> {
    let meant = path.names().filter(|class| matches_name(name, class)).take(CANDIDATES);
    meant.filter_map(|class| path.class(class)).collect()
}

/// The field of this name with the class that declares it: the class itself or an ancestor.
pub(crate) fn declaring_class(path: &ClassPath, class: &Class, name: &str) -> Option<(String, Field)> {
    let mut pending = vec![class.clone()];
    for _ in 0..ANCESTORS {
        let class = pending.pop()?;
        if let Some(field) = class.fields.iter().find(|field| field.name == name) {
            return Some((class.name, field.clone()));
        }
        // Superclasses are searched before interfaces.
        pending.splice(0..0, class.interfaces.iter().filter_map(|name| path.class(name)));
        pending.extend(class.parent.as_deref().and_then(|name| path.class(name)));
    }
    None
}

/// The path to a variable; `None` if it is a field or local variable itself, or if no class matches the start of its
/// name.
pub(crate) fn variable_path(path: &ClassPath, entity: &Entity) -> Result<Option<VariablePath>, NameError> {
    match &entity.local {
        Some(local) if !entity.members.is_empty() => from_local(path, entity, local),
        Some(_) => Ok(None),
        None => from_class(path, entity),
    }
}

/// The path of `A.main(String[]).list.next.value`.
fn from_local(path: &ClassPath, entity: &Entity, local: &str) -> Result<Option<VariablePath>, NameError> {
    for class in classes_named(path, &entity.name.class) {
        for method in &class.methods {
            if !entity.name.matches_method(&class.name, &method.name)
                || !entity.name.matches_types(&method.descriptor)
            {
                continue;
            }
            let Some(variable) = method.locals.iter().find(|variable| variable.name == local) else {
                continue;
            };
            let links = path_fields(path, local, &variable.descriptor, &entity.members)?;
            if links.iter().any(|(_, is_static)| *is_static) {
                return Err(static_member_error(&links));
            }
            let root = PathRoot::Local {
                class: class.name.clone(),
                method: method.name.clone(),
                descriptor: method.descriptor.clone(),
                name: local.to_owned(),
            };
            return Ok(Some(VariablePath {
                root,
                fields: links.into_iter().map(|(link, _)| link).collect(),
            }));
        }
    }
    Ok(None)
}

fn static_member_error(links: &[(FieldRef, bool)]) -> NameError {
    let shown = links.iter().find(|(_, is_static)| *is_static).map_or("", |(link, _)| link.field.as_str());
    let message = format!("`{shown}` is static: it belongs to no object");
    (message, "name it by its class".to_owned())
}

/// The path of `SieveMain.sa.numPrimes`.
fn from_class(path: &ClassPath, entity: &Entity) -> Result<Option<VariablePath>, NameError> {
    let words: Vec<&str> = entity.name.class.split('.').chain([entity.name.member.as_str()]).collect();
    let mut first_error = None;
    for split in (1..words.len()).rev() {
        let (class, members) = words.split_at(split);
        for class in classes_named(path, &class.join(".")) {
            if members.len() == 1 {
                return Ok(None);
            }
            let members: Vec<String> = members.iter().map(|word| (*word).to_owned()).collect();
            let whole = format!("L{};", class.name);
            match path_fields(path, &dotted(&class.name), &whole, &members) {
                Ok(links) => return from_links(links).map(Some),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
    }
    first_error.map_or(Ok(None), Err)
}

/// The path starts at its last static field.
fn from_links(mut links: Vec<(FieldRef, bool)>) -> Result<VariablePath, NameError> {
    if links.last().is_some_and(|(_, is_static)| *is_static) {
        return Err(static_member_error(&links));
    }
    let root = match links.iter().rposition(|(_, is_static)| *is_static) {
        Some(at) => {
            let rest = links.split_off(at + 1);
            let field = links.pop().map(|(link, _)| link);
            links = rest;
            field.map(|field| PathRoot::Static { field })
        }
        None => None,
    };
    let root = root.unwrap_or(PathRoot::Instances);
    Ok(VariablePath { root, fields: links.into_iter().map(|(link, _)| link).collect() })
}

/// The fields that members denote, starting with a type, each with whether it is static.
pub(crate) fn path_fields(
    path: &ClassPath,
    from: &str,
    descriptor: &str,
    members: &[String],
) -> Result<Vec<(FieldRef, bool)>, NameError> {
    let mut all = Vec::new();
    let (mut shown, mut at) = (from.to_owned(), descriptor.to_owned());
    for member in members {
        let Some(name) = at.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')) else {
            let reason = format!("`{shown}` is of type `{}`: it has no `{member}`", type_name(&at));
            return Err((reason, "only fields of objects have members".to_owned()));
        };
        let Some(class) = path.class(name) else {
            let reason = format!("the class `{}` of `{shown}` is not on the class path", dotted(name));
            return Err((reason, "names that lead through objects are looked up in class files".to_owned()));
        };
        let Some((declared, field)) = declaring_class(path, &class, member) else {
            let near = nearest(member, class.fields.iter().map(|field| field.name.as_str()));
            let help = near.map_or(String::new(), |near| format!("did you mean `{near}`?"));
            return Err((format!("the class `{}` has no field `{member}`", dotted(name)), help));
        };
        if field.constant.is_some() {
            return Err((format!("`{shown}.{member}` is a constant, which is never written"), String::new()));
        }
        let is_static = field.access & STATIC != 0;
        shown = format!("{shown}.{member}");
        at.clone_from(&field.descriptor);
        all.push((FieldRef { class: declared, field: field.name, descriptor: field.descriptor }, is_static));
    }
    Ok(all)
}
