//! Parser for statements. It recovers at the next statement and reports the errors together.

use super::expand::{Line, Statement, joined};
use super::raw::{self, RawBody, RawComponent, RawEdge, RawMonitor, RawSpecification, RawState};
use super::report;
use super::text::Text;
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};
use invigil_ltl::moore::Truth;
use invigil_ltl::syntax::{SyntaxError, SyntaxTree};

/// The keywords that start statements other than monitors.
const WORDS: [&str; 5] = ["component", "link", "root", "template", "use"];

/// The form of a monitor, for help texts.
const FORM: &str = "write: name @ component = formula";

/// The form of a component, for help texts.
const COMPONENT: &str = "write: component name: proposition, proposition";

/// Cursor over a text.
pub(super) struct Cursor<'a> {
    text: &'a Text,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a Text) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text.as_str()[self.at..]
    }

    fn skip(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Returns the offset of the next token.
    pub(super) fn at(&mut self) -> usize {
        self.skip();
        self.at
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.skip();
        self.rest().is_empty()
    }

    /// Returns the next word; empty if none follows.
    fn peek(&mut self) -> &'a str {
        self.skip();
        let rest = self.rest();
        let end = rest.find(|letter: char| !is_name(letter)).unwrap_or(rest.len());
        &rest[..end]
    }

    /// Takes the next word.
    pub(super) fn word(&mut self) -> &'a str {
        let word = self.peek();
        self.at += word.len();
        word
    }

    /// Takes a name: a word, or anything in single quotes.
    pub(super) fn name(&mut self) -> Option<(String, Span)> {
        let start = self.at();
        if let Some(quoted) = self.rest().strip_prefix('\'') {
            let end = quoted.find(['\'', '\n']).filter(|end| *end > 0 && quoted[*end..].starts_with('\''))?;
            self.at += end + 2;
            return Some((quoted[..end].to_owned(), self.text.span(start..self.at)));
        }
        let word = self.word();
        (!word.is_empty()).then(|| (word.to_owned(), self.text.span(start..start + word.len())))
    }

    /// Takes the text before a comma or a closing parenthesis, if one follows.
    pub(super) fn argument(&mut self) -> Option<(String, Span)> {
        let start = self.at();
        let end = start + self.rest().find([',', ')'])?;
        self.at = end;
        let value = self.text.as_str()[start..end].trim_end();
        (!value.is_empty()).then(|| (value.to_owned(), self.text.span(start..start + value.len())))
    }

    /// Takes a mark, if it follows.
    pub(super) fn take(&mut self, mark: char) -> bool {
        self.take_text(mark.encode_utf8(&mut [0; 4]))
    }

    fn take_text(&mut self, text: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Creates the diagnostic that `what` is expected here.
    pub(super) fn expected(&mut self, what: &str) -> Diagnostic {
        let start = self.at();
        let word = self.peek().len();
        let length = if word > 0 { word } else { self.rest().chars().next().map_or(0, char::len_utf8) };
        let found = match &self.rest()[..length] {
            "" => "the end of the line".to_owned(),
            found => format!("`{found}`"),
        };
        let message = format!("expected {what}, found {found}");
        Diagnostic::error(self.text.span(start..start + length), message).label(format!("expected {what}"))
    }

    fn remaining(&mut self) -> Text {
        let start = self.at();
        self.text.part(start..self.text.as_str().len())
    }
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$')
}

/// Adds a suggestion with the most similar name.
pub(crate) fn nearest_help<'a>(
    diagnostic: Diagnostic,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    // Very long names are not compared.
    if name.len() > 64 {
        return diagnostic;
    }
    match nearest(name, known.filter(|known| known.len() <= 64).take(1000)) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}

/// Parses all statements.
pub(super) fn parse(
    source: SourceId,
    statements: Vec<Statement>,
    diagnostics: &mut Vec<Diagnostic>,
) -> RawSpecification {
    let mut parser = Parser { raw: RawSpecification::new(source), diagnostics };
    for statement in &statements {
        if parser.diagnostics.len() == super::MAX_DIAGNOSTICS {
            break;
        }
        if let Err(diagnostic) = parser.statement(statement) {
            report(parser.diagnostics, *diagnostic);
        }
    }
    parser.raw
}

type ParseResult<T> = Result<T, Box<Diagnostic>>;

