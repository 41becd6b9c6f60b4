//! Tells the outcome of a check: to people as text, to machines as JSON, JUnit XML and SARIF.
//!
//! A [`Report`] puts the [`Outcome`] together with what is needed to tell it: the properties, for the names
//! of their files and events, and their sources, to point into.

mod errors;
mod json;
mod junit;
mod lacks;
mod notes;
mod paint;
mod path;
mod sarif;
mod table;
mod text;
mod violations;
mod warnings;
mod words;

pub use paint::Paint;
pub use path::way;
pub use text::summary;
pub use violations::{Violations, change, described, formula, reason};
pub use words::{count, grouped, printable, shorten, time};

use crate::outcome::{Outcome, PropertyOutcome};
use invigil_expr::diag::{Source, Sources, Span};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{ANY, Catalog, STATE, SymbolId};
use invigil_monitor::verdict::Verdict;
use invigil_trace::{End, Input, Place, TraceError};

/// An outcome, and what is needed to tell it.
///
/// ```
/// use invigil_check::report::{Report, Style};
/// use invigil_check::{Options, Quiet, check};
/// use invigil_expr::diag::Sources;
/// use invigil_lang::prop;
/// use invigil_monitor::event::Catalog;
/// use invigil_trace::Input;
///
/// let text = "state init accepting { transition { event fall(height) success down } }
///     state down non-accepting";
/// let (mut sources, mut catalog) = (Sources::default(), Catalog::default());
/// let (property, _) = prop::parse(sources.add("upright.prop", text), text);
/// let automata = [prop::lower::lower("upright", &property, &[], &mut catalog).0.unwrap()];
/// let open = || vec![Input::reader("trace", "fall(height=3)\n".as_bytes())];
/// let outcome = check(&automata, &catalog, open, &Options::default(), &mut Quiet);
///
/// let report = Report {
///     outcome: &outcome,
///     automata: &automata,
///     catalog: &catalog,
///     sources: &sources,
///     interrupted: false,
/// };
/// assert!(report.text(&Style::default()).contains("violation 1: upright"));
/// assert!(report.json().contains("\"to\": \"down\""));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// What came of the check.
    pub outcome: &'a Outcome,
    /// The properties, in the order they were checked.
    pub automata: &'a [Automaton],
    /// The events that they know.
    pub catalog: &'a Catalog,
    /// The files that the properties were read from.
    pub sources: &'a Sources,
    /// Whether the user broke the check off.
    pub interrupted: bool,
}

/// How text is laid out for a person.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether to colour it, for a terminal.
    pub colour: bool,
    /// How many columns there are.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { colour: false, width: 100 }
    }
}

impl<'a> Report<'a> {
    /// Whether every event of the trace was seen by every property.
    pub fn is_complete(&self) -> bool {
        let finished = matches!(self.outcome.trace.end, End::Finished) && !self.outcome.is_incomplete();
        finished && !self.interrupted && !self.is_about_nothing()
    }

    /// Whether there was a trace of which next to nothing could be read, and nothing that concerns a property.
    /// Then a verdict says nothing.
    pub fn is_about_nothing(&self) -> bool {
        let trace = &self.outcome.trace;
        let is_unread = matches!(trace.end, End::Failed(_)) && trace.ignored == 0;
        trace.events == 0 && (is_unread || trace.problems.skipped() > trace.ignored)
    }

    /// Whether there were events, but none that some property mentions.
    pub fn is_of_something_else(&self) -> bool {
        let trace = &self.outcome.trace;
        trace.events == 0 && trace.ignored > 0 && !self.is_about_nothing()
    }

    /// Whether a line with a mistake ended the reading. It is told as the error that it is.
    fn ended_strictly(&self) -> bool {
        matches!(self.outcome.trace.end, End::Failed(TraceError::Strict { .. }))
    }

    /// What it takes to tell the violations.
    fn violations(&self) -> Violations<'a> {
        Violations { automata: self.automata, inputs: &self.outcome.inputs }
    }

    /// `file:line` of a place in the trace.
    fn place(&self, place: Place) -> String {
        self.violations().place(place)
    }

    /// The input that a place lies in.
    fn input(&self, place: Place) -> &'a str {
        self.violations().input(place)
    }

    /// The file of the trace that a place lies in; `None` if it is a stream.
    fn trace_file(&self, place: Place) -> Option<&'a str> {
        Some(self.input(place)).filter(|name| *name != Input::stdin().name())
    }

    /// Where a property is written.
    fn source(&self, property: usize) -> Option<&'a Source> {
        let automaton = self.automata.get(property)?;
        self.sources.get(automaton.states.first()?.span.source)
    }

    /// The name of a property's file, or else its own.
    fn file(&self, property: usize) -> &'a str {
        let name = || self.outcome.properties.get(property).map_or("?", |outcome| outcome.name.as_str());
        self.source(property).map_or_else(name, |source| source.name.as_str())
    }

    /// The name of a property's file, or that of a formula, of which a file may have many.
    fn called(&self, property: usize) -> &'a str {
        match (self.automata.get(property), self.outcome.properties.get(property)) {
            (Some(automaton), Some(outcome)) if automaton.formula.is_some() => &outcome.name,
            _ => self.file(property),
        }
    }

    /// An event as its property names it; none of those that formulae are given without naming them.
    fn event_name(&self, symbol: SymbolId) -> Option<String> {
        let symbol = self.catalog.get(symbol)?;
        (![ANY, STATE].contains(&symbol.name.as_str())).then(|| symbol.to_string())
    }

    /// Where a property declares a state.
    fn state_span(&self, property: usize, state: &str) -> Option<Span> {
        let automaton = self.automata.get(property)?;
        let state = automaton.state_named(state)?;
        automaton.states.get(usize::from(state)).map(|state| state.span)
    }

    /// The events that a property mentions, each once.
    fn events_of(&self, property: usize) -> Vec<String> {
        let symbols = self.automata.get(property).into_iter().flat_map(Automaton::symbols);
        symbols.filter_map(|symbol| self.event_name(symbol)).collect()
    }

    /// The events that a property waits for at its beginning, each once.
    fn first_events_of(&self, property: usize) -> Vec<String> {
        let Some(automaton) = self.automata.get(property) else { return Vec::new() };
        let mut names: Vec<String> = Vec::new();
        for transition in automaton.transitions.iter().filter(|t| t.from == automaton.initial) {
            let Some(name) = self.event_name(transition.symbol) else { continue };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// The word for how an undecided property would fare if nothing more came.
pub fn presumption(holds: bool) -> &'static str {
    if holds { "holds" } else { "violated" }
}

/// The word for how a property fared.
pub fn word(property: &PropertyOutcome) -> &'static str {
    match property.verdict() {
        Verdict::Accepting => "holds",
        Verdict::Undecided => "undecided",
        Verdict::NonAccepting => "violated",
        Verdict::Error => "error",
    }
}
