//! Reads tokens, complains, and finds the way back after a mistake.

use super::ast::{Expr, Name, Node};
use super::format::{Layout, format};
use super::scan;
use crate::reading::cursor::{Cursor, Token, Tongue, suggest};
use invigil_expr::diag::{Diagnostic, SourceId, nearest};
use std::ops::{Deref, DerefMut};

/// What the parser must know of the language that it reads.
pub(crate) struct Language {
    /// What it is called.
    pub(crate) noun: &'static str,
    /// The word that opens a script, and the other language's.
    pub(crate) opening: &'static str,
    /// What to say of a file that opens as the other language does.
    pub(crate) other: (&'static str, &'static str),
    /// The words that begin a statement.
    pub(crate) statements: &'static [&'static str],
    /// What looks like a call in an expression.
    pub(crate) functions: &'static [&'static str],
    /// Whether names of the watched program can stand in expressions.
    pub(crate) has_program: bool,
}

/// Words that nothing can be called, in either language.
const KEYWORDS: [&str; 36] = [
    "MonScr",
    "ReqSpec",
    "export",
    "import",
    "event",
    "condition",
    "action",
    "timestamp",
    "multithread",
    "deltavalue",
    "valueabstract",
    "valueabstraction",
    "monobj",
    "monmeth",
    "var",
    "property",
    "alarm",
    "when",
    "start",
    "end",
    "End",
    "update",
    "startM",
    "endM",
    "IOM",
    "InM",
    "defined",
    "time",
    "value",
    "print",
    "invoke",
    "instanceof",
    "void",
    "true",
    "false",
    "null",
];

static TONGUE: Tongue = Tongue { noun: "script", next: scan::next, keywords: &KEYWORDS };

pub(crate) struct Parser<'a> {
    pub(crate) language: &'static Language,
    cursor: Cursor<'a>,
    /// How many expressions are being read inside each other.
    pub(crate) nesting: u32,
    /// Whether a `when` belongs to someone outside.
    pub(crate) leaves_when: bool,
    /// The expression that is being read.
    pub(crate) nodes: Vec<Node>,
    /// Where the parts of the script are.
    pub(crate) layout: Layout,
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

