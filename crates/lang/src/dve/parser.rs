//! Parses declarations and processes: all errors of a file are reported together.

use super::ast::{Channel, File, Initial, Name, Process, System, Type, Variable};
use super::scan;
use crate::parsing::cursor::{Cursor, Lexicon, Token, suggest};
use invigil_expr::diag::{Diagnostic, SourceId};
use std::ops::{Deref, DerefMut};

pub(super) const TOP_LEVEL_KEYWORDS: [&str; 6] = ["byte", "int", "const", "channel", "process", "system"];
pub(super) const PROCESS_KEYWORDS: [&str; 9] =
    ["byte", "int", "const", "state", "init", "commit", "accept", "assert", "trans"];

/// Reserved words.
const KEYWORDS: [&str; 23] = [
    "byte", "int", "const", "channel", "process", "system", "state", "init", "commit", "accept", "assert",
    "trans", "guard", "sync", "effect", "async", "property", "and", "or", "not", "imply", "true", "false",
];

static LEXICON: Lexicon = Lexicon { noun: "model", next: scan::next, keywords: &KEYWORDS };

pub(super) struct DveParser<'a> {
    cursor: Cursor<'a>,
    /// The current nesting depth of expressions.
    pub(super) nesting: u32,
}

impl<'a> Deref for DveParser<'a> {
    type Target = Cursor<'a>;

    fn deref(&self) -> &Cursor<'a> {
        &self.cursor
    }
}

impl DerefMut for DveParser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

/// Parses a file.
pub(super) fn parse(source: SourceId, text: &str) -> (File, Vec<Diagnostic>) {
    let mut parser = DveParser { cursor: Cursor::new(&LEXICON, source, text), nesting: 0 };
    let file = parser.file();
    (file, parser.cursor.diagnostics)
}

