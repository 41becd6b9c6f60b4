//! Reads declarations and processes, and reports every mistake at once.

use super::ast::{Channel, File, Initial, Name, Process, System, Type, Variable};
use super::scan::{self, Lexed, Token};
use super::suggest;
use invigil_expr::diag::{Diagnostic, SourceId, Span};

/// A file longer than this is surely something else.
const MAX_BYTES: usize = 4 << 20;
/// After this many mistakes the rest is not worth reading.
pub(super) const MAX_PROBLEMS: usize = 100;

pub(super) const TOP: [&str; 6] = ["byte", "int", "const", "channel", "process", "system"];
pub(super) const PARTS: [&str; 9] =
    ["byte", "int", "const", "state", "init", "commit", "accept", "assert", "trans"];

/// Words that no variable, state, process or channel can be called.
const KEYWORDS: [&str; 23] = [
    "byte", "int", "const", "channel", "process", "system", "state", "init", "commit", "accept", "assert",
    "trans", "guard", "sync", "effect", "async", "property", "and", "or", "not", "imply", "true", "false",
];

pub(super) struct Parser<'a> {
    source: SourceId,
    text: &'a str,
    /// The token that comes next.
    pub(super) at: Lexed<'a>,
    last_end: usize,
    is_stopped: bool,
    /// How many expressions are being read inside each other.
    pub(super) nesting: u32,
    pub(super) problems: Vec<Diagnostic>,
}

/// Reads a file.
pub(super) fn parse(source: SourceId, text: &str) -> (File, Vec<Diagnostic>) {
    let start = Lexed { token: Token::End, start: 0, end: 0 };
    let mut parser =
        Parser { source, text, at: start, last_end: 0, is_stopped: false, nesting: 0, problems: Vec::new() };
    if text.len() > MAX_BYTES {
        let message = format!("this file is too long for a model ({} MiB)", text.len() >> 20);
        let problem = Diagnostic::error(parser.here(), message).label("nothing of it was read");
        return (File::default(), vec![problem.help("a model may have 4 MiB")]);
    }
    parser.jump(0);
    let file = parser.file();
    (file, parser.problems)
}

