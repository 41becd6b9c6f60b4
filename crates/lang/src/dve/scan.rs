//! The tokens of DVE.

use crate::reading::cursor::{self, Lexed, Token};

/// Longer marks come before those that they begin with.
const MARKS: [&str; 34] = [
    "->", "=>", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "{", "}", "[", "]", "(", ")", ",", ";", ":",
    ".", "?", "!", "=", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "~",
];

/// The first token at or after byte `from`.
pub(super) fn next(text: &str, from: usize) -> Lexed<'_> {
    // A backslash carries a line on.
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
