//! Reads statements, and reports every mistake in them at once.

use super::draft::{self, Draft, DraftBody, DraftComponent, DraftEdge, DraftMonitor, DraftState};
use super::expand::{Line, Statement, joined};
use super::tell;
use super::text::Text;
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};
use invigil_ltl::moore::Truth;
use invigil_ltl::syntax::{Mistake, Tree};

/// The words with which statements begin that are no monitors.
const WORDS: [&str; 5] = ["component", "link", "root", "template", "use"];

/// How a monitor is written, for those who did not.
const FORM: &str = "write: name @ component = formula";

/// How a component is written.
const COMPONENT: &str = "write: component name: proposition, proposition";

/// Reads a text from the left to the right.
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

    /// Where the next thing begins.
    pub(super) fn at(&mut self) -> usize {
        self.skip();
        self.at
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.skip();
        self.rest().is_empty()
    }

    /// The word that comes next; empty if none does.
    fn peek(&mut self) -> &'a str {
        self.skip();
        let rest = self.rest();
        let end = rest.find(|letter: char| !is_name(letter)).unwrap_or(rest.len());
        &rest[..end]
    }

    /// Takes the word that comes next.
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

    /// Takes what stands before a comma or a closing parenthesis, if one follows.
    pub(super) fn argument(&mut self) -> Option<(String, Span)> {
        let start = self.at();
        let end = start + self.rest().find([',', ')'])?;
        self.at = end;
        let value = self.text.as_str()[start..end].trim_end();
        (!value.is_empty()).then(|| (value.to_owned(), self.text.span(start..start + value.len())))
    }

    /// Takes a mark, if it comes next.
    pub(super) fn take(&mut self, mark: char) -> bool {
        self.take_text(mark.encode_utf8(&mut [0; 4]))
    }

    fn take_text(&mut self, text: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// The complaint that something else should come next.
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

/// Adds the name that was probably meant.
pub(crate) fn nearest_help<'a>(
    problem: Diagnostic,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    // What nobody could have meant is not worth the time.
    if name.len() > 64 {
        return problem;
    }
    match nearest(name, known.filter(|known| known.len() <= 64).take(1000)) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    }
}

/// Reads all statements.
pub(super) fn parse(source: SourceId, statements: Vec<Statement>, problems: &mut Vec<Diagnostic>) -> Draft {
    let mut parser = Parser { draft: Draft::new(source), problems };
    for statement in &statements {
        if parser.problems.len() == super::MAX_PROBLEMS {
            break;
        }
        if let Err(problem) = parser.statement(statement) {
            tell(parser.problems, *problem);
        }
    }
    parser.draft
}

type Read<T> = Result<T, Box<Diagnostic>>;

struct Parser<'a> {
    draft: Draft,
    problems: &'a mut Vec<Diagnostic>,
}

