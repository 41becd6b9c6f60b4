//! Scripts: from files, as they are written or compiled, to what the stages run.

use crate::Trouble;
use crate::files;
use crate::terminal::Terminal;
use invigil_expr::diag::{Diagnostic, SourceId, Sources, nearest};
use invigil_lang::pedl::Exported;
use invigil_lang::pedl::ast::Literal;
use invigil_lang::report::render;
use invigil_lang::{medl, pedl};
use invigil_mac::{Compiled, Phase};
use std::path::Path;

/// Scripts that are read together, so that messages can point into all of them.
pub(crate) struct Scripts {
    sources: Sources,
    problems: Vec<Diagnostic>,
}

impl Scripts {
    pub(crate) fn new() -> Scripts {
        let mut sources = Sources::default();
        // What a compiled script says of another one has no place: it is in the first source, which is empty.
        sources.add("", "");
        Scripts { sources, problems: Vec::new() }
    }

    /// Reads a script, or what was made of it.
    fn read(&self, path: &Path, phase: Phase) -> Result<Compiled, Trouble> {
        let text = files::read(path, "script")?;
        let name = path.display().to_string();
        let loaded =
            Compiled::from_json(&text).map_err(|words| Trouble::new(format_args!("{name}: {words}")))?;
        let (language, verb) = match phase {
            Phase::Recogniser => ("PEDL", "monitoring"),
            Phase::Checker => ("MEDL", "requirement"),
        };
        match loaded {
            Some(compiled) if compiled.phase != phase => Err(Trouble::new(format_args!(
                "{name}: a {verb} script ({language}) is needed here, and this is the other one"
            ))),
            Some(compiled) => Ok(compiled),
            None => Ok(Compiled { phase, name, script: text, constants: Vec::new(), exports: None }),
        }
    }

    /// A monitoring script.
    pub(crate) fn monitoring(
        &mut self,
        path: &Path,
        constants: &[(String, Literal)],
    ) -> Result<Option<(Compiled, pedl::Lowered)>, Trouble> {
        let mut compiled = self.read(path, Phase::Recogniser)?;
        compiled.constants.retain(|(name, _)| !constants.iter().any(|(other, _)| other == name));
        compiled.constants.extend_from_slice(constants);
        let source = self.sources.add(compiled.name.clone(), compiled.script.clone());
        let (lowered, problems) = compiled.recogniser(source);
        check_constants(&compiled, source, constants)?;
        self.problems.extend(problems);
        Ok(lowered.map(|lowered| (compiled, lowered)))
    }

    /// A requirement script; what it imports is checked if `exports` are known.
    pub(crate) fn requirements(
        &mut self,
        path: &Path,
        exports: Option<&[Exported]>,
    ) -> Result<Option<(Compiled, medl::Lowered)>, Trouble> {
        let mut compiled = self.read(path, Phase::Checker)?;
        if let Some(exports) = exports {
            compiled.exports = Some(exports.to_vec());
        }
        let source = self.sources.add(compiled.name.clone(), compiled.script.clone());
        let (lowered, problems) = compiled.checker(source);
        self.problems.extend(problems);
        Ok(lowered.map(|lowered| (compiled, lowered)))
    }

    /// Messages, as they are shown.
    pub(crate) fn shown(&self, problems: &[Diagnostic], terminal: &Terminal) -> String {
        render(&self.sources, problems, terminal.errors.colour)
    }

    /// Shows what is wrong; it is an error if that is an error.
    pub(crate) fn report(&self, quiet: bool, terminal: &Terminal) -> Result<(), Trouble> {
        let shown = || self.shown(&self.problems, terminal);
        if self.problems.iter().any(Diagnostic::is_error) {
            return Err(Trouble::rendered(shown()));
        }
        if !quiet && !self.problems.is_empty() {
            terminal.complain(&(shown() + "\n"));
        }
        Ok(())
    }
}

/// Refuses constants that a script does not name.
fn check_constants(
    compiled: &Compiled,
    source: SourceId,
    constants: &[(String, Literal)],
) -> Result<(), Trouble> {
    let (script, problems) = pedl::parse(source, &compiled.script);
    if problems.iter().any(Diagnostic::is_error) {
        // What it names is not known, and it is refused anyway.
        return Ok(());
    }
    let declared = script.monitored.iter().map(|entity| entity.path.to_string());
    let named: Vec<String> =
        pedl::constants(&script).into_iter().map(|(name, _)| name).chain(declared).collect();
    let Some((strange, _)) = constants.iter().find(|(name, _)| !named.contains(name)) else { return Ok(()) };
    let near = nearest(strange, named.iter().map(String::as_str));
    let help = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(Trouble::new(format_args!("--constant {strange}: {} names no such constant{help}", compiled.name)))
}

/// What cannot happen without an error having been reported.
pub(crate) fn unfit(path: &Path) -> Trouble {
    Trouble::new(format_args!("{}: the script cannot be used", path.display()))
}
