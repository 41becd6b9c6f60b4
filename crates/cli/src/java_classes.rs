//! What class files reveal to monitoring scripts before a Java program runs.

use invigil_expr::diag::Diagnostic;
use invigil_jvm::{ClassPath, constant, result_type, variable_type};
use invigil_lang::pedl::{self, EntityId, MonitoringScript, ast::Literal};

/// The value of a constant such as `Control.GATE_DOWN`.
pub(crate) fn constant_literal(classes: &ClassPath, name: &str) -> Option<Literal> {
    constant(classes, name).map(Literal::from)
}

/// Diagnostics for variables and results of a script that have another type in the class files.
pub(crate) fn type_mismatches(script: &MonitoringScript, classes: &ClassPath) -> Vec<Diagnostic> {
    pedl::type_mismatches(script, &|entity| {
        let name = entity.path.to_string();
        match entity.id {
            EntityId::Variable(_) => variable_type(classes, &name),
            EntityId::Method(_) => result_type(classes, &name),
        }
    })
}