impl Parser<'_> {
    fn statement(&mut self, statement: &Statement) -> Read<()> {
        let text = joined(statement);
        let mut cursor = Cursor::new(&text);
        match cursor.peek() {
            "component" => self.component(cursor),
            "link" => self.links(cursor),
            "root" if !is_monitor(&text) => self.root(cursor),
            _ => self.monitor(statement),
        }
    }

    /// `component NAME: PROPOSITION, …`
    fn component(&mut self, mut cursor: Cursor<'_>) -> Read<()> {
        cursor.word();
        let Some((name, span)) = cursor.name() else {
            return Err(Box::new(cursor.expected("the name of the component").help(COMPONENT)));
        };
        let mut propositions = Vec::new();
        if !cursor.at_end() && !cursor.take(':') {
            return Err(Box::new(cursor.expected("`:` and what it observes").help(COMPONENT)));
        }
        while !cursor.at_end() {
            let Some(proposition) = cursor.name() else {
                return Err(Box::new(cursor.expected("the name of a proposition").help(COMPONENT)));
            };
            propositions.push(proposition);
            if !cursor.take(',') && !cursor.at_end() {
                return Err(Box::new(cursor.expected("`,` or the end of the line").help(COMPONENT)));
            }
        }
        self.draft.components.push(DraftComponent { name, span, propositions });
        Ok(())
    }

    /// `link A -> B, B <-> C`
    fn links(&mut self, mut cursor: Cursor<'_>) -> Read<()> {
        const HELP: &str = "write: link one -> other, or in both directions: link one <-> other";
        cursor.word();
        loop {
            let missing =
                |cursor: &mut Cursor<'_>| Box::new(cursor.expected("the name of a component").help(HELP));
            let Some(from) = cursor.name() else { return Err(missing(&mut cursor)) };
            let both = cursor.take_text("<->") || cursor.take_text("↔");
            if !both && !cursor.take_text("->") && !cursor.take_text("→") {
                return Err(Box::new(cursor.expected("`->` or `<->`").help(HELP)));
            }
            let Some(to) = cursor.name() else { return Err(missing(&mut cursor)) };
            if both {
                self.draft.links.push((to.clone(), from.clone()));
            }
            self.draft.links.push((from, to));
            if cursor.at_end() {
                return Ok(());
            }
            if !cursor.take(',') {
                return Err(Box::new(cursor.expected("`,` or the end of the line").help(HELP)));
            }
        }
    }

    /// `root NAME`
    fn root(&mut self, mut cursor: Cursor<'_>) -> Read<()> {
        cursor.word();
        let Some(root) = cursor.name() else {
            return Err(Box::new(cursor.expected("the name of a monitor").help("write: root name")));
        };
        if !cursor.at_end() {
            return Err(Box::new(cursor.expected("the end of the line").help("there is one root")));
        }
        if let Some((_, first)) = &self.draft.root {
            let problem = Diagnostic::error(root.1, "there is another root").related(*first, "the first one");
            return Err(Box::new(problem.help("keep one of them")));
        }
        self.draft.root = Some(root);
        Ok(())
    }

    /// `NAME @ COMPONENT = FORMULA`, or an automaton, or a black box.
    fn monitor(&mut self, statement: &Statement) -> Read<()> {
        let text = joined(statement);
        let mut cursor = Cursor::new(&text);
        let Some((name, span)) = cursor.name() else {
            return Err(Box::new(cursor.expected("a statement").help(FORM)));
        };
        let mut at = None;
        if cursor.take('@') {
            at = cursor.name();
            if at.is_none() {
                return Err(Box::new(cursor.expected("the name of a component").help(FORM)));
            }
        }
        if !cursor.take('=') {
            let problem = cursor.expected("`=`");
            let meant = nearest(&name, WORDS).map(|word| format!("did you mean `{word}`?"));
            let place = if meant.is_some() { Diagnostic { span, ..problem } } else { problem };
            return Err(Box::new(place.help(meant.unwrap_or_else(|| FORM.to_owned()))));
        }
        let body = match cursor.peek() {
            "automaton" if cursor.rest().lines().next() == Some("automaton") => {
                self.automaton(&statement.lines)?
            }
            "black" => self.black_box(cursor)?,
            _ => DraftBody::Formula(cursor.remaining()),
        };
        let body = match body {
            DraftBody::Formula(text) => {
                let tree = formula(&text)?;
                DraftBody::Read(tree, text)
            }
            other => other,
        };
        self.draft.monitors.push(DraftMonitor { name, span, at, body });
        Ok(())
    }

    /// `black box "FILE"`
    fn black_box(&mut self, mut cursor: Cursor<'_>) -> Read<DraftBody> {
        const HELP: &str = "write: name @ component = black box \"file.prop\"";
        let rest = cursor.remaining();
        cursor.word();
        if cursor.peek() != "box" {
            // Perhaps it is a proposition that is called so.
            return Ok(DraftBody::Formula(rest));
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
            let problem = Diagnostic::error(
                cursor.text.span(start..start + 2),
                "the file of the black box has no name",
            );
            return Err(Box::new(problem.help(HELP)));
        }
        Ok(DraftBody::BlackBox { file: rest[..end].to_owned() })
    }

    /// States, each with its edges below it.
    fn automaton(&mut self, lines: &[Line]) -> Read<DraftBody> {
        const STATE: &str = "write: state name, or with a final verdict: state name = false";
        const EDGE: &str = "write: target when condition, or: target otherwise";
        let mut states: Vec<DraftState> = Vec::new();
        for line in &lines[1..] {
            let mut cursor = Cursor::new(&line.text);
            if cursor.peek() == "state" {
                cursor.word();
                let Some((name, span)) = cursor.name() else {
                    return Err(Box::new(cursor.expected("the name of the state").help(STATE)));
                };
                let verdict = if cursor.take('=') {
                    match cursor.peek() {
                        "true" => Truth::True,
                        "false" => Truth::False,
                        _ if cursor.rest().starts_with('?') => Truth::Unknown,
                        _ => return Err(Box::new(cursor.expected("`true`, `false` or `?`").help(STATE))),
                    }
                } else if cursor.at_end() {
                    states.push(DraftState { name, span, verdict: Truth::Unknown, edges: Vec::new() });
                    continue;
                } else {
                    return Err(Box::new(cursor.expected("`=` or the end of the line").help(STATE)));
                };
                states.push(DraftState { name, span, verdict, edges: Vec::new() });
                continue;
            }
            let Some(state) = states.last_mut() else {
                return Err(Box::new(cursor.expected("`state`").help(STATE)));
            };
            let Some((to, span)) = cursor.name() else {
                return Err(Box::new(cursor.expected("the name of a state").help(EDGE)));
            };
            let label = match cursor.word() {
                "when" => {
                    let text = cursor.remaining();
                    Some((formula(&text)?, text))
                }
                "otherwise" if cursor.at_end() => None,
                _ => {
                    cursor.at = span_end(&line.text, &to);
                    return Err(Box::new(cursor.expected("`when` or `otherwise`").help(EDGE)));
                }
            };
            state.edges.push(DraftEdge { to, span, label });
        }
        Ok(DraftBody::Automaton(draft::resolve(states, self.problems)))
    }
}

/// Where the first name of a line ends.
fn span_end(text: &Text, name: &str) -> usize {
    text.as_str().find(name).map_or(0, |at| at + name.len())
}

/// Whether a statement that begins like a root is a monitor of that name.
fn is_monitor(text: &Text) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.word();
    cursor.take('@') || cursor.take('=')
}

/// Reads a formula.
fn formula(text: &Text) -> Read<Tree> {
    Tree::parse(text.as_str()).map_err(|mistake| Box::new(wrong(text, &mistake)))
}

/// A mistake in a formula as it is told.
pub(crate) fn wrong(text: &Text, mistake: &Mistake) -> Diagnostic {
    let problem = Diagnostic::error(text.span(mistake.span.clone()), &*mistake.message);
    match (&mistake.hint, mistake.expected.is_empty()) {
        (Some(hint), _) => problem.help(hint),
        (None, false) => problem.label(format!("expected {}", mistake.expected.join(", "))),
        (None, true) => problem,
    }
}
