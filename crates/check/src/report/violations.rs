//! Rendering of violations. Independent of `CheckResult`, so that violations can be printed during the check.

use super::format::{grouped, printable, shorten, time};
use super::path::path;
use super::{Paint, Style};
use crate::violation::{ReportedEvent, Violation};
use invigil_monitor::automaton::Automaton;
use invigil_trace::TracePosition;

/// Maximum width of a value, in columns.
const MAX_VALUE_WIDTH: usize = 60;

/// Renders violations as text.
#[derive(Clone, Copy, Debug)]
pub struct ViolationRenderer<'a> {
    /// The properties, in the order in which they are checked.
    pub automata: &'a [Automaton],
    /// The names of the inputs.
    pub inputs: &'a [String],
}

impl<'a> ViolationRenderer<'a> {
    /// Renders a violation with its path; `number` counts from 1.
    pub fn text(&self, number: usize, violation: &Violation, style: &Style) -> String {
        let property = self.automata.get(violation.property).map_or("?", |property| property.name.as_str());
        let value = |text: Option<&str>| text.map_or("any".to_owned(), |text| shorten(text, MAX_VALUE_WIDTH));
        let slice: Vec<String> = violation
            .slice
            .iter()
            .map(|bound| (&bound.name, bound.value.as_ref().map(|value| value.text.as_str())))
            .map(|(name, text)| format!("{name} = {}", value(text)))
            .collect();
        let with = if slice.is_empty() { String::new() } else { format!(" with {}", slice.join(", ")) };
        let headline = style.paint(Paint::Bad, &format!("violation {number}:"));
        let mut out = format!("{headline} {}{with}\n", style.paint(Paint::Title, property));
        out.push_str(&self.automata.get(violation.property).map_or(String::new(), formula_line));
        match &violation.event {
            Some(event) => {
                out.push_str(&format!("  at     {}\n", self.position_and_time(event)));
                out.push_str(&format!("  event  {}\n", event_text(event)));
                out.push_str(&reason_line(violation));
            }
            None if violation.at_end => out.push_str("  at     the end of the trace\n"),
            None => out.push_str("  before any event: the property starts in a non-accepting state\n"),
        }
        out.push_str(&format!("  state  {}\n\n", state_change_text(violation, style)));
        out + &path(self, violation, style)
    }

    /// Renders position, number and time of an event.
    pub(super) fn position_and_time(&self, event: &ReportedEvent) -> String {
        let when = event.time.map_or(String::new(), |at| format!(", time {}", time(at)));
        format!("{} (event {}{when})", printable(&self.position_text(event.position)), grouped(event.index))
    }

    /// Renders a position in the trace as `file:line`.
    pub(super) fn position_text(&self, position: TracePosition) -> String {
        format!("{}:{}", self.input(position), position.line)
    }

    /// The name of the input of a position.
    pub(super) fn input(&self, position: TracePosition) -> &'a str {
        self.inputs.get(position.input).map_or("?", String::as_str)
    }
}

/// Renders the formula of a property as a line, unless the formula is its name.
pub fn formula_line(property: &Automaton) -> String {
    match &property.formula {
        Some(formula) if *formula != property.name => format!("  spec   {}\n", printable(formula)),
        _ => String::new(),
    }
}

/// Renders the condition that held at the event as a line, if there is text for it.
pub fn reason_line(violation: &Violation) -> String {
    violation.reason.as_ref().map_or(String::new(), |reason| format!("  since  {}\n", printable(reason)))
}

/// Renders the change of state, or only the last state, if the violation is at the end.
pub fn state_change_text(violation: &Violation, style: &Style) -> String {
    let to = style.paint(Paint::Bad, &violation.to);
    if violation.at_end { to } else { format!("{} → {to}", violation.from) }
}

/// Renders an event with its parameters, with long values shortened.
pub fn event_text(event: &ReportedEvent) -> String {
    let shown = |text: &str| shorten(text, MAX_VALUE_WIDTH);
    let params: Vec<String> =
        event.params.iter().map(|param| format!("{}={}", param.name, shown(&param.value.text))).collect();
    // Predefined events such as `#exit` are not calls.
    match params.is_empty() && event.name.starts_with('#') {
        true => event.name.clone(),
        false => format!("{}({})", event.name, params.join(", ")),
    }
}
