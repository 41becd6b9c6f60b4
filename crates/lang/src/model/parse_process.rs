//! Parses processes: states, transitions and statements.

use super::ast::{Label, Mailbox, Overflow, Process, State, Statement, StatementKind, Transition, Trigger};
use super::parser::{MAX_NESTING, ModelParser};
use super::scan::Token;
use super::syntax::{Expr, ExprKind, Name, Segment};
use invigil_expr::diag::Diagnostic;
use invigil_model::{Binary, Side};

const PROCESS_KEYWORDS: [&str; 6] = ["state", "initial", "committed", "atomic", "mailbox", "priority"];
const STATE_KEYWORDS: [&str; 5] = ["when", "on", "ignore", "priority", "goto"];
const STATEMENT_KEYWORDS: [&str; 6] = ["if", "for", "assert", "require", "send", "else"];

impl ModelParser<'_> {
    pub(super) fn process(&mut self, side: Side) -> Option<Process> {
        self.take();
        let name = self.expect_name("the name of the process")?;
        let array = self.index_range()?;
        let mut parameters = None;
        if self.take_mark("(") {
            let mut names = Vec::new();
            while !self.at_mark(")") {
                names.push(self.expect_name("the name of a parameter")?);
                if !self.take_mark(",") {
                    break;
                }
            }
            self.expect(")")?;
            parameters = Some(names);
        }
        let mut process = Process {
            name,
            array,
            parameters,
            side,
            priority: None,
            variables: Vec::new(),
            mailbox: None,
            states: Vec::new(),
        };
        if self.take_word("priority") {
            process.priority = Some(self.expression()?);
        }
        self.expect("{")?;
        while !self.at_mark("}") && self.peek() != Token::End {
            let before = self.taken_count();
            if self.process_item(&mut process).is_none() {
                self.skip_in_braces(before, &PROCESS_KEYWORDS);
            }
            self.take_mark(";");
        }
        self.expect("}")?;
        Some(process)
    }

    /// Parses an element of a process.
    fn process_item(&mut self, process: &mut Process) -> Option<()> {
        match self.peek() {
            Token::Word("mailbox") => {
                let mailbox = self.mailbox()?;
                if process.mailbox.is_some() {
                    let diagnostic = Diagnostic::error(mailbox.span, "a process can have only one mailbox");
                    self.report(diagnostic.label("second one"));
                }
                process.mailbox = Some(mailbox);
            }
            Token::Word("state" | "initial" | "committed" | "atomic") => self.states(process)?,
            Token::Word(_) if matches!(self.peek_at(1), Token::Mark(":" | ",")) => {
                process.variables.push(self.declared()?);
            }
            _ => {
                let diagnostic = self.expected("a state or a variable");
                let diagnostic = match self.peek() {
                    Token::Word(word) => self.with_remedy(diagnostic, word, &PROCESS_KEYWORDS),
                    _ => diagnostic,
                };
                self.report(diagnostic);
                return None;
            }
        }
        Some(())
    }

    /// Skips the rest of an invalid element, up to one of `words` or the closing brace of the enclosing block.
    fn skip_in_braces(&mut self, before: usize, words: &[&str]) {
        let mut depth = 0_u32;
        if self.taken_count() == before && !self.at_mark("}") && !self.at_mark("{") {
            self.take();
        }
        loop {
            match self.peek() {
                Token::End => return,
                Token::Word(word) if depth == 0 && words.contains(&word) => return,
                Token::Word("process") if self.starts_line() => return,
                Token::Mark(";") if depth == 0 => return,
                Token::Mark("{") => depth += 1,
                Token::Mark("}") if depth == 0 => return,
                Token::Mark("}") => depth -= 1,
                _ => {}
            }
            self.take();
        }
    }

    fn mailbox(&mut self) -> Option<Mailbox> {
        let span = self.take();
        let is_deferred = match self.peek() {
            Token::Word("fifo") => false,
            Token::Word("deferred") => true,
            _ => {
                let diagnostic = self.expected("`fifo` or `deferred`");
                self.report(diagnostic.help("write a mailbox as `mailbox fifo[3] of Signal`"));
                return None;
            }
        };
        self.take();
        self.expect("[")?;
        let capacity = self.expression()?;
        self.expect("]")?;
        let overflow = match self.peek() {
            Token::Word("lossy") => Overflow::Lossy,
            Token::Word("blocking") => Overflow::Blocking,
            _ => Overflow::Fault,
        };
        if overflow != Overflow::Fault {
            self.take();
        }
        if !self.take_word("of") {
            let diagnostic = self.expected("`of`").help("write a mailbox as `mailbox fifo[3] of Signal`");
            self.report(diagnostic);
            return None;
        }
        let events = self.expect_name("the enum of the mailbox's events")?;
        let span = span.to(events.span);
        Some(Mailbox { is_deferred, overflow, capacity, events, span })
    }

    /// Parses `state a`, `initial state a { … }` or `state a, b`.
    fn states(&mut self, process: &mut Process) -> Option<()> {
        let (mut is_initial, mut is_committed, mut is_atomic) = (false, false, false);
        loop {
            match self.peek() {
                Token::Word("initial") => is_initial = true,
                Token::Word("committed") => is_committed = true,
                Token::Word("atomic") => is_atomic = true,
                Token::Word("state") => break,
                _ => {
                    let diagnostic = self.expected("`state`");
                    self.report(diagnostic);
                    return None;
                }
            }
            self.take();
        }
        self.take();
        loop {
            let name = self.expect_name("the name of the state")?;
            let mut transitions = Vec::new();
            let mut is_over = !self.at_mark(",");
            if self.take_mark("{") {
                while !self.at_mark("}") && self.peek() != Token::End {
                    let before = self.taken_count();
                    if self.transition(&mut transitions).is_none() {
                        self.skip_in_braces(before, &STATE_KEYWORDS);
                        self.take_mark(";");
                    }
                }
                self.expect("}")?;
                is_over = true;
            }
            process.states.push(State { name, is_initial, is_committed, is_atomic, transitions });
            if is_over {
                return Some(());
            }
            self.take();
        }
    }

    /// Parses a transition; several if it lists several events.
    fn transition(&mut self, all: &mut Vec<Transition>) -> Option<()> {
        let start = self.here();
        if self.take_word("ignore") {
            let names = self.names("the name of an event")?;
            self.take_mark(";");
            all.extend(names.into_iter().map(|name| Transition {
                span: name.span,
                label: None,
                guards: Vec::new(),
                trigger: Trigger::Event { name, patterns: Vec::new() },
                priority: None,
                target: None,
                effect: Vec::new(),
            }));
            return Some(());
        }
        let label = self.label()?;
        let mut transition = Transition {
            span: start,
            label,
            guards: Vec::new(),
            trigger: Trigger::Nothing,
            priority: None,
            target: None,
            effect: Vec::new(),
        };
        let mut more = Vec::new();
        loop {
            match self.peek() {
                Token::Word("when") => {
                    self.take();
                    transition.guards.push(self.expression()?);
                }
                Token::Word("priority") => {
                    self.take();
                    transition.priority = Some(self.expression()?);
                }
                Token::Word("on") => {
                    let span = self.take();
                    let name = self.expect_name("the name of an event")?;
                    let patterns = self.values_in_parentheses()?;
                    while patterns.is_empty() && self.take_mark(",") {
                        more.push(self.expect_name("the name of an event")?);
                    }
                    self.set_trigger(&mut transition, Trigger::Event { name, patterns }, span);
                }
                Token::Word(_) => {
                    let span = self.here();
                    let trigger = self.communication()?;
                    self.set_trigger(&mut transition, trigger, span);
                }
                _ => break,
            }
        }
        if self.take_mark("->") || self.take_mark("→") {
            transition.target = Some(self.expect_name("the target state")?);
        }
        if self.at_mark("{") {
            transition.effect = self.block()?;
        } else if !self.at_mark(";") {
            let diagnostic = self.expected(match transition.target {
                Some(_) => "`;` or an effect in braces",
                None => "`when`, `on`, `->`, `;` or an effect in braces",
            });
            self.report(diagnostic.help("write a transition as `when x > 0 -> busy { x = 0 }`"));
            return None;
        }
        transition.span = start.to(self.last());
        self.take_mark(";");
        for name in more {
            let trigger = Trigger::Event { name, patterns: Vec::new() };
            all.push(Transition { trigger, ..transition.clone() });
        }
        all.push(transition);
        Some(())
    }

    /// Sets the trigger of a transition; reports a second one.
    fn set_trigger(&mut self, transition: &mut Transition, trigger: Trigger, span: invigil_expr::diag::Span) {
        if !matches!(transition.trigger, Trigger::Nothing) {
            let diagnostic = Diagnostic::error(span, "a transition can wait for only one event or channel");
            self.report(
                diagnostic
                    .label("second one")
                    .help("use two transitions with a `committed` state between them"),
            );
        }
        transition.trigger = trigger;
    }

    fn names(&mut self, what: &str) -> Option<Vec<Name>> {
        let mut names = vec![self.expect_name(what)?];
        while self.take_mark(",") {
            names.push(self.expect_name(what)?);
        }
        Some(names)
    }

    /// Parses `enter(i, id = x):`, if present.
    fn label(&mut self) -> Option<Option<Label>> {
        let Token::Word(word) = self.peek() else { return Some(None) };
        let has_arguments = self.peek_at(1) == Token::Mark("(");
        if !has_arguments && self.peek_at(1) != Token::Mark(":") || ["when", "on", "priority"].contains(&word)
        {
            return Some(None);
        }
        let name = self.expect_name("the name of the action")?;
        let mut arguments: Vec<(String, Expr)> = Vec::new();
        if self.take_mark("(") {
            while !self.at_mark(")") {
                let mut parameter = None;
                if let (Token::Word(word), Token::Mark("=")) = (self.peek(), self.peek_at(1)) {
                    parameter = Some(word.to_owned());
                    self.take();
                    self.take();
                }
                let value = self.expression()?;
                let parameter = parameter.unwrap_or_else(|| parameter_name(&value, arguments.len()));
                arguments.push((parameter, value));
                if !self.take_mark(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.expect(":")?;
        Some(Some(Label { name, arguments }))
    }

    fn values_in_parentheses(&mut self) -> Option<Vec<Expr>> {
        let mut values = Vec::new();
        if self.take_mark("(") {
            while !self.at_mark(")") {
                values.push(self.expression()?);
                if !self.take_mark(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        Some(values)
    }

    /// Parses `c!1, x` or `c?x`.
    fn communication(&mut self) -> Option<Trigger> {
        let Token::Word(word) = self.peek() else { return None };
        let first = self.here();
        let channel = self.path()?;
        let is_send = self.at_mark("!");
        if !is_send && !self.at_mark("?") {
            let mut diagnostic = Diagnostic::error(first, format!("`{word}` does not start a transition"));
            diagnostic = diagnostic.label("expected `when`, `on`, `c!`, `c?` or `->`");
            diagnostic = self.with_remedy(diagnostic, word, &STATE_KEYWORDS[..4]);
            self.report(diagnostic);
            return None;
        }
        self.take();
        let mut values = Vec::new();
        let is_bare = matches!(
            self.peek(),
            Token::Word("when" | "on" | "priority") | Token::Mark("->" | "→" | "{" | ";" | "}") | Token::End
        );
        if !is_bare {
            values.push(self.expression()?);
            while self.take_mark(",") {
                values.push(self.expression()?);
            }
        }
        Some(match is_send {
            true => Trigger::Send { channel, values },
            false => Trigger::Receive { channel, patterns: values },
        })
    }

    /// Parses statements in braces.
    fn block(&mut self) -> Option<Vec<Statement>> {
        if self.nesting >= MAX_NESTING {
            let diagnostic = Diagnostic::error(self.here(), "these statements are nested too deeply");
            self.report(diagnostic.label("too deep"));
            self.stop();
            return None;
        }
        self.expect("{")?;
        self.nesting += 1;
        let mut statements = Vec::new();
        while !self.at_mark("}") && self.peek() != Token::End {
            let before = self.taken_count();
            match self.statement() {
                Some(statement) => statements.push(statement),
                None => self.skip_in_braces(before, &STATEMENT_KEYWORDS),
            }
            self.take_mark(";");
        }
        self.nesting -= 1;
        self.expect("}")?;
        Some(statements)
    }

    fn statement(&mut self) -> Option<Statement> {
        let start = self.here();
        let kind = match self.peek() {
            Token::Word("if") => self.if_statement()?,
            Token::Word("for") => {
                self.take();
                let name = self.expect_name("the name of the loop variable")?;
                if !self.take_word("in") {
                    let diagnostic = self.expected("`in`").help("write `for i in 0..3 { … }`");
                    self.report(diagnostic);
                    return None;
                }
                let range = self.range()?;
                StatementKind::For { name, range, body: self.block()? }
            }
            Token::Word("assert") => {
                self.take();
                let condition = self.expression()?;
                let syntax = &self.text[condition.span.start as usize..condition.span.end as usize];
                let mut message = syntax.to_owned();
                if self.take_mark(",") {
                    let Token::Quoted(text) = self.peek() else {
                        let diagnostic = self.expected("a message in quotes");
                        self.report(diagnostic);
                        return None;
                    };
                    self.take();
                    message = text.to_owned();
                }
                StatementKind::Assert { condition, message }
            }
            Token::Word("require") => {
                self.take();
                StatementKind::Require(self.expression()?)
            }
            Token::Word("send") if matches!(self.peek_at(1), Token::Word(_)) => self.send()?,
            Token::Word(_) => self.assignment()?,
            _ => {
                let diagnostic = self.expected("a statement");
                self.report(
                    diagnostic.help("statements are `x = 1`, `if`, `for`, `send`, `assert`, `require`"),
                );
                return None;
            }
        };
        Some(Statement { kind, span: start.to(self.last()) })
    }

    fn if_statement(&mut self) -> Option<StatementKind> {
        self.take();
        let condition = self.expression()?;
        let then = self.block()?;
        let mut otherwise = Vec::new();
        if self.take_word("else") {
            if self.at_word("if") {
                if self.nesting >= MAX_NESTING {
                    let diagnostic = Diagnostic::error(self.here(), "too many `else if` branches");
                    self.report(diagnostic.label("limit reached here"));
                    return None;
                }
                self.nesting += 1;
                let nested = self.statement();
                self.nesting -= 1;
                otherwise.push(nested?);
            } else {
                otherwise = self.block()?;
            }
        }
        Some(StatementKind::If { condition, then, otherwise })
    }

    fn send(&mut self) -> Option<StatementKind> {
        self.take();
        let mut to = self.path()?;
        let Some(Segment::Field(event)) = to.rest.pop() else {
            let diagnostic = Diagnostic::error(to.span, "the target of `send` is incomplete");
            self.report(diagnostic.label("expected `Process.event`").help("write `send Gate.close`"));
            return None;
        };
        let values = self.values_in_parentheses()?;
        Some(StatementKind::Send { to, event, values })
    }

    fn assignment(&mut self) -> Option<StatementKind> {
        let place = self.path()?;
        let operator = match self.peek() {
            Token::Mark("=") => None,
            Token::Mark("+=" | "++") => Some(Binary::Add),
            Token::Mark("-=" | "--") => Some(Binary::Subtract),
            _ => {
                let mut diagnostic = self.expected("`=`");
                if self.at_mark("==") {
                    diagnostic = diagnostic.help("to assign, write `=`");
                } else if self.at_mark("!") || self.at_mark("?") {
                    diagnostic =
                        diagnostic.help("write channel operations before the effect: `c!1 -> sent { … }`");
                } else if let (true, Some(word)) = (place.rest.is_empty(), place.bare()) {
                    diagnostic = self.with_remedy(diagnostic, word, &STATEMENT_KEYWORDS[..5]);
                }
                self.report(diagnostic);
                return None;
            }
        };
        let is_by_one = self.at_mark("++") || self.at_mark("--");
        let span = self.take();
        if is_by_one {
            let value = Expr { kind: ExprKind::Number(1), span, depth: 1 };
            return Some(StatementKind::Assign { place, operator, value });
        }
        if operator.is_none() && self.at_word("any") && !matches!(self.peek_at(1), Token::Mark("[" | ".")) {
            return Some(StatementKind::Choose { place, range: self.any()? });
        }
        Some(StatementKind::Assign { place, operator, value: self.expression()? })
    }
}

/// The default name of a label's argument: that of the variable.
pub(super) fn parameter_name(value: &Expr, number: usize) -> String {
    if let ExprKind::Path(path) = &value.kind {
        let fields = path.rest.iter().rev().find_map(|segment| match segment {
            Segment::Field(name) => Some(&name.text),
            Segment::Index(_) => None,
        });
        return fields.unwrap_or(&path.head.text).clone();
    }
    format!("value{}", if number == 0 { String::new() } else { number.to_string() })
}
