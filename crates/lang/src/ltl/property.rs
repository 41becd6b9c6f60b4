//! Formulae as they are written, each a property.

use super::argument::Reading;
use super::atoms::{Atoms, Placed};
use super::lower::{Title, lower};
use super::machine::{self, Machine};
use crate::prop::ast::Name;
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_ltl::formula::{Formulae, Proposition};
use invigil_ltl::syntax::{Definition, Mistake};
use invigil_ltl::{Budget, Formula, Logic, TooLarge};
use invigil_monitor::automaton::{Automaton, MAX_SLICE_PARAMS};
use invigil_monitor::event::Catalog;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// What a formula on a command line may cost.
pub const BUDGET: Budget = Budget {
    formulae: 1 << 18,
    states: 1 << 14,
    edges: 1 << 18,
    nodes: 1 << 21,
    variables: 1 << 12,
    seconds: Some(60),
};

/// A property that is a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// What it is called.
    pub name: String,
    /// The formula as it is written, in one line.
    pub formula: String,
    /// Where that is.
    pub span: Span,
    /// How long runs are.
    pub reading: Reading,
    /// The parameters that it is sliced on.
    pub slice_on: Vec<Name>,
    /// The text that it stands in; all properties of a file share it.
    text: Arc<str>,
    /// Where that begins in its source.
    offset: usize,
    /// The places of the formula and of those that it refers to, with their names, in order.
    parts: Vec<Range<usize>>,
    /// Which of these is the formula.
    number: usize,
}

/// Parts of a text as a text of its own.
struct Excerpt {
    text: String,
    /// Where each part begins, here and in the source.
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

    /// Where in the source that stands which stands at a place here.
    fn place(&self, at: usize) -> u32 {
        let part = self.places.partition_point(|(here, _)| *here <= at).saturating_sub(1);
        self.places.get(part).map_or(at, |(here, there)| there + at - here) as u32
    }
}

/// How formulae are to be read as properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manner {
    /// What to call them: a single one so, several so with a dot and their own names.
    pub name: Option<String>,
    /// What to call one that neither has a name nor is given one; without this it is its own name.
    pub stem: Option<String>,
    /// How long runs are.
    pub reading: Reading,
    /// The parameters that they are sliced on.
    pub slice_on: Vec<Name>,
}

impl Manner {
    /// The manner of a file that is named without more: `stem` is its name without the ending.
    pub fn of_file(stem: &str) -> Manner {
        Manner { name: None, stem: Some(stem.to_owned()), reading: Reading::Ltl, slice_on: Vec::new() }
    }
}

/// Reads the formulae in a part of a source, such as a whole file: each has a name, `mutex = G !(a & b)`, if it
/// is not alone. Those that others refer to as `@mutex` are parts of these, and no properties of their own.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::ltl;
/// let text = "ltl:G(request -> F grant)";
/// let argument = ltl::Argument::parse(text).unwrap();
/// let manner = argument.manner(SourceId(0), text);
/// let (properties, problems) = ltl::parse(SourceId(0), text, argument.formula, manner);
/// assert!(problems.is_empty());
/// assert_eq!(properties[0].name, "G(request -> F grant)");
/// ```
pub fn parse(
    source: SourceId,
    text: &str,
    part: Range<usize>,
    manner: Manner,
) -> (Vec<Property>, Vec<Diagnostic>) {
    let offset = part.start;
    Reader { source, manner }.read(text.get(part).unwrap_or_default(), offset)
}

struct Reader {
    source: SourceId,
    manner: Manner,
}

impl Reader {
    /// Reads a text that begins at `offset` of its source.
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
            let name = match (&self.manner.name, own) {
                (Some(name), Some(own)) if several => format!("{name}.{own}"),
                (Some(name), _) => name.clone(),
                (None, Some(own)) => own.to_owned(),
                (None, None) => self.manner.stem.clone().unwrap_or_else(|| shortened(&written)),
            };
            properties.push(Property {
                name,
                formula: written,
                span: Span::new(self.source, (offset + start) as u32, (offset + end) as u32),
                reading: self.manner.reading,
                slice_on: self.manner.slice_on.clone(),
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
        let slice_on = &self.manner.slice_on;
        for (at, name) in slice_on.iter().enumerate() {
            let words = match &name.text {
                text if text.is_empty() => "a parameter is missing here".to_owned(),
                text if slice_on[..at].iter().any(|earlier| earlier.text == *text) => {
                    format!("`{text}` is sliced on twice")
                }
                _ if at == MAX_SLICE_PARAMS => {
                    format!("a property slices on at most {MAX_SLICE_PARAMS} parameters")
                }
                _ => continue,
            };
            let help = "name the parameters of events that tell one instance from another: `ltl[queue]:…`";
            problems.push(Diagnostic::error(name.span, words).help(help));
        }
        problems
    }
}

/// The longest formula that is its own name.
const LONGEST: usize = 60;

fn shortened(formula: &str) -> String {
    match formula.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &formula[..end]),
        None => formula.to_owned(),
    }
}

