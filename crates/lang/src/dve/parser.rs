//! Reads declarations and processes, and reports every mistake at once.

use super::ast::{Channel, File, Initial, Name, Process, System, Type, Variable};
use super::scan;
use crate::reading::cursor::{Cursor, Token, Tongue, suggest};
use invigil_expr::diag::{Diagnostic, SourceId};
use std::ops::{Deref, DerefMut};

pub(super) const TOP: [&str; 6] = ["byte", "int", "const", "channel", "process", "system"];
pub(super) const PARTS: [&str; 9] =
    ["byte", "int", "const", "state", "init", "commit", "accept", "assert", "trans"];

/// Words that no variable, state, process or channel can be called.
const KEYWORDS: [&str; 23] = [
    "byte", "int", "const", "channel", "process", "system", "state", "init", "commit", "accept", "assert",
    "trans", "guard", "sync", "effect", "async", "property", "and", "or", "not", "imply", "true", "false",
];

static TONGUE: Tongue = Tongue { noun: "model", next: scan::next, keywords: &KEYWORDS };

pub(super) struct Parser<'a> {
    cursor: Cursor<'a>,
    /// How many expressions are being read inside each other.
    pub(super) nesting: u32,
}

impl<'a> Deref for Parser<'a> {
    type Target = Cursor<'a>;

    fn deref(&self) -> &Cursor<'a> {
        &self.cursor
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

/// Reads a file.
pub(super) fn parse(source: SourceId, text: &str) -> (File, Vec<Diagnostic>) {
    let mut parser = Parser { cursor: Cursor::new(&TONGUE, source, text), nesting: 0 };
    let file = parser.file();
    (file, parser.cursor.problems)
}

impl Parser<'_> {
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
                    while !matches!(self.at.token, Token::End) && !self.at_one_of(&TOP) {
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
        let is_constant = self.take_word("const");
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
        if self.take_word("property") {
            property = Some(self.expect_name("the name of a process")?);
        }
        Some(System { is_sync, property, span: self.since(start) })
    }

    fn process(&mut self) -> Process {
        self.take();
        let mut process = Process { name: self.expect_name("the name of a process"), ..Process::default() };
        // Where only the brace is missing, the rest is read as if it were there.
        if self.expect_mark("{", "what a process is stands in `{ … }`").is_none() && !self.at_one_of(&PARTS)
        {
            while !matches!(self.at.token, Token::End | Token::Mark("{" | "}")) && !self.at_one_of(&TOP) {
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
                while !matches!(self.at.token, Token::End | Token::Mark("}")) && !self.at_one_of(&PARTS) {
                    self.take();
                }
                return None;
            }
            _ => {
                self.take_word("buchi");
                sets.push(self.list(state)?);
            }
        }
        Some(())
    }
}

fn parts_of_a_process() -> String {
    "a process has variables, `state`, `init`, `commit`, `accept`, `assert` and `trans`".to_owned()
}
