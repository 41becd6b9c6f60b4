//! The words of the format.

use super::Stop;
use std::fmt;

/// A word, or a sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `Start:`, without the colon.
    Header(&'a str),
    Identifier(&'a str),
    /// `@name`, without the sign.
    Alias(&'a str),
    Number(u32),
    Text(String),
    /// One of `! & | ( ) [ ] { }`.
    Sign(char),
    /// `--BODY--`
    Body,
    /// `--END--`
    End,
    /// There is no more.
    Nothing,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Header(name) => write!(f, "`{name}:`"),
            Token::Identifier(name) => write!(f, "`{name}`"),
            Token::Alias(name) => write!(f, "`@{name}`"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Text(_) => f.write_str("a text in quotes"),
            Token::Sign(sign) => write!(f, "`{sign}`"),
            Token::Body => f.write_str("`--BODY--`"),
            Token::End => f.write_str("`--END--`"),
            Token::Nothing => f.write_str("the end of the text"),
        }
    }
}

/// Reads token by token. It stands on one, and knows where that begins.
pub(super) struct Reader<'a> {
    text: &'a str,
    token: Token<'a>,
    at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    /// Before the first token.
    pub(super) fn new(text: &'a str) -> Reader<'a> {
        Reader { text, token: Token::Nothing, at: 0, end: 0 }
    }

    /// The token it stands on.
    pub(super) fn token(&self) -> &Token<'a> {
        &self.token
    }

    /// Where that token begins.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Something is wrong with the token it stands on.
    pub(super) fn wrong<T>(&self, what: impl Into<String>) -> Result<T, Stop> {
        Err(Stop::Mistake(self.at, what.into()))
    }

    /// Something else should stand here.
    pub(super) fn expected<T>(&self, what: &str) -> Result<T, Stop> {
        self.wrong(format!("expected {what}, not {}", self.token))
    }

    /// Goes on to the next token.
    pub(super) fn advance(&mut self) -> Result<(), Stop> {
        self.skip()?;
        let rest = &self.text[self.end..];
        self.at = self.end;
        let Some(first) = rest.chars().next() else {
            self.token = Token::Nothing;
            return Ok(());
        };
        match first {
            '"' => self.string(rest),
            '0'..='9' => self.number(rest),
            'a'..='z' | 'A'..='Z' | '_' => {
                let name = leading(rest, |c| is_inner(c) || c == '.');
                self.end += name.len();
                self.token = Token::Identifier(name);
                if self.text[self.end..].starts_with(':') {
                    self.end += 1;
                    self.token = Token::Header(name);
                }
                Ok(())
            }
            '@' => {
                let name = leading(&rest[1..], is_inner);
                if name.is_empty() {
                    return self.wrong("an alias needs a name: `@name`");
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
            other => self.wrong(format!("{other:?} has no meaning here")),
        }
    }

    /// If it stands on this sign, goes on.
    pub(super) fn sign(&mut self, sign: char) -> Result<bool, Stop> {
        let here = self.token == Token::Sign(sign);
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    /// This sign must stand here.
    pub(super) fn must(&mut self, sign: char) -> Result<(), Stop> {
        if self.sign(sign)? { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    /// A number must stand here.
    pub(super) fn must_number(&mut self, what: &str) -> Result<u32, Stop> {
        let Token::Number(number) = self.token else { return self.expected(what) };
        self.advance()?;
        Ok(number)
    }

    /// If it stands on a text in quotes, takes it.
    pub(super) fn text(&mut self) -> Result<Option<String>, Stop> {
        let Token::Text(text) = &mut self.token else { return Ok(None) };
        let text = std::mem::take(text);
        self.advance()?;
        Ok(Some(text))
    }

    /// White space and comments, which may stand in each other.
    fn skip(&mut self) -> Result<(), Stop> {
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
                    return Err(Stop::Mistake(self.end, "this comment has no end: `*/`".into()));
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

    fn string(&mut self, rest: &str) -> Result<(), Stop> {
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
                    self.token = Token::Text(text);
                    return Ok(());
                }
                _ => text.push(c),
            }
        }
        self.wrong("this text has no end: `\"`")
    }

    fn number(&mut self, rest: &str) -> Result<(), Stop> {
        let digits = leading(rest, |c| c.is_ascii_digit());
        match digits.parse::<u32>() {
            Ok(_) if digits.len() > 1 && digits.starts_with('0') => {
                self.wrong("a number does not begin with `0`")
            }
            Ok(number) if number < 1 << 31 => {
                self.end += digits.len();
                self.token = Token::Number(number);
                Ok(())
            }
            _ => self.wrong("this number is too large"),
        }
    }

    fn divider(&mut self, rest: &'a str) -> Result<(), Stop> {
        let known = [("--BODY--", Some(Token::Body)), ("--END--", Some(Token::End)), ("--ABORT--", None)];
        let Some((name, token)) = known.into_iter().find(|(name, _)| rest.starts_with(name)) else {
            return self.wrong("`-` has no meaning here; expected `--BODY--`, `--END--` or `--ABORT--`");
        };
        self.end += name.len();
        self.token = token.ok_or(Stop::Abort)?;
        Ok(())
    }
}

fn is_inner(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn leading(text: &str, of: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !of(c)).unwrap_or(text.len())]
}