struct Parser<'a> {
    raw: RawSpecification,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Parser<'_> {
    fn statement(&mut self, statement: &Statement) -> ParseResult<()> {
        let text = joined(statement);
        let mut cursor = Cursor::new(&text);
        match cursor.peek() {
            "component" => self.component(cursor),
            "link" => self.links(cursor),
            "root" if !is_monitor(&text) => self.root(cursor),
            _ => self.monitor(statement),
        }
    }

    /// Parses `component NAME: PROPOSITION, …`.
    fn component(&mut self, mut cursor: Cursor<'_>) -> ParseResult<()> {
        cursor.word();
        let Some((name, span)) = cursor.name() else {
            return Err(Box::new(cursor.expected("the component name").help(COMPONENT)));
        };
        let mut propositions = Vec::new();
        if !cursor.at_end() && !cursor.take(':') {
            return Err(Box::new(cursor.expected("`:` and its propositions").help(COMPONENT)));
        }
        while !cursor.at_end() {
            let Some(proposition) = cursor.name() else {
                return Err(Box::new(cursor.expected("a proposition name").help(COMPONENT)));
            };
            propositions.push(proposition);
            if !cursor.take(',') && !cursor.at_end() {
                return Err(Box::new(cursor.expected("`,` or the end of the line").help(COMPONENT)));
            }
        }
        self.raw.components.push(RawComponent { name, span, propositions });
        Ok(())
    }

    /// Parses `link A -> B, B <-> C`.
    fn links(&mut self, mut cursor: Cursor<'_>) -> ParseResult<()> {
        const HELP: &str = "write: link one -> other, or in both directions: link one <-> other";
        cursor.word();
        loop {
            let missing = |cursor: &mut Cursor<'_>| Box::new(cursor.expected("a component name").help(HELP));
            let Some(from) = cursor.name() else { return Err(missing(&mut cursor)) };
            let both = cursor.take_text("<->") || cursor.take_text("↔");
            if !both && !cursor.take_text("->") && !cursor.take_text("→") {
                return Err(Box::new(cursor.expected("`->` or `<->`").help(HELP)));
            }
            let Some(to) = cursor.name() else { return Err(missing(&mut cursor)) };
            if both {
                self.raw.links.push((to.clone(), from.clone()));
            }
            self.raw.links.push((from, to));
            if cursor.at_end() {
                return Ok(());
            }
            if !cursor.take(',') {
                return Err(Box::new(cursor.expected("`,` or the end of the line").help(HELP)));
            }
        }
    }

    /// Parses `root NAME`.
    fn root(&mut self, mut cursor: Cursor<'_>) -> ParseResult<()> {
        cursor.word();
        let Some(root) = cursor.name() else {
            return Err(Box::new(cursor.expected("a monitor name").help("write: root name")));
        };
        if !cursor.at_end() {
            return Err(Box::new(cursor.expected("the end of the line").help("only one root is allowed")));
        }
        if let Some((_, first)) = &self.raw.root {
            let diagnostic = Diagnostic::error(root.1, "duplicate root").related(*first, "first declaration");
            return Err(Box::new(diagnostic.help("keep one of them")));
        }
        self.raw.root = Some(root);
        Ok(())
    }

    /// Parses `NAME @ COMPONENT = FORMULA`, an automaton or a black box.
    fn monitor(&mut self, statement: &Statement) -> ParseResult<()> {
        let text = joined(statement);
        let mut cursor = Cursor::new(&text);
        let Some((name, span)) = cursor.name() else {
            return Err(Box::new(cursor.expected("a statement").help(FORM)));
        };
        let mut component = None;
        if cursor.take('@') {
            component = cursor.name();
            if component.is_none() {
                return Err(Box::new(cursor.expected("a component name").help(FORM)));
            }
        }
        if !cursor.take('=') {
            let diagnostic = cursor.expected("`=`");
            let meant = nearest(&name, WORDS).map(|word| format!("did you mean `{word}`?"));
            let place = if meant.is_some() { Diagnostic { span, ..diagnostic } } else { diagnostic };
            return Err(Box::new(place.help(meant.unwrap_or_else(|| FORM.to_owned()))));
        }
        let body = match cursor.peek() {
            "automaton" if cursor.rest().lines().next() == Some("automaton") => {
                self.automaton(&statement.lines)?
            }
            "black" => self.black_box(cursor)?,
            _ => RawBody::Formula(cursor.remaining()),
        };
        let body = match body {
            RawBody::Formula(text) => {
                let tree = formula(&text)?;
                RawBody::ParsedFormula(tree, text)
            }
            other => other,
        };
        self.raw.monitors.push(RawMonitor { name, span, component, body });
        Ok(())
    }

    /// Parses `black box "FILE"`.
    fn black_box(&mut self, mut cursor: Cursor<'_>) -> ParseResult<RawBody> {
        const HELP: &str = "write: name @ component = black box \"file.prop\"";
        let rest = cursor.remaining();
        cursor.word();
        if cursor.peek() != "box" {
            // It may be a proposition of this name.
            return Ok(RawBody::Formula(rest));
        }
        cursor.word();
        let start = cursor.at();
        let quoted = cursor.rest().strip_prefix('"').and_then(|rest| Some((rest, rest.find('"')?)));
        let Some((rest, end)) = quoted else {
            return Err(Box::new(cursor.expected("the file, in quotes").help(HELP)));
        };
        cursor.at += end + 2;
        if !cursor.at_end() {
            return Err(Box::new(cursor.expected("the end of the line").help(HELP)));
        }
        if end == 0 {
            let diagnostic = Diagnostic::error(
                cursor.text.span(start..start + 2),
                "the file name of the black box is empty",
            );
            return Err(Box::new(diagnostic.help(HELP)));
        }
        Ok(RawBody::BlackBox { file: rest[..end].to_owned() })
    }

    /// Parses states, each followed by its edges.
    fn automaton(&mut self, lines: &[Line]) -> ParseResult<RawBody> {
        const STATE: &str = "write: state name, or with a final verdict: state name = false";
        const EDGE: &str = "write: target when condition, or: target otherwise";
        let mut states: Vec<RawState> = Vec::new();
        for line in &lines[1..] {
            let mut cursor = Cursor::new(&line.text);
            if cursor.peek() == "state" {
                cursor.word();
                let Some((name, span)) = cursor.name() else {
                    return Err(Box::new(cursor.expected("the state name").help(STATE)));
                };
                let verdict = if cursor.take('=') {
                    let verdict = match cursor.peek() {
                        "true" => Truth::True,
                        "false" => Truth::False,
                        _ if cursor.rest().starts_with('?') => Truth::Unknown,
                        _ => return Err(Box::new(cursor.expected("`true`, `false` or `?`").help(STATE))),
                    };
                    if !cursor.take('?') {
                        cursor.word();
                    }
                    if !cursor.at_end() {
                        return Err(Box::new(cursor.expected("the end of the line").help(STATE)));
                    }
                    verdict
                } else if cursor.at_end() {
                    states.push(RawState { name, span, verdict: Truth::Unknown, edges: Vec::new() });
                    continue;
                } else {
                    return Err(Box::new(cursor.expected("`=` or the end of the line").help(STATE)));
                };
                states.push(RawState { name, span, verdict, edges: Vec::new() });
                continue;
            }
            let Some(state) = states.last_mut() else {
                return Err(Box::new(cursor.expected("`state`").help(STATE)));
            };
            let Some((to, span)) = cursor.name() else {
                return Err(Box::new(cursor.expected("a state name").help(EDGE)));
            };
            let after_name = cursor.at;
            let label = match cursor.word() {
                "when" => {
                    let text = cursor.remaining();
                    Some((formula(&text)?, text))
                }
                "otherwise" if cursor.at_end() => None,
                _ => {
                    cursor.at = after_name;
                    return Err(Box::new(cursor.expected("`when` or `otherwise`").help(EDGE)));
                }
            };
            state.edges.push(RawEdge { to, span, label });
        }
        Ok(RawBody::Automaton(raw::resolve(states, self.diagnostics)))
    }
}

/// Whether a statement that starts with `root` is a monitor of that name.
fn is_monitor(text: &Text) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.word();
    cursor.take('@') || cursor.take('=')
}

/// Parses a formula.
fn formula(text: &Text) -> ParseResult<SyntaxTree> {
    SyntaxTree::parse(text.as_str()).map_err(|error| Box::new(syntax_diagnostic(text, &error)))
}

/// Converts a syntax error in a formula to a diagnostic.
pub(crate) fn syntax_diagnostic(text: &Text, error: &SyntaxError) -> Diagnostic {
    let diagnostic = Diagnostic::error(text.span(error.span.clone()), &*error.message);
    match (&error.hint, error.expected.is_empty()) {
        (Some(hint), _) => diagnostic.help(hint),
        (None, false) => diagnostic.label(format!("expected {}", error.expected.join(", "))),
        (None, true) => diagnostic,
    }
}
