//! Formulae as properties.

use super::argument::TraceSemantics;
use super::atoms::{Atoms, LocatedAtom};
use super::lower::{PropertyHeader, lower};
use super::state_output::{self, Machine};
use crate::prop::ast::Name;
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_ltl::formula::{Formulae, Proposition};
use invigil_ltl::syntax::{Definition, SyntaxError};
use invigil_ltl::{Budget, Formula, Logic, TooLarge};
use invigil_monitor::automaton::{Automaton, MAX_SLICE_PARAMS};
use invigil_monitor::event::EventCatalog;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Limits for a formula given by a user.
pub const BUDGET: Budget = Budget {
    formulae: 1 << 18,
    states: 1 << 14,
    edges: 1 << 18,
    nodes: 1 << 21,
    variables: 1 << 12,
    seconds: Some(60),
};

/// A property given as a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The name.
    pub name: String,
    /// The formula on a single line, as written.
    pub formula: String,
    /// Its position.
    pub span: Span,
    /// The trace semantics.
    pub semantics: TraceSemantics,
    /// The slice parameters.
    pub slice_on: Vec<Name>,
    /// The text that contains it, shared by all properties of a file.
    text: Arc<str>,
    /// The offset of that text in its source.
    offset: usize,
    /// The ranges of the formula and of those that it refers to, names included, in order.
    parts: Vec<Range<usize>>,
    /// The index of the formula among them.
    number: usize,
}

/// Parts of a text, joined to a text of its own.
struct Excerpt {
    text: String,
    /// The start of each part, in the excerpt and in the source.
    offsets: Vec<(usize, usize)>,
}

impl Excerpt {
    fn new(text: &str, parts: &[Range<usize>], offset: usize) -> Excerpt {
        let mut excerpt = Excerpt { text: String::new(), offsets: Vec::new() };
        for part in parts {
            excerpt.offsets.push((excerpt.text.len(), offset + part.start));
            excerpt.text.push_str(text.get(part.clone()).unwrap_or_default());
            excerpt.text.push('\n');
        }
        excerpt
    }

    /// Returns the source offset for an offset in the excerpt.
    fn source_offset(&self, at: usize) -> u32 {
        let part = self.offsets.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        self.offsets.get(part).map_or(at, |(start, source_start)| source_start + at - start) as u32
    }
}

/// Options for parsing formulae as properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaOptions {
    /// The name of a single formula, or the prefix of the names of several, joined with a dot.
    pub name: Option<String>,
    /// The name for a formula without a name of its own; if absent, the formula itself serves as its name.
    pub stem: Option<String>,
    /// The trace semantics.
    pub semantics: TraceSemantics,
    /// The slice parameters.
    pub slice_on: Vec<Name>,
}

impl FormulaOptions {
    /// Returns options for a file without further settings; `stem` is its name without the extension.
    pub fn of_file(stem: &str) -> FormulaOptions {
        FormulaOptions {
            name: None,
            stem: Some(stem.to_owned()),
            semantics: TraceSemantics::Ltl,
            slice_on: Vec::new(),
        }
    }
}

/// Parses the formulae in a part of a source. Unless there is only one, each has a name: `mutex = G !(a & b)`.
/// Formulae that others refer to, as in `@mutex`, become parts of those, not properties.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::ltl;
/// let text = "ltl:G(request -> F grant)";
/// let argument = ltl::FormulaArgument::parse(text).unwrap();
/// let options = argument.options(SourceId(0), text);
/// let (properties, diagnostics) = ltl::parse(SourceId(0), text, argument.formula, options);
/// assert!(diagnostics.is_empty());
/// assert_eq!(properties[0].name, "G(request -> F grant)");
/// ```
pub fn parse(
    source: SourceId,
    text: &str,
    part: Range<usize>,
    options: FormulaOptions,
) -> (Vec<Property>, Vec<Diagnostic>) {
    let offset = part.start;
    FormulaReader { source, options }.read(text.get(part).unwrap_or_default(), offset)
}

struct FormulaReader {
    source: SourceId,
    options: FormulaOptions,
}

