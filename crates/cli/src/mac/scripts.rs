//! Loads scripts, as source or compiled by `mac compile`, for the stages.

use crate::CliError;
use crate::files;
use crate::terminal::Terminal;
use invigil_expr::diag::{Diagnostic, SourceId, Sources, nearest};
use invigil_lang::pedl::ScriptExport;
use invigil_lang::pedl::ast::Literal;
use invigil_lang::report::render;
use invigil_lang::{medl, pedl};
use invigil_mac::{CompiledScript, ScriptKind};
use std::path::Path;

/// Scripts that are loaded together and share the sources of their diagnostics.
pub(crate) struct ScriptSet {
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
}

impl ScriptSet {
    pub(crate) fn new() -> ScriptSet {
        let mut sources = Sources::default();
        // Diagnostics about a compiled script's interface have no position: they refer to the empty first source.
        sources.add("", "");
        ScriptSet { sources, diagnostics: Vec::new() }
    }

    /// Reads a script, as source or compiled.
    fn read(&self, path: &Path, kind: ScriptKind) -> Result<CompiledScript, CliError> {
        let text = files::read(path, "script")?;
        let name = path.display().to_string();
        let loaded = CompiledScript::from_json(&text)
            .map_err(|message| CliError::new(format_args!("{name}: {message}")))?;
        let (language, verb) = match kind {
            ScriptKind::Recogniser => ("PEDL", "monitoring"),
            ScriptKind::Checker => ("MEDL", "requirement"),
        };
        match loaded {
            Some(compiled) if compiled.kind != kind => Err(CliError::new(format_args!(
                "{name}: expected a {verb} script ({language}), found the other kind"
            ))),
            Some(compiled) => Ok(compiled),
            None => Ok(CompiledScript { kind, name, script: text, constants: Vec::new(), exports: None }),
        }
    }

    /// Loads a monitoring script.
    pub(crate) fn monitoring(
        &mut self,
        path: &Path,
        constants: &[(String, Literal)],
    ) -> Result<Option<(CompiledScript, pedl::MonitoringScript)>, CliError> {
        let mut compiled = self.read(path, ScriptKind::Recogniser)?;
        compiled.constants.retain(|(name, _)| !constants.iter().any(|(other, _)| other == name));
        compiled.constants.extend_from_slice(constants);
        let source = self.sources.add(compiled.name.clone(), compiled.script.clone());
        let (lowered, diagnostics) = compiled.recogniser(source);
        check_constants(&compiled, source, constants)?;
        self.diagnostics.extend(diagnostics);
        Ok(lowered.map(|lowered| (compiled, lowered)))
    }

    /// Loads a requirement script. Its imports are checked if `exports` are known.
    pub(crate) fn requirements(
        &mut self,
        path: &Path,
        exports: Option<&[ScriptExport]>,
    ) -> Result<Option<(CompiledScript, medl::RequirementScript)>, CliError> {
        let mut compiled = self.read(path, ScriptKind::Checker)?;
        if let Some(exports) = exports {
            compiled.exports = Some(exports.to_vec());
        }
        let source = self.sources.add(compiled.name.clone(), compiled.script.clone());
        let (lowered, diagnostics) = compiled.checker(source);
        self.diagnostics.extend(diagnostics);
        Ok(lowered.map(|lowered| (compiled, lowered)))
    }

    /// Renders diagnostics.
    pub(crate) fn rendered(&self, diagnostics: &[Diagnostic], terminal: &Terminal) -> String {
        render(&self.sources, diagnostics, terminal.errors.colour)
    }

    /// Prints all warnings, or returns all diagnostics if one of them is an error.
    pub(crate) fn report(&self, quiet: bool, terminal: &Terminal) -> Result<(), CliError> {
        let rendered = || self.rendered(&self.diagnostics, terminal);
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(CliError::rendered(rendered()));
        }
        if !quiet && !self.diagnostics.is_empty() {
            terminal.eprint(&(rendered() + "\n"));
        }
        Ok(())
    }
}

/// Rejects constants that a script does not use.
fn check_constants(
    compiled: &CompiledScript,
    source: SourceId,
    constants: &[(String, Literal)],
) -> Result<(), CliError> {
    let (script, diagnostics) = pedl::parse(source, &compiled.script);
    if diagnostics.iter().any(Diagnostic::is_error) {
        // The used constants are unknown, and the script is rejected anyway.
        return Ok(());
    }
    let declared = script.monitored.iter().map(|entity| entity.path.to_string());
    let named: Vec<String> =
        pedl::constants(&script).into_iter().map(|(name, _)| name).chain(declared).collect();
    let Some((unknown, _)) = constants.iter().find(|(name, _)| !named.contains(name)) else { return Ok(()) };
    let near = nearest(unknown, named.iter().map(String::as_str));
    let help = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(CliError::new(format_args!("--constant {unknown}: {} uses no such constant{help}", compiled.name)))
}

/// Fallback error for a script without a result; its diagnostics have been reported before.
pub(crate) fn unusable_script(path: &Path) -> CliError {
    CliError::new(format_args!("{}: the script cannot be used", path.display()))
}
