//! Base of the parsers for models and expressions: token cursor and diagnostics.

use super::scan::{Lexed, Token, tokens};
use super::syntax::Name;
use invigil_expr::diag::{Diagnostic, SourceId, Span};

/// After this many errors, the rest of the text is not parsed.
const MAX_DIAGNOSTICS: usize = 50;

/// The maximum nesting depth of brackets, operators and statements.
pub(super) const MAX_NESTING: u32 = 100;

/// A token cursor over a text.
pub(super) struct ModelParser<'a> {
    pub(super) text: &'a str,
    tokens: Vec<Lexed<'a>>,
    at: usize,
    /// The current nesting depth of brackets.
    pub(super) nesting: u32,
    /// Whether `->` is an operator; in models it precedes a target state.
    pub(super) has_arrows: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a> ModelParser<'a> {
    pub(super) fn new(source: SourceId, text: &'a str) -> ModelParser<'a> {
        let (tokens, diagnostics) = tokens(source, text);
        ModelParser { text, tokens, at: 0, nesting: 0, has_arrows: false, diagnostics }
    }

    /// Returns the next token without taking it.
    pub(super) fn peek(&self) -> Token<'a> {
        self.tokens[self.at].token
    }

    /// Returns the token `ahead` positions after the next one.
    pub(super) fn peek_at(&self, ahead: usize) -> Token<'a> {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].token
    }

    /// Returns the position of the next token.
    pub(super) fn here(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Whether the next token is the first on its line.
    pub(super) fn starts_line(&self) -> bool {
        self.tokens[self.at].starts_line
    }

    /// Returns the position of the last token taken.
    pub(super) fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// Returns the number of tokens taken, to detect rules that made no progress.
    pub(super) fn taken_count(&self) -> usize {
        self.at
    }

    /// Takes the next token; the end token is never consumed.
    pub(super) fn take(&mut self) -> Span {
        let span = self.here();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    /// Skips to the end.
    pub(super) fn stop(&mut self) {
        self.at = self.tokens.len() - 1;
    }

    pub(super) fn at_mark(&self, mark: &str) -> bool {
        self.peek() == Token::Mark(mark)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.peek() == Token::Word(word)
    }

    /// Takes the next token if it is this mark.
    pub(super) fn take_mark(&mut self, mark: &str) -> bool {
        let is_there = self.at_mark(mark);
        if is_there {
            self.take();
        }
        is_there
    }

    /// Takes the next token if it is this word.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.at_word(word);
        if is_there {
            self.take();
        }
        is_there
    }

    /// Takes this mark, or reports that it is missing.
    pub(super) fn expect(&mut self, mark: &str) -> Option<Span> {
        if self.at_mark(mark) {
            return Some(self.take());
        }
        let diagnostic = self.expected(&format!("`{mark}`"));
        self.report(diagnostic);
        None
    }

    /// Takes a name, or reports that `what` is missing.
    pub(super) fn expect_name(&mut self, what: &str) -> Option<Name> {
        if let Token::Word(text) = self.peek() {
            return Some(Name { text: text.to_owned(), span: self.take() });
        }
        let diagnostic = self.expected(what);
        self.report(diagnostic);
        None
    }

    /// Creates the diagnostic that `what` is expected here.
    pub(super) fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.peek() {
            Token::End => "the end".to_owned(),
            _ => format!("`{}`", &self.text[self.here().start as usize..self.here().end as usize]),
        };
        Diagnostic::error(self.here(), format!("expected {what}, found {found}"))
            .label(format!("expected {what}"))
    }

    /// Adds a diagnostic, unless another one at the same position already explains it.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.iter().rev().take(2).any(|last| last.span == diagnostic.span) {
            return;
        }
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
        if self.diagnostics.len() >= MAX_DIAGNOSTICS {
            self.stop();
        }
    }
}
