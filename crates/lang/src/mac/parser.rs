//! Reads tokens, complains, and finds the way back after a mistake.

use super::ast::{Expr, Name, Node};
use super::format::Layout;
use super::scan::{self, Lexed, Token};
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};

/// A file longer than this is surely something else.
const MAX_BYTES: usize = 4 << 20;
/// After this many mistakes the rest is not worth reading.
pub(crate) const MAX_PROBLEMS: usize = 100;

/// What the parser must know of the language that it reads.
pub(crate) struct Language {
    /// What it is called.
    pub(crate) noun: &'static str,
    /// The word that opens a script, and the other language's.
    pub(crate) opening: &'static str,
    /// What to say of a file that opens as the other language does.
    pub(crate) other: (&'static str, &'static str),
    /// The words that begin a statement.
    pub(crate) statements: &'static [&'static str],
    /// What looks like a call in an expression.
    pub(crate) functions: &'static [&'static str],
    /// Whether names of the watched program can stand in expressions.
    pub(crate) has_program: bool,
}

/// Words that nothing can be called, in either language.
const KEYWORDS: [&str; 36] = [
    "MonScr",
    "ReqSpec",
    "export",
    "import",
    "event",
    "condition",
    "action",
    "timestamp",
    "multithread",
    "deltavalue",
    "valueabstract",
    "valueabstraction",
    "monobj",
    "monmeth",
    "var",
    "property",
    "alarm",
    "when",
    "start",
    "end",
    "End",
    "update",
    "startM",
    "endM",
    "IOM",
    "InM",
    "defined",
    "time",
    "value",
    "print",
    "invoke",
    "instanceof",
    "void",
    "true",
    "false",
    "null",
];

pub(crate) struct Parser<'a> {
    pub(crate) language: &'static Language,
    source: SourceId,
    pub(crate) text: &'a str,
    /// The token that comes next.
    pub(crate) at: Lexed<'a>,
    last_end: usize,
    is_stopped: bool,
    /// How many expressions are being read inside each other.
    pub(crate) nesting: u32,
    /// Whether a `when` belongs to someone outside.
    pub(crate) leaves_when: bool,
    /// The expression that is being read.
    pub(crate) nodes: Vec<Node>,
    pub(crate) problems: Vec<Diagnostic>,
    /// Where the parts of the script are.
    pub(crate) layout: Layout,
}

