//! Parses transitions.

use super::ast::{Expr, ExprKind, Name, Sync, Transition};
use super::parser::{DveParser, PROCESS_KEYWORDS, TOP_LEVEL_KEYWORDS};
use crate::parsing::cursor::{Token, suggest};
use invigil_expr::diag::Diagnostic;

const CLAUSES: [&str; 3] = ["guard", "sync", "effect"];

impl DveParser<'_> {
    /// Parses the transitions of a process, from `trans` on.
    pub(super) fn transitions(&mut self, into: &mut Vec<Transition>) {
        self.take();
        let mut from = None;
        while !self.take_mark(";") {
            self.transition(&mut from, into);
            match self.at.token {
                Token::Mark(",") => {
                    self.take();
                }
                Token::Mark(";") => {}
                _ => {
                    let diagnostic = self
                        .expected("`,` or `;`")
                        .help("separate transitions with `,` and end the last one with `;`");
                    self.report(diagnostic);
                    // A word may start the next transition, if only the comma is missing.
                    while !matches!(
                        self.at.token,
                        Token::End | Token::Mark("}" | "," | ";" | "->") | Token::Word(_)
                    ) {
                        self.skip();
                    }
                    self.take_mark(",");
                    if matches!(self.at.token, Token::End | Token::Mark("}"))
                        || self.at_one_of(&PROCESS_KEYWORDS)
                        || self.at_one_of(&TOP_LEVEL_KEYWORDS)
                    {
                        return;
                    }
                }
            }
        }
    }

    /// Skips the next token, or everything in braces.
    fn skip(&mut self) {
        let mut depth = 0_u32;
        loop {
            match self.at.token {
                Token::Mark("{") => depth += 1,
                Token::Mark("}") => depth = depth.saturating_sub(1),
                Token::End => return,
                _ => {}
            }
            self.take();
            if depth == 0 {
                return;
            }
        }
    }

    /// Parses a transition. After an error, skips past it.
    fn transition(&mut self, from: &mut Option<Name>, into: &mut Vec<Transition>) {
        let start = self.at.start;
        if let Some((from, to)) = self.endpoints(from) {
            let mut transition = Transition {
                from,
                to,
                span: self.span(start, start),
                guard: None,
                sync: None,
                effects: Vec::new(),
            };
            if self.expect_mark("{", "write `from -> to { guard …; sync …; effect …; }`").is_some() {
                self.clauses(&mut transition);
                transition.span = self.since(start);
                into.push(transition);
                return;
            }
        }
        while !matches!(self.at.token, Token::End | Token::Mark("}" | "," | ";"))
            && !self.at_one_of(&PROCESS_KEYWORDS)
            && !self.at_one_of(&TOP_LEVEL_KEYWORDS)
        {
            self.skip();
        }
    }

    /// Parses `from -> to`, or `-> to` after a transition from the same state.
    fn endpoints(&mut self, last: &mut Option<Name>) -> Option<(Name, Name)> {
        let from = match (&*last, self.at_mark("->")) {
            (Some(last), true) => last.clone(),
            _ => self.expect_name("a state name")?,
        };
        *last = Some(from.clone());
        if self.at_mark("=>") {
            let diagnostic =
                Diagnostic::error(self.here(), "transitions with probabilities are not supported")
                    .label("not supported")
                    .help("write one transition `from -> to { … }` for each outcome");
            self.report(diagnostic);
            return None;
        }
        self.expect_mark("->", "write `from -> to { guard …; sync …; effect …; }`")?;
        Some((from, self.expect_name("a state name")?))
    }

    /// Parses the clauses of a transition and its closing brace.
    fn clauses(&mut self, transition: &mut Transition) {
        loop {
            let start = self.here();
            let Token::Word(word) = self.at.token else {
                if !self.take_mark("}") {
                    let diagnostic = self.expected("`guard`, `sync`, `effect` or `}`");
                    self.report(diagnostic);
                    self.end_clause(false, &CLAUSES);
                    if !matches!(self.at.token, Token::Word(_)) {
                        self.take_mark("}");
                        return;
                    }
                    continue;
                }
                return;
            };
            let is_duplicate =
                match word {
                    "guard" => transition.guard.is_some(),
                    "sync" => transition.sync.is_some(),
                    "effect" => !transition.effects.is_empty(),
                    _ => {
                        let diagnostic = self.expected("`guard`, `sync`, `effect` or `}`");
                        let help = suggest(word, CLAUSES);
                        self.report(diagnostic.help(
                            help.unwrap_or_else(|| "write `{ guard …; sync …; effect …; }`".to_owned()),
                        ));
                        self.take();
                        self.end_clause(false, &CLAUSES);
                        if matches!(self.at.token, Token::End) {
                            return;
                        }
                        continue;
                    }
                };
            if is_duplicate {
                let diagnostic = Diagnostic::error(start, format!("duplicate `{word}`"))
                    .label("second occurrence")
                    .help(match word {
                        "guard" => "join the conditions with `and`",
                        "sync" => "a transition takes part in only one synchronisation",
                        _ => "separate the assignments with commas",
                    });
                self.report(diagnostic);
            }
            self.take();
            let is_parsed = match word {
                "guard" => self.expression().map(|guard| transition.guard = Some(guard)),
                "sync" => self.sync().map(|sync| transition.sync = Some(sync)),
                _ => self.list(Self::effect).map(|effects| transition.effects.extend(effects)),
            };
            self.end_clause(is_parsed.is_some(), &CLAUSES);
            if matches!(self.at.token, Token::End) {
                let diagnostic = self.expected("`}`").help("close the transition with `}`");
                self.report(diagnostic);
                return;
            }
        }
    }

    fn sync(&mut self) -> Option<Sync> {
        let start = self.at.start;
        let channel = self.expect_name("a channel name")?;
        let is_send = self.at_mark("!");
        if !is_send && !self.at_mark("?") {
            let diagnostic = self.expected("`!` or `?`").help("`c!x` sends, `c?x` receives");
            self.report(diagnostic);
            return None;
        }
        self.take();
        let values = if self.at_mark(";") {
            Vec::new()
        } else if self.take_mark("{") {
            self.list_in_braces(Self::expression, "write several values in `{ … }`, separated by commas")?
        } else {
            vec![self.expression()?]
        };
        Some(Sync { channel, is_send, values, span: self.since(start) })
    }

    fn effect(&mut self) -> Option<(Expr, Expr)> {
        let place = self.operand()?;
        if !matches!(place.kind, ExprKind::Name(_) | ExprKind::Element(..) | ExprKind::ProcessVariable(..)) {
            let diagnostic = Diagnostic::error(place.span, "this cannot be assigned to")
                .label("expected a variable or an element of an array");
            self.report(diagnostic);
            return None;
        }
        self.expect_mark("=", "an effect is an assignment: `x = x + 1`")?;
        Some((place, self.expression()?))
    }
}