impl<'a> Parser<'a> {
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start as u32, end as u32)
    }

    pub(super) fn here(&self) -> Span {
        self.span(self.at.start, self.at.end)
    }

    /// From `start` to the end of what was taken last.
    pub(super) fn since(&self, start: usize) -> Span {
        self.span(start, self.last_end.max(start))
    }

    /// Goes on reading at byte `to`.
    fn jump(&mut self, to: usize) {
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
    pub(super) fn take(&mut self) -> Span {
        let span = self.here();
        let end = self.at.end;
        self.jump(end);
        span
    }

    pub(super) fn at_mark(&self, mark: &str) -> bool {
        matches!(self.at.token, Token::Mark(found) if found == mark)
    }

    pub(super) fn at_word(&self, words: &[&str]) -> bool {
        matches!(self.at.token, Token::Word(word) if words.contains(&word))
    }

    /// Takes a mark if it comes next.
    pub(super) fn take_mark(&mut self, mark: &str) -> bool {
        let is_there = self.at_mark(mark);
        if is_there {
            self.take();
        }
        is_there
    }

    pub(super) fn found(&self) -> String {
        match self.at.token {
            Token::End => "the end of the file".to_owned(),
            _ => format!("`{}`", &self.text[self.at.start..self.at.end]),
        }
    }

    /// The complaint that `what` should come next.
    pub(super) fn expected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.found());
        Diagnostic::error(self.here(), message).label(format!("expected {what}"))
    }

    /// Adds a problem, unless it is a mere consequence of another at the same place.
    pub(super) fn report(&mut self, problem: Diagnostic) {
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
                    .help("is this a DVE file?"),
            );
            self.is_stopped = true;
            self.at = Lexed { token: Token::End, start: self.text.len(), end: self.text.len() };
        }
    }

    pub(super) fn expect_mark(&mut self, mark: &'static str, help: &str) -> Option<Span> {
        if self.at_mark(mark) {
            return Some(self.take());
        }
        let problem = self.expected(&format!("`{mark}`")).help(help);
        self.report(problem);
        None
    }

    /// Takes a name or complains that `what` is missing.
    pub(super) fn expect_name(&mut self, what: &str) -> Option<Name> {
        match self.at.token {
            Token::Word(text) if !KEYWORDS.contains(&text) => {
                Some(Name { text: text.to_owned(), span: self.take() })
            }
            Token::Word(text) => {
                let problem = self.expected(what).help(format!("`{text}` is a word of the language"));
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

    /// Takes the `;` after something; where it is missing, goes on behind the next one or before what begins
    /// something else.
    pub(super) fn end_clause(&mut self, was_read: bool, starts: &[&str]) {
        if was_read && self.take_mark(";") {
            return;
        }
        if was_read {
            let problem = self.expected("`;`").help("`;` ends a declaration, `,` separates its parts");
            self.report(problem);
        }
        loop {
            match self.at.token {
                Token::End | Token::Mark("}") => return,
                Token::Mark(";") => {
                    self.take();
                    return;
                }
                Token::Word(word) if starts.contains(&word) => return,
                _ => {
                    self.take();
                }
            }
        }
    }

    fn file(&mut self) -> File {
        let mut file = File::default();
        loop {
            match self.at.token {
                Token::End => {
                    file.end = self.here();
                    return file;
                }
                Token::Word("byte" | "int" | "const") => {
                    let was_read = self.variables(&mut file.variables).is_some();
                    self.end_clause(was_read, &TOP);
                }
                Token::Word("channel") => {
                    let was_read = self.channels(&mut file.channels).is_some();
                    self.end_clause(was_read, &TOP);
                }
                Token::Word("process") => file.processes.push(self.process()),
                Token::Word("system") => {
                    let system = self.system();
                    self.end_clause(system.is_some(), &TOP);
                    if let (Some(first), Some(second)) = (&file.system, &system) {
                        let problem = Diagnostic::error(second.span, "`system` stands here a second time")
                            .label("the second one")
                            .related(first.span, "the first one")
                            .help("keep one of them");
                        self.report(problem);
                    }
                    file.system = file.system.or(system);
                }
                _ => {
                    let problem = self.expected("a declaration, `process` or `system`");
                    let help = match self.at.token {
                        Token::Word(word) => suggest(word, TOP).unwrap_or_else(|| {
                            "outside of processes there are `byte`, `int`, `const`, `channel`, `process` and `system`"
                                .to_owned()
                        }),
                        Token::Mark("}") => {
                            "remove it, or look above for a brace that closes too early".to_owned()
                        }
                        _ => "remove it".to_owned(),
                    };
                    self.report(problem.help(help));
                    self.take();
                    while !matches!(self.at.token, Token::End) && !self.at_word(&TOP) {
                        self.take();
                    }
                }
            }
        }
    }

    fn type_word(&mut self) -> Option<Type> {
        let of = match self.at.token {
            Token::Word("byte") => Type::Byte,
            Token::Word("int") => Type::Int,
            _ => {
                let problem = self.expected("`byte` or `int`");
                self.report(problem);
                return None;
            }
        };
        self.take();
        Some(of)
    }

    /// Reads a list, separated by commas; none if something in it is wrong.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take_mark(",") {
            items.push(item(self)?);
        }
        Some(items)
    }

    /// Reads a list and the brace behind it; where something in it is wrong, goes on behind the brace.
    pub(super) fn list_in_braces<T>(
        &mut self,
        item: impl FnMut(&mut Self) -> Option<T>,
        help: &str,
    ) -> Option<Vec<T>> {
        if let Some(items) = self.list(item)
            && self.expect_mark("}", help).is_some()
        {
            return Some(items);
        }
        while !matches!(self.at.token, Token::End | Token::Mark("}" | ";")) {
            self.take();
        }
        self.take_mark("}");
        None
    }

    fn variables(&mut self, into: &mut Vec<Variable>) -> Option<()> {
        let is_constant = self.at_word(&["const"]);
        if is_constant {
            self.take();
        }
        let of = self.type_word()?;
        loop {
            let name = self.expect_name("the name of a variable")?;
            let mut length = None;
            if self.take_mark("[") {
                length = Some(self.expression()?);
                self.expect_mark("]", "write the number of elements between `[` and `]`")?;
            }
            let mut initial = None;
            if self.at_mark("=") {
                self.take();
                let start = self.at.start;
                initial = Some(if self.take_mark("{") {
                    let help = "the values of an array stand in `{ … }`, separated by commas";
                    let values = self.list_in_braces(Self::expression, help)?;
                    Initial::Many(values, self.since(start))
                } else {
                    Initial::One(self.expression()?)
                });
            }
            into.push(Variable { name, is_constant, of, length, initial });
            if !self.take_mark(",") {
                return Some(());
            }
        }
    }

    fn channels(&mut self, into: &mut Vec<Channel>) -> Option<()> {
        self.take();
        let mut carries = None;
        if self.take_mark("{") {
            let help = "the types of what a channel carries stand in `{ … }`";
            carries = Some(self.list_in_braces(Self::type_word, help)?);
        }
        loop {
            let name = self.expect_name("the name of a channel")?;
            let mut capacity = None;
            if self.take_mark("[") {
                capacity = Some(self.expression()?);
                self.expect_mark("]", "write how many values fit into the channel between `[` and `]`")?;
            }
            into.push(Channel { name, carries: carries.clone(), capacity });
            if !self.take_mark(",") {
                return Some(());
            }
        }
    }

    fn system(&mut self) -> Option<System> {
        let start = self.at.start;
        self.take();
        let is_sync = match self.at.token {
            Token::Word("sync") => true,
            Token::Word("async") => false,
            _ => {
                let problem = self.expected("`async` or `sync`").help("write `system async;`");
                self.report(problem);
                return None;
            }
        };
        self.take();
        let mut property = None;
        if self.at_word(&["property"]) {
            self.take();
            property = Some(self.expect_name("the name of a process")?);
        }
        Some(System { is_sync, property, span: self.since(start) })
    }

    fn process(&mut self) -> Process {
        self.take();
        let mut process = Process { name: self.expect_name("the name of a process"), ..Process::default() };
        // Where only the brace is missing, the rest is read as if it were there.
        if self.expect_mark("{", "what a process is stands in `{ … }`").is_none() && !self.at_word(&PARTS) {
            while !matches!(self.at.token, Token::End | Token::Mark("{" | "}")) && !self.at_word(&TOP) {
                self.take();
            }
            if !self.take_mark("{") {
                return process;
            }
        }
        loop {
            match self.at.token {
                Token::Mark("}") => {
                    self.take();
                    return process;
                }
                Token::End | Token::Word("process" | "system") => {
                    let problem = self.expected("`}`").help("the process before this is not closed");
                    self.report(problem);
                    return process;
                }
                Token::Word("trans") => self.transitions(&mut process.transitions),
                Token::Word(word) if PARTS.contains(&word) => {
                    let was_read = self.part(word, &mut process).is_some();
                    self.end_clause(was_read, &PARTS);
                }
                _ => {
                    let problem = self.expected("a part of a process");
                    let help = match self.at.token {
                        Token::Word("channel") => "channels are declared outside of processes".to_owned(),
                        Token::Word(word) => suggest(word, PARTS).unwrap_or_else(parts_of_a_process),
                        _ => parts_of_a_process(),
                    };
                    self.report(problem.help(help));
                    self.take();
                    self.end_clause(false, &PARTS);
                }
            }
        }
    }

    fn part(&mut self, word: &str, process: &mut Process) -> Option<()> {
        if matches!(word, "byte" | "int" | "const") {
            return self.variables(&mut process.variables);
        }
        let start = self.take();
        let state = |parser: &mut Self| parser.expect_name("the name of a state");
        match word {
            "state" => process.states.extend(self.list(state)?),
            "commit" => process.committed.extend(self.list(state)?),
            "accept" => self.accepting(&mut process.accepting)?,
            "init" => {
                let name = state(self)?;
                if let Some(first) = &process.initial {
                    let problem = Diagnostic::error(start.to(name.span), "`init` stands here a second time")
                        .label("the second one")
                        .related(first.span, "the first one")
                        .help("a process begins in one state");
                    self.report(problem);
                }
                process.initial.get_or_insert(name);
            }
            _ => {
                let assertion = |parser: &mut Self| {
                    let at = state(parser)?;
                    parser.expect_mark(":", "write `assert STATE: CONDITION;`")?;
                    Some((at, parser.expression()?))
                };
                process.assertions.extend(self.list(assertion)?);
            }
        }
        Some(())
    }

    fn accepting(&mut self, sets: &mut Vec<Vec<Name>>) -> Option<()> {
        let state = |parser: &mut Self| parser.expect_name("the name of a state");
        match self.at.token {
            Token::Word("genbuchi") => {
                self.take();
                let set = |parser: &mut Self| {
                    parser.expect_mark("(", "write each set as `(q1, q2)`")?;
                    if parser.take_mark(")") {
                        return Some(Vec::new());
                    }
                    let names = parser.list(state)?;
                    parser.expect_mark(")", "write each set as `(q1, q2)`")?;
                    Some(names)
                };
                sets.extend(self.list(set)?);
            }
            Token::Word(word @ ("muller" | "rabin" | "streett")) => {
                let problem = Diagnostic::error(self.here(), format!("acceptance of the kind `{word}` is not supported"))
                    .label("not supported")
                    .help("write a Büchi automaton (`accept q1, q2;`) or a generalised one (`accept genbuchi (q1), (q2);`)");
                self.report(problem);
                // The pairs of states have `;` in them.
                while !matches!(self.at.token, Token::End | Token::Mark("}")) && !self.at_word(&PARTS) {
                    self.take();
                }
                return None;
            }
            _ => {
                if self.at_word(&["buchi"]) {
                    self.take();
                }
                sets.push(self.list(state)?);
            }
        }
        Some(())
    }
}

fn parts_of_a_process() -> String {
    "a process has variables, `state`, `init`, `commit`, `accept`, `assert` and `trans`".to_owned()
}
