//! The tokens of both languages: Java's, and names with a prime.

use crate::reading::cursor::{self, Lexed, Token};

/// Longer marks come before those that they begin with.
const MARKS: [&str; 42] = [
    ">>>", "<->", "->", "<-", "=>", ":=", "::", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "{", "}",
    "[", "]", "(", ")", ",", ";", ":", ".", "?", "!", "=", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">",
    "~", "@", "#", "\\",
];

/// How a prime may be written: texts that went through a word processor have another one.
const PRIMES: [char; 3] = ['\'', '\u{2019}', '\u{2032}'];

/// The first token at or after byte `from`.
pub(crate) fn next(text: &str, from: usize) -> Lexed<'_> {
    cursor::next(text, from, |c| c.is_whitespace() || c == '\u{feff}', token)
}

fn token(rest: &str, first: char) -> (Token<'_>, usize) {
    let second = rest[first.len_utf8()..].chars().next();
    if is_letter(first) {
        word(rest)
    } else if first.is_ascii_digit() || first == '.' && second.is_some_and(|c| c.is_ascii_digit()) {
        let length = number(rest);
        (Token::Number(&rest[..length]), length)
    } else if matches!(first, '"' | '\'') {
        quoted(rest, first)
    } else {
        cursor::mark(rest, first, &MARKS)
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$')
}

fn word(rest: &str) -> (Token<'_>, usize) {
    let length = rest.find(|c: char| !is_letter(c) && !c.is_alphanumeric()).unwrap_or(rest.len());
    let name = &rest[..length];
    match rest[length..].chars().next().filter(|c| PRIMES.contains(c)) {
        Some(prime) => (Token::Primed(name), length + prime.len_utf8()),
        None => (Token::Word(name), length),
    }
}

/// How long a number is, with whatever letters stand at its end: those that mean nothing are told as part of it.
fn number(rest: &str) -> usize {
    let is_hex = rest.starts_with("0x") || rest.starts_with("0X");
    let mut last = ' ';
    for (at, c) in rest.char_indices() {
        let is_sign = matches!(c, '+' | '-') && matches!(last, 'e' | 'E') && !is_hex;
        if !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.') || is_sign) {
            return at;
        }
        last = c;
    }
    rest.len()
}

fn quoted(rest: &str, quote: char) -> (Token<'_>, usize) {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return (Token::OpenQuote, at),
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => {
                let inside = &rest[1..at];
                let token = if quote == '"' { Token::Text(inside) } else { Token::Char(inside) };
                return (token, at + 1);
            }
            _ => {}
        }
    }
    (Token::OpenQuote, rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut all = Vec::new();
        let mut at = 0;
        loop {
            let lexed = next(text, at);
            all.push(lexed.token);
            if lexed.token == Token::End {
                return all;
            }
            at = lexed.end;
        }
    }

    #[test]
    fn primes_and_characters() {
        assert_eq!(
            tokens("x'='a' y\u{2019}"),
            [Token::Primed("x"), Token::Mark("="), Token::Char("a"), Token::Primed("y"), Token::End]
        );
    }

    #[test]
    fn numbers() {
        for number in ["0", "0x1fL", "1_000", "1.5e-3f", ".5", "2d", "0x1e", "12abc"] {
            assert_eq!(tokens(number), [Token::Number(number), Token::End]);
        }
        assert_eq!(
            tokens("0x1e-3"),
            [Token::Number("0x1e"), Token::Mark("-"), Token::Number("3"), Token::End]
        );
        assert_eq!(tokens("1-3").len(), 4);
    }

    #[test]
    fn comments_and_quotes() {
        assert_eq!(tokens("/**/ a // b\n\"c\\\"\" "), [Token::Word("a"), Token::Text("c\\\""), Token::End]);
        assert_eq!(tokens("a /*/")[1], Token::OpenComment);
        assert_eq!(tokens("\"ab\nc"), [Token::OpenQuote, Token::Word("c"), Token::End]);
    }
}
