//! Whether what a script says of types is what the class files say.

use crate::ClassPath;
use crate::route::{classes_named, declaring, route};
use invigil_expr::diag::Diagnostic;
use invigil_jvm_agent::entity::Entity;
use invigil_jvm_agent::names::{returns, type_words};
use invigil_lang::pedl;
use invigil_monitor::mac::Type;

/// Complaints about variables and results of a monitoring script whose type is another one in the class files. What is not
/// there at all is for the program to complain about, which may load it later.
///
/// ```no_run
/// use invigil_jvm::{ClassPath, strange_types};
/// # let script = invigil_lang::pedl::ast::Script::default();
/// # let lowered = invigil_lang::pedl::lower(&script, &|_| None).0.unwrap();
/// let path = ClassPath::new("classes", std::path::Path::new("."));
/// assert!(strange_types(&lowered, &path).is_empty());
/// ```
pub fn strange_types(script: &pedl::Lowered, path: &ClassPath) -> Vec<Diagnostic> {
    script.entities.iter().filter_map(|entity| strange(entity, path)).collect()
}

fn strange(entity: &pedl::Entity, path: &ClassPath) -> Option<Diagnostic> {
    let declared = entity.ty.as_ref()?.known()?;
    let written = entity.path.to_string();
    let named = Entity::parse(&written).ok()?;
    let (descriptor, what) = match entity.id {
        pedl::Id::Variable(_) => (variable(path, &named)?, "is of type"),
        pedl::Id::Method(_) => (result(path, &named)?, "returns"),
    };
    let actual = type_words(&descriptor);
    let known = Type::from_word(actual.strip_prefix("java.lang.").unwrap_or(&actual));
    if known.is_some_and(|known| known.widens_to(declared)) {
        return None;
    }
    let problem = Diagnostic::error(entity.span, format!("`{written}` {what} `{actual}`"))
        .label(format!("the script says `{declared}`"));
    Some(match known {
        Some(known) => problem.help(format!("write `{known}` in its place")),
        None => problem.help("name a variable of primitive type, or a `String`, in it"),
    })
}

/// The type of a variable.
fn variable(path: &ClassPath, entity: &Entity) -> Option<String> {
    // What lies over other objects is looked up along the way; what is wrong there is told elsewhere.
    if let Some(link) = route(path, entity).ok()?.and_then(|mut route| route.links.pop()) {
        return Some(link.descriptor);
    }
    let classes = classes_named(path, &entity.name.class);
    match &entity.local {
        None => {
            let fields = classes.iter().find_map(|class| declaring(path, class, &entity.name.member));
            fields.map(|(_, field)| field.descriptor)
        }
        Some(local) => classes.iter().find_map(|class| {
            let mut methods = class.methods.iter().filter(|method| {
                entity.name.means_method(&class.name, &method.name)
                    && entity.name.means_types(&method.descriptor)
            });
            methods.find_map(|method| {
                let known = method.locals.iter().find(|known| known.name == *local)?;
                Some(known.descriptor.clone())
            })
        }),
    }
}

/// The type of what a method returns. A constructor returns nothing that a script could speak of.
fn result(path: &ClassPath, entity: &Entity) -> Option<String> {
    classes_named(path, &entity.name.class).iter().find_map(|class| {
        let method = class.methods.iter().find(|method| {
            method.name != "<init>"
                && entity.name.means_method(&class.name, &method.name)
                && entity.name.means_types(&method.descriptor)
        })?;
        Some(returns(&method.descriptor).to_owned())
    })
}
