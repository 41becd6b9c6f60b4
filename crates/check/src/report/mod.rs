//! The report of a check: text for people; JSON, JUnit XML and SARIF for programs.
//!
//! A [`Report`] combines the [`CheckResult`] with the data that rendering needs: the properties with their names and
//! events, and their sources for diagnostics.

mod errors;
mod format;
mod json;
mod junit;
mod missing_data;
mod notes;
mod paint;
mod path;
mod sarif;
mod table;
mod text;
mod violations;
mod warnings;

pub use format::{count, grouped, printable, shorten, time};
pub use paint::Paint;
pub use path::path_table;
pub use text::summary;
pub use violations::{ViolationRenderer, event_text, formula_line, reason_line, state_change_text};

use crate::result::{CheckResult, PropertyResult};
use invigil_expr::diag::{Source, Sources, Span};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{ANY_EVENT, EventCatalog, EventId, STATE_EVENT};
use invigil_monitor::verdict::Verdict;
use invigil_trace::{Input, ReadEnd, TraceError, TracePosition};

/// The result of a check with the data that rendering needs.
///
/// ```
/// use invigil_check::report::{Report, Style};
/// use invigil_check::{CheckOptions, NoopListener, check};
/// use invigil_expr::diag::Sources;
/// use invigil_lang::prop;
/// use invigil_monitor::event::EventCatalog;
/// use invigil_trace::Input;
///
/// let text = "state init accepting { transition { event fall(height) success down } }
///     state down non-accepting";
/// let (mut sources, mut catalog) = (Sources::default(), EventCatalog::default());
/// let (property, _) = prop::parse(sources.add("upright.prop", text), text);
/// let automata = [prop::lower::lower("upright", &property, &[], &mut catalog).0.unwrap()];
/// let open = || vec![Input::reader("trace", "fall(height=3)\n".as_bytes())];
/// let outcome = check(&automata, &catalog, open, &CheckOptions::default(), &mut NoopListener);
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
    /// The result of the check.
    pub outcome: &'a CheckResult,
    /// The properties, in the order of the result.
    pub automata: &'a [Automaton],
    /// The event catalog of the properties.
    pub catalog: &'a EventCatalog,
    /// The source files of the properties.
    pub sources: &'a Sources,
    /// Whether the user interrupted the check.
    pub interrupted: bool,
}

/// Layout of text output.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether to use colours.
    pub colour: bool,
    /// Width in columns.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { colour: false, width: 100 }
    }
}

impl<'a> Report<'a> {
    /// Whether every property was checked on every event of the trace.
    pub fn is_complete(&self) -> bool {
        let finished = matches!(self.outcome.trace.end, ReadEnd::Finished) && !self.outcome.is_incomplete();
        finished && !self.interrupted && !self.is_not_a_trace()
    }

    /// Whether the input was probably not a trace: most of it could not be read, and no event is mentioned by a
    /// property. Then a verdict would be meaningless.
    pub fn is_not_a_trace(&self) -> bool {
        let trace = &self.outcome.trace;
        let is_unread = matches!(trace.end, ReadEnd::Failed(_)) && trace.ignored == 0;
        trace.events == 0 && (is_unread || trace.line_errors.skipped() > trace.ignored)
    }

    /// Whether there were events, but none that a property mentions.
    pub fn mentions_no_event(&self) -> bool {
        let trace = &self.outcome.trace;
        trace.events == 0 && trace.ignored > 0 && !self.is_not_a_trace()
    }

    /// Whether a malformed line ended the reading in strict mode. It is reported as an error.
    fn ended_by_strict_error(&self) -> bool {
        matches!(self.outcome.trace.end, ReadEnd::Failed(TraceError::Strict { .. }))
    }

    /// The renderer of violations.
    fn violation_renderer(&self) -> ViolationRenderer<'a> {
        ViolationRenderer { automata: self.automata, inputs: &self.outcome.inputs }
    }

    /// Renders a position in the trace as `file:line`.
    fn position_text(&self, position: TracePosition) -> String {
        self.violation_renderer().position_text(position)
    }

    /// The name of the input of a position.
    fn input(&self, position: TracePosition) -> &'a str {
        self.violation_renderer().input(position)
    }

    /// The file of a position; `None` for a stream.
    fn trace_file(&self, position: TracePosition) -> Option<&'a str> {
        Some(self.input(position)).filter(|name| *name != Input::stdin().name())
    }

    /// The source of a property.
    fn source(&self, property: usize) -> Option<&'a Source> {
        let automaton = self.automata.get(property)?;
        self.sources.get(automaton.states.first()?.span.source)
    }

    /// The file name of a property, or its own name if it has no file.
    fn file(&self, property: usize) -> &'a str {
        let name = || self.outcome.properties.get(property).map_or("?", |outcome| outcome.name.as_str());
        self.source(property).map_or_else(name, |source| source.name.as_str())
    }

    /// The name for messages: the formula's own name, because a file may contain many; otherwise the file name.
    fn display_name(&self, property: usize) -> &'a str {
        match (self.automata.get(property), self.outcome.properties.get(property)) {
            (Some(automaton), Some(outcome)) if automaton.formula.is_some() => &outcome.name,
            _ => self.file(property),
        }
    }

    /// The name of an event as its property writes it. `None` for the implicit events of formulae.
    fn event_name(&self, event_id: EventId) -> Option<String> {
        let decl = self.catalog.get(event_id)?;
        (![ANY_EVENT, STATE_EVENT].contains(&decl.name.as_str())).then(|| decl.to_string())
    }

    /// The span of a state's declaration.
    fn state_span(&self, property: usize, state: &str) -> Option<Span> {
        let automaton = self.automata.get(property)?;
        let state = automaton.state_named(state)?;
        automaton.states.get(usize::from(state)).map(|state| state.span)
    }

    /// The events that a property mentions, each once.
    fn events_of(&self, property: usize) -> Vec<String> {
        let event_ids = self.automata.get(property).into_iter().flat_map(Automaton::events);
        event_ids.filter_map(|event_id| self.event_name(event_id)).collect()
    }

    /// The events for which a property waits in its initial state, each once.
    fn first_events_of(&self, property: usize) -> Vec<String> {
        let Some(automaton) = self.automata.get(property) else { return Vec::new() };
        let mut names: Vec<String> = Vec::new();
        for transition in automaton.transitions.iter().filter(|t| t.from == automaton.initial) {
            let Some(name) = self.event_name(transition.event) else { continue };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// The word for the verdict of an undecided property if the trace ended here.
pub fn presumption(holds: bool) -> &'static str {
    if holds { "holds" } else { "violated" }
}

/// The word for the verdict of a property.
pub fn verdict_word(property: &PropertyResult) -> &'static str {
    match property.verdict() {
        Verdict::Accepting => "holds",
        Verdict::Undecided => "undecided",
        Verdict::NonAccepting => "violated",
        Verdict::Error => "error",
    }
}
