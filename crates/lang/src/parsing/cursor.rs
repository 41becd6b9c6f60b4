//! Token cursor for the C-like languages: DVE, PEDL and MEDL.

use crate::prop::ast::Name;
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};

/// Longer files are rejected: they are probably not source files.
const MAX_BYTES: usize = 4 << 20;
/// After this many errors, the rest of the file is not parsed.
pub(crate) const MAX_DIAGNOSTICS: usize = 100;

/// A token. Each language uses a subset of the variants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// A keyword or a name.
    Word(&'a str),
    /// A name followed by a prime, without the prime.
    Primed(&'a str),
    /// A number literal.
    Number(&'a str),
    /// The contents of a string literal.
    Text(&'a str),
    /// The contents of a character literal.
    Char(&'a str),
    /// Punctuation and operators.
    Mark(&'static str),
    /// A character that starts no token.
    Unknown,
    /// An unterminated comment.
    UnclosedComment,
    /// An unterminated string or character literal.
    UnclosedQuote,
    /// The end of the file.
    End,
}

/// A token with its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexed<'a> {
    pub(crate) token: Token<'a>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Lexed<'_> {
    fn end(at: usize) -> Lexed<'static> {
        Lexed { token: Token::End, start: at, end: at }
    }
}

/// Returns the first token at or after `from`. The language supplies the test for blanks, and the function that
/// reads the token at the start of a text, given its first character, and returns its length.
pub(crate) fn next(
    text: &str,
    from: usize,
    is_blank: fn(char) -> bool,
    token: fn(&str, char) -> (Token<'_>, usize),
) -> Lexed<'_> {
    let start = match skip_blanks(text, from, is_blank) {
        Ok(start) => start,
        Err(start) => return Lexed { token: Token::UnclosedComment, start, end: text.len() },
    };
    let rest = &text[start..];
    let Some(first) = rest.chars().next() else { return Lexed::end(start) };
    let (token, length) = token(rest, first);
    Lexed { token, start, end: start + length }
}

/// Returns the longest mark at the start of `rest`; `marks` lists longer ones before their prefixes.
pub(crate) fn mark(rest: &str, first: char, marks: &[&'static str]) -> (Token<'static>, usize) {
    let mark = marks.iter().find(|mark| rest.starts_with(**mark));
    mark.map_or((Token::Unknown, first.len_utf8()), |mark| (Token::Mark(mark), mark.len()))
}

/// Skips blanks and comments. An unterminated comment is returned as an error, with its start.
fn skip_blanks(text: &str, from: usize, is_blank: fn(char) -> bool) -> Result<usize, usize> {
    let mut at = from;
    loop {
        let rest = &text[at..];
        at += if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").ok_or(at)? + 4
        } else {
            match rest.find(|c| !is_blank(c)).unwrap_or(rest.len()) {
                0 => return Ok(at),
                blank => blank,
            }
        };
    }
}

/// The settings of a [`Cursor`] for one language.
pub(crate) struct Lexicon {
    /// What a file contains, for messages: `DVE model`.
    pub(crate) noun: &'static str,
    /// Reads the first token at or after an offset.
    pub(crate) next: fn(&str, usize) -> Lexed<'_>,
    /// Reserved words.
    pub(crate) keywords: &'static [&'static str],
}

/// A position in a text, with the diagnostics so far.
pub(crate) struct Cursor<'a> {
    lexicon: &'static Lexicon,
    source: SourceId,
    pub(crate) text: &'a str,
    /// The next token.
    pub(crate) at: Lexed<'a>,
    last_end: usize,
    is_stopped: bool,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl<'a> Cursor<'a> {
    /// Starts at the beginning of `text`; at its end if the text is too long.
    pub(crate) fn new(lexicon: &'static Lexicon, source: SourceId, text: &'a str) -> Cursor<'a> {
        let (at, diagnostics) = (Lexed::end(0), Vec::new());
        let mut cursor = Cursor { lexicon, source, text, at, last_end: 0, is_stopped: false, diagnostics };
        if text.len() > MAX_BYTES {
            let noun = lexicon.noun;
            let message = format!("the file is too large for a {noun} ({} MiB)", text.len() >> 20);
            let diagnostic = Diagnostic::error(cursor.here(), message).label("not parsed");
            cursor.report(diagnostic.help("the limit is 4 MiB"));
            cursor.is_stopped = true;
        }
        cursor.jump(0);
        cursor
    }

    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start as u32, end as u32)
    }

    pub(crate) fn here(&self) -> Span {
        self.span(self.at.start, self.at.end)
    }

    /// Returns the span from `start` to the end of the last token taken.
    pub(crate) fn since(&self, start: usize) -> Span {
        self.span(start, self.last_end.max(start))
    }

    /// Continues at offset `to`.
    pub(crate) fn jump(&mut self, to: usize) {
        self.last_end = to;
        if self.is_stopped {
            return;
        }
        self.at = (self.lexicon.next)(self.text, to);
        if self.at.token == Token::UnclosedComment {
            let open = self.span(self.at.start, self.at.start + 2);
            self.at = Lexed::end(self.at.start);
            let diagnostic = Diagnostic::error(open, "unterminated comment");
            self.report(diagnostic.label("starts here").help("close it with `*/`"));
            // The missing tokens are inside the comment.
            self.is_stopped = true;
        }
    }

    /// Takes the next token.
    pub(crate) fn take(&mut self) -> Span {
        let span = self.here();
        self.jump(self.at.end);
        span
    }

    /// Returns the token after the next one.
    pub(crate) fn peek(&self) -> Token<'a> {
        (self.lexicon.next)(self.text, self.at.end).token
    }

    pub(crate) fn at_mark(&self, mark: &str) -> bool {
        matches!(self.at.token, Token::Mark(found) if found == mark)
    }

    pub(crate) fn at_word(&self, wanted: &str) -> bool {
        self.at_one_of(&[wanted])
    }

    pub(crate) fn at_one_of(&self, words: &[&str]) -> bool {
        matches!(self.at.token, Token::Word(word) if words.contains(&word))
    }

    /// Takes the next token if it is this mark.
    pub(crate) fn take_mark(&mut self, mark: &str) -> bool {
        let is_there = self.at_mark(mark);
        if is_there {
            self.take();
        }
        is_there
    }

    /// Takes the next token if it is this word.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.at_word(word);
        if is_there {
            self.take();
        }
        is_there
    }

    /// Describes the next token for messages.
    pub(crate) fn describe_next(&self) -> String {
        match self.at.token {
            Token::End => "the end of the file".to_owned(),
            _ => format!("`{}`", &self.text[self.at.start..self.at.end]),
        }
    }

    /// Creates the diagnostic that `what` is expected here.
    pub(crate) fn expected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.describe_next());
        Diagnostic::error(self.here(), message).label(format!("expected {what}"))
    }

    /// Adds a diagnostic, unless another one at the same position already explains it.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        if self.is_stopped || self.diagnostics.last().is_some_and(|last| last.span == diagnostic.span) {
            return;
        }
        self.diagnostics.push(diagnostic);
        if self.diagnostics.len() == MAX_DIAGNOSTICS {
            let rest = self.span(self.at.end, self.at.end);
            let message = format!("more than {MAX_DIAGNOSTICS} errors");
            let last = Diagnostic::error(rest, message).label("the rest of the file was not parsed");
            self.diagnostics.push(last.help(format!("is this a {}?", self.lexicon.noun)));
            self.is_stopped = true;
            self.at = Lexed::end(self.text.len());
        }
    }

    pub(crate) fn expect_mark(&mut self, mark: &'static str, help: &str) -> Option<Span> {
        if self.at_mark(mark) {
            return Some(self.take());
        }
        let diagnostic = self.expected(&format!("`{mark}`")).help(help);
        self.report(diagnostic);
        None
    }

    /// Takes a name, or reports that `what` is missing.
    pub(crate) fn expect_name(&mut self, what: &str) -> Option<Name> {
        let diagnostic = match self.at.token {
            Token::Word(text) if !self.lexicon.keywords.contains(&text) => {
                return Some(Name { text: text.to_owned(), span: self.take() });
            }
            Token::Word(text) => self.expected(what).help(format!("`{text}` is a reserved word")),
            Token::Primed(text) => {
                let help = format!("write `{text}`: a prime denotes the new value of a variable");
                self.expected(what).help(help)
            }
            _ => self.expected(what),
        };
        self.report(diagnostic);
        None
    }
}

/// Returns a help text that suggests the most similar name.
pub(crate) fn suggest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    /// Longer or more names would take too long to compare.
    const MAX_LEN: usize = 100;
    const MAX_CANDIDATES: usize = 2000;
    if wanted.len() > MAX_LEN {
        return None;
    }
    let candidates =
        candidates.into_iter().filter(|candidate| candidate.len() <= MAX_LEN).take(MAX_CANDIDATES);
    nearest(wanted, candidates).map(|meant| format!("did you mean `{meant}`?"))
}