/// For each formula the numbers of those that it refers to.
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

/// A formula and all that it refers to, in the order in which they stand.
fn needed(number: usize, references: &[Vec<usize>]) -> BTreeSet<usize> {
    let (mut open, mut needed) = (vec![number], BTreeSet::from([number]));
    while let Some(number) = open.pop() {
        open.extend(references[number].iter().filter(|other| needed.insert(**other)));
    }
    needed
}

/// Where a definition stands, with its name.
fn place(definition: &Definition) -> Range<usize> {
    let Range { start, end } = definition.formula_span;
    definition.name.as_ref().map_or(start, |name| name.span.start)..end
}

/// Prints a file of formulae in one style; comments stay.
///
/// # Errors
/// With all mistakes, if it has some: it is left alone then.
pub fn format(source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
    invigil_ltl::syntax::format(text)
        .map_err(|mistakes| mistakes.iter().map(|mistake| diagnostic(source, 0, mistake)).collect())
}

/// A mistake in a text that begins at `offset` of its source.
pub(crate) fn diagnostic(source: SourceId, offset: usize, mistake: &Mistake) -> Diagnostic {
    let span = Span::new(source, (offset + mistake.span.start) as u32, (offset + mistake.span.end) as u32);
    let diagnostic = Diagnostic::error(span, &mistake.message);
    match &mistake.hint {
        Some(hint) => diagnostic.help(hint),
        None => diagnostic,
    }
}

impl Property {
    /// Compiles the formula. The events that it names are added to `catalog`, which all properties of a
    /// session share; `functions` are files of functions that its expressions may call. There is an automaton
    /// if no error is among the diagnostics.
    pub fn lower(
        &self,
        functions: &[(SourceId, &str)],
        catalog: &mut Catalog,
    ) -> (Option<Automaton>, Vec<Diagnostic>) {
        let mut problems = Vec::new();
        let (mut logic, formula, placed) = match self.reread() {
            Ok(read) => read,
            Err(mistakes) => return (None, mistakes),
        };
        let atoms = Atoms::new(&placed, &mut problems);
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

    /// That the formula has no monitor of a reasonable size.
    fn too_large(&self, limit: TooLarge) -> Diagnostic {
        Diagnostic::error(self.span, "there is no monitor of a reasonable size for this formula")
            .label(match limit.is_time() {
                true => limit.to_string(),
                false => format!("it would have more than {} {}", limit.limit, limit.what),
            })
            .help("give the parts of a conjunction as properties of their own, or smaller bounds")
    }

    /// The formula in a logic of its own, with its atoms.
    pub(super) fn reread(&self) -> Result<(Logic, Formula, Vec<Placed>), Vec<Diagnostic>> {
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
        let placed = self.atoms(&excerpt, &mut logic, &definitions);
        let formula = definitions.get(self.number).map_or(Formula::TRUE, |definition| definition.formula);
        Ok((logic, formula, placed))
    }

    /// The atoms of the formula and of those that it refers to, each once, in the order in which they stand.
    fn atoms(&self, excerpt: &Excerpt, logic: &mut Logic, definitions: &[Definition]) -> Vec<Placed> {
        let mut found: Vec<Placed> = Vec::new();
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
                found.push(Placed {
                    atom,
                    proposition: proposition.clone(),
                    span: Span::new(self.span.source, excerpt.place(start), excerpt.place(end)),
                    inside: letter_by_letter.then(|| excerpt.place(start + 1)),
                });
            }
        }
        found
    }

    /// The monitor of the formula. Where what is to be presumed is too large, it tells what is certain.
    pub(super) fn machine(&self, logic: &mut Logic, formula: Formula) -> Result<Machine, TooLarge> {
        if self.reading == Reading::Ltlf {
            return Ok(machine::finite(logic.finite(formula)?));
        }
        let certain = logic.monitor(formula)?;
        Ok(match logic.presume_besides(&certain, formula) {
            Ok(presuming) => presuming.map(machine::presumed),
            Err(_) => certain.map(machine::certain),
        })
    }
}
