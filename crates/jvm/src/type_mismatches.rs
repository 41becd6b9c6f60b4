//! Comparing the types in a monitoring script with those in class files.

use crate::ClassPath;
use crate::variable_path::{classes_named, declaring_class, variable_path};
use invigil_expr::diag::Diagnostic;
use invigil_jvm_agent::entity::Entity;
use invigil_jvm_agent::names::{returns, type_name};
use invigil_lang::pedl;
use invigil_monitor::mac::Type;

/// Diagnostics for variables and results of a monitoring script that have another type in the class files. Entities
/// that are missing are not reported here: the program may load them later.
///
/// ```no_run
/// use invigil_jvm::{ClassPath, type_mismatches};
/// # let script = invigil_lang::pedl::ast::Script::default();
/// # let lowered = invigil_lang::pedl::lower(&script, &|_| None).0.unwrap();
/// let path = ClassPath::new("classes", std::path::Path::new("."));
/// assert!(type_mismatches(&lowered, &path).is_empty());
/// ```
pub fn type_mismatches(script: &pedl::MonitoringScript, path: &ClassPath) -> Vec<Diagnostic> {
    script.entities.iter().filter_map(|entity| mismatch(entity, path)).collect()
}

fn mismatch(entity: &pedl::Entity, path: &ClassPath) -> Option<Diagnostic> {
    let declared = entity.ty.as_ref()?.script_type()?;
    let written = entity.path.to_string();
    let named = Entity::parse(&written).ok()?;
    let (descriptor, what) = match entity.id {
        pedl::EntityId::Variable(_) => (variable(path, &named)?, "is of type"),
        pedl::EntityId::Method(_) => (result(path, &named)?, "returns"),
    };
    let actual = type_name(&descriptor);
    let known = Type::from_word(actual.strip_prefix("java.lang.").unwrap_or(&actual));
    if known.is_some_and(|known| known.widens_to(declared)) {
        return None;
    }
    let diagnostic = Diagnostic::error(entity.span, format!("`{written}` {what} `{actual}`"))
        .label(format!("declared as `{declared}` here"));
    Some(match known {
        Some(known) => diagnostic.help(format!("write `{known}` in its place")),
        None => diagnostic.help("name a variable of primitive type, or a `String`, in it"),
    })
}

/// The type of a variable.
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

/// The return type of a method. A constructor returns nothing that a script could name.
fn result(path: &ClassPath, entity: &Entity) -> Option<String> {
    classes_named(path, &entity.name.class).iter().find_map(|class| {
        let method = class.methods.iter().find(|method| {
            method.name != "<init>"
                && entity.name.matches_method(&class.name, &method.name)
                && entity.name.matches_types(&method.descriptor)
        })?;
        Some(returns(&method.descriptor).to_owned())
    })
}
