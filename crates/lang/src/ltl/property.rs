//! Formulas as properties.

use super::argument::TraceSemantics;
use super::atoms::{Atoms, LocatedAtom};
use super::lower::{Title, lower};
use super::meaning::{self, Machine};
use crate::prop::ast::Name;
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_ltl::formula::{Formulae, Proposition};
use invigil_ltl::syntax::{Definition, Mistake};
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
    /// The start of each part, here and in the source.
    places: Vec<(usize, usize)>,
}

impl Excerpt {
    fn new(text: &str, parts: &[Range<usize>], offset: usize) -> Excerpt {
        let mut excerpt = Excerpt { text: String::new(), places: Vec::new() };
        for part in parts {
            excerpt.places.push((excerpt.text.len(), offset + part.start));
            excerpt.text.push_str(text.get(part.clone()).unwrap_or_default());
            excerpt.text.push('\n');
        }
        excerpt
    }

    /// Returns the source offset for an offset in the excerpt.
    fn place(&self, at: usize) -> u32 {
        let part = self.places.partition_point(|(here, _)| *here <= at).saturating_sub(1);
        self.places.get(part).map_or(at, |(here, there)| there + at - here) as u32
    }
}

/// Options for parsing formulas as properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaOptions {
    /// The name of a single formula, or the prefix of the names of several, joined with a dot.
    pub name: Option<String>,
    /// The name of a formula that has none; if absent, the formula itself is its name.
    pub stem: Option<String>,
    /// The trace semantics.
    pub semantics: TraceSemantics,
    /// The slice parameters.
    pub slice_on: Vec<Name>,
}

impl FormulaOptions {
    /// Options for a file without further settings; `stem` is its name without the extension.
    pub fn of_file(stem: &str) -> FormulaOptions {
        FormulaOptions {
            name: None,
            stem: Some(stem.to_owned()),
            semantics: TraceSemantics::Ltl,
            slice_on: Vec::new(),
        }
    }
}

/// Parses the formulas in a part of a source. Unless there is only one, each has a name: `mutex = G !(a & b)`.
/// Formulas that others refer to as `@mutex` become parts of these, not properties.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::ltl;
/// let text = "ltl:G(request -> F grant)";
/// let argument = ltl::FormulaArgument::parse(text).unwrap();
/// let options = argument.options(SourceId(0), text);
/// let (properties, problems) = ltl::parse(SourceId(0), text, argument.formula, options);
/// assert!(problems.is_empty());
/// assert_eq!(properties[0].name, "G(request -> F grant)");
/// ```
pub fn parse(
    source: SourceId,
    text: &str,
    part: Range<usize>,
    options: FormulaOptions,
) -> (Vec<Property>, Vec<Diagnostic>) {
    let offset = part.start;
    Reader { source, options }.read(text.get(part).unwrap_or_default(), offset)
}

struct Reader {
    source: SourceId,
    options: FormulaOptions,
}

impl Reader {
    /// Parses a text that starts at `offset` of its source.
    fn read(self, text: &str, offset: usize) -> (Vec<Property>, Vec<Diagnostic>) {
        let mut problems = self.slice_problems();
        let definitions = match Formulae::new(&BUDGET).parse_file(text) {
            Ok(definitions) => definitions,
            Err(mistakes) => {
                problems.extend(mistakes.iter().map(|mistake| diagnostic(self.source, offset, mistake)));
                return (Vec::new(), problems);
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
                (None, None) => self.options.stem.clone().unwrap_or_else(|| shortened(&written)),
            };
            properties.push(Property {
                name,
                formula: written,
                span: Span::new(self.source, (offset + start) as u32, (offset + end) as u32),
                semantics: self.options.semantics,
                slice_on: self.options.slice_on.clone(),
                text: Arc::clone(&whole),
                offset,
                parts: needed.iter().map(|needed| place(&definitions[*needed])).collect(),
                number: needed.iter().position(|needed| *needed == number).unwrap_or_default(),
            });
        }
        (properties, problems)
    }

    fn slice_problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let slice_on = &self.options.slice_on;
        for (at, name) in slice_on.iter().enumerate() {
            let words = match &name.text {
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
            problems.push(Diagnostic::error(name.span, words).help(help));
        }
        problems
    }
}

/// The maximum length of a formula that serves as its own name.
const MAX_FORMULA_NAME: usize = 60;

fn shortened(formula: &str) -> String {
    match formula.char_indices().nth(MAX_FORMULA_NAME) {
        Some((end, _)) => format!("{}…", &formula[..end]),
        None => formula.to_owned(),
    }
}

/// For each formula, the indices of those that it refers to.
fn references(definitions: &[Definition]) -> Vec<Vec<usize>> {
    let named = definitions.iter().enumerate().filter_map(|(at, of)| Some((of.name.as_ref()?, at)));
    let numbers: HashMap<&str, usize> = named.map(|(name, at)| (name.text.as_str(), at)).collect();
    let references = definitions.iter().map(|definition| {
        let atoms = definition.written.atoms();
        let meant = atoms.filter_map(|(proposition, _)| match proposition {
            Proposition::Monitor(name) => numbers.get(name.as_str()).copied(),
            _ => None,
        });
        meant.collect()
    });
    references.collect()
}

