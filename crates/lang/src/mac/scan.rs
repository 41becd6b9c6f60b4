//! Lexer of PEDL and MEDL: Java's tokens, and names with a prime.

use crate::parsing::cursor::{self, Lexed, Token};

/// Longer marks precede their prefixes.
const MARKS: [&str; 42] = [
    ">>>", "<->", "->", "<-", "=>", ":=", "::", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "{", "}",
    "[", "]", "(", ")", ",", ";", ":", ".", "?", "!", "=", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">",
    "~", "@", "#", "\\",
];

/// The characters accepted as a prime; word processors replace the ASCII one.
const PRIMES: [char; 3] = ['\'', '\u{2019}', '\u{2032}'];

/// Returns the first token at or after offset `from`.
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

/// Returns the length of a number including trailing letters; invalid suffixes are reported as part of it.
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
            '\n' => return (Token::UnclosedQuote, at),
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
    (Token::UnclosedQuote, rest.len())
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
    fn primes_are_distinguished_from_characters() {
        assert_eq!(
            tokens("x'='a' y\u{2019}"),
            [Token::Primed("x"), Token::Mark("="), Token::Char("a"), Token::Primed("y"), Token::End]
        );
    }

    #[test]
    fn numbers_include_suffixes() {
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
    fn unclosed_comments_and_quotes_are_tokens() {
        assert_eq!(tokens("/**/ a // b\n\"c\\\"\" "), [Token::Word("a"), Token::Text("c\\\""), Token::End]);
        assert_eq!(tokens("a /*/")[1], Token::UnclosedComment);
        assert_eq!(tokens("\"ab\nc"), [Token::UnclosedQuote, Token::Word("c"), Token::End]);
    }
}
