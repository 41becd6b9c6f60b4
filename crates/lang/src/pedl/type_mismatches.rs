//! Compares the types in a script with those of the target.

use super::{Entity, EntityId, MonitoringScript};
use invigil_expr::diag::Diagnostic;
use invigil_monitor::mac::Type;

/// Reports variables and results that have another type in the target. `type_of` returns the target's type of an
/// entity, such as `int` or `java.lang.String`. Entities for which it returns `None` are not reported: the target may
/// load them later.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::pedl;
///
/// let text = "MonScr  export event e;  monobj int Gate.pos;  event e = update(Gate.pos);  End";
/// let script = pedl::parse(SourceId(0), text).0;
/// let lowered = pedl::lower(&script, &|_| None).0.unwrap();
/// assert!(pedl::type_mismatches(&lowered, &|_| Some("int".to_owned())).is_empty());
/// let found = pedl::type_mismatches(&lowered, &|_| Some("double".to_owned()));
/// assert_eq!(found[0].message, "`Gate.pos` is of type `double`");
/// ```
pub fn type_mismatches(
    script: &MonitoringScript,
    type_of: &dyn Fn(&Entity) -> Option<String>,
) -> Vec<Diagnostic> {
    script.entities.iter().filter_map(|entity| mismatch(entity, type_of)).collect()
}

fn mismatch(entity: &Entity, type_of: &dyn Fn(&Entity) -> Option<String>) -> Option<Diagnostic> {
    let declared = entity.ty.as_ref()?.script_type()?;
    let actual = type_of(entity)?;
    let known = Type::from_word(actual.strip_prefix("java.lang.").unwrap_or(&actual));
    if known.is_some_and(|known| known.widens_to(declared)) {
        return None;
    }
    let verb = match entity.id {
        EntityId::Variable(_) => "is of type",
        EntityId::Method(_) => "returns",
    };
    let diagnostic = Diagnostic::error(entity.span, format!("`{}` {verb} `{actual}`", entity.path))
        .label(format!("declared as `{declared}` here"));
    Some(match known {
        Some(known) => diagnostic.help(format!("write `{known}` in its place")),
        None => diagnostic.help("only primitive values and strings can be monitored"),
    })
}
