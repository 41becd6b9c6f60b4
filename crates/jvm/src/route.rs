//! Names that lead over objects: where the class ends, and which fields lie on the way.

use crate::ClassPath;
use invigil_expr::diag::nearest;
use invigil_jvm_agent::entity::Entity;
use invigil_jvm_agent::names::{dotted, means, type_words};
use invigil_jvm_agent::protocol::{Link, Root, Route};
use invigil_weave::{Class, Field};

const STATIC: u16 = 0x0008;
/// No class has more above it.
const ANCESTORS: usize = 64;
/// A name may mean so many classes: the first that has what is asked for counts.
const CANDIDATES: usize = 20;

/// What is wrong with a name, and the remedy.
pub(crate) type Mistake = (String, String);

/// The classes that a name with dots means.
pub(crate) fn classes_named(path: &ClassPath, name: &str) -> Vec<Class> {
    let meant = path.names().filter(|class| means(name, class)).take(CANDIDATES);
    meant.filter_map(|class| path.class(class)).collect()
}

/// The field of that name, with the class that declares it: the class, or one that it extends or implements.
pub(crate) fn declaring(path: &ClassPath, class: &Class, name: &str) -> Option<(String, Field)> {
    let mut left = vec![class.clone()];
    for _ in 0..ANCESTORS {
        let class = left.pop()?;
        if let Some(field) = class.fields.iter().find(|field| field.name == name) {
            return Some((class.name, field.clone()));
        }
        // Constants of interfaces come after what is inherited from classes.
        left.splice(0..0, class.interfaces.iter().filter_map(|name| path.class(name)));
        left.extend(class.parent.as_deref().and_then(|name| path.class(name)));
    }
    None
}

/// How a variable is reached; nothing if it is a field or a local variable itself, or if no class is known that its name
/// begins with.
pub(crate) fn route(path: &ClassPath, entity: &Entity) -> Result<Option<Route>, Mistake> {
    match &entity.local {
        Some(local) if !entity.members.is_empty() => from_local(path, entity, local),
        Some(_) => Ok(None),
        None => from_class(path, entity),
    }
}

/// The route of `A.main(String[]).list.next.value`.
fn from_local(path: &ClassPath, entity: &Entity, local: &str) -> Result<Option<Route>, Mistake> {
    for class in classes_named(path, &entity.name.class) {
        for method in &class.methods {
            if !entity.name.means_method(&class.name, &method.name)
                || !entity.name.means_types(&method.descriptor)
            {
                continue;
            }
            let Some(variable) = method.locals.iter().find(|variable| variable.name == local) else {
                continue;
            };
            let links = links(path, local, &variable.descriptor, &entity.members)?;
            if links.iter().any(|(_, is_static)| *is_static) {
                return Err(statics(&links));
            }
            let root = Root::Local {
                class: class.name.clone(),
                method: method.name.clone(),
                descriptor: method.descriptor.clone(),
                name: local.to_owned(),
            };
            return Ok(Some(Route { root, links: links.into_iter().map(|(link, _)| link).collect() }));
        }
    }
    Ok(None)
}

fn statics(links: &[(Link, bool)]) -> Mistake {
    let shown = links.iter().find(|(_, is_static)| *is_static).map_or("", |(link, _)| link.field.as_str());
    let words = format!("`{shown}` is static: it is no object's");
    (words, "name it by its class".to_owned())
}

/// The route of `SieveMain.sa.numPrimes`.
fn from_class(path: &ClassPath, entity: &Entity) -> Result<Option<Route>, Mistake> {
    let words: Vec<&str> = entity.name.class.split('.').chain([entity.name.member.as_str()]).collect();
    let mut first_mistake = None;
    for split in (1..words.len()).rev() {
        let (class, members) = words.split_at(split);
        for class in classes_named(path, &class.join(".")) {
            if members.len() == 1 {
                return Ok(None);
            }
            let members: Vec<String> = members.iter().map(|word| (*word).to_owned()).collect();
            let whole = format!("L{};", class.name);
            match links(path, &dotted(&class.name), &whole, &members) {
                Ok(links) => return from_links(links).map(Some),
                Err(mistake) => first_mistake = first_mistake.or(Some(mistake)),
            }
        }
    }
    first_mistake.map_or(Ok(None), Err)
}

/// A route begins at its last static field.
fn from_links(mut links: Vec<(Link, bool)>) -> Result<Route, Mistake> {
    if links.last().is_some_and(|(_, is_static)| *is_static) {
        return Err(statics(&links));
    }
    let root = match links.iter().rposition(|(_, is_static)| *is_static) {
        Some(at) => {
            let rest = links.split_off(at + 1);
            let field = links.pop().map(|(link, _)| link);
            links = rest;
            field.map(|field| Root::Static { field })
        }
        None => None,
    };
    let root = root.unwrap_or(Root::Instances);
    Ok(Route { root, links: links.into_iter().map(|(link, _)| link).collect() })
}

/// The fields that members are, from a type on; each with whether it is static.
pub(crate) fn links(
    path: &ClassPath,
    from: &str,
    descriptor: &str,
    members: &[String],
) -> Result<Vec<(Link, bool)>, Mistake> {
    let mut all = Vec::new();
    let (mut shown, mut at) = (from.to_owned(), descriptor.to_owned());
    for member in members {
        let Some(name) = at.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')) else {
            let reason = format!("`{shown}` is of type `{}`: it has no `{member}`", type_words(&at));
            return Err((reason, "only fields of objects have members".to_owned()));
        };
        let Some(class) = path.class(name) else {
            let reason = format!("the class `{}` of `{shown}` is not on the class path", dotted(name));
            return Err((reason, "names that lead over objects are looked up in class files".to_owned()));
        };
        let Some((declared, field)) = declaring(path, &class, member) else {
            let near = nearest(member, class.fields.iter().map(|field| field.name.as_str()));
            let help = near.map_or(String::new(), |near| format!("did you mean `{near}`?"));
            return Err((format!("the class `{}` has no field `{member}`", dotted(name)), help));
        };
        if field.constant.is_some() {
            return Err((format!("`{shown}.{member}` is a constant: nobody ever writes it"), String::new()));
        }
        let is_static = field.access & STATIC != 0;
        shown = format!("{shown}.{member}");
        at.clone_from(&field.descriptor);
        all.push((Link { class: declared, field: field.name, descriptor: field.descriptor }, is_static));
    }
    Ok(all)
}
