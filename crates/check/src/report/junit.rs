//! The report as JUnit XML, for continuous integration: one test case per property.
//!
//! Hand-written over `quick-xml` because `quick-junit` brings 19 crates for the same few elements.

use super::{Report, Style, verdict_word};
use invigil_monitor::verdict::Verdict;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

impl Report<'_> {
    /// Renders the report as JUnit XML with a trailing line end: a test suite with one test case per property. A
    /// violated property is a failure; a property that was not checked up to the end of the trace is an error.
    pub fn junit(&self) -> String {
        let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
        // Writing into memory cannot fail.
        match self.write_junit(&mut writer) {
            Ok(()) => String::from_utf8(writer.into_inner()).map_or(String::new(), |text| text + "\n"),
            Err(_) => String::new(),
        }
    }

    fn write_junit(&self, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let results: Vec<CaseResult> = (0..self.outcome.properties.len()).map(|at| self.result(at)).collect();
        let count =
            |what: fn(&CaseResult) -> bool| results.iter().filter(|result| what(result)).count().to_string();
        let counts = [
            ("tests", results.len().to_string()),
            ("failures", count(|result| matches!(result, CaseResult::Violated(_)))),
            ("errors", count(|result| matches!(result, CaseResult::Unknown(_)))),
        ];
        let counts: Vec<(&str, &str)> = counts.iter().map(|(name, value)| (*name, value.as_str())).collect();
        writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let suites = writer.create_element("testsuites").with_attributes(counts.clone());
        suites.write_inner_content(|writer| {
            let suite = writer.create_element("testsuite").with_attribute(("name", "invigil check"));
            suite.with_attributes(counts).write_inner_content(|writer| {
                results.iter().enumerate().try_for_each(|(at, result)| self.case(writer, at, result))
            })?;
            Ok(())
        })?;
        Ok(())
    }

    fn case(&self, writer: &mut Writer<Vec<u8>>, at: usize, result: &CaseResult) -> io::Result<()> {
        let property = &self.outcome.properties[at];
        let (name, file) = (clean(&property.name), clean(self.file(at)));
        let case = writer
            .create_element("testcase")
            .with_attributes([("name", name.as_str()), ("classname", file.as_str())]);
        let (element, kind, message, text) = match result {
            CaseResult::Passed => {
                case.write_empty()?;
                return Ok(());
            }
            CaseResult::Violated(text) => {
                let times = if property.violations == 1 { "time" } else { "times" };
                ("failure", "violation", format!("violated {} {times}", property.violations), text)
            }
            CaseResult::Unknown(text) => {
                ("error", "error", text.lines().next().unwrap_or_default().to_owned(), text)
            }
        };
        let (message, text) = (clean(&message), clean(text));
        case.write_inner_content(|writer| {
            writer
                .create_element(element)
                .with_attributes([("message", message.as_str()), ("type", kind)])
                .write_text_content(BytesText::new(&text))?;
            Ok(())
        })?;
        Ok(())
    }

    fn result(&self, at: usize) -> CaseResult {
        let property = &self.outcome.properties[at];
        if property.violations > 0 {
            let violations = self.outcome.violations.iter().enumerate();
            let texts: Vec<String> = violations
                .filter(|(_, violation)| violation.property == at)
                .map(|(number, violation)| {
                    self.violation_renderer().text(number + 1, violation, &Style::default())
                })
                .collect();
            return CaseResult::Violated(texts.join("\n"));
        }
        if property.verdict() == Verdict::Error || !self.is_complete() {
            let mut reasons = self.errors(&Style::default());
            if reasons.is_empty() {
                reasons.push(format!("{} so far: the trace was not read to its end", verdict_word(property)));
            }
            return CaseResult::Unknown(reasons.join("\n"));
        }
        CaseResult::Passed
    }
}

/// Result of a test case.
enum CaseResult {
    Passed,
    Violated(String),
    Unknown(String),
}

/// Replaces characters that XML cannot represent.
fn clean(text: &str) -> String {
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..) && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|c| if allowed(c) { c } else { '\u{fffd}' }).collect()
}
