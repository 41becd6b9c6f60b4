//! What the parsers of all languages share: tokens, blocks of Python, and complaints.
//!
//! A parser is a recursive descent of fixed depth. After a mistake it either goes on as if the obvious repair
//! had been made, or skips to the next word that can start something.

pub(crate) mod blocks;
pub(crate) mod cursor;
pub(crate) mod piece;
pub(crate) mod scan;

use crate::block::column_after;
use crate::prop::ast::Name;
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};
use piece::{Comment, Piece, Role};
use scan::{Lexed, Token};

/// A file longer than this is surely something else.
const MAX_BYTES: usize = 4 << 20;

/// After this many mistakes the rest of the file is not worth reading.
const MAX_PROBLEMS: usize = 100;

/// What a parser must know of the language it reads.
pub(crate) struct Language {
    /// What a file holds: `property`.
    pub(crate) noun: &'static str,
    /// The words that go on with the file where a block was not closed.
    pub(crate) clauses: &'static [&'static str],
    /// Words that people write, each with the keyword that they mean.
    pub(crate) other_words: &'static [(&'static str, &'static str)],
}

pub(crate) struct Parser<'a> {
    pub(crate) language: &'static Language,
    pub(crate) source: SourceId,
    pub(crate) text: &'a str,
    /// The token that comes next.
    pub(crate) at: Lexed<'a>,
    /// Where the last token that was taken ends.
    pub(crate) last_end: usize,
    /// Whether there were so many mistakes that the rest is not read.
    pub(crate) stopped: bool,
    /// A place in the file and its column, from which later columns are counted.
    pub(crate) column: (usize, u32),
    pub(crate) pieces: Vec<Piece>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) problems: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    /// A parser at the beginning of a file; complains if that is too long to be one.
    pub(crate) fn new(language: &'static Language, source: SourceId, text: &'a str) -> Parser<'a> {
        let mut parser = Parser {
            language,
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
        if text.len() > MAX_BYTES {
            let noun = language.noun;
            let message = format!("this file is too long for a {noun} ({} MiB)", text.len() >> 20);
            let problem = Diagnostic::error(parser.span(0, 0), message).label("nothing of it was read");
            parser
                .problems
                .push(problem.help(format!("a {noun} may have 4 MiB; is this the trace instead?")));
            parser.stopped = true;
        }
        parser.jump(0);
        parser
    }

    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start as u32, end as u32)
    }

    /// The token that comes next, as a place.
    pub(crate) fn here(&self) -> Span {
        self.span(self.at.start, self.at.end)
    }

    /// From `start` to the end of what was taken last.
    pub(crate) fn since(&self, start: usize) -> Span {
        self.span(start, self.last_end.max(start))
    }

    /// Goes on reading at byte `to`, in the place of the token that came next.
    pub(crate) fn jump(&mut self, to: usize) {
        let to = if self.stopped { self.text.len() } else { to };
        let comments = &mut self.comments;
        self.at =
            scan::next(self.text, self.at.token, to, |start, end| comments.push(Comment { start, end }));
        self.last_end = to;
    }

    /// Takes the next token.
    pub(crate) fn take(&mut self, role: Role) -> Span {
        let span = self.here();
        self.pieces.push(Piece { role, start: self.at.start, end: self.at.end });
        self.jump(self.at.end);
        span
    }

    /// Passes over the next token: it is part of a mistake.
    pub(crate) fn skip(&mut self) {
        if self.at.token == Token::Mark('{') {
            let end = self.find_block_end(self.at.start);
            self.jump(end.after);
        } else {
            self.jump(self.at.end);
        }
    }

    /// The token after the one that comes next.
    pub(crate) fn second(&self) -> Token<'a> {
        scan::next(self.text, self.at.token, self.at.end, |_, _| {}).token
    }

    pub(crate) fn at_word(&self, word: &str) -> bool {
        self.at.token == Token::Word(word)
    }

    pub(crate) fn at_mark(&self, mark: char) -> bool {
        self.at.token == Token::Mark(mark)
    }

    /// Takes a name, if one comes next.
    pub(crate) fn take_name(&mut self, role: Role) -> Option<Name> {
        let Token::Word(text) = self.at.token else { return None };
        Some(Name { text: text.to_owned(), span: self.take(role) })
    }

    /// Takes a name or complains that `what` is missing.
    pub(crate) fn expect_name(&mut self, what: &str, help: &str) -> Option<Name> {
        let name = self.take_name(Role::Word);
        if name.is_none() {
            let problem = self.expected(what).help(help);
            self.report(problem);
        }
        name
    }

    /// The complaint that `what` should come next.
    pub(crate) fn expected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.found());
        Diagnostic::error(self.here(), message).label(format!("expected {what}"))
    }

    /// What comes next, in words.
    pub(crate) fn found(&self) -> String {
        match self.at.token {
            Token::End => "the end of the file".to_owned(),
            _ => format!("`{}`", &self.text[self.at.start..self.at.end]),
        }
    }

    /// Adds a problem, unless it is a mere consequence of another at the same place.
    pub(crate) fn report(&mut self, problem: Diagnostic) {
        if self.stopped || self.problems.iter().rev().take(2).any(|last| last.span == problem.span) {
            return;
        }
        self.problems.push(problem);
        if self.problems.len() == MAX_PROBLEMS {
            let rest = self.span(self.at.end, self.at.end);
            let message = format!("there are more than {MAX_PROBLEMS} mistakes");
            let last = Diagnostic::error(rest, message).label("the rest of the file was not read");
            self.problems.push(last.help(format!("is this a {} file?", self.language.noun)));
            self.stopped = true;
            self.jump(self.text.len());
        }
    }

    /// The column of byte `at`, counted from zero. Asked for places in the order of the file.
    pub(crate) fn column_of(&mut self, at: usize) -> u32 {
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
    pub(crate) fn skip_to(&mut self, words: &[&str]) {
        loop {
            match self.at.token {
                Token::End | Token::Mark('}') => return,
                Token::Word(word) if words.contains(&word) => return,
                _ => self.skip(),
            }
        }
    }

    /// The keyword among `candidates` that `word` was meant to be.
    pub(crate) fn meant(&self, word: &str, candidates: &[&'static str]) -> Option<&'static str> {
        let mut others = self.language.other_words.iter();
        let synonym = others.find(|(other, _)| *other == word).map(|(_, keyword)| *keyword);
        let known = candidates.iter().copied().find(|c| Some(*c) == synonym);
        known.or_else(|| nearest(word, candidates.iter().copied()))
    }

    /// Complains about a keyword that is misspelt.
    pub(crate) fn report_misspelt(&mut self, keyword: &str) {
        let message = format!("expected `{keyword}`, found {}", self.found());
        let problem = Diagnostic::error(self.here(), message).label(format!("expected `{keyword}`"));
        self.report(problem.help(format!("did you mean `{keyword}`?")));
    }

    /// Complains about a second clause of one kind.
    pub(crate) fn report_twice(&mut self, what: &str, here: Span, earlier: &mut Option<Span>) {
        match earlier {
            Some(first) => {
                let problem = Diagnostic::error(here, format!("`{what}` stands here a second time"))
                    .label("the second one")
                    .related(*first, "the first one")
                    .help("keep one of them");
                self.report(problem);
            }
            None => *earlier = Some(here),
        }
    }
}
