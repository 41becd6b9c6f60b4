//! Parts of the parsers that all languages share: tokens, blocks of Python, diagnostics.
//!
//! Parsers use recursive descent with bounded depth. After an error, a parser either continues as if the obvious
//! fix had been made, or skips to the next word that can start something.

pub(crate) mod blocks;
pub(crate) mod cursor;
pub(crate) mod layout_tokens;
pub(crate) mod scan;

use crate::block::column_after;
use crate::prop::ast::Name;
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};
use layout_tokens::{Comment, LayoutRole, LayoutToken};
use scan::{Lexed, Token};

/// Longer files are rejected: they are probably not source files.
const MAX_BYTES: usize = 4 << 20;

/// After this many errors, the rest of the file is not parsed.
const MAX_DIAGNOSTICS: usize = 100;

/// The settings of a [`PropParser`] for one language.
pub(crate) struct Language {
    /// What a file contains, for messages: `property`.
    pub(crate) noun: &'static str,
    /// The keywords that show that a block was not closed.
    pub(crate) clauses: &'static [&'static str],
    /// Common wrong words, each with the keyword that is meant.
    pub(crate) synonyms: &'static [(&'static str, &'static str)],
}

pub(crate) struct PropParser<'a> {
    pub(crate) language: &'static Language,
    pub(crate) source: SourceId,
    pub(crate) text: &'a str,
    /// The next token.
    pub(crate) at: Lexed<'a>,
    /// The end of the last token taken.
    pub(crate) last_end: usize,
    /// Whether parsing was abandoned because of too many errors.
    pub(crate) is_stopped: bool,
    /// An offset with its column, from which later columns are computed.
    pub(crate) column: (usize, u32),
    pub(crate) tokens: Vec<LayoutToken>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl<'a> PropParser<'a> {
    /// Creates a parser at the start of a file; rejects files that are too large.
    pub(crate) fn new(language: &'static Language, source: SourceId, text: &'a str) -> PropParser<'a> {
        let mut parser = PropParser {
            language,
            source,
            text,
            at: Lexed { token: Token::End, start: 0, end: 0 },
            last_end: 0,
            is_stopped: false,
            column: (0, 0),
            tokens: Vec::new(),
            comments: Vec::new(),
            diagnostics: Vec::new(),
        };
        if text.len() > MAX_BYTES {
            let noun = language.noun;
            let message = format!("the file is too large for a {noun} ({} MiB)", text.len() >> 20);
            let diagnostic = Diagnostic::error(parser.span(0, 0), message).label("not parsed");
            parser.diagnostics.push(diagnostic.help("the limit is 4 MiB; is this a trace?"));
            parser.is_stopped = true;
        }
        parser.jump(0);
        parser
    }

    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start as u32, end as u32)
    }

    /// Returns the span of the next token.
    pub(crate) fn here(&self) -> Span {
        self.span(self.at.start, self.at.end)
    }

    /// Returns the span from `start` to the end of the last token taken.
    pub(crate) fn since(&self, start: usize) -> Span {
        self.span(start, self.last_end.max(start))
    }

    /// Continues at offset `to`, in the lexical context of the current token.
    pub(crate) fn jump(&mut self, to: usize) {
        let to = if self.is_stopped { self.text.len() } else { to };
        let comments = &mut self.comments;
        self.at =
            scan::next(self.text, self.at.token, to, |start, end| comments.push(Comment { start, end }));
        self.last_end = to;
    }

    /// Takes the next token.
    pub(crate) fn take(&mut self, role: LayoutRole) -> Span {
        let span = self.here();
        self.tokens.push(LayoutToken { role, start: self.at.start, end: self.at.end });
        self.jump(self.at.end);
        span
    }

    /// Skips the next token as part of an error.
    pub(crate) fn skip(&mut self) {
        if self.at.token == Token::Mark('{') {
            let end = self.find_block_end(self.at.start);
            self.jump(end.after);
        } else {
            self.jump(self.at.end);
        }
    }

    /// Returns the token after the next one.
    pub(crate) fn peek(&self) -> Token<'a> {
        scan::next(self.text, self.at.token, self.at.end, |_, _| {}).token
    }

    pub(crate) fn at_word(&self, word: &str) -> bool {
        self.at.token == Token::Word(word)
    }

    pub(crate) fn at_mark(&self, mark: char) -> bool {
        self.at.token == Token::Mark(mark)
    }

    /// Takes a name, if one follows.
    pub(crate) fn take_name(&mut self, role: LayoutRole) -> Option<Name> {
        let Token::Word(text) = self.at.token else { return None };
        Some(Name { text: text.to_owned(), span: self.take(role) })
    }

    /// Takes a name, or reports that `what` is missing.
    pub(crate) fn expect_name(&mut self, what: &str, help: &str) -> Option<Name> {
        let name = self.take_name(LayoutRole::Word);
        if name.is_none() {
            let diagnostic = self.expected(what).help(help);
            self.report(diagnostic);
        }
        name
    }

    /// Creates the diagnostic that `what` is expected here.
    pub(crate) fn expected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.describe_next());
        Diagnostic::error(self.here(), message).label(format!("expected {what}"))
    }

    /// Describes the next token for messages.
    pub(crate) fn describe_next(&self) -> String {
        match self.at.token {
            Token::End => "the end of the file".to_owned(),
            _ => format!("`{}`", &self.text[self.at.start..self.at.end]),
        }
    }

    /// Adds a diagnostic, unless another one at the same position already explains it.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        if self.is_stopped || self.diagnostics.iter().rev().take(2).any(|last| last.span == diagnostic.span) {
            return;
        }
        self.diagnostics.push(diagnostic);
        if self.diagnostics.len() == MAX_DIAGNOSTICS {
            let rest = self.span(self.at.end, self.at.end);
            let message = format!("more than {MAX_DIAGNOSTICS} errors");
            let last = Diagnostic::error(rest, message).label("the rest of the file was not parsed");
            self.diagnostics.push(last.help(format!("is this a {} file?", self.language.noun)));
            self.is_stopped = true;
            self.jump(self.text.len());
        }
    }

    /// Returns the column of offset `at`, counted from zero. Offsets must not decrease between calls.
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

    /// Skips to the next of `words`, to a closing brace, or to the end of the file.
    pub(crate) fn skip_to(&mut self, words: &[&str]) {
        loop {
            match self.at.token {
                Token::End | Token::Mark('}') => return,
                Token::Word(word) if words.contains(&word) => return,
                _ => self.skip(),
            }
        }
    }

    /// Returns the keyword among `candidates` that `word` was probably meant to be.
    pub(crate) fn intended_keyword(&self, word: &str, candidates: &[&'static str]) -> Option<&'static str> {
        let mut others = self.language.synonyms.iter();
        let synonym = others.find(|(other, _)| *other == word).map(|(_, keyword)| *keyword);
        let synonym = candidates.iter().copied().find(|c| Some(*c) == synonym);
        synonym.or_else(|| nearest(word, candidates.iter().copied()))
    }

    /// Reports a misspelt keyword.
    pub(crate) fn report_misspelt(&mut self, keyword: &str) {
        let message = format!("expected `{keyword}`, found {}", self.describe_next());
        let diagnostic = Diagnostic::error(self.here(), message).label(format!("expected `{keyword}`"));
        self.report(diagnostic.help(format!("did you mean `{keyword}`?")));
    }

    /// Reports a second clause of the same kind.
    pub(crate) fn report_duplicate(&mut self, what: &str, here: Span, earlier: &mut Option<Span>) {
        match earlier {
            Some(first) => {
                let diagnostic = Diagnostic::error(here, format!("duplicate `{what}`"))
                    .label("second occurrence")
                    .related(*first, "first occurrence")
                    .help("keep one of them");
                self.report(diagnostic);
            }
            None => *earlier = Some(here),
        }
    }
}
