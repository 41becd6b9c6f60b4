//! Lexer of DVE.

use crate::parsing::cursor::{self, Lexed, Token};

/// Longer marks precede their prefixes.
const MARKS: [&str; 34] = [
    "->", "=>", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "{", "}", "[", "]", "(", ")", ",", ";", ":",
    ".", "?", "!", "=", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "~",
];

/// Returns the first token at or after offset `from`.
pub(super) fn next(text: &str, from: usize) -> Lexed<'_> {
    // A backslash continues a line.
    cursor::next(text, from, |c| c.is_ascii_whitespace() || c == '\\', token)
}

fn token(rest: &str, first: char) -> (Token<'_>, usize) {
    let length = |belongs: fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
    if first.is_ascii_alphabetic() || first == '_' {
        let length = length(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '#'));
        (Token::Word(&rest[..length]), length)
    } else if first.is_ascii_digit() {
        let length = length(|c| c.is_ascii_digit());
        (Token::Number(&rest[..length]), length)
    } else {
        cursor::mark(rest, first, &MARKS)
    }
}