impl FormulaReader {
    /// Parses a text that starts at `offset` of its source.
    fn read(self, text: &str, offset: usize) -> (Vec<Property>, Vec<Diagnostic>) {
        let mut diagnostics = self.check_slice_parameters();
        let definitions = match Formulae::new(&BUDGET).parse_file(text) {
            Ok(definitions) => definitions,
            Err(errors) => {
                diagnostics.extend(errors.iter().map(|error| syntax_diagnostic(self.source, offset, error)));
                return (Vec::new(), diagnostics);
            }
        };
        let references = references(&definitions);
        let used: BTreeSet<usize> = references.iter().flatten().copied().collect();
        let several = definitions.len() - used.len() > 1;
        let whole: Arc<str> = text.into();
        let mut properties = Vec::new();
        for (number, definition) in definitions.iter().enumerate() {
            if used.contains(&number) {
                continue;
            }
            let needed = needed(number, &references);
            let Range { start, end } = definition.formula_span;
            let written = text[start..end].split_whitespace().collect::<Vec<_>>().join(" ");
            let own = definition.name.as_ref().map(|name| name.text.as_str());
            let name = match (&self.options.name, own) {
                (Some(name), Some(own)) if several => format!("{name}.{own}"),
                (Some(name), _) => name.clone(),
                (None, Some(own)) => own.to_owned(),
                (None, None) => self.options.stem.clone().unwrap_or_else(|| truncated(&written)),
            };
            properties.push(Property {
                name,
                formula: written,
                span: Span::new(self.source, (offset + start) as u32, (offset + end) as u32),
                semantics: self.options.semantics,
                slice_on: self.options.slice_on.clone(),
                text: Arc::clone(&whole),
                offset,
                parts: needed.iter().map(|needed| definition_range(&definitions[*needed])).collect(),
                number: needed.iter().position(|needed| *needed == number).unwrap_or_default(),
            });
        }
        (properties, diagnostics)
    }

    fn check_slice_parameters(&self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let slice_on = &self.options.slice_on;
        for (at, name) in slice_on.iter().enumerate() {
            let message = match &name.text {
                text if text.is_empty() => "missing parameter".to_owned(),
                text if slice_on[..at].iter().any(|earlier| earlier.text == *text) => {
                    format!("`{text}` is listed twice as a slice parameter")
                }
                _ if at == MAX_SLICE_PARAMS => {
                    format!("at most {MAX_SLICE_PARAMS} slice parameters are supported")
                }
                _ => continue,
            };
            let help = "list the parameters that identify an instance: `ltl[queue]:…`";
            diagnostics.push(Diagnostic::error(name.span, message).help(help));
        }
        diagnostics
    }
}

/// The maximum length of a formula that serves as its own name.
const MAX_FORMULA_NAME: usize = 60;

fn truncated(formula: &str) -> String {
    match formula.char_indices().nth(MAX_FORMULA_NAME) {
        Some((end, _)) => format!("{}…", &formula[..end]),
        None => formula.to_owned(),
    }
}

/// Returns, for each formula, the indices of those that it refers to.
fn references(definitions: &[Definition]) -> Vec<Vec<usize>> {
    let named = definitions.iter().enumerate().filter_map(|(at, of)| Some((of.name.as_ref()?, at)));
    let numbers: HashMap<&str, usize> = named.map(|(name, at)| (name.text.as_str(), at)).collect();
    let references = definitions.iter().map(|definition| {
        let atoms = definition.tree.atoms();
        let target = atoms.filter_map(|(proposition, _)| match proposition {
            Proposition::Monitor(name) => numbers.get(name.as_str()).copied(),
            _ => None,
        });
        target.collect()
    });
    references.collect()
}

/// Returns the indices of a formula and of all that it refers to, in source order.
fn needed(number: usize, references: &[Vec<usize>]) -> BTreeSet<usize> {
    let (mut open, mut needed) = (vec![number], BTreeSet::from([number]));
    while let Some(number) = open.pop() {
        open.extend(references[number].iter().filter(|other| needed.insert(**other)));
    }
    needed
}

/// Returns the range of a definition, including its name.
fn definition_range(definition: &Definition) -> Range<usize> {
    let Range { start, end } = definition.formula_span;
    definition.name.as_ref().map_or(start, |name| name.span.start)..end
}

/// Formats a file of formulae. Comments are kept.
///
/// # Errors
/// Returns all syntax errors; a file with errors is not formatted.
pub fn format(source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
    invigil_ltl::syntax::format(text)
        .map_err(|errors| errors.iter().map(|error| syntax_diagnostic(source, 0, error)).collect())
}

/// Converts a syntax error in a text that starts at `offset` of its source.
pub(crate) fn syntax_diagnostic(source: SourceId, offset: usize, error: &SyntaxError) -> Diagnostic {
    let span = Span::new(source, (offset + error.span.start) as u32, (offset + error.span.end) as u32);
    let diagnostic = Diagnostic::error(span, &error.message);
    match &error.hint {
        Some(hint) => diagnostic.help(hint),
        None => diagnostic,
    }
}

