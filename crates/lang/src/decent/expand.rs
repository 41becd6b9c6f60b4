//! Splits a file into statements, without comments and with templates expanded.

use super::parser::{Cursor, nearest_help};
use super::report;
use super::text::Text;
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use std::collections::HashMap;
use std::ops::Range;

/// A statement: its first line and the lines indented below it.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) lines: Vec<Line>,
}

/// A line without comments.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) indent: usize,
    pub(super) text: Text,
}

/// The maximum number of statements, reached only by templates.
const MAX_STATEMENTS: usize = 50_000;

/// The maximum size of the expanded text.
const MAX_WRITTEN: usize = 32 << 20;

/// The maximum nesting depth of templates.
const MAX_DEPTH: usize = 32;

struct Template {
    name: Span,
    parameters: Vec<String>,
    body: Vec<Line>,
}

/// Returns the statements of a file, with templates expanded.
pub(super) fn statements(source: SourceId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Statement> {
    let mut expander =
        Expander { templates: HashMap::new(), found: Vec::new(), written: 0, is_full: false, diagnostics };
    let all = group(lines(source, text));
    let (templates, others): (Vec<Statement>, Vec<Statement>) =
        all.into_iter().partition(|statement| first_word(&statement.lines[0]) == "template");
    for template in templates {
        expander.declare(template);
    }
    for statement in others {
        expander.add(statement, &[]);
    }
    expander.found
}

/// The lines of a file that are neither blank nor comments.
fn lines(source: SourceId, text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    // Some editors write a byte order mark at the start of a file.
    let mut start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    for line in text[start..].split_inclusive('\n') {
        let kept = without_comment(line).trim_end();
        let inside = kept.trim_start();
        let indent = kept.len() - inside.len();
        if !inside.is_empty() {
            let mut text = Text::new(source);
            text.copy(inside, start + indent);
            found.push(Line { indent, text });
        }
        start += line.len();
    }
    found
}

/// Removes a comment: from `#` or `//`, at the start or after a blank, to the end of the line.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, letter) in line.char_indices() {
        let begins = letter == '#' || letter == '/' && line[at..].starts_with("//");
        if quote.is_none() && begins && before.is_whitespace() {
            return &line[..at];
        }
        match quote {
            Some(open) if open == letter => quote = None,
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            _ => {}
        }
        before = letter;
    }
    line
}

/// Groups lines with the lines indented below them.
fn group(lines: Vec<Line>) -> Vec<Statement> {
    let base = lines.first().map_or(0, |line| line.indent);
    let mut found: Vec<Statement> = Vec::new();
    for line in lines {
        match found.last_mut() {
            Some(statement) if line.indent > base => statement.lines.push(line),
            _ => found.push(Statement { lines: vec![line] }),
        }
    }
    found
}

fn first_word(line: &Line) -> &str {
    line.text
        .as_str()
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .next()
        .unwrap_or_default()
}

