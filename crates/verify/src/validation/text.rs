//! The validation report as text.

use super::{RecordInfo, ValidationReport, ValidationResult};
use crate::execution_trace::wrap_list;
use invigil_check::report::{Paint, Style, count, grouped, printable, shorten};
use invigil_explore::trace_validation::{RecordError, Rejection};
use invigil_expr::diag::nearest;
use invigil_trace::ReadEnd;

/// Maximum number of listed items; the JSON report has all of them.
const MAX_LISTED: usize = 5;
/// Number of records shown before the rejected one.
const RECORDS_BEFORE: usize = 4;

impl ValidationReport {
    /// The report as text.
    pub fn text(&self, style: &Style) -> String {
        let model = if self.model.is_empty() { "the model" } else { &self.model };
        let trace = match &self.inputs[..] {
            [one] => printable(one),
            several => format!("the {}", count(several.len() as u64, "trace")),
        };
        let mut text = match &self.result {
            ValidationResult::Possible => {
                let title = style.paint(Paint::Good, &format!("{model} can produce {trace}"));
                format!("{title}\n  {}\n", self.possible_summary())
            }
            ValidationResult::Impossible(rejection, rejected) => {
                let title = style.paint(Paint::Bad, &format!("{model} cannot produce {trace}"));
                format!("{title}\n{}", self.impossible_details(rejection, rejected, style))
            }
            ValidationResult::InvalidRecords(_)
            | ValidationResult::TooManyConfigurations(_)
            | ValidationResult::Unknown => {
                let title = style.paint(Paint::Undecided, "no answer");
                let matched = count(self.matched, "event");
                format!("{title}: {model} can produce {trace} so far ({matched})\n")
            }
        };
        let notes = self.notes();
        if !notes.is_empty() {
            text.push('\n');
        }
        for note in notes {
            text.push_str(&format!("{} {note}\n", style.paint(Paint::Undecided, "note:")));
        }
        text
    }

    /// Why the trace could not be validated; empty if it was.
    pub fn errors(&self) -> Vec<String> {
        let mut errors = Vec::new();
        match &self.result {
            ValidationResult::InvalidRecords(invalid) => {
                for (error, record, times) in invalid {
                    errors.push(format!(
                        "{}: {}",
                        self.position_text(record),
                        error_with_remedy(error, *times)
                    ));
                }
            }
            ValidationResult::TooManyConfigurations(max_configurations) => errors.push(format!(
                "after {}, the model could be in more than {}; \
                 log more in the trace, hide fewer actions, or raise `--max-configurations`",
                count(self.matched.saturating_sub(1), "event"),
                count(*max_configurations as u64, "configuration")
            )),
            _ => {}
        }
        if let ReadEnd::Failed(error) = &self.trace.end {
            errors.push(error.to_string());
        }
        errors
    }

    fn possible_summary(&self) -> String {
        let mut reported = count(self.matched - self.ignored, "event");
        if self.ignored > 0 {
            reported += &format!(" ({} more ignored)", grouped(self.ignored));
        }
        let maximum = self.survivors.maximum;
        let now = count(self.configurations as u64, "configuration");
        match maximum {
            1 => format!("{reported}; the configuration is always known"),
            maximum => {
                format!("{reported}; {now} possible at the end, at most {} on the way", grouped(maximum))
            }
        }
    }

    fn position_text(&self, record: &RecordInfo) -> String {
        let input = self.inputs.get(record.position.input).map_or("", String::as_str);
        format!("{}:{}", printable(input), record.position.line)
    }