impl DveParser<'_> {
    /// Takes the `;` at the end of a clause. If it is missing, skips past the next one, or to a word that starts a
    /// clause.
    pub(super) fn end_clause(&mut self, was_parsed: bool, starts: &[&str]) {
        if was_parsed && self.take_mark(";") {
            return;
        }
        if was_parsed {
            let diagnostic = self.expected("`;`").help("`;` ends a declaration, `,` separates its parts");
            self.report(diagnostic);
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
                    let was_parsed = self.variables(&mut file.variables).is_some();
                    self.end_clause(was_parsed, &TOP_LEVEL_KEYWORDS);
                }
                Token::Word("channel") => {
                    let was_parsed = self.channels(&mut file.channels).is_some();
                    self.end_clause(was_parsed, &TOP_LEVEL_KEYWORDS);
                }
                Token::Word("process") => file.processes.push(self.process()),
                Token::Word("system") => {
                    let system = self.system();
                    self.end_clause(system.is_some(), &TOP_LEVEL_KEYWORDS);
                    if let (Some(first), Some(second)) = (&file.system, &system) {
                        let diagnostic = Diagnostic::error(second.span, "duplicate `system`")
                            .label("second occurrence")
                            .related(first.span, "first occurrence")
                            .help("keep one of them");
                        self.report(diagnostic);
                    }
                    file.system = file.system.or(system);
                }
                _ => {
                    let diagnostic = self.expected("a declaration, `process` or `system`");
                    let help = match self.at.token {
                        Token::Word(word) => suggest(word, TOP_LEVEL_KEYWORDS).unwrap_or_else(|| {
                            "top-level declarations start with `byte`, `int`, `const`, `channel`, `process` or `system`"
                                .to_owned()
                        }),
                        Token::Mark("}") => {
                            "remove it, or check whether an earlier `}` closes a block too soon".to_owned()
                        }
                        _ => "remove it".to_owned(),
                    };
                    self.report(diagnostic.help(help));
                    self.take();
                    while !matches!(self.at.token, Token::End) && !self.at_one_of(&TOP_LEVEL_KEYWORDS) {
                        self.take();
                    }
                }
            }
        }
    }

    fn type_word(&mut self) -> Option<Type> {
        let value_type = match self.at.token {
            Token::Word("byte") => Type::Byte,
            Token::Word("int") => Type::Int,
            _ => {
                let diagnostic = self.expected("`byte` or `int`");
                self.report(diagnostic);
                return None;
            }
        };
        self.take();
        Some(value_type)
    }

    /// Parses a comma-separated list; returns `None` after an error.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take_mark(",") {
            items.push(item(self)?);
        }
        Some(items)
    }

    /// Parses a list and its closing brace. After an error, skips past the brace.
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
        let value_type = self.type_word()?;
        loop {
            let name = self.expect_name("a variable name")?;
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
                    let help = "write the values of an array in `{ … }`, separated by commas";
                    let values = self.list_in_braces(Self::expression, help)?;
                    Initial::Many(values, self.since(start))
                } else {
                    Initial::One(self.expression()?)
                });
            }
            into.push(Variable { name, is_constant, value_type, length, initial });
            if !self.take_mark(",") {
                return Some(());
            }
        }
    }

    fn channels(&mut self, into: &mut Vec<Channel>) -> Option<()> {
        self.take();
        let mut value_types = None;
        if self.take_mark("{") {
            let help = "write the types of a channel in `{ … }`";
            value_types = Some(self.list_in_braces(Self::type_word, help)?);
        }
        loop {
            let name = self.expect_name("a channel name")?;
            let mut capacity = None;
            if self.take_mark("[") {
                capacity = Some(self.expression()?);
                self.expect_mark("]", "write the capacity of the channel between `[` and `]`")?;
            }
            into.push(Channel { name, value_types: value_types.clone(), capacity });
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
                let diagnostic = self.expected("`async` or `sync`").help("write `system async;`");
                self.report(diagnostic);
                return None;
            }
        };
        self.take();
        let mut property = None;
        if self.take_word("property") {
            property = Some(self.expect_name("a process name")?);
        }
        Some(System { is_sync, property, span: self.since(start) })
    }

    fn process(&mut self) -> Process {
        self.take();
        let mut process = Process { name: self.expect_name("a process name"), ..Process::default() };
        // If only the brace is missing, the process is parsed as if it were there.
        if self.expect_mark("{", "enclose the process in `{ … }`").is_none()
            && !self.at_one_of(&PROCESS_KEYWORDS)
        {
            while !matches!(self.at.token, Token::End | Token::Mark("{" | "}"))
                && !self.at_one_of(&TOP_LEVEL_KEYWORDS)
            {
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
                    let diagnostic = self.expected("`}`").help("close the previous process with `}`");
                    self.report(diagnostic);
                    return process;
                }
                Token::Word("trans") => self.transitions(&mut process.transitions),
                Token::Word(word) if PROCESS_KEYWORDS.contains(&word) => {
                    let was_parsed = self.process_clause(word, &mut process).is_some();
                    self.end_clause(was_parsed, &PROCESS_KEYWORDS);
                }
                _ => {
                    let diagnostic = self.expected("a part of a process");
                    let help = match self.at.token {
                        Token::Word("channel") => "declare channels outside processes".to_owned(),
                        Token::Word(word) => {
                            suggest(word, PROCESS_KEYWORDS).unwrap_or_else(parts_of_a_process)
                        }
                        _ => parts_of_a_process(),
                    };
                    self.report(diagnostic.help(help));
                    self.take();
                    self.end_clause(false, &PROCESS_KEYWORDS);
                }
            }
        }
    }

    fn process_clause(&mut self, word: &str, process: &mut Process) -> Option<()> {
        if matches!(word, "byte" | "int" | "const") {
            return self.variables(&mut process.variables);
        }
        let start = self.take();
        let state = |parser: &mut Self| parser.expect_name("a state name");
        match word {
            "state" => process.states.extend(self.list(state)?),
            "commit" => process.committed.extend(self.list(state)?),
            "accept" => self.accepting(&mut process.accepting)?,
            "init" => {
                let name = state(self)?;
                if let Some(first) = &process.initial {
                    let diagnostic = Diagnostic::error(start.to(name.span), "duplicate `init`")
                        .label("second occurrence")
                        .related(first.span, "first occurrence")
                        .help("a process has one initial state");
                    self.report(diagnostic);
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
        let state = |parser: &mut Self| parser.expect_name("a state name");
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
                let diagnostic = Diagnostic::error(self.here(), format!("`{word}` acceptance is not supported"))
                    .label("not supported")
                    .help("write a Büchi automaton (`accept q1, q2;`) or a generalised one (`accept genbuchi (q1), (q2);`)");
                self.report(diagnostic);
                // The state pairs contain `;`.
                while !matches!(self.at.token, Token::End | Token::Mark("}"))
                    && !self.at_one_of(&PROCESS_KEYWORDS)
                {
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
    "a process contains variables, `state`, `init`, `commit`, `accept`, `assert` and `trans`".to_owned()
}
