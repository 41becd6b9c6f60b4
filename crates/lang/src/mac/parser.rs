//! Base of the PEDL and MEDL parsers: statements and error recovery.

use super::ast::{Expr, Name, Node};
use super::format::{Layout, format};
use super::scan;
use crate::parsing::cursor::{Cursor, Lexicon, Token, suggest};
use invigil_expr::diag::{Diagnostic, SourceId, nearest};
use std::ops::{Deref, DerefMut};

/// The settings of the parser for one of the two languages.
pub(crate) struct Language {
    /// Its name.
    pub(crate) noun: &'static str,
    /// The keyword that opens a script.
    pub(crate) opening: &'static str,
    /// The opening keyword of the other language, with the help shown for it.
    pub(crate) other: (&'static str, &'static str),
    /// The keywords that start a statement.
    pub(crate) statements: &'static [&'static str],
    /// The names of functions in expressions.
    pub(crate) functions: &'static [&'static str],
    /// Whether expressions may contain names of the target.
    pub(crate) allows_target_names: bool,
}

/// Reserved words of both languages.
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

static LEXICON: Lexicon = Lexicon { noun: "script", next: scan::next, keywords: &KEYWORDS };

pub(crate) struct ScriptParser<'a> {
    pub(crate) language: &'static Language,
    cursor: Cursor<'a>,
    /// The current nesting depth of expressions.
    pub(crate) nesting: u32,
    /// Whether the current expression stops at a `when`, which belongs to the enclosing one.
    pub(crate) stops_at_when: bool,
    /// The nodes of the current expression.
    pub(crate) nodes: Vec<Node>,
    /// The layout of the script, for the formatter.
    pub(crate) layout: Layout,
}

impl<'a> Deref for ScriptParser<'a> {
    type Target = Cursor<'a>;

    fn deref(&self) -> &Cursor<'a> {
        &self.cursor
    }
}

impl DerefMut for ScriptParser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

impl<'a> ScriptParser<'a> {
    /// Creates a parser at the start of `text`; at its end if the text is too long.
    pub(crate) fn new(language: &'static Language, source: SourceId, text: &'a str) -> ScriptParser<'a> {
        ScriptParser {
            language,
            cursor: Cursor::new(&LEXICON, source, text),
            nesting: 0,
            stops_at_when: false,
            nodes: Vec::new(),
            layout: Layout::default(),
        }
    }

    /// Parses the statements of a script and its closing keyword. `read` parses one statement without its `;`, and
    /// returns `None` after an error.
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

    /// Returns the diagnostics.
    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.cursor.diagnostics
    }

    /// Returns the formatted script, or the diagnostics if there is an error among them.
    pub(crate) fn formatted(self) -> Result<String, Vec<Diagnostic>> {
        match self.diagnostics.iter().any(Diagnostic::is_error) {
            true => Err(self.into_diagnostics()),
            false => Ok(format(self.text, &self.layout)),
        }
    }

    /// Parses a definition such as `event e = …`, from its keyword on.
    pub(crate) fn definition(&mut self, word: &str) -> Option<(Name, Expr)> {
        self.take();
        let name = self.expect_name(&format!("the name of the {word}"))?;
        self.expect_mark("=", &format!("write `{word} {} = …;`", name.text))?;
        Some((name, self.expr()?))
    }

    /// Parses comma-separated names.
    pub(crate) fn names(&mut self, what: &str) -> Option<Vec<Name>> {
        let mut names = vec![self.expect_name(what)?];
        while self.take_mark(",") {
            names.push(self.expect_name(what)?);
        }
        Some(names)
    }

    /// Parses the keyword that opens a script, and its title.
    pub(crate) fn opening(&mut self) -> Option<Name> {
        let language = self.language;
        if !self.take_word(language.opening) {
            let diagnostic = self.expected(&format!("`{}`", language.opening));
            let diagnostic = match self.at.token {
                Token::Word(word) if word == language.other.0 => diagnostic.help(language.other.1),
                Token::Word(word) if nearest(word, [language.opening]).is_some() => {
                    diagnostic.help(format!("did you mean `{}`?", language.opening))
                }
                _ => diagnostic.help(format!(
                    "a {} script starts with `{} NAME` and ends with `End`",
                    language.noun, language.opening
                )),
            };
            self.report(diagnostic);
            if !self.at_statement() {
                self.take();
            }
        }
        match self.at.token {
            Token::Word(word) if !KEYWORDS.contains(&word) && !self.is_guard() => self.expect_name("a title"),
            _ => None,
        }
    }

    /// Whether a guard such as `e -> …` follows, rather than a title.
    fn is_guard(&self) -> bool {
        !self.language.allows_target_names && self.peek() == Token::Mark("->")
    }

    /// Whether a keyword that starts a statement follows.
    pub(crate) fn at_statement(&self) -> bool {
        matches!(self.at.token, Token::Word(word) if self.language.statements.contains(&word))
    }

    /// Whether the closing keyword follows; `end(c)` is an event.
    pub(crate) fn at_end(&self) -> bool {
        match self.at.token {
            Token::End => true,
            Token::Word("End" | "END") => true,
            Token::Word("end") => self.peek() != Token::Mark("("),
            _ => false,
        }
    }

    /// Takes the closing keyword and checks that nothing follows.
    fn closing(&mut self) {
        if self.at.token == Token::End {
            let help = format!("end the script that starts with `{}` with `End`", self.language.opening);
            let diagnostic = self.expected("`End`").help(help);
            self.report(diagnostic);
            return;
        }
        self.layout.end = self.at.start;
        let end = self.take();
        if self.at.token != Token::End {
            let diagnostic = self.expected("the end of the file").related(end, "the script ends here");
            self.report(diagnostic.help("text after `End` is ignored: move it before `End` or remove it"));
        }
    }

    /// Skips to the next statement, past the next `;`, or to the end.
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

    /// Reports a token that starts no statement, and skips it.
    pub(crate) fn stray(&mut self, what: &str, help: &str) {
        let diagnostic = self.expected(what);
        let diagnostic = match self.at.token {
            Token::Word(word) => match suggest(word, self.language.statements.iter().copied()) {
                Some(suggestion) => diagnostic.help(suggestion),
                None => diagnostic.help(help),
            },
            Token::Mark("}") => diagnostic.help("remove the unmatched `}`"),
            _ => diagnostic.help(help),
        };
        self.report(diagnostic);
        self.skip_line();
    }

    /// Skips the next token and the rest of its line, or up to a `;`.
    pub(crate) fn skip_line(&mut self) {
        while !self.at_end() {
            let was_semicolon = self.at_mark(";");
            self.take();
            if was_semicolon || self.at_statement() && self.begins_line() {
                return;
            }
        }
    }

    /// Parses an expression; after an error, its nodes are discarded.
    pub(crate) fn expr(&mut self) -> Option<Expr> {
        self.nodes.clear();
        self.nesting = 0;
        self.stops_at_when = false;
        self.expression()?;
        Some(Expr { nodes: std::mem::take(&mut self.nodes) })
    }
}