/// A formula and all that it refers to, in source order.
fn needed(number: usize, references: &[Vec<usize>]) -> BTreeSet<usize> {
    let (mut open, mut needed) = (vec![number], BTreeSet::from([number]));
    while let Some(number) = open.pop() {
        open.extend(references[number].iter().filter(|other| needed.insert(**other)));
    }
    needed
}

/// The range of a definition, including its name.
fn place(definition: &Definition) -> Range<usize> {
    let Range { start, end } = definition.formula_span;
    definition.name.as_ref().map_or(start, |name| name.span.start)..end
}

/// Formats a file of formulas. Comments are kept.
///
/// # Errors
/// With all errors if there are any; nothing is formatted then.
pub fn format(source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
    invigil_ltl::syntax::format(text)
        .map_err(|mistakes| mistakes.iter().map(|mistake| diagnostic(source, 0, mistake)).collect())
}

/// Converts a syntax error in a text that starts at `offset` of its source.
pub(crate) fn diagnostic(source: SourceId, offset: usize, mistake: &Mistake) -> Diagnostic {
    let span = Span::new(source, (offset + mistake.span.start) as u32, (offset + mistake.span.end) as u32);
    let diagnostic = Diagnostic::error(span, &mistake.message);
    match &mistake.hint {
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
        let mut problems = Vec::new();
        let (mut logic, formula, located) = match self.parse_again() {
            Ok(read) => read,
            Err(mistakes) => return (None, mistakes),
        };
        let atoms = Atoms::new(&located, &mut problems);
        if problems.iter().any(Diagnostic::is_error) {
            return (None, problems);
        }
        let title =
            Title { name: &self.name, formula: &self.formula, span: self.span, slice_on: &self.slice_on };
        let automaton = self.machine(&mut logic, formula).and_then(|machine| {
            lower(&mut logic, &machine, &atoms, &title, functions, catalog, &mut problems)
        });
        match automaton {
            Ok(automaton) => (automaton, problems),
            Err(limit) => {
                problems.push(self.too_large(limit));
                (None, problems)
            }
        }
    }

    /// The diagnostic for a formula whose monitor exceeds the limits.
    fn too_large(&self, limit: TooLarge) -> Diagnostic {
        Diagnostic::error(self.span, "the monitor for this formula is too large")
            .label(match limit.is_time() {
                true => limit.to_string(),
                false => format!("more than {} {} would be needed", limit.limit, limit.what),
            })
            .help("split a conjunction into several properties, or use smaller bounds")
    }

    /// Parses the formula into a logic of its own, with its atoms.
    pub(super) fn parse_again(&self) -> Result<(Logic, Formula, Vec<LocatedAtom>), Vec<Diagnostic>> {
        let mut logic = Logic::new(BUDGET);
        let excerpt = Excerpt::new(&self.text, &self.parts, self.offset);
        let definitions = logic.parse_file(&excerpt.text).map_err(|mistakes| {
            let located = mistakes.iter().map(|mistake| {
                let span = Span::new(
                    self.span.source,
                    excerpt.place(mistake.span.start),
                    excerpt.place(mistake.span.end),
                );
                Diagnostic { span, ..diagnostic(self.span.source, 0, mistake) }
            });
            located.collect::<Vec<_>>()
        })?;
        let located = self.atoms(&excerpt, &mut logic, &definitions);
        let formula = definitions.get(self.number).map_or(Formula::TRUE, |definition| definition.formula);
        Ok((logic, formula, located))
    }

    /// The atoms of the formula and of those that it refers to, without duplicates, in source order.
    fn atoms(&self, excerpt: &Excerpt, logic: &mut Logic, definitions: &[Definition]) -> Vec<LocatedAtom> {
        let mut found: Vec<LocatedAtom> = Vec::new();
        let (mut open, mut seen) = (vec![self.number], BTreeSet::from([self.number]));
        while let Some(number) = open.pop() {
            let Some(definition) = definitions.get(number) else { continue };
            for (proposition, part) in definition.written.atoms() {
                if let Proposition::Monitor(name) = proposition {
                    let is_meant =
                        |of: &Definition| of.name.as_ref().is_some_and(|known| known.text == *name);
                    let meant = definitions.iter().position(is_meant);
                    open.extend(meant.filter(|meant| seen.insert(*meant)));
                    continue;
                }
                let atom = logic.formulae.atom_for(proposition.clone());
                if found.iter().any(|known| known.atom == atom) {
                    continue;
                }
                let Range { start, end } = part;
                let inside = excerpt.text.get(start + 1..end - 1);
                let letter_by_letter =
                    matches!(proposition, Proposition::Expression(text) if inside == Some(text));
                found.push(LocatedAtom {
                    atom,
                    proposition: proposition.clone(),
                    span: Span::new(self.span.source, excerpt.place(start), excerpt.place(end)),
                    expression_start: letter_by_letter.then(|| excerpt.place(start + 1)),
                });
            }
        }
        found
    }

    /// Returns the monitor of the formula. Falls back to certain verdicts if the presumptive monitor is too large.
    pub(super) fn machine(&self, logic: &mut Logic, formula: Formula) -> Result<Machine, TooLarge> {
        if self.semantics == TraceSemantics::Ltlf {
            return Ok(meaning::finite(logic.finite(formula)?));
        }
        let certain = logic.monitor(formula)?;
        Ok(match logic.presume_besides(&certain, formula) {
            Ok(presuming) => presuming.map(meaning::presumed),
            Err(_) => certain.map(meaning::certain),
        })
    }
}
