//! Reads a property, and reports every mistake in it at once.
//!
//! A recursive descent of fixed depth: the language nests states, transitions and clauses, and no deeper.
//! After a mistake the parser either goes on as if the obvious repair had been made, or skips to the next
//! word that can start something.

mod blocks;
mod event;
mod property;
mod transition;

use super::ast::{Name, Property};
use super::piece::{Comment, Piece, Role};
use super::scan::{self, Lexed, Token};
use crate::block::column_after;
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};

/// A property file longer than this is surely something else.
const MAX_BYTES: usize = 4 << 20;

/// After this many mistakes the rest of the file is not worth reading.
const MAX_PROBLEMS: usize = 100;

/// Reads the property in `text`, the contents of the file known as `source`.
///
/// The property is complete if there is no error among the diagnostics. Otherwise it is what could be made
/// out, good for showing but not for running.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::prop;
///
/// let text = "state init accepting { transition { event f(x) { return x > 0 } failure bad } }
///             state bad non-accepting";
/// let (property, problems) = prop::parse(SourceId(0), text);
/// assert!(problems.is_empty());
/// assert_eq!(property.states[1].name.text, "bad");
/// assert_eq!(property.states[0].transitions[0].event.params[0].name.text, "x");
/// ```
pub fn parse(source: SourceId, text: &str) -> (Property, Vec<Diagnostic>) {
    let reading = read(source, text);
    (reading.property, reading.problems)
}

/// All that reading a file gives.
pub(super) struct Reading {
    pub(super) property: Property,
    pub(super) pieces: Vec<Piece>,
    pub(super) comments: Vec<Comment>,
    pub(super) problems: Vec<Diagnostic>,
}

pub(super) fn read(source: SourceId, text: &str) -> Reading {
    let mut parser = Parser {
        source,
        text,
        at: Lexed { token: Token::End, start: 0, end: 0 },
        last_end: 0,
        stopped: false,
        column: (0, 0),
        pieces: Vec::new(),
        comments: Vec::new(),
        problems: Vec::new(),
    };
    let property = if text.len() > MAX_BYTES {
        let message = format!("this file is too long for a property ({} MiB)", text.len() >> 20);
        let problem = Diagnostic::error(parser.span(0, 0), message).label("nothing of it was read");
        parser.problems.push(problem.help("a property may have 4 MiB; is this the trace instead?"));
        Property::default()
    } else {
        parser.jump(0);
        parser.property()
    };
    Reading { property, pieces: parser.pieces, comments: parser.comments, problems: parser.problems }
}