impl<'a> Parser<'a> {
    /// A parser at the beginning of `text`; at its end if the text is too long.
    pub(crate) fn new(language: &'static Language, source: SourceId, text: &'a str) -> Parser<'a> {
        Parser {
            language,
            cursor: Cursor::new(&TONGUE, source, text),
            nesting: 0,
            leaves_when: false,
            nodes: Vec::new(),
            layout: Layout::default(),
        }
    }

    /// Reads what stands between the opening and the end of a script, and the end; `read` takes one statement, without the
    /// `;` behind it, and gives nothing if it cannot.
    pub(crate) fn statements(&mut self, mut read: impl FnMut(&mut Self) -> Option<()>) {
        while !self.at_end() {
            if self.take_mark(";") {
                continue;
            }
            let start = self.at.start;
            self.layout.starts.push(start);
            match read(self) {
                Some(()) => _ = self.take_mark(";"),
                None => self.skip_statement(),
            }
        }
        self.closing();
    }

    /// What is wrong with what was read.
    pub(crate) fn problems(self) -> Vec<Diagnostic> {
        self.cursor.problems
    }

    /// What was read, in one style, unless something is wrong with it.
    pub(crate) fn formatted(self) -> Result<String, Vec<Diagnostic>> {
        match self.problems.iter().any(Diagnostic::is_error) {
            true => Err(self.problems()),
            false => Ok(format(self.text, &self.layout)),
        }
    }

    /// `event e = …`, by its keyword.
    pub(crate) fn definition(&mut self, word: &str) -> Option<(Name, Expr)> {
        self.take();
        let name = self.expect_name(&format!("the name of the {word}"))?;
        self.expect_mark("=", &format!("write `{word} {} = …;`", name.text))?;
        Some((name, self.expr()?))
    }

    /// Names with commas between them.
    pub(crate) fn names(&mut self, what: &str) -> Option<Vec<Name>> {
        let mut names = vec![self.expect_name(what)?];
        while self.take_mark(",") {
            names.push(self.expect_name(what)?);
        }
        Some(names)
    }

    /// Reads the word that opens a script, and its title.
    pub(crate) fn opening(&mut self) -> Option<Name> {
        let language = self.language;
        if !self.take_word(language.opening) {
            let problem = self.expected(&format!("`{}`", language.opening));
            let problem = match self.at.token {
                Token::Word(word) if word == language.other.0 => problem.help(language.other.1),
                Token::Word(word) if nearest(word, [language.opening]).is_some() => {
                    problem.help(format!("did you mean `{}`?", language.opening))
                }
                _ => problem.help(format!(
                    "a {} script begins with `{} NAME` and closes with `End`",
                    language.noun, language.opening
                )),
            };
            self.report(problem);
            if !self.at_statement() {
                self.take();
            }
        }
        match self.at.token {
            Token::Word(word) if !KEYWORDS.contains(&word) && !self.is_guard() => self.expect_name("a title"),
            _ => None,
        }
    }

    /// Whether what follows is `e -> …`, which is no title.
    fn is_guard(&self) -> bool {
        !self.language.has_program && self.peek() == Token::Mark("->")
    }

    /// Whether a word that begins a statement comes next.
    pub(crate) fn at_statement(&self) -> bool {
        matches!(self.at.token, Token::Word(word) if self.language.statements.contains(&word))
    }

    /// Whether the word that closes the script comes next; `end(c)` is an event.
    pub(crate) fn at_end(&self) -> bool {
        match self.at.token {
            Token::End => true,
            Token::Word("End" | "END") => true,
            Token::Word("end") => self.peek() != Token::Mark("("),
            _ => false,
        }
    }

    /// Takes the word that closes the script; nothing may follow it.
    fn closing(&mut self) {
        if self.at.token == Token::End {
            let help = format!(
                "close the script with `End`, at the end of what began with `{}`",
                self.language.opening
            );
            let problem = self.expected("`End`").help(help);
            self.report(problem);
            return;
        }
        self.layout.end = self.at.start;
        let end = self.take();
        if self.at.token != Token::End {
            let problem = self.expected("the end of the file").related(end, "the script ends here");
            self.report(problem.help("what stands behind `End` is not read: move it before, or remove it"));
        }
    }

    /// Goes on at the next statement, behind the next `;` or at the end.
    fn skip_statement(&mut self) {
        while !self.at_end() && !self.at_statement() {
            let was_semicolon = self.at_mark(";");
            self.take();
            if was_semicolon {
                return;
            }
        }
    }

    fn begins_line(&self) -> bool {
        self.text[..self.at.start].trim_end_matches([' ', '\t']).ends_with('\n')
    }

    /// Complains about what begins no statement, and passes it.
    pub(crate) fn stray(&mut self, what: &str, help: &str) {
        let problem = self.expected(what);
        let problem = match self.at.token {
            Token::Word(word) => match suggest(word, self.language.statements.iter().copied()) {
                Some(suggestion) => problem.help(suggestion),
                None => problem.help(help),
            },
            Token::Mark("}") => problem.help("this `}` closes nothing: remove it"),
            _ => problem.help(help),
        };
        self.report(problem);
        self.skip_line();
    }

    /// Passes the next token, and what follows it on its line or up to a `;`.
    pub(crate) fn skip_line(&mut self) {
        while !self.at_end() {
            let was_semicolon = self.at_mark(";");
            self.take();
            if was_semicolon || self.at_statement() && self.begins_line() {
                return;
            }
        }
    }

    /// Reads an expression that may have no end in sight: nothing of it is left when there is a mistake in it.
    pub(crate) fn expr(&mut self) -> Option<Expr> {
        self.nodes.clear();
        self.nesting = 0;
        self.leaves_when = false;
        self.expression()?;
        Some(Expr { nodes: std::mem::take(&mut self.nodes) })
    }
}
