//! Transitions and their branches.

use super::super::ast::{Branch, Transition};
use crate::parsing::PropParser;
use crate::parsing::layout_tokens::LayoutRole;
use crate::parsing::scan::Token;
use invigil_expr::diag::{Diagnostic, Span};

/// The keywords at which the parser resumes after an error in a transition.
const RECOVERY_KEYWORDS: [&str; 4] = ["success", "failure", "transition", "state"];

impl PropParser<'_> {
    /// Parses a transition. If the keyword is missing or misspelt, that has been reported.
    pub(super) fn transition(&mut self) -> Option<Transition> {
        let start = self.at.start;
        let headless = matches!(self.at.token, Token::Word("event" | "before" | "after" | "call"));
        if !headless {
            self.take(LayoutRole::Item);
        }
        let open = self.at_mark('{').then(|| self.take(LayoutRole::OpenBody));
        if open.is_none() && !headless {
            let diagnostic = self.expected("`{`").help("write `transition { event … }`");
            self.report(diagnostic);
        }
        let event = self.event();
        let guard = self.block();
        let (success, failure) = self.branches();
        self.close(open, start);
        Some(Transition { event: event?, guard, success, failure, span: self.since(start) })
    }

    /// Takes the closing brace of a transition whose brace opened at `open`, if it did.
    fn close(&mut self, open: Option<Span>, start: usize) {
        if !self.at_mark('}') {
            let brace = open.unwrap_or(self.span(start, start + 1));
            let mut diagnostic =
                Diagnostic::error(brace, "this transition is not closed").label("opened here");
            if self.at.token == Token::End {
                diagnostic = diagnostic.help("add the missing `}`");
            } else {
                diagnostic = diagnostic.related(self.here(), "expected `}` before this");
                diagnostic = diagnostic.help(format!("add the missing `}}` before {}", self.describe_next()));
            }
            if open.is_some() {
                self.report(diagnostic);
            }
            return;
        }
        // Without an opening brace, this one may close the state.
        let is_end = matches!(self.peek(), Token::Mark('}') | Token::Word("transition" | "import"));
        if open.is_some() || is_end {
            self.take(LayoutRole::CloseBody);
        }
    }

    /// Parses the branches of a transition, up to its closing brace or to a token that cannot be part of it.
    fn branches(&mut self) -> (Option<Branch>, Option<Branch>) {
        let (mut success, mut failure) = (None, None);
        let (mut success_at, mut failure_at) = (None, None);
        loop {
            match self.at.token {
                Token::End | Token::Mark('}') => break,
                Token::Word("success") => {
                    let here = self.take(LayoutRole::Clause);
                    if let (None, Some(first)) = (success_at, failure_at) {
                        let diagnostic = Diagnostic::error(here, "`success` must come before `failure`")
                            .label("move it before `failure`")
                            .related(first, "`failure` is here");
                        self.report(diagnostic.help("write the `success` branch first"));
                    }
                    self.report_duplicate("success", here, &mut success_at);
                    let branch = self.branch("success", here);
                    success = success.or(branch);
                }
                Token::Word("failure") => {
                    let here = self.take(LayoutRole::Clause);
                    self.report_duplicate("failure", here, &mut failure_at);
                    let branch = self.branch("failure", here);
                    failure = failure.or(branch);
                }
                Token::Word("transition") if matches!(self.peek(), Token::Mark('{')) => break,
                Token::Word("state") if matches!(self.peek(), Token::Word(_)) => break,
                Token::Word(word) => self.unexpected_word(word),
                Token::Arrow => {
                    let diagnostic = self.expected("`success`").help("write `success STATE`");
                    self.report(diagnostic);
                    // Recover as if `success` had been written.
                    let here = self.take(LayoutRole::Clause);
                    let branch = self.branch("success", here);
                    success = success.or(branch);
                }
                _ => {
                    let diagnostic = self.expected("`success`, `failure` or `}`");
                    let help = match self.at.token {
                        Token::Mark('{') => "a transition has at most one guard, before `success`",
                        Token::Mark('[') => "a guard is a block: `{ return … }`",
                        Token::Mark(';' | ',') => "clauses need no separator",
                        _ => "a transition ends with `success …`, `failure …` and `}`",
                    };
                    self.report(diagnostic.help(help));
                    self.skip();
                    self.skip_to(&RECOVERY_KEYWORDS);
                }
            }
        }
        (success, failure)
    }

    /// Reports an unexpected word where `success` or `failure` is expected.
    fn unexpected_word(&mut self, word: &str) {
        match self.intended_keyword(word, &["success", "failure"]) {
            Some(keyword) => {
                self.report_misspelt(keyword);
                self.take(LayoutRole::Clause);
                let here = self.here();
                self.branch(keyword, here);
            }
            None => {
                let diagnostic = self.expected("`success`, `failure` or `}`");
                let help = match word {
                    "if" | "when" | "where" | "with" => "a guard is a block: `{ return … }`",
                    "event" | "before" | "after" => "a transition has one event; write another transition",
                    "goto" => "write `success STATE`",
                    _ => "write the next state after `success` or `failure`",
                };
                self.report(diagnostic.help(help));
                self.skip();
                self.skip_to(&RECOVERY_KEYWORDS);
            }
        }
    }

    /// Parses the branch after `success` or `failure`.
    fn branch(&mut self, keyword: &str, start: Span) -> Option<Branch> {
        while matches!(self.at.token, Token::Arrow | Token::Mark(':' | '=')) {
            let diagnostic = self.expected("a state, a block or a call");
            self.report(diagnostic.help(format!("write the state directly after it: `{keyword} NAME`")));
            self.skip();
        }
        let mut branch = Branch { block: self.block(), action: None, target: None, span: start };
        if self.at_action() {
            branch.action = self.action();
        }
        if branch.block.is_none() && self.at_mark('{') {
            let diagnostic = self.expected("a state");
            self.report(diagnostic.help("the block must come before the call"));
            branch.block = self.block();
        }
        if self.at.token == Token::Arrow {
            let diagnostic =
                self.expected("a state").help("write the state directly after the keyword, without an arrow");
            self.report(diagnostic);
            self.skip();
        }
        if self.at_target() {
            branch.target = self.take_name(LayoutRole::Word);
            self.misplaced_block(&mut branch, keyword);
        }
        branch.span = self.since(start.start as usize);
        if branch.block.is_none() && branch.action.is_none() && branch.target.is_none() {
            let diagnostic = self.expected("a state, a block or a call");
            self.report(diagnostic.help(format!("write `{keyword} STATE`, or `{keyword} {{ N = 0 }}`")));
            return None;
        }
        Some(branch)
    }

    /// Reports a block or call after the next state, and takes it nevertheless.
    fn misplaced_block(&mut self, branch: &mut Branch, keyword: &str) {
        let is_block = self.at_mark('{');
        if !is_block && !self.at_action() {
            return;
        }
        let help = if is_block {
            format!("the block must come before the state: `{keyword} {{ … }} NAME`")
        } else {
            format!("the call must come before the state: `{keyword} f() NAME`")
        };
        let diagnostic = self.expected("`failure` or `}`");
        self.report(diagnostic.help(help));
        if is_block {
            let block = self.block();
            branch.block = branch.block.take().or(block);
        } else {
            let action = self.action();
            branch.action = branch.action.take().or(action);
        }
    }

    /// Whether the current word is the next state, rather than the next clause.
    fn at_target(&self) -> bool {
        let Token::Word(word) = self.at.token else { return false };
        let next = self.peek();
        let ends_here = matches!(next, Token::Mark('}') | Token::End | Token::Word("success" | "failure"));
        match word {
            "success" | "failure" => ends_here,
            "transition" => next != Token::Mark('{'),
            // `faillure sink`, where `success` has no state.
            _ => ends_here || self.intended_keyword(word, &["success", "failure"]).is_none(),
        }
    }
}
