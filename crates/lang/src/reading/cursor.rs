//! What the parsers of DVE, PEDL and MEDL share: tokens as in C and Java, a place in the text, and complaints.

use crate::prop::ast::Name;
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};

/// A file longer than this is surely something else.
const MAX_BYTES: usize = 4 << 20;
/// After this many mistakes the rest is not worth reading.
pub(crate) const MAX_PROBLEMS: usize = 100;

/// A token. No language has all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// A keyword or a name.
    Word(&'a str),
    /// A name with a prime behind it; the prime is left out.
    Primed(&'a str),
    /// A number, as it is written.
    Number(&'a str),
    /// What stands between the quotes of a text.
    Text(&'a str),
    /// What stands between the quotes of a character.
    Char(&'a str),
    /// Punctuation and operators.
    Mark(&'static str),
    /// A character that is in no token.
    Strange,
    /// A comment without an end.
    OpenComment,
    /// A text or character without an end on its line.
    OpenQuote,
    /// The end of the file.
    End,
}

/// A token and the bytes it takes.
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

/// The first token at or after byte `from`. A language says what is blank, and what the token at the start of a text is, with
/// its length; that text begins with the character.
pub(crate) fn next(
    text: &str,
    from: usize,
    is_blank: fn(char) -> bool,
    token: fn(&str, char) -> (Token<'_>, usize),
) -> Lexed<'_> {
    let start = match skip_blanks(text, from, is_blank) {
        Ok(start) => start,
        Err(start) => return Lexed { token: Token::OpenComment, start, end: text.len() },
    };
    let rest = &text[start..];
    let Some(first) = rest.chars().next() else { return Lexed::end(start) };
    let (token, length) = token(rest, first);
    Lexed { token, start, end: start + length }
}

/// The first of the marks that stands at the start of `rest`: longer ones come before those that they begin with.
pub(crate) fn mark(rest: &str, first: char, marks: &[&'static str]) -> (Token<'static>, usize) {
    let mark = marks.iter().find(|mark| rest.starts_with(**mark));
    mark.map_or((Token::Strange, first.len_utf8()), |mark| (Token::Mark(mark), mark.len()))
}

/// The first byte that is neither blank nor in a comment; as an error, where a comment begins that has no end.
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

/// What a cursor must know of the language that it reads.
pub(crate) struct Tongue {
    /// What a file is: `DVE model`.
    pub(crate) noun: &'static str,
    /// The first token at or after a byte.
    pub(crate) next: fn(&str, usize) -> Lexed<'_>,
    /// Words that nothing can be called.
    pub(crate) keywords: &'static [&'static str],
}

/// A place in a text, and what is wrong before it.
pub(crate) struct Cursor<'a> {
    tongue: &'static Tongue,
    source: SourceId,
    pub(crate) text: &'a str,
    /// The token that comes next.
    pub(crate) at: Lexed<'a>,
    last_end: usize,
    is_stopped: bool,
    pub(crate) problems: Vec<Diagnostic>,
}

impl<'a> Cursor<'a> {
    /// At the beginning of `text`; at its end if the text is too long.
    pub(crate) fn new(tongue: &'static Tongue, source: SourceId, text: &'a str) -> Cursor<'a> {
        let (at, problems) = (Lexed::end(0), Vec::new());
        let mut cursor = Cursor { tongue, source, text, at, last_end: 0, is_stopped: false, problems };
        if text.len() > MAX_BYTES {
            let noun = tongue.noun;
            let message = format!("this file is too long for a {noun} ({} MiB)", text.len() >> 20);
            let problem = Diagnostic::error(cursor.here(), message).label("nothing of it was read");
            cursor.report(problem.help(format!("a {noun} may have 4 MiB")));
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

    /// From `start` to the end of what was taken last.
    pub(crate) fn since(&self, start: usize) -> Span {
        self.span(start, self.last_end.max(start))
    }

    /// Goes on reading at byte `to`.
    pub(crate) fn jump(&mut self, to: usize) {
        self.last_end = to;
        if self.is_stopped {
            return;
        }
        self.at = (self.tongue.next)(self.text, to);
        if self.at.token == Token::OpenComment {
            let open = self.span(self.at.start, self.at.start + 2);
            self.at = Lexed::end(self.at.start);
            let problem = Diagnostic::error(open, "this comment has no end");
            self.report(problem.label("it begins here").help("close it with `*/`"));
            // What is missing stands in the comment.
            self.is_stopped = true;
        }
    }

    /// Takes the next token.
    pub(crate) fn take(&mut self) -> Span {
        let span = self.here();
        self.jump(self.at.end);
        span
    }

    /// The token behind the next one.
    pub(crate) fn peek(&self) -> Token<'a> {
        (self.tongue.next)(self.text, self.at.end).token
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

    /// Takes a mark if it comes next.
    pub(crate) fn take_mark(&mut self, mark: &str) -> bool {
        let is_there = self.at_mark(mark);
        if is_there {
            self.take();
        }
        is_there
    }

    /// Takes a word if it comes next.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.at_word(word);
        if is_there {
            self.take();
        }
        is_there
    }

    /// What comes next, in words.
    pub(crate) fn found(&self) -> String {
        match self.at.token {
            Token::End => "the end of the file".to_owned(),
            _ => format!("`{}`", &self.text[self.at.start..self.at.end]),
        }
    }

    /// The complaint that `what` should come next.
    pub(crate) fn expected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.found());
        Diagnostic::error(self.here(), message).label(format!("expected {what}"))
    }

    /// Adds a problem, unless it is a mere consequence of another at the same place.
    pub(crate) fn report(&mut self, problem: Diagnostic) {
        if self.is_stopped || self.problems.last().is_some_and(|last| last.span == problem.span) {
            return;
        }
        self.problems.push(problem);
        if self.problems.len() == MAX_PROBLEMS {
            let rest = self.span(self.at.end, self.at.end);
            let message = format!("there are more than {MAX_PROBLEMS} mistakes");
            let last = Diagnostic::error(rest, message).label("the rest of the file was not read");
            self.problems.push(last.help(format!("is this a {}?", self.tongue.noun)));
            self.is_stopped = true;
            self.at = Lexed::end(self.text.len());
        }
    }

    pub(crate) fn expect_mark(&mut self, mark: &'static str, help: &str) -> Option<Span> {
        if self.at_mark(mark) {
            return Some(self.take());
        }
        let problem = self.expected(&format!("`{mark}`")).help(help);
        self.report(problem);
        None
    }

    /// Takes a name or complains that `what` is missing.
    pub(crate) fn expect_name(&mut self, what: &str) -> Option<Name> {
        let problem = match self.at.token {
            Token::Word(text) if !self.tongue.keywords.contains(&text) => {
                return Some(Name { text: text.to_owned(), span: self.take() });
            }
            Token::Word(text) => self.expected(what).help(format!("`{text}` is a word of the language")),
            Token::Primed(text) => {
                let help = format!("write `{text}`: a prime stands for the new value of a variable");
                self.expected(what).help(help)
            }
            _ => self.expected(what),
        };
        self.report(problem);
        None
    }
}

/// The name that was most likely meant, as a question.
pub(crate) fn suggest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    /// Longer names, or more of them, would take too long to compare.
    const LONGEST: usize = 100;
    const MOST: usize = 2000;
    if wanted.len() > LONGEST {
        return None;
    }
    let candidates = candidates.into_iter().filter(|candidate| candidate.len() <= LONGEST).take(MOST);
    nearest(wanted, candidates).map(|meant| format!("did you mean `{meant}`?"))
}
