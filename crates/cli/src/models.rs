//! Loads models and adds the claims given on the command line.

use crate::CliError;
use crate::files::{self, STDIN, is_standard};
use crate::load::with_large_stack;
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::ltl::{self, FormulaArgument, TraceSemantics};
use invigil_lang::model::{self, Claim, ClaimBody, MailboxKind, ModelFile};
use invigil_lang::{dve, report};
use invigil_model::{Expression, OmegaAutomaton, Unary};
use std::path::{Path, PathBuf};

/// A model, its claims, and the sources that diagnostics refer to.
pub(crate) struct LoadedModel {
    pub(crate) file: ModelFile,
    pub(crate) sources: Sources,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Command-line options for loading a model.
#[derive(Clone, Copy, Default)]
pub(crate) struct ModelOptions {
    /// Whether integers of a DVE model wrap around on overflow.
    pub(crate) wraps: bool,
    /// Kind of all mailboxes, overriding the file.
    pub(crate) mailboxes: Option<MailboxKind>,
}

/// Whether the file name has the extension of a model.
pub(crate) fn is_model(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "model" || ending == "dve")
}

/// Loads a model from a file.
pub(crate) fn load(path: &Path, options: ModelOptions, colour: bool) -> Result<LoadedModel, CliError> {
    load_text(path, &files::read(path, "model")?, options, colour)
}

/// Loads a model from the text of a file.
pub(crate) fn load_text(
    path: &Path,
    text: &str,
    options: ModelOptions,
    colour: bool,
) -> Result<LoadedModel, CliError> {
    let name = if is_standard(path) { STDIN.to_owned() } else { path.display().to_string() };
    let mut sources = Sources::default();
    let source = sources.add(name, text);
    let is_dve = path.extension().is_some_and(|ending| ending == "dve");
    let (file, diagnostics) = with_large_stack(|| match is_dve {
        true => dve::load(source, text, &dve::Options { wraps: options.wraps }),
        false => model::load_with(source, text, &model::Options { mailboxes: options.mailboxes }),
    })?;
    match file {
        Some(file) => Ok(LoadedModel { file, sources, warnings: diagnostics }),
        None => Err(CliError::rendered(report::render(&sources, &diagnostics, colour))),
    }
}

impl LoadedModel {
    /// Parses an expression over the model, given on the command line.
    pub(crate) fn expression(&mut self, text: &str, colour: bool) -> Result<Expression, CliError> {
        let source = self.sources.add("<command line>", text);
        model::predicate(&self.file.model, source, text)
            .map_err(|diagnostics| CliError::rendered(report::render(&self.sources, &diagnostics, colour)))
    }

    /// Adds a claim that an expression always holds: `EXPRESSION`, or `NAME: EXPRESSION`.
    pub(crate) fn add_always_claim(&mut self, text: &str, colour: bool) -> Result<(), CliError> {
        let is_name =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        let (name, expression) = match text.split_once(':') {
            Some((name, rest)) if is_name(name.trim()) => (name.trim(), rest),
            _ => (text, text),
        };
        let body = ClaimBody::Always(self.expression(expression, colour)?);
        self.file.claims.push(Claim { name: name.to_owned(), span: Default::default(), body, formula: None });
        Ok(())
    }

    /// Adds claims that expressions hold in no configuration.
    pub(crate) fn add_unreachable_claims(&mut self, texts: &[String], colour: bool) -> Result<(), CliError> {
        for text in texts {
            let body = ClaimBody::Always(Expression::unary(Unary::Not, self.expression(text, colour)?));
            let name = format!("never {text}");
            self.file.claims.push(Claim { name, span: Default::default(), body, formula: None });
        }
        Ok(())
    }

    /// Adds the claims of a formula such as `ltl:G F busy` or of a file of formulae. Returns false for other files.
    pub(crate) fn add_formula_claims(&mut self, path: &Path, colour: bool) -> Result<bool, CliError> {
        let text = path.to_str().unwrap_or_default();
        let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (source, text, part, options) = match FormulaArgument::parse(text) {
            Some(argument) if !argument.is_file(text) => {
                let source = self.sources.add("<command line>", text);
                (source, text.to_owned(), argument.formula.clone(), argument.options(source, text))
            }
            None if path.extension().is_none_or(|ending| ending != "ltl") => return Ok(false),
            argument => {
                let file = argument.map_or(path, |argument| Path::new(text[argument.formula].trim()));
                let read = files::read(file, "file of formulae")?;
                let source = self.sources.add(file.display().to_string(), read.clone());
                let length = read.len();
                (source, read, 0..length, ltl::FormulaOptions::of_file(&stem(file)))
            }
        };
        let (properties, mut diagnostics) = ltl::parse(source, &text, part, options);
        for property in properties {
            if property.semantics == TraceSemantics::Ltlf || !property.slice_on.is_empty() {
                diagnostics.push(
                    Diagnostic::error(property.span, "a formula over a model must be `ltl` without slices")
                        .label("`ltlf` and slices apply to traces and live programs only")
                        .help("write `ltl:FORMULA`"),
                );
                continue;
            }
            match model::never_claim_at(
                &self.file.model,
                (source, property.span.start),
                &property.formula,
                &property.name,
            ) {
                Ok(omega) => self.file.claims.push(Claim {
                    name: property.name.clone(),
                    span: property.span,
                    body: ClaimBody::Never(omega),
                    formula: Some(property.formula.clone()),
                }),
                Err(found) => diagnostics.extend(found),
            }
        }
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(CliError::rendered(report::render(&self.sources, &diagnostics, colour)));
        }
        self.warnings.extend(diagnostics);
        Ok(true)
    }

    /// For each claimed formula, an automaton that accepts the executions satisfying it.
    pub(crate) fn satisfying_automata(&self, colour: bool) -> Result<Vec<OmegaAutomaton>, CliError> {
        let mut automata = Vec::new();
        for claim in &self.file.claims {
            let Some(formula) = &claim.formula else { continue };
            // `never_claim` builds the automaton of a formula's violations, so it is given the negation: the violations of
            // `!f` are the executions that satisfy `f`.
            let negated = format!("!({formula})");
            let mut sources = Sources::default();
            let source = sources.add("<formula>", &*negated);
            let automaton = model::never_claim(&self.file.model, source, &negated, &claim.name)
                .map_err(|diagnostics| CliError::rendered(report::render(&sources, &diagnostics, colour)))?;
            automata.push(automaton);
        }
        Ok(automata)
    }

    /// Adds the claims given on the command line. Returns the property files that contain automata.
    pub(crate) fn add_claims(
        &mut self,
        properties: &[PathBuf],
        always: &[String],
        colour: bool,
    ) -> Result<Vec<PathBuf>, CliError> {
        for text in always {
            self.add_always_claim(text, colour)?;
        }
        let mut automata = Vec::new();
        for property in properties {
            if !self.add_formula_claims(property, colour)? {
                automata.push(property.clone());
            }
        }
        Ok(automata)
    }
}
