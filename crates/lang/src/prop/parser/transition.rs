//! Transitions and their ends.

use super::super::ast::{End, Transition};
use crate::reading::Parser;
use crate::reading::piece::Role;
use crate::reading::scan::Token;
use invigil_expr::diag::{Diagnostic, Span};

/// The words at which a broken transition can be picked up again.
const PICK_UP: [&str; 4] = ["success", "failure", "transition", "state"];

impl Parser<'_> {
    /// Reads a transition; the word `transition` may be missing or misspelt, which was reported.
    pub(super) fn transition(&mut self) -> Option<Transition> {
        let start = self.at.start;
        let headless = matches!(self.at.token, Token::Word("event" | "before" | "after" | "call"));
        if !headless {
            self.take(Role::Item);
        }
        let open = self.at_mark('{').then(|| self.take(Role::OpenBody));
        if open.is_none() && !headless {
            let problem = self.expected("`{`").help("write `transition { event … }`");
            self.report(problem);
        }
        let event = self.event();
        let guard = self.block();
        let (success, failure) = self.ends();
        self.close(open, start);
        Some(Transition { event: event?, guard, success, failure, span: self.since(start) })
    }

    /// Takes the closing brace of a transition that opened at `open`, if it did.
    fn close(&mut self, open: Option<Span>, start: usize) {
        if !self.at_mark('}') {
            let brace = open.unwrap_or(self.span(start, start + 1));
            let mut problem = Diagnostic::error(brace, "this transition is not closed").label("opened here");
            if self.at.token == Token::End {
                problem = problem.help("every `{` needs its `}`");
            } else {
                problem = problem.related(self.here(), "expected `}` before this");
                problem = problem.help(format!("put the missing `}}` before {}", self.found()));
            }
            if open.is_some() {
                self.report(problem);
            }
            return;
        }
        // Without an opening brace, this one may well close the state.
        let ours = matches!(self.second(), Token::Mark('}') | Token::Word("transition" | "import"));
        if open.is_some() || ours {
            self.take(Role::CloseBody);
        }
    }

    /// Reads the two ends of a transition, up to its closing brace or to what cannot be part of it.
    fn ends(&mut self) -> (Option<End>, Option<End>) {
        let (mut success, mut failure) = (None, None);
        let (mut success_at, mut failure_at) = (None, None);
        loop {
            match self.at.token {
                Token::End | Token::Mark('}') => break,
                Token::Word("success") => {
                    let here = self.take(Role::Clause);
                    if let (None, Some(first)) = (success_at, failure_at) {
                        let problem = Diagnostic::error(here, "`success` stands behind `failure`")
                            .label("expected before `failure`")
                            .related(first, "`failure` stands here");
                        self.report(problem.help("put `success` first"));
                    }
                    self.report_twice("success", here, &mut success_at);
                    let end = self.end("success", here);
                    success = success.or(end);
                }
                Token::Word("failure") => {
                    let here = self.take(Role::Clause);
                    self.report_twice("failure", here, &mut failure_at);
                    let end = self.end("failure", here);
                    failure = failure.or(end);
                }
                Token::Word("transition") if matches!(self.second(), Token::Mark('{')) => break,
                Token::Word("state") if matches!(self.second(), Token::Word(_)) => break,
                Token::Word(word) => self.odd_end(word),
                Token::Arrow => {
                    let problem = self.expected("`success`").help("write `success` and the state to go to");
                    self.report(problem);
                    // As if `success` stood there.
                    let here = self.take(Role::Clause);
                    let end = self.end("success", here);
                    success = success.or(end);
                }
                _ => {
                    let problem = self.expected("`success`, `failure` or `}`");
                    let help = match self.at.token {
                        Token::Mark('{') => "a transition has one guard, before `success`",
                        Token::Mark('[') => "a guard is a block: `{ return … }`",
                        Token::Mark(';' | ',') => "nothing is needed between the clauses",
                        _ => "a transition ends with `success …`, `failure …` and `}`",
                    };
                    self.report(problem.help(help));
                    self.skip();
                    self.skip_to(&PICK_UP);
                }
            }
        }
        (success, failure)
    }

    /// Complains about a word in the place of `success` or `failure`.
    fn odd_end(&mut self, word: &str) {
        match self.meant(word, &["success", "failure"]) {
            Some(keyword) => {
                self.report_misspelt(keyword);
                self.take(Role::Clause);
                let here = self.here();
                self.end(keyword, here);
            }
            None => {
                let problem = self.expected("`success`, `failure` or `}`");
                let help = match word {
                    "if" | "when" | "where" | "with" => "a guard is a block: `{ return … }`",
                    "event" | "before" | "after" => "a transition has one event; write another transition",
                    "goto" => "write `success` and the state to go to",
                    _ => "the state to go to stands behind `success` or `failure`",
                };
                self.report(problem.help(help));
                self.skip();
                self.skip_to(&PICK_UP);
            }
        }
    }

    /// Reads what stands behind `success` or `failure`.
    fn end(&mut self, keyword: &str, start: Span) -> Option<End> {
        while matches!(self.at.token, Token::Arrow | Token::Mark(':' | '=')) {
            let problem = self.expected("a state, a block or a call");
            self.report(problem.help(format!("write the state right behind it: `{keyword} NAME`")));
            self.skip();
        }
        let mut end = End { block: self.block(), action: None, target: None, span: start };
        if self.at_action() {
            end.action = self.action();
        }
        if end.block.is_none() && self.at_mark('{') {
            let problem = self.expected("a state");
            self.report(problem.help("the block stands before the call"));
            end.block = self.block();
        }
        if self.at.token == Token::Arrow {
            let problem = self.expected("a state").help("write the state right behind it, without an arrow");
            self.report(problem);
            self.skip();
        }
        if self.at_target() {
            end.target = self.take_name(Role::Word);
            self.misplaced_block(&mut end, keyword);
        }
        end.span = self.since(start.start as usize);
        if end.block.is_none() && end.action.is_none() && end.target.is_none() {
            let problem = self.expected("a state, a block or a call");
            self.report(
                problem.help(format!("say what to do: `{keyword} NAME`, or `{keyword} {{ N = 0 }}`")),
            );
            return None;
        }
        Some(end)
    }

    /// Complains about a block or call behind the state it leads to, and takes it nevertheless.
    fn misplaced_block(&mut self, end: &mut End, keyword: &str) {
        let is_block = self.at_mark('{');
        if !is_block && !self.at_action() {
            return;
        }
        let help = if is_block {
            format!("the block stands before the state: `{keyword} {{ … }} NAME`")
        } else {
            format!("the call stands before the state: `{keyword} f() NAME`")
        };
        let problem = self.expected("`failure` or `}`");
        self.report(problem.help(help));
        if is_block {
            let block = self.block();
            end.block = end.block.take().or(block);
        } else {
            let action = self.action();
            end.action = end.action.take().or(action);
        }
    }

    /// Whether the word that comes next is the state to go to, rather than the next clause.
    fn at_target(&self) -> bool {
        let Token::Word(word) = self.at.token else { return false };
        let next = self.second();
        let ends_here = matches!(next, Token::Mark('}') | Token::End | Token::Word("success" | "failure"));
        match word {
            "success" | "failure" => ends_here,
            "transition" => next != Token::Mark('{'),
            // `faillure sink`, where the state of `success` is left out.
            _ => ends_here || self.meant(word, &["success", "failure"]).is_none(),
        }
    }
}
