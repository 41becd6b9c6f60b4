//! Models: from files to what the engines run, and what is said about them on the command line.

use crate::Trouble;
use crate::files::{self, STDIN, is_standard};
use crate::load::deeply;
use invigil_expr::diag::{Diagnostic, Sources};
use invigil_lang::ltl::{self, Argument, Reading};
use invigil_lang::model::{self, Claim, Loaded, Mailboxes, What};
use invigil_lang::{dve, report};
use invigil_model::{Expression, Omega, Unary};
use std::path::{Path, PathBuf};

/// A model and the text of everything that was read for it.
pub(crate) struct Given {
    pub(crate) loaded: Loaded,
    pub(crate) sources: Sources,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// What the command line says of a model's file.
#[derive(Clone, Copy, Default)]
pub(crate) struct Manner {
    /// Whether numbers of a DVE model wrap.
    pub(crate) wraps: bool,
    /// What all mailboxes are, whatever the file says.
    pub(crate) mailboxes: Option<Mailboxes>,
}

/// Whether a file is a model, by its name.
pub(crate) fn is_model(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "model" || ending == "dve")
}

/// Reads a model.
pub(crate) fn load(path: &Path, manner: Manner, colour: bool) -> Result<Given, Trouble> {
    of_text(path, &files::read(path, "model")?, manner, colour)
}

/// The model that the text of a file says.
pub(crate) fn of_text(path: &Path, text: &str, manner: Manner, colour: bool) -> Result<Given, Trouble> {
    let name = if is_standard(path) { STDIN.to_owned() } else { path.display().to_string() };
    let mut sources = Sources::default();
    let source = sources.add(name, text);
    let is_dve = path.extension().is_some_and(|ending| ending == "dve");
    let (loaded, diagnostics) = deeply(|| match is_dve {
        true => dve::load(source, text, &dve::Options { wraps: manner.wraps }),
        false => model::load_with(source, text, &model::Options { mailboxes: manner.mailboxes }),
    })?;
    match loaded {
        Some(loaded) => Ok(Given { loaded, sources, warnings: diagnostics }),
        None => Err(Trouble::rendered(report::render(&sources, &diagnostics, colour))),
    }
}

impl Given {
    /// An expression over the model, as it is given on the command line.
    pub(crate) fn expression(&mut self, text: &str, colour: bool) -> Result<Expression, Trouble> {
        let source = self.sources.add("<command line>", text);
        model::predicate(&self.loaded.model, source, text)
            .map_err(|problems| Trouble::rendered(report::render(&self.sources, &problems, colour)))
    }

    /// Adds a claim that an expression always holds: `EXPRESSION`, or `NAME: EXPRESSION`.
    pub(crate) fn claim_always(&mut self, text: &str, colour: bool) -> Result<(), Trouble> {
        let is_name =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        let (name, expression) = match text.split_once(':') {
            Some((name, rest)) if is_name(name.trim()) => (name.trim(), rest),
            _ => (text, text),
        };
        let what = What::Always(self.expression(expression, colour)?);
        self.loaded.claims.push(Claim {
            name: name.to_owned(),
            span: Default::default(),
            what,
            formula: None,
        });
        Ok(())
    }

    /// Adds claims that expressions hold nowhere.
    pub(crate) fn claim_never(&mut self, texts: &[String], colour: bool) -> Result<(), Trouble> {
        for text in texts {
            let what = What::Always(Expression::unary(Unary::Not, self.expression(text, colour)?));
            let name = format!("never {text}");
            self.loaded.claims.push(Claim { name, span: Default::default(), what, formula: None });
        }
        Ok(())
    }

    /// Adds the claims of a formula, `ltl:G F busy`, or of a file of them; says whether the argument is one.
    pub(crate) fn claim_formula(&mut self, path: &Path, colour: bool) -> Result<bool, Trouble> {
        let text = path.to_str().unwrap_or_default();
        let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (source, text, part, manner) = match Argument::parse(text) {
            Some(argument) if !argument.is_file(text) => {
                let source = self.sources.add("<command line>", text);
                (source, text.to_owned(), argument.formula.clone(), argument.manner(source, text))
            }
            None if path.extension().is_none_or(|ending| ending != "ltl") => return Ok(false),
            argument => {
                let file = argument.map_or(path, |argument| Path::new(text[argument.formula].trim()));
                let read = files::read(file, "file of formulae")?;
                let source = self.sources.add(file.display().to_string(), read.clone());
                let length = read.len();
                (source, read, 0..length, ltl::Manner::of_file(&stem(file)))
            }
        };
        let (properties, mut problems) = ltl::parse(source, &text, part, manner);
        for property in properties {
            if property.reading == Reading::Ltlf || !property.slice_on.is_empty() {
                problems.push(
                    Diagnostic::error(property.span, "a formula about a model is about whole executions")
                        .label("`ltlf` and slices are for recorded runs")
                        .help("write `ltl:FORMULA`"),
                );
                continue;
            }
            match model::never_at(
                &self.loaded.model,
                (source, property.span.start),
                &property.formula,
                &property.name,
            ) {
                Ok(omega) => self.loaded.claims.push(Claim {
                    name: property.name.clone(),
                    span: property.span,
                    what: What::Never(omega),
                    formula: Some(property.formula.clone()),
                }),
                Err(found) => problems.extend(found),
            }
        }
        if problems.iter().any(Diagnostic::is_error) {
            return Err(Trouble::rendered(report::render(&self.sources, &problems, colour)));
        }
        self.warnings.extend(problems);
        Ok(true)
    }

    /// The automata that accept what satisfies each claimed formula.
    pub(crate) fn formulae(&self, colour: bool) -> Result<Vec<Omega>, Trouble> {
        let mut automata = Vec::new();
        for claim in &self.loaded.claims {
            let Some(formula) = &claim.formula else { continue };
            // The automaton of a formula's violations is that of its negation.
            let negated = format!("!({formula})");
            let mut sources = Sources::default();
            let source = sources.add("<formula>", &*negated);
            let automaton = model::never(&self.loaded.model, source, &negated, &claim.name)
                .map_err(|problems| Trouble::rendered(report::render(&sources, &problems, colour)))?;
            automata.push(automaton);
        }
        Ok(automata)
    }

    /// Adds what is claimed on the command line; gives the properties that are automata in files.
    pub(crate) fn claim(
        &mut self,
        properties: &[PathBuf],
        always: &[String],
        colour: bool,
    ) -> Result<Vec<PathBuf>, Trouble> {
        for text in always {
            self.claim_always(text, colour)?;
        }
        let mut automata = Vec::new();
        for property in properties {
            if !self.claim_formula(property, colour)? {
                automata.push(property.clone());
            }
        }
        Ok(automata)
    }
}
