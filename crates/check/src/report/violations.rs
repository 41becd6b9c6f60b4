//! Violations in words. This needs no outcome, so that one can be told while the check goes on.

use super::path::path;
use super::words::{grouped, printable, shorten, time};
use super::{Paint, Style};
use crate::finding::{Finding, Happening};
use invigil_monitor::automaton::Automaton;
use invigil_trace::Place;

/// The most columns that a value takes.
const VALUE: usize = 60;

/// What it takes to tell a violation.
#[derive(Clone, Copy, Debug)]
pub struct Violations<'a> {
    /// The properties, in the order they are checked.
    pub automata: &'a [Automaton],
    /// The names of the inputs.
    pub inputs: &'a [String],
}

impl<'a> Violations<'a> {
    /// One violation, with the way to it; `number` counts them from one.
    pub fn text(&self, number: usize, finding: &Finding, style: &Style) -> String {
        let property = self.automata.get(finding.property).map_or("?", |property| property.name.as_str());
        let value = |text: Option<&str>| text.map_or("any".to_owned(), |text| shorten(text, VALUE));
        let slice: Vec<String> = finding
            .slice
            .iter()
            .map(|bound| (&bound.name, bound.value.as_ref().map(|value| value.text.as_str())))
            .map(|(name, text)| format!("{name} = {}", value(text)))
            .collect();
        let with = if slice.is_empty() { String::new() } else { format!(" with {}", slice.join(", ")) };
        let headline = style.paint(Paint::Bad, &format!("violation {number}:"));
        let mut out = format!("{headline} {}{with}\n", style.paint(Paint::Title, property));
        out.push_str(&self.automata.get(finding.property).map_or(String::new(), formula));
        match &finding.event {
            Some(event) => {
                out.push_str(&format!("  at     {}\n", self.whereabouts(event)));
                out.push_str(&format!("  event  {}\n", described(event)));
                out.push_str(&reason(finding));
            }
            None if finding.at_end => out.push_str("  at     the end of the trace\n"),
            None => out.push_str("  before any event: the property starts in a non-accepting state\n"),
        }
        out.push_str(&format!("  state  {}\n\n", change(finding, style)));
        out + &path(self, finding, style)
    }

    /// Where and when an event happened.
    pub(super) fn whereabouts(&self, event: &Happening) -> String {
        let when = event.time.map_or(String::new(), |at| format!(", time {}", time(at)));
        format!("{} (event {}{when})", printable(&self.place(event.place)), grouped(event.index))
    }

    /// `file:line` of a place in the trace.
    pub(super) fn place(&self, place: Place) -> String {
        format!("{}:{}", self.input(place), place.line)
    }

    /// The input that a place lies in.
    pub(super) fn input(&self, place: Place) -> &'a str {
        self.inputs.get(place.input).map_or("?", String::as_str)
    }
}

/// The formula of a property that was made from one, as a line, if its name does not say it already.
pub fn formula(property: &Automaton) -> String {
    match &property.formula {
        Some(formula) if *formula != property.name => format!("  says   {}\n", printable(formula)),
        _ => String::new(),
    }
}

/// What was so at the event, as a line, if the property has words for that.
pub fn reason(finding: &Finding) -> String {
    finding.why.as_ref().map_or(String::new(), |why| format!("  since  {}\n", printable(why)))
}

/// The states that the violation lies between.
pub fn change(finding: &Finding, style: &Style) -> String {
    let to = style.paint(Paint::Bad, &finding.to);
    if finding.at_end { to } else { format!("{} → {to}", finding.from) }
}

/// An event with its parameters, long values shortened.
pub fn described(event: &Happening) -> String {
    let shown = |text: &str| shorten(text, VALUE);
    let params: Vec<String> =
        event.params.iter().map(|param| format!("{}={}", param.name, shown(&param.value.text))).collect();
    // What tells of itself, such as `#exit`, is no call.
    match params.is_empty() && event.name.starts_with('#') {
        true => event.name.clone(),
        false => format!("{}({})", event.name, params.join(", ")),
    }
}