struct Expander<'a> {
    templates: HashMap<String, Template>,
    found: Vec<Statement>,
    written: usize,
    is_full: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Expander<'_> {
    /// Declares `template NAME(PARAMETER, …)` with its body.
    fn declare(&mut self, statement: Statement) {
        let mut lines = statement.lines.into_iter();
        let Some(head) = lines.next() else { return };
        let mut cursor = Cursor::new(&head.text);
        cursor.word();
        let Some((name, span)) = cursor.name() else {
            return report(self.diagnostics, cursor.expected("the template name").help(FORM));
        };
        let mut parameters: Vec<String> = Vec::new();
        if !cursor.take('(') {
            return report(self.diagnostics, cursor.expected("`(` and the parameters").help(FORM));
        }
        loop {
            let Some((parameter, place)) = cursor.name() else {
                return report(self.diagnostics, cursor.expected("a parameter").help(FORM));
            };
            if parameters.contains(&parameter) {
                report(
                    self.diagnostics,
                    Diagnostic::error(place, format!("duplicate parameter `{parameter}`")),
                );
            }
            parameters.push(parameter);
            if cursor.take(')') {
                break;
            }
            if !cursor.take(',') {
                return report(self.diagnostics, cursor.expected("`,` or `)`").help(FORM));
            }
        }
        if !cursor.at_end() {
            report(
                self.diagnostics,
                cursor.expected("the end of the line").help("write the body on indented lines below"),
            );
        }
        let body: Vec<Line> = lines.collect();
        if body.is_empty() {
            let diagnostic = Diagnostic::error(span, format!("the template `{name}` is empty"));
            report(self.diagnostics, diagnostic.help("write its statements on indented lines below"));
        }
        if let Some(first) = self.templates.get(&name) {
            let diagnostic = Diagnostic::error(span, format!("duplicate template `{name}`"));
            return report(self.diagnostics, diagnostic.related(first.name, "first declaration"));
        }
        self.templates.insert(name, Template { name: span, parameters, body });
    }

    /// Adds a statement, or expands a template. `open_templates` are those being expanded.
    fn add(&mut self, statement: Statement, open_templates: &[&str]) {
        if self.is_full {
            return;
        }
        self.written += statement.lines.iter().map(|line| line.text.as_str().len()).sum::<usize>();
        if self.found.len() == MAX_STATEMENTS || self.written > MAX_WRITTEN {
            self.is_full = true;
            let text = &statement.lines[0].text;
            let here = text.span(0..text.as_str().len());
            let diagnostic = Diagnostic::error(here, "the expanded specification is too large");
            let help = format!("the limit is {MAX_STATEMENTS} statements and {} MiB", MAX_WRITTEN >> 20);
            return report(self.diagnostics, diagnostic.help(help));
        }
        match first_word(&statement.lines[0]) {
            "use" => self.instances(&statement, open_templates),
            "template" => {
                let text = &statement.lines[0].text;
                let diagnostic = Diagnostic::error(text.span(0..8), "templates cannot be nested");
                report(self.diagnostics, diagnostic.help("declare it on a line that is not indented"));
            }
            _ => self.found.push(statement),
        }
    }

    /// Expands `use NAME(ARGUMENT, …), …`.
    fn instances(&mut self, statement: &Statement, open_templates: &[&str]) {
        let text = joined(statement);
        let mut cursor = Cursor::new(&text);
        cursor.word();
        loop {
            let Some((name, span)) = cursor.name() else {
                return report(self.diagnostics, cursor.expected("a template name").help(USE));
            };
            let mut arguments = Vec::new();
            let opened = cursor.at();
            if !cursor.take('(') {
                return report(self.diagnostics, cursor.expected("`(` and the arguments").help(USE));
            }
            while !cursor.take(')') {
                let Some(argument) = cursor.argument() else {
                    let here = text.span(opened..opened + 1);
                    let diagnostic = Diagnostic::error(here, "unclosed parenthesis").label("opened here");
                    return report(self.diagnostics, diagnostic.help(USE));
                };
                arguments.push(argument);
                cursor.take(',');
            }
            self.instance(&name, span, &arguments, open_templates);
            if cursor.at_end() {
                return;
            }
            if !cursor.take(',') {
                return report(self.diagnostics, cursor.expected("`,` or the end of the line").help(USE));
            }
        }
    }

    fn instance(&mut self, name: &str, span: Span, arguments: &[(String, Span)], open_templates: &[&str]) {
        let Some(template) = self.templates.get(name) else {
            let known = self.templates.keys().map(String::as_str);
            let diagnostic = Diagnostic::error(span, format!("unknown template `{name}`"));
            let diagnostic = nearest_help(diagnostic, name, known);
            return report(self.diagnostics, diagnostic);
        };
        if open_templates.contains(&name) || open_templates.len() == MAX_DEPTH {
            let message = match open_templates.contains(&name) {
                true => format!("the template `{name}` is recursive"),
                false => format!("templates are nested more than {MAX_DEPTH} levels deep"),
            };
            return report(
                self.diagnostics,
                Diagnostic::error(span, message).related(template.name, "declared here"),
            );
        }
        if template.parameters.len() != arguments.len() {
            let (parameter_count, argument_count) = (template.parameters.len(), arguments.len());
            let message = format!(
                "the template `{name}` has {parameter_count} parameters, but got {argument_count} arguments"
            );
            let form = format!("write: use {name}({})", template.parameters.join(", "));
            let diagnostic =
                Diagnostic::error(span, message).related(template.name, "declared here").help(form);
            return report(self.diagnostics, diagnostic);
        }
        let (parameters, body) = (template.parameters.clone(), template.body.clone());
        let mut open_templates = open_templates.to_vec();
        open_templates.push(name);
        for values in self.expand_range(arguments) {
            let values: HashMap<&str, &str> =
                parameters.iter().map(String::as_str).zip(values.iter().map(String::as_str)).collect();
            let lines = body.iter().filter_map(|line| self.substitute(line, &values)).collect();
            for statement in group(lines) {
                self.add(statement, &open_templates);
            }
            if self.is_full {
                return;
            }
        }
    }

    /// Returns one list of arguments per number of a range argument; a single list if no argument is a range.
    fn expand_range(&mut self, arguments: &[(String, Span)]) -> Vec<Vec<String>> {
        let values: Vec<String> = arguments.iter().map(|(value, _)| value.clone()).collect();
        let ranges: Vec<(usize, Range<u64>)> =
            values.iter().enumerate().filter_map(|(at, value)| Some((at, range(value)?))).collect();
        match ranges.as_slice() {
            [] => vec![values],
            [(at, range)] if range.end.saturating_sub(range.start) <= MAX_STATEMENTS as u64 => {
                let with = |number: u64| {
                    let mut values = values.clone();
                    values[*at] = number.to_string();
                    values
                };
                range.clone().map(with).collect()
            }
            [(at, _)] => {
                let message = format!("the range `{}` is too large", values[*at]);
                report(self.diagnostics, Diagnostic::error(arguments[*at].1, message));
                Vec::new()
            }
            [_, (second, _), ..] => {
                let diagnostic = Diagnostic::error(arguments[*second].1, "only one argument can be a range");
                report(
                    self.diagnostics,
                    diagnostic.help("use the template once per number of the other range"),
                );
                Vec::new()
            }
        }
    }

    /// Substitutes arguments for the parameters in a line of a template.
    fn substitute(&mut self, line: &Line, values: &HashMap<&str, &str>) -> Option<Line> {
        let text = line.text.as_str();
        let mut filled = Text::new(line.text.span(0..0).source);
        let mut from = 0;
        while let Some(open) = text[from..].find('{').map(|at| from + at) {
            let start = |at: usize| line.text.span(at..at).start as usize;
            filled.copy(&text[from..open], start(from));
            let Some(close) = text[open..].find('}').map(|at| open + at) else {
                let diagnostic = Diagnostic::error(line.text.span(open..open + 1), "unclosed brace");
                report(self.diagnostics, diagnostic.help("write a parameter in braces: {name}"));
                return None;
            };
            let name = text[open + 1..close].trim();
            let Some(value) = values.get(name) else {
                let message = format!("the template has no parameter `{name}`");
                let diagnostic = Diagnostic::error(line.text.span(open..close + 1), message);
                report(self.diagnostics, nearest_help(diagnostic, name, values.keys().copied()));
                return None;
            };
            filled.put(value, start(open)..start(close) + 1);
            from = close + 1;
        }
        filled.copy(&text[from..], line.text.span(from..from).start as usize);
        Some(Line { indent: line.indent, text: filled })
    }
}

/// Joins the lines of a statement to one text.
pub(super) fn joined(statement: &Statement) -> Text {
    let mut text = statement.lines[0].text.clone();
    statement.lines[1..].iter().for_each(|line| text.append(&line.text));
    text
}

/// Parses a range: `0..3` is 0, 1, 2 and 3.
fn range(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once("..")?;
    let (from, to): (u64, u64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    (from <= to).then(|| from..to.saturating_add(1))
}

/// The form of a template, for help texts.
const FORM: &str = "write: template name(parameter, …), and its statements on indented lines below";

/// The form of a template's use, for help texts.
const USE: &str = "write: use name(argument, …)";
