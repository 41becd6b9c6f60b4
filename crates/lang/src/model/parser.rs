//! What the parsers of expressions and of models share: the next token, and complaints.

use super::scan::{Lexed, Token, tokens};
use super::syntax::Name;
use invigil_expr::diag::{Diagnostic, SourceId, Span};

/// After this many mistakes the rest of the text is not worth reading.
const MAX_PROBLEMS: usize = 50;

/// How deep brackets, operators and statements may be in each other.
pub(super) const MAX_NESTING: u32 = 100;

/// A text, and how far it is read.
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    tokens: Vec<Lexed<'a>>,
    at: usize,
    /// How deep the parser is in brackets.
    pub(super) nesting: u32,
    /// Whether `->` is an operator: in models it leads to a state.
    pub(super) has_arrows: bool,
    pub(super) problems: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(source: SourceId, text: &'a str) -> Parser<'a> {
        let (tokens, problems) = tokens(source, text);
        Parser { text, tokens, at: 0, nesting: 0, has_arrows: false, problems }
    }

    /// The token that comes next.
    pub(super) fn next(&self) -> Token<'a> {
        self.tokens[self.at].token
    }

    /// The token `ahead` of the one that comes next.
    pub(super) fn peek(&self, ahead: usize) -> Token<'a> {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].token
    }

    /// Where the next token stands.
    pub(super) fn here(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Whether the next token is the first of its line.
    pub(super) fn starts_line(&self) -> bool {
        self.tokens[self.at].starts_line
    }

    /// Where the last token that was taken stands.
    pub(super) fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// How many tokens were taken: whether a rule came on.
    pub(super) fn taken(&self) -> usize {
        self.at
    }

    /// Takes the next token; the end stays.
    pub(super) fn take(&mut self) -> Span {
        let span = self.here();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    /// Goes to the end.
    pub(super) fn stop(&mut self) {
        self.at = self.tokens.len() - 1;
    }

    pub(super) fn at_mark(&self, mark: &str) -> bool {
        self.next() == Token::Mark(mark)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.next() == Token::Word(word)
    }

    /// Takes this mark, if it comes next.
    pub(super) fn take_mark(&mut self, mark: &str) -> bool {
        let is_there = self.at_mark(mark);
        if is_there {
            self.take();
        }
        is_there
    }

    /// Takes this word, if it comes next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.at_word(word);
        if is_there {
            self.take();
        }
        is_there
    }

    /// Takes this mark, or complains that it is missing.
    pub(super) fn expect(&mut self, mark: &str) -> Option<Span> {
        if self.at_mark(mark) {
            return Some(self.take());
        }
        let problem = self.expected(&format!("`{mark}`"));
        self.report(problem);
        None
    }

    /// Takes a name, or complains that `what` is missing.
    pub(super) fn expect_name(&mut self, what: &str) -> Option<Name> {
        if let Token::Word(text) = self.next() {
            return Some(Name { text: text.to_owned(), span: self.take() });
        }
        let problem = self.expected(what);
        self.report(problem);
        None
    }

    /// The complaint that `what` should come next.
    pub(super) fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.next() {
            Token::End => "the end".to_owned(),
            _ => format!("`{}`", &self.text[self.here().start as usize..self.here().end as usize]),
        };
        Diagnostic::error(self.here(), format!("expected {what}, found {found}"))
            .label(format!("expected {what}"))
    }

    /// Adds a problem, unless it is a mere consequence of another at the same place.
    pub(super) fn report(&mut self, problem: Diagnostic) {
        if self.problems.iter().rev().take(2).any(|last| last.span == problem.span) {
            return;
        }
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
        if self.problems.len() >= MAX_PROBLEMS {
            self.stop();
        }
    }
}