impl<'a> Parser<'a> {
    /// A parser at the beginning of `text`; at its end if the text is too long.
    pub(crate) fn new(language: &'static Language, source: SourceId, text: &'a str) -> Parser<'a> {
        let nothing = Lexed { token: Token::End, start: 0, end: 0 };
        let mut parser = Parser {
            language,
            source,
            text,
            at: nothing,
            last_end: 0,
            is_stopped: false,
            nesting: 0,
            leaves_when: false,
            nodes: Vec::new(),
            problems: Vec::new(),
            layout: Layout::default(),
        };
        if text.len() > MAX_BYTES {
            let message = format!("this file is too long for a script ({} MiB)", text.len() >> 20);
            let problem = Diagnostic::error(parser.here(), message).label("nothing of it was read");
            parser.report(problem.help("a script may have 4 MiB"));
            parser.is_stopped = true;
        }
        parser.jump(0);
        parser
    }

    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start as u32, end as u32)
    }

    pub(crate) fn here(&self) -> Span {
        self.span(self.at.start, self.at.end)
    }

    /// From `start` to the end of what was taken last.
    pub(crate) fn since(&self, start: usize) -> Span {
        self.span(start, self.last_end.max(start))
    }

    /// Goes on reading at byte `to`.
    pub(crate) fn jump(&mut self, to: usize) {
        self.last_end = to;
        if self.is_stopped {
            return;
        }
        self.at = scan::next(self.text, to);
        if self.at.token == Token::OpenComment {
            let open = self.span(self.at.start, self.at.start + 2);
            self.at = Lexed { token: Token::End, start: self.at.start, end: self.at.start };
            let problem = Diagnostic::error(open, "this comment has no end");
            self.report(problem.label("it begins here").help("close it with `*/`"));
            // What is missing stands in the comment.
            self.is_stopped = true;
        }
    }

    /// Takes the next token.
    pub(crate) fn take(&mut self) -> Span {
        let span = self.here();
        self.jump(self.at.end);
        span
    }

    /// The token behind the next one.
    pub(crate) fn peek(&self) -> Token<'a> {
        scan::next(self.text, self.at.end).token
    }

    pub(crate) fn at_mark(&self, mark: &str) -> bool {
        matches!(self.at.token, Token::Mark(found) if found == mark)
    }

    pub(crate) fn at_word(&self, wanted: &str) -> bool {
        matches!(self.at.token, Token::Word(word) if word == wanted)
    }

    /// Takes a mark if it comes next.
    pub(crate) fn take_mark(&mut self, mark: &str) -> bool {
        let is_there = self.at_mark(mark);
        if is_there {
            self.take();
        }
        is_there
    }

    /// Takes a word if it comes next.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.at_word(word);
        if is_there {
            self.take();
        }
        is_there
    }

    fn found(&self) -> String {
        match self.at.token {
            Token::End => "the end of the file".to_owned(),
            _ => format!("`{}`", &self.text[self.at.start..self.at.end]),
        }
    }

    /// The complaint that `what` should come next.
    pub(crate) fn expected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.found());
        Diagnostic::error(self.here(), message).label(format!("expected {what}"))
    }

    /// Adds a problem, unless it is a mere consequence of another at the same place.
    pub(crate) fn report(&mut self, problem: Diagnostic) {
        if self.is_stopped || self.problems.last().is_some_and(|last| last.span == problem.span) {
            return;
        }
        self.problems.push(problem);
        if self.problems.len() == MAX_PROBLEMS {
            let rest = self.span(self.at.end, self.at.end);
            let message = format!("there are more than {MAX_PROBLEMS} mistakes");
            self.problems.push(
                Diagnostic::error(rest, message)
                    .label("the rest of the file was not read")
                    .help(format!("is this a {} script?", self.language.noun)),
            );
            self.is_stopped = true;
            self.at = Lexed { token: Token::End, start: self.text.len(), end: self.text.len() };
        }
    }

    pub(crate) fn expect_mark(&mut self, mark: &'static str, help: &str) -> Option<Span> {
        if self.at_mark(mark) {
            return Some(self.take());
        }
        let problem = self.expected(&format!("`{mark}`")).help(help);
        self.report(problem);
        None
    }

    /// Takes a name or complains that `what` is missing.
    pub(crate) fn expect_name(&mut self, what: &str) -> Option<Name> {
        match self.at.token {
            Token::Word(text) if !KEYWORDS.contains(&text) => {
                Some(Name { text: text.to_owned(), span: self.take() })
            }
            Token::Word(text) => {
                let problem = self.expected(what).help(format!("`{text}` is a word of the language"));
                self.report(problem);
                None
            }
            Token::Primed(text) => {
                let help = format!("write `{text}`: a prime stands for the new value of a variable");
                let problem = self.expected(what).help(help);
                self.report(problem);
                None
            }
            _ => {
                let problem = self.expected(what);
                self.report(problem);
                None
            }
        }
    }

    /// Names with commas between them.
    pub(crate) fn names(&mut self, what: &str) -> Option<Vec<Name>> {
        let mut names = vec![self.expect_name(what)?];
        while self.take_mark(",") {
            names.push(self.expect_name(what)?);
        }
        Some(names)
    }

    /// Reads the word that opens a script, and its title.
    pub(crate) fn opening(&mut self) -> Option<Name> {
        let language = self.language;
        if !self.take_word(language.opening) {
            let problem = self.expected(&format!("`{}`", language.opening));
            let problem = match self.at.token {
                Token::Word(word) if word == language.other.0 => problem.help(language.other.1),
                Token::Word(word) if nearest(word, [language.opening]).is_some() => {
                    problem.help(format!("did you mean `{}`?", language.opening))
                }
                _ => problem.help(format!(
                    "a {} script begins with `{} NAME` and closes with `End`",
                    language.noun, language.opening
                )),
            };
            self.report(problem);
            if !self.at_statement() {
                self.take();
            }
        }
        match self.at.token {
            Token::Word(word) if !KEYWORDS.contains(&word) && !self.is_guard() => self.expect_name("a title"),
            _ => None,
        }
    }

    /// Whether what follows is `e -> …`, which is no title.
    fn is_guard(&self) -> bool {
        !self.language.has_program && self.peek() == Token::Mark("->")
    }

    /// Whether a word that begins a statement comes next.
    pub(crate) fn at_statement(&self) -> bool {
        matches!(self.at.token, Token::Word(word) if self.language.statements.contains(&word))
    }

    /// Whether the word that closes the script comes next; `end(c)` is an event.
    pub(crate) fn at_end(&self) -> bool {
        match self.at.token {
            Token::End => true,
            Token::Word("End" | "END") => true,
            Token::Word("end") => self.peek() != Token::Mark("("),
            _ => false,
        }
    }

    /// Takes the word that closes the script; nothing may follow it.
    pub(crate) fn closing(&mut self) {
        if self.at.token == Token::End {
            let help = format!(
                "close the script with `End`, at the end of what began with `{}`",
                self.language.opening
            );
            let problem = self.expected("`End`").help(help);
            self.report(problem);
            return;
        }
        self.layout.end = self.at.start;
        let end = self.take();
        if self.at.token != Token::End {
            let problem = self.expected("the end of the file").related(end, "the script ends here");
            self.report(problem.help("what stands behind `End` is not read: move it before, or remove it"));
        }
    }

    /// Goes on at the next statement, behind the next `;` or at the end.
    pub(crate) fn skip_statement(&mut self) {
        while !self.at_end() && !self.at_statement() {
            let was_semicolon = self.at_mark(";");
            self.take();
            if was_semicolon {
                return;
            }
        }
    }

    fn begins_line(&self) -> bool {
        self.text[..self.at.start].trim_end_matches([' ', '\t']).ends_with('\n')
    }

    /// Complains about what begins no statement, and passes it.
    pub(crate) fn stray(&mut self, what: &str, help: &str) {
        let problem = self.expected(what);
        let problem = match self.at.token {
            Token::Word(word) => match suggest(word, self.language.statements.iter().copied()) {
                Some(suggestion) => problem.help(suggestion),
                None => problem.help(help),
            },
            Token::Mark("}") => problem.help("this `}` closes nothing: remove it"),
            _ => problem.help(help),
        };
        self.report(problem);
        self.skip_line();
    }

    /// Passes the next token, and what follows it on its line or up to a `;`.
    pub(crate) fn skip_line(&mut self) {
        while !self.at_end() {
            let was_semicolon = self.at_mark(";");
            self.take();
            if was_semicolon || self.at_statement() && self.begins_line() {
                return;
            }
        }
    }

    /// Reads an expression that may have no end in sight: nothing of it is left when there is a mistake in it.
    pub(crate) fn expr(&mut self) -> Option<Expr> {
        self.nodes.clear();
        self.nesting = 0;
        self.leaves_when = false;
        self.expression()?;
        Some(Expr { nodes: std::mem::take(&mut self.nodes) })
    }
}

/// The name that was most likely meant, as a question.
pub(crate) fn suggest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    /// Longer names, or more of them, would take too long to compare.
    const LONGEST: usize = 100;
    const MOST: usize = 2000;
    if wanted.len() > LONGEST {
        return None;
    }
    let candidates = candidates.into_iter().filter(|candidate| candidate.len() <= LONGEST).take(MOST);
    nearest(wanted, candidates).map(|meant| format!("did you mean `{meant}`?"))
}
