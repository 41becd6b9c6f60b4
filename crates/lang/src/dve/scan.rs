//! The tokens of DVE.

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A keyword or a name.
    Word(&'a str),
    /// Digits, as they are written.
    Number(&'a str),
    /// Punctuation and operators.
    Mark(&'static str),
    /// A character that DVE does not know.
    Strange,
    /// A comment that is never closed.
    OpenComment,
    /// The end of the file.
    End,
}

/// A token and the bytes it takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexed<'a> {
    pub(super) token: Token<'a>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Longer marks come before those that they begin with.
const MARKS: [&str; 34] = [
    "->", "=>", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "{", "}", "[", "]", "(", ")", ",", ";", ":",
    ".", "?", "!", "=", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "~",
];

/// The first token at or after byte `from`.
pub(super) fn next(text: &str, from: usize) -> Lexed<'_> {
    let start = match skip_blanks(text, from) {
        Ok(start) => start,
        Err(start) => return Lexed { token: Token::OpenComment, start, end: text.len() },
    };
    let rest = &text[start..];
    let Some(first) = rest.chars().next() else { return Lexed { token: Token::End, start, end: start } };
    let length = |belongs: fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
    let (token, length) = if first.is_ascii_alphabetic() || first == '_' {
        let length = length(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '#'));
        (Token::Word(&rest[..length]), length)
    } else if first.is_ascii_digit() {
        let length = length(|c| c.is_ascii_digit());
        (Token::Number(&rest[..length]), length)
    } else {
        let mark = MARKS.iter().find(|mark| rest.starts_with(**mark));
        mark.map_or((Token::Strange, first.len_utf8()), |mark| (Token::Mark(mark), mark.len()))
    };
    Lexed { token, start, end: start + length }
}

/// The first byte that is neither blank nor in a comment; as an error, where a comment begins that has no end.
fn skip_blanks(text: &str, from: usize) -> Result<usize, usize> {
    let mut at = from;
    loop {
        let rest = &text[at..];
        at += if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").ok_or(at)? + 2
        } else {
            // A backslash carries a line on.
            let blank = rest.find(|c: char| !c.is_ascii_whitespace() && c != '\\').unwrap_or(rest.len());
            if blank == 0 {
                return Ok(at);
            }
            blank
        };
    }
}