impl Property {
    /// Compiles the formula. Event declarations are added to `catalog`, which all properties of a session share;
    /// `functions` are files with functions that its expressions may call. Returns an automaton if there is no error
    /// among the diagnostics.
    pub fn lower(
        &self,
        functions: &[(SourceId, &str)],
        catalog: &mut EventCatalog,
    ) -> (Option<Automaton>, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let (mut logic, formula, located) = match self.reparse() {
            Ok(read) => read,
            Err(errors) => return (None, errors),
        };
        let atoms = Atoms::new(&located, &mut diagnostics);
        if diagnostics.iter().any(Diagnostic::is_error) {
            return (None, diagnostics);
        }
        let header = PropertyHeader {
            name: &self.name,
            formula: &self.formula,
            span: self.span,
            slice_on: &self.slice_on,
        };
        let automaton = self.machine(&mut logic, formula).and_then(|machine| {
            lower(&mut logic, &machine, &atoms, &header, functions, catalog, &mut diagnostics)
        });
        match automaton {
            Ok(automaton) => (automaton, diagnostics),
            Err(limit) => {
                diagnostics.push(self.too_large(limit));
                (None, diagnostics)
            }
        }
    }

    /// Returns the diagnostic for a formula whose monitor exceeds the limits.
    fn too_large(&self, limit: TooLarge) -> Diagnostic {
        Diagnostic::error(self.span, "the monitor for this formula is too large")
            .label(match limit.is_time() {
                true => limit.to_string(),
                false => format!("more than {} {} would be needed", limit.limit, limit.resource),
            })
            .help("split a conjunction into several properties, or use smaller bounds")
    }

    /// Parses the formula into a logic of its own, with its atoms.
    pub(super) fn reparse(&self) -> Result<(Logic, Formula, Vec<LocatedAtom>), Vec<Diagnostic>> {
        let mut logic = Logic::new(BUDGET);
        let excerpt = Excerpt::new(&self.text, &self.parts, self.offset);
        let definitions = logic.parse_file(&excerpt.text).map_err(|errors| {
            let located = errors.iter().map(|error| {
                let span = Span::new(
                    self.span.source,
                    excerpt.source_offset(error.span.start),
                    excerpt.source_offset(error.span.end),
                );
                Diagnostic { span, ..syntax_diagnostic(self.span.source, 0, error) }
            });
            located.collect::<Vec<_>>()
        })?;
        let located = self.atoms(&excerpt, &mut logic, &definitions);
        let formula = definitions.get(self.number).map_or(Formula::TRUE, |definition| definition.formula);
        Ok((logic, formula, located))
    }

    /// Returns the atoms of the formula and of those that it refers to, without duplicates, in source order.
    fn atoms(&self, excerpt: &Excerpt, logic: &mut Logic, definitions: &[Definition]) -> Vec<LocatedAtom> {
        let mut found: Vec<LocatedAtom> = Vec::new();
        let (mut open, mut seen) = (vec![self.number], BTreeSet::from([self.number]));
        while let Some(number) = open.pop() {
            let Some(definition) = definitions.get(number) else { continue };
            for (proposition, part) in definition.tree.atoms() {
                if let Proposition::Monitor(name) = proposition {
                    let has_name =
                        |of: &Definition| of.name.as_ref().is_some_and(|known| known.text == *name);
                    let target = definitions.iter().position(has_name);
                    open.extend(target.filter(|target| seen.insert(*target)));
                    continue;
                }
                let atom = logic.formulae.atom_for(proposition.clone());
                if found.iter().any(|known| known.atom == atom) {
                    continue;
                }
                let Range { start, end } = part;
                let inside = excerpt.text.get(start + 1..end - 1);
                let is_verbatim =
                    matches!(proposition, Proposition::Expression(text) if inside == Some(text));
                found.push(LocatedAtom {
                    atom,
                    proposition: proposition.clone(),
                    span: Span::new(
                        self.span.source,
                        excerpt.source_offset(start),
                        excerpt.source_offset(end),
                    ),
                    expression_start: is_verbatim.then(|| excerpt.source_offset(start + 1)),
                });
            }
        }
        found
    }

    /// Returns the monitor of the formula. Falls back to certain verdicts if the presumptive monitor is too large.
    pub(super) fn machine(&self, logic: &mut Logic, formula: Formula) -> Result<Machine, TooLarge> {
        if self.semantics == TraceSemantics::Ltlf {
            return Ok(state_output::finite_monitor(logic.finite_monitor(formula)?));
        }
        let certain = logic.monitor(formula)?;
        Ok(match logic.presumptive_monitor_from(&certain, formula) {
            Ok(presumptive) => presumptive.map(state_output::presumptive_output),
            Err(_) => certain.map(state_output::certain_output),
        })
    }
}