struct Parser<'a> {
    source: SourceId,
    text: &'a str,
    /// The token that comes next.
    at: Lexed<'a>,
    /// Where the last token that was taken ends.
    last_end: usize,
    /// Whether there were so many mistakes that the rest is not read.
    stopped: bool,
    /// A place in the file and its column, from which later columns are counted.
    column: (usize, u32),
    pieces: Vec<Piece>,
    comments: Vec<Comment>,
    problems: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start as u32, end as u32)
    }

    /// The token that comes next, as a place.
    fn here(&self) -> Span {
        self.span(self.at.start, self.at.end)
    }

    /// From `start` to the end of what was taken last.
    fn since(&self, start: usize) -> Span {
        self.span(start, self.last_end.max(start))
    }

    /// Goes on reading at byte `to`, in the place of the token that came next.
    fn jump(&mut self, to: usize) {
        let to = if self.stopped { self.text.len() } else { to };
        let comments = &mut self.comments;
        self.at =
            scan::next(self.text, self.at.token, to, |start, end| comments.push(Comment { start, end }));
        self.last_end = to;
    }

    /// Takes the next token.
    fn take(&mut self, role: Role) -> Span {
        let span = self.here();
        self.pieces.push(Piece { role, start: self.at.start, end: self.at.end });
        self.jump(self.at.end);
        span
    }

    /// Passes over the next token: it is part of a mistake.
    fn skip(&mut self) {
        if self.at.token == Token::Mark('{') {
            let end = self.find_block_end(self.at.start);
            self.jump(end.after);
        } else {
            self.jump(self.at.end);
        }
    }

    /// The token after the one that comes next.
    fn second(&self) -> Token<'a> {
        scan::next(self.text, self.at.token, self.at.end, |_, _| {}).token
    }

    fn at_word(&self, word: &str) -> bool {
        self.at.token == Token::Word(word)
    }

    fn at_mark(&self, mark: char) -> bool {
        self.at.token == Token::Mark(mark)
    }

    /// Takes a name, if one comes next.
    fn take_name(&mut self, role: Role) -> Option<Name> {
        let Token::Word(text) = self.at.token else { return None };
        Some(Name { text: text.to_owned(), span: self.take(role) })
    }

    /// Takes a name or complains that `what` is missing.
    fn expect_name(&mut self, what: &str, help: &str) -> Option<Name> {
        let name = self.take_name(Role::Word);
        if name.is_none() {
            let problem = self.expected(what).help(help);
            self.report(problem);
        }
        name
    }

    /// The complaint that `what` should come next.
    fn expected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.found());
        Diagnostic::error(self.here(), message).label(format!("expected {what}"))
    }

    /// What comes next, in words.
    fn found(&self) -> String {
        match self.at.token {
            Token::End => "the end of the file".to_owned(),
            _ => format!("`{}`", &self.text[self.at.start..self.at.end]),
        }
    }

    /// Adds a problem, unless it is a mere consequence of another at the same place.
    fn report(&mut self, problem: Diagnostic) {
        if self.stopped || self.problems.iter().rev().take(2).any(|last| last.span == problem.span) {
            return;
        }
        self.problems.push(problem);
        if self.problems.len() == MAX_PROBLEMS {
            let rest = self.span(self.at.end, self.at.end);
            let message = format!("there are more than {MAX_PROBLEMS} mistakes");
            let last = Diagnostic::error(rest, message).label("the rest of the file was not read");
            self.problems.push(last.help("is this a property file?"));
            self.stopped = true;
            self.jump(self.text.len());
        }
    }

    /// The column of byte `at`, counted from zero. Asked for places in the order of the file.
    fn column_of(&mut self, at: usize) -> u32 {
        let (from, column) = self.column;
        let passed = &self.text[from..at];
        let column = match passed.rfind('\n') {
            Some(line) => column_after(0, &passed[line + 1..]),
            None => column_after(column, passed),
        };
        self.column = (at, column);
        column
    }

    /// Skips to the next of `words`, to a closing brace, or to the end.
    fn skip_to(&mut self, words: &[&str]) {
        loop {
            match self.at.token {
                Token::End | Token::Mark('}') => return,
                Token::Word(word) if words.contains(&word) => return,
                _ => self.skip(),
            }
        }
    }

    /// The keyword among `candidates` that `word` was meant to be.
    fn meant(&self, word: &str, candidates: &[&'static str]) -> Option<&'static str> {
        const OTHER_WORDS: [(&str, &str); 9] = [
            ("else", "failure"),
            ("otherwise", "failure"),
            ("fail", "failure"),
            ("then", "success"),
            ("on", "event"),
            ("when", "event"),
            ("use", "import"),
            ("include", "import"),
            ("init", "initialization"),
        ];
        let synonym = OTHER_WORDS.iter().find(|(other, _)| *other == word).map(|(_, keyword)| *keyword);
        let known = candidates.iter().copied().find(|c| Some(*c) == synonym);
        known.or_else(|| nearest(word, candidates.iter().copied()))
    }

    /// Complains about a keyword that is misspelt.
    fn report_misspelt(&mut self, keyword: &str) {
        let message = format!("expected `{keyword}`, found {}", self.found());
        let problem = Diagnostic::error(self.here(), message).label(format!("expected `{keyword}`"));
        self.report(problem.help(format!("did you mean `{keyword}`?")));
    }
}
