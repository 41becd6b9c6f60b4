//! Types of variables and results, as class files declare them.

use crate::ClassPath;
use crate::variable_path::{classes_named, declaring_class, variable_path};
use invigil_jvm_agent::entity::Entity;
use invigil_jvm_agent::names::{return_type, type_name};

/// The type of a variable, such as `int` or `java.lang.String`; `None` if the class files do not have it.
///
/// ```no_run
/// use invigil_jvm::{ClassPath, variable_type};
///
/// let path = ClassPath::new("classes", std::path::Path::new("."));
/// assert_eq!(variable_type(&path, "Control.gatePos").as_deref(), Some("int"));
/// ```
pub fn variable_type(path: &ClassPath, name: &str) -> Option<String> {
    Some(type_name(&variable(path, &Entity::parse(name).ok()?)?))
}

/// The type of a method's result; `None` if the class files do not have the method.
///
/// ```no_run
/// use invigil_jvm::{ClassPath, result_type};
///
/// let path = ClassPath::new("classes", std::path::Path::new("."));
/// assert_eq!(result_type(&path, "Control.open()").as_deref(), Some("void"));
/// ```
pub fn result_type(path: &ClassPath, name: &str) -> Option<String> {
    Some(type_name(&result(path, &Entity::parse(name).ok()?)?))
}

/// The descriptor of a variable.
fn variable(path: &ClassPath, entity: &Entity) -> Option<String> {
    // A variable behind other objects is resolved along its path; errors there are reported elsewhere.
    if let Some(link) = variable_path(path, entity).ok()?.and_then(|mut route| route.fields.pop()) {
        return Some(link.descriptor);
    }
    let classes = classes_named(path, &entity.name.class);
    match &entity.local {
        None => {
            let fields = classes.iter().find_map(|class| declaring_class(path, class, &entity.name.member));
            fields.map(|(_, field)| field.descriptor)
        }
        Some(local) => classes.iter().find_map(|class| {
            let mut methods = class.methods.iter().filter(|method| {
                entity.name.matches_method(&class.name, &method.name)
                    && entity.name.matches_types(&method.descriptor)
            });
            methods.find_map(|method| {
                let known = method.locals.iter().find(|known| known.name == *local)?;
                Some(known.descriptor.clone())
            })
        }),
    }
}

/// The descriptor of a method's result. A constructor returns nothing that a script could name.
fn result(path: &ClassPath, entity: &Entity) -> Option<String> {
    classes_named(path, &entity.name.class).iter().find_map(|class| {
        let method = class.methods.iter().find(|method| {
            method.name != "<init>"
                && entity.name.matches_method(&class.name, &method.name)
                && entity.name.matches_types(&method.descriptor)
        })?;
        Some(return_type(&method.descriptor).to_owned())
    })
}