    fn impossible_details(&self, rejection: &Rejection, rejected: &RecordInfo, style: &Style) -> String {
        let mut out = String::new();
        let mut line = |text: String| {
            out.push_str(text.trim_end());
            out.push('\n');
        };
        let width = style.width.saturating_sub(4);
        let matched = match self.matched {
            0 => "not even the first event matches".to_owned(),
            1 => "the first event matches, the next does not".to_owned(),
            matched => format!("the first {} match, the next does not", count(matched, "event")),
        };
        line(format!("  {}: {matched}", self.position_text(rejected)));
        line(String::new());

        line(style.paint(Paint::Faint, "  event  line  configurations"));
        let shown = &self.recent[self.recent.len().saturating_sub(RECORDS_BEFORE)..];
        for record in shown.iter().chain([rejected]) {
            let text = shorten(&printable(&record.text), width.saturating_sub(28).max(20));
            let row = format!(
                "  {:>5} {:>5}  {:>14}  {text}",
                record.number, record.position.line, record.configurations
            );
            line(if record == rejected { style.paint(Paint::Bad, &row) } else { row });
        }
        line(String::new());

        let shown = rejection.configurations.iter().take(MAX_LISTED).enumerate();
        match rejection.count {
            0 => line("The model cannot start at all.".to_owned()),
            1 => line("Before it, the model is in this configuration:".to_owned()),
            all => line(format!("Before it, the model can be in {all} configurations:")),
        }
        let first = rejection.configurations.first();
        for (at, config) in shown {
            // For all but the first configuration, only the differences are shown.
            let before = first.filter(|_| at > 0);
            let differs = |name: &str, value: &str| before.is_none_or(|first| first.get(name) != Some(value));
            let fields = config.iter().filter(|field| differs(&field.name, &field.value));
            let mut values: Vec<String> =
                fields.map(|field| printable(&format!("{} = {}", field.name, field.value))).collect();
            if let (Some(_), Some(value)) = (before, values.first_mut()) {
                *value = format!("as 1, but {value}");
            }
            for (row, text) in wrap_list(&values, width.saturating_sub(1)).iter().enumerate() {
                let number = if row == 0 { (at + 1).to_string() } else { " ".to_owned() };
                line(format!("  {number}  {text}"));
            }
        }
        if rejection.count > MAX_LISTED {
            line(format!("  and {} more", grouped((rejection.count - MAX_LISTED) as u64)));
        }
        line(String::new());

        if !rejection.near_misses.is_empty() {
            line("Why it does not match:".to_owned());
        }
        for near_miss in rejection.near_misses.iter().take(MAX_LISTED) {
            let where_it_applies = match (near_miss.count, near_miss.configurations.first()) {
                _ if rejection.count == 1 => String::new(),
                (count, _) if count == rejection.count => " (in all of them)".to_owned(),
                (1, Some(one)) if *one < MAX_LISTED => format!(" (in {})", one + 1),
                (count, _) => format!(" (in {} of them)", grouped(count as u64)),
            };
            line(format!("  {}{where_it_applies}", printable(&near_miss.to_string())));
        }
        if rejection.near_misses.len() > MAX_LISTED {
            line(format!("  and {} more reasons", rejection.near_misses.len() - MAX_LISTED));
        }
        if !rejection.possible_steps.is_empty() {
            let mut possible: Vec<String> =
                rejection.possible_steps.iter().take(2 * MAX_LISTED).map(|event| printable(event)).collect();
            if rejection.possible_steps.len() > possible.len() {
                possible.push("…".to_owned());
            }
            line(String::new());
            line(format!("Possible instead: {}", possible.join("; ")));
        } else if rejection.count > 0 {
            line(String::new());
            line("No logged event is possible instead.".to_owned());
        }
        out
    }

    /// Hints at possible causes, and limitations of the result.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let list = |names: &[String]| {
            let some: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
            some.join(", ") + if names.len() > MAX_LISTED { ", …" } else { "" }
        };
        if let ValidationResult::Impossible(rejection, _) = &self.result {
            if rejection.is_state_only {
                notes.push(
                    "a record without an event describes a state; if actions between such records are not logged, \
                     use `--hidden '*'`"
                        .to_owned(),
                );
            } else if let Some(first) = self.unseen_events.first() {
                notes.push(format!(
                    "no record so far is {}; events that are not logged can be hidden: `--hidden '{first}'`",
                    list(&self.unseen_events)
                ));
            }
        }
        let skipped = self.trace.line_errors.skipped();
        if skipped > 0 {
            let first = self.trace.line_errors.first().first();
            let first =
                first.map_or(String::new(), |error| format!("; line {}: {error}", error.position.line));
            notes.push(format!("{} could not be read and are omitted{first}", count(skipped, "line")));
        }
        if self.matched == 0 && self.is_possible() {
            notes.push("the trace is empty".to_owned());
        }
        for (event, parameter) in self.missing_parameters.iter().take(MAX_LISTED) {
            notes.push(format!("no record of `{event}` has its parameter `{parameter}`"));
        }
        let (misspelt, unrelated): (Vec<_>, Vec<_>) =
            self.unknown_fields.iter().partition(|(_, suggestion)| suggestion.is_some());
        for (field, suggestion) in misspelt {
            let suggestion = suggestion.as_deref().unwrap_or_default();
            notes.push(format!(
                "`{field}` in the trace has no meaning in the model and is not read; \
                 if it is `{suggestion}`, use `--map '{field}={suggestion}'`"
            ));
        }
        let unrelated: Vec<String> = unrelated.into_iter().map(|(field, _)| field.clone()).collect();
        if !unrelated.is_empty() {
            notes.push(format!("not read, because the model has no such names: {}", list(&unrelated)));
        }
        notes
    }
}

/// Renders an error with a remedy.
fn error_with_remedy(error: &RecordError, times: u64) -> String {
    let times = if times > 1 { format!(" ({} times)", grouped(times)) } else { String::new() };
    match error {
        RecordError::Event { event, known } => {
            let suggestion = nearest(event, known.iter().map(String::as_str));
            let remedy = match suggestion {
                Some(suggestion) => {
                    format!(
                        "if it is `{suggestion}`, use `--map '{event}={suggestion}'`; else `--ignore '{event}'`"
                    )
                }
                None => {
                    format!("to skip it, use `--ignore '{event}'`; to map it, `--map '{event}=ACTION'`")
                }
            };
            format!("{error}{times}; {remedy}")
        }
        RecordError::NoEventOrVariable => format!("{error}{times}; name the event in a field `event`"),
        RecordError::Value { field, value, known, .. } => {
            let suggestion = nearest(value, known.iter().map(String::as_str));
            let remedy = match suggestion {
                Some(suggestion) => format!("did you mean `{suggestion}`?"),
                None => format!("to ignore the field, use `--map '{field}='`"),
            };
            format!("{error}{times}; {remedy}")
        }
    }
}
