//! Scanner of the HOA format.

use super::ReadError;
use std::fmt;

/// Token of the HOA format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Name of a header item such as `Start:`, without the colon.
    Header(&'a str),
    Identifier(&'a str),
    /// Alias `@name`, without the `@`.
    Alias(&'a str),
    Number(u32),
    /// String literal, unescaped.
    String(String),
    /// One of `! & | ( ) [ ] { }`.
    Sign(char),
    /// `--BODY--`
    Body,
    /// `--END--`
    End,
    EndOfInput,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Header(name) => write!(f, "`{name}:`"),
            Token::Identifier(name) => write!(f, "`{name}`"),
            Token::Alias(name) => write!(f, "`@{name}`"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::String(_) => f.write_str("a string"),
            Token::Sign(sign) => write!(f, "`{sign}`"),
            Token::Body => f.write_str("`--BODY--`"),
            Token::End => f.write_str("`--END--`"),
            Token::EndOfInput => f.write_str("the end of the text"),
        }
    }
}

/// Scanner with one token of lookahead, the current token.
pub(super) struct Scanner<'a> {
    text: &'a str,
    token: Token<'a>,
    /// Offsets of the current token.
    at: usize,
    end: usize,
}

impl<'a> Scanner<'a> {
    /// Creates a scanner before the first token.
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, token: Token::EndOfInput, at: 0, end: 0 }
    }

    /// Returns the current token.
    pub(super) fn token(&self) -> &Token<'a> {
        &self.token
    }

    /// Returns the offset of the current token.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Fails at the current token.
    pub(super) fn error<T>(&self, message: impl Into<String>) -> Result<T, ReadError> {
        Err(ReadError::Syntax(self.at, message.into()))
    }

    /// Fails because the current token is not the expected one.
    pub(super) fn expected<T>(&self, expected: &str) -> Result<T, ReadError> {
        self.error(format!("expected {expected}, not {}", self.token))
    }

    /// Advances to the next token.
    pub(super) fn advance(&mut self) -> Result<(), ReadError> {
        self.skip_blank()?;
        let rest = &self.text[self.end..];
        self.at = self.end;
        let Some(first) = rest.chars().next() else {
            self.token = Token::EndOfInput;
            return Ok(());
        };
        match first {
            '"' => self.string(rest),
            '0'..='9' => self.number(rest),
            'a'..='z' | 'A'..='Z' | '_' => {
                let name = leading(rest, |c| is_identifier_char(c) || c == '.');
                self.end += name.len();
                self.token = Token::Identifier(name);
                if self.text[self.end..].starts_with(':') {
                    self.end += 1;
                    self.token = Token::Header(name);
                }
                Ok(())
            }
            '@' => {
                let name = leading(&rest[1..], is_identifier_char);
                if name.is_empty() {
                    return self.error("an alias needs a name: `@name`");
                }
                self.end += 1 + name.len();
                self.token = Token::Alias(name);
                Ok(())
            }
            '!' | '&' | '|' | '(' | ')' | '[' | ']' | '{' | '}' => {
                self.end += 1;
                self.token = Token::Sign(first);
                Ok(())
            }
            '-' => self.divider(rest),
            other => self.error(format!("unexpected {other:?}")),
        }
    }

    /// Consumes the current token if it is this sign.
    pub(super) fn take_sign(&mut self, sign: char) -> Result<bool, ReadError> {
        let is_current = self.token == Token::Sign(sign);
        if is_current {
            self.advance()?;
        }
        Ok(is_current)
    }

    /// Consumes this sign, or fails.
    pub(super) fn expect_sign(&mut self, sign: char) -> Result<(), ReadError> {
        if self.take_sign(sign)? { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    /// Consumes a number, or fails.
    pub(super) fn expect_number(&mut self, expected: &str) -> Result<u32, ReadError> {
        let Token::Number(number) = self.token else { return self.expected(expected) };
        self.advance()?;
        Ok(number)
    }

    /// Consumes the current token if it is a string.
    pub(super) fn take_string(&mut self) -> Result<Option<String>, ReadError> {
        let Token::String(text) = &mut self.token else { return Ok(None) };
        let text = std::mem::take(text);
        self.advance()?;
        Ok(Some(text))
    }

    /// Skips white space and comments, which may be nested.
    fn skip_blank(&mut self) -> Result<(), ReadError> {
        loop {
            let rest = &self.text[self.end..];
            let white = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            self.end += white;
            let rest = &rest[white..];
            if !rest.starts_with("/*") {
                return Ok(());
            }
            let (mut depth, mut at) = (0_usize, 0);
            loop {
                let inside = &rest.as_bytes()[at..];
                if inside.starts_with(b"/*") {
                    (depth, at) = (depth + 1, at + 2);
                } else if inside.starts_with(b"*/") {
                    (depth, at) = (depth - 1, at + 2);
                } else if inside.is_empty() {
                    return Err(ReadError::Syntax(self.end, "unterminated comment: `*/` is missing".into()));
                } else {
                    at += 1;
                }
                if depth == 0 {
                    break;
                }
            }
            self.end += at;
        }
    }

    fn string(&mut self, rest: &str) -> Result<(), ReadError> {
        let (mut text, mut escaped) = (String::new(), false);
        for (at, c) in rest.char_indices().skip(1) {
            match c {
                _ if escaped => {
                    text.push(c);
                    escaped = false;
                }
                '\\' => escaped = true,
                '"' => {
                    self.end += at + 1;
                    self.token = Token::String(text);
                    return Ok(());
                }
                _ => text.push(c),
            }
        }
        self.error("unterminated string: `\"` is missing")
    }

    fn number(&mut self, rest: &str) -> Result<(), ReadError> {
        let digits = leading(rest, |c| c.is_ascii_digit());
        match digits.parse::<u32>() {
            Ok(_) if digits.len() > 1 && digits.starts_with('0') => {
                self.error("a number cannot start with `0`")
            }
            Ok(number) if number < 1 << 31 => {
                self.end += digits.len();
                self.token = Token::Number(number);
                Ok(())
            }
            _ => self.error("number too large"),
        }
    }

    fn divider(&mut self, rest: &'a str) -> Result<(), ReadError> {
        let known = [("--BODY--", Some(Token::Body)), ("--END--", Some(Token::End)), ("--ABORT--", None)];
        let Some((name, token)) = known.into_iter().find(|(name, _)| rest.starts_with(name)) else {
            return self.error("unexpected `-`; expected `--BODY--`, `--END--` or `--ABORT--`");
        };
        self.end += name.len();
        self.token = token.ok_or(ReadError::Abort)?;
        Ok(())
    }
}

fn is_identifier_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn leading(text: &str, of: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !of(c)).unwrap_or(text.len())]
}
