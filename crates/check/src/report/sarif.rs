//! The report as SARIF 2.1.0, for code scanning services. Properties are rules, violations are results, and the path
//! of a violation is a code flow through the trace.
//!
//! Hand-written because the few objects that are needed do not justify the 33 crates of `serde-sarif`.

use super::{Report, Style, state_change_text};
use crate::violation::{PathStep, ReportedEvent, Violation};
use invigil_expr::diag::Span;
use serde_json::{Value, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

impl Report<'_> {
    /// Renders the report as a SARIF 2.1.0 log with a trailing newline.
    pub fn sarif(&self) -> String {
        let properties = 0..self.outcome.properties.len();
        let notifications: Vec<Value> = self
            .errors(&Style::default())
            .into_iter()
            .map(|error| json!({ "level": "error", "message": { "text": error } }))
            .collect();
        let log = json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "invigil",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": properties.map(|at| self.rule(at)).collect::<Vec<_>>(),
                } },
                "columnKind": "unicodeCodePoints",
                "results": self.outcome.violations.iter().map(|found| self.sarif_result(found)).collect::<Vec<_>>(),
                "invocations": [{
                    "executionSuccessful": notifications.is_empty() && !self.interrupted,
                    "toolExecutionNotifications": notifications,
                }],
            }],
        });
        format!("{log:#}\n")
    }

    fn rule(&self, at: usize) -> Value {
        let name = &self.outcome.properties[at].name;
        json!({
            "id": name,
            "name": name,
            "shortDescription": { "text": format!("the property {name} of {}", self.file(at)) },
            "defaultConfiguration": { "level": "error" },
        })
    }

    fn sarif_result(&self, violation: &Violation) -> Value {
        let property = &self.outcome.properties[violation.property].name;
        let slice: Vec<String> = violation
            .slice
            .iter()
            .map(|bound| {
                format!("{}={}", bound.name, bound.value.as_ref().map_or("any", |value| &value.text))
            })
            .collect();
        let slice = slice.join(", ");
        let with = if slice.is_empty() { String::new() } else { format!(" with {slice}") };
        let what = match &violation.event {
            Some(event) => format!("by {event}"),
            None if violation.at_end => "at the end of the trace".to_owned(),
            None => "at the start".to_owned(),
        };
        let since = violation.reason.as_ref().map_or(String::new(), |reason| format!(", since {reason}"));
        let change = state_change_text(violation, &Style::default());
        let text = format!("{property}{with} is violated {what}{since}: {change}");
        let mut result = json!({
            "ruleId": property,
            "ruleIndex": violation.property,
            "level": "error",
            "message": { "text": text },
            "locations": [self.location(violation.event.as_ref(), &slice)],
            "codeFlows": [{ "threadFlows": [{
                "locations": violation.path.iter().map(|step| self.flow(step)).collect::<Vec<_>>(),
            }] }],
        });
        if let Some(position) =
            self.state_span(violation.property, &violation.to).and_then(|span| self.source_place(span))
        {
            result["relatedLocations"] = json!([{
                "id": 1,
                "physicalLocation": position,
                "message": { "text": format!("the state `{}` that was entered", violation.to) },
            }]);
        }
        result
    }

    /// The location of an event: the line of the trace, and the slice.
    fn location(&self, event: Option<&ReportedEvent>, slice: &str) -> Value {
        let mut location = json!({});
        if let Some(event) = event
            && let Some(file) = self.trace_file(event.position)
        {
            location["physicalLocation"] = json!({
                "artifactLocation": { "uri": uri(file) },
                "region": { "startLine": event.position.line },
            });
        }
        if !slice.is_empty() {
            location["logicalLocations"] = json!([{ "name": slice, "kind": "object" }]);
        }
        location
    }

    fn flow(&self, step: &PathStep) -> Value {
        let what = step.event.as_ref().map_or("start".to_owned(), ToString::to_string);
        let mut location = self.location(step.event.as_ref(), "");
        location["message"] = json!({ "text": format!("{what} → {}", step.state) });
        let state: serde_json::Map<String, Value> = step
            .env
            .iter()
            .map(|variable| (variable.name.clone(), json!({ "text": variable.value.text })))
            .collect();
        json!({ "location": location, "state": state })
    }

    /// A position in a property file.
    fn source_place(&self, span: Span) -> Option<Value> {
        let (source, position) = (self.sources.get(span.source)?, self.sources.line_column(span)?);
        Some(json!({
            "artifactLocation": { "uri": uri(&source.name) },
            "region": { "startLine": position.line, "startColumn": position.column },
        }))
    }
}

/// Converts a path to a URI reference: characters not allowed in a path are escaped, and a colon before the first slash.
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for (at, byte) in path.bytes().enumerate() {
        // A colon before the first slash would be read as the end of a scheme.
        let colon = byte == b':' && path[..at].contains('/');
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte) || colon {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn uri_escapes_special_characters() {
        assert_eq!(uri("a/b.jsonl"), "a/b.jsonl");
        assert_eq!(uri("/tmp/my trace#1.csv"), "file:///tmp/my%20trace%231.csv");
        assert_eq!(uri("é?"), "%C3%A9%3F");
        assert_eq!(uri("12:30.log"), "12%3A30.log", "else `12` would be a scheme");
    }
}
