//! Lexer for expressions.

use crate::value::error::ExpressionError;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    /// `'file.c'` or another quoted name.
    Quoted(String),
    Integer {
        value: u64,
        unsigned: bool,
        long: bool,
        decimal: bool,
    },
    Float(f64),
    Character(u8),
    Text(String),
    Register(String),
    Punctuation(&'static str),
    End,
}

/// Longer tokens come first, so that `<<` is not read as two `<`.
const PUNCTUATION: [&str; 33] = [
    "->", "::", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "(", ")", "[", "]", ".", "*", "&", "-", "+",
    "!", "~", "/", "%", "<", ">", "^", "|", "?", ":", "@", ",", "=", "#",
];

/// Splits a text into tokens with their positions. The last one is [`Token::End`].
pub(super) fn tokenize(text: &str) -> Result<Vec<(Token, usize)>, ExpressionError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.take_while(|c| c.is_whitespace());
        let start = lexer.at;
        // After `.`, a number is a field index, not a fraction: `pair.0.1`.
        let last = tokens.last().map(|(token, _)| token);
        let after_dot = matches!(last, Some(Token::Punctuation("." | "->")));
        // After an operand, a `.` does not start a number.
        let after_operand = matches!(
            last,
            Some(
                Token::Name(_)
                    | Token::Quoted(_)
                    | Token::Text(_)
                    | Token::Character(_)
                    | Token::Register(_)
                    | Token::Punctuation(")" | "]")
            )
        );
        let token = lexer.next(after_dot, after_operand)?;
        let end = token == Token::End;
        tokens.push((token, start));
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or("")
    }

    /// Takes up to `most` characters.
    fn take_at_most(&mut self, most: usize, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.chars().take(most).take_while(|&c| wanted(c)).map(char::len_utf8).sum();
        self.at += length;
        rest.get(..length).unwrap_or("")
    }

    fn next(&mut self, after_dot: bool, after_operand: bool) -> Result<Token, ExpressionError> {
        let start = self.at;
        let Some(first) = self.peek() else { return Ok(Token::End) };
        if after_dot && first.is_ascii_digit() {
            return Ok(Token::Name(self.take_while(|c| c.is_ascii_digit()).to_owned()));
        }
        let fraction =
            self.rest().strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if first.is_ascii_digit() || fraction && !after_operand {
            return self.number();
        }
        if is_name_start(first) {
            return Ok(Token::Name(self.take_while(is_name).to_owned()));
        }
        match first {
            '$' => {
                self.take();
                let name = self.take_while(is_name);
                if name.is_empty() {
                    return Err(ExpressionError::new(
                        start,
                        "expected the name of a register after `$`, as in `$rip`",
                    ));
                }
                return Ok(Token::Register(name.to_owned()));
            }
            '\'' => return self.quoted(),
            '"' => {
                self.take();
                let bytes = self.until('"', start)?;
                return match String::from_utf8(bytes) {
                    Ok(text) => Ok(Token::Text(text)),
                    Err(_) => Err(ExpressionError::new(start, "this string is not valid UTF-8")),
                };
            }
            _ => {}
        }
        for punctuation in PUNCTUATION {
            if self.rest().starts_with(punctuation) {
                self.at += punctuation.len();
                return Ok(Token::Punctuation(punctuation));
            }
        }
        Err(ExpressionError::new(start, format!("`{first}` has no meaning in an expression")))
    }

    fn quoted(&mut self) -> Result<Token, ExpressionError> {
        let start = self.at;
        self.take();
        let bytes = self.until('\'', start)?;
        match bytes.as_slice() {
            [] => Err(ExpressionError::new(start, "empty character literal")),
            [byte] => Ok(Token::Character(*byte)),
            _ => match String::from_utf8(bytes) {
                Ok(name) => Ok(Token::Quoted(name)),
                Err(_) => Err(ExpressionError::new(start, "the character literal has more than one byte")),
            },
        }
    }

    /// Takes the text up to a closing quote, with escapes replaced.
    fn until(&mut self, quote: char, start: usize) -> Result<Vec<u8>, ExpressionError> {
        let mut bytes = Vec::new();
        loop {
            match self.take() {
                None => return Err(ExpressionError::new(start, format!("the closing `{quote}` is missing"))),
                Some(c) if c == quote => return Ok(bytes),
                Some('\\') => bytes.push(self.escape()?),
                Some(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }

    fn escape(&mut self) -> Result<u8, ExpressionError> {
        let start = self.at;
        let wrong = || {
            ExpressionError::new(start, "unknown escape sequence")
                .remedy("supported are \\n \\t \\r \\0 \\\\ \\' \\\" \\xHH")
        };
        let c = self.take().ok_or_else(wrong)?;
        Ok(match c {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            'a' => 7,
            'b' => 8,
            'e' => 27,
            'f' => 12,
            'v' => 11,
            '\\' | '\'' | '"' | '?' => c as u8,
            'x' => {
                let digits = self.take_at_most(2, |c| c.is_ascii_hexdigit());
                u8::from_str_radix(digits, 16).map_err(|_| wrong())?
            }
            '0'..='7' => {
                self.at = start;
                let digits = self.take_at_most(3, |c| ('0'..='7').contains(&c));
                u8::from_str_radix(digits, 8).map_err(|_| wrong())?
            }
            _ => return Err(wrong()),
        })
    }

    fn number(&mut self) -> Result<Token, ExpressionError> {
        let start = self.at;
        let rest = self.rest();
        let (base, prefix) = match rest.as_bytes() {
            [b'0', b'x' | b'X', ..] => (16, 2),
            [b'0', b'b' | b'B', ..] => (2, 2),
            [b'0', b'0'..=b'7' | b'_', ..] => (8, 1),
            _ => (10, 0),
        };
        self.at += prefix;
        let mut digits = self.take_while(|c| c.is_digit(base.max(10)) || c == '_').replace('_', "");
        let fraction = self.rest().starts_with('.') && !self.rest().starts_with("..");
        let exponent = base != 16 && self.rest().starts_with(['e', 'E']);
        if base != 16 && base != 2 && (fraction || exponent) {
            return self.fraction(start);
        }
        if digits.is_empty() && base == 8 {
            digits.push('0');
        }
        let suffix = self.take_while(is_name);
        let value = u64::from_str_radix(&digits, base)
            .map_err(|_| ExpressionError::new(start, "not a number, or one of more than 64 bits"))?;
        let (unsigned, long) = match suffix {
            "" | "i32" | "i8" | "i16" => (false, false),
            "u8" | "u16" | "u32" => (true, false),
            "i64" | "isize" => (false, true),
            "u64" | "usize" => (true, true),
            "f" | "F" | "f32" | "f64" if base == 10 => return Ok(Token::Float(value as f64)),
            other => match other.to_ascii_lowercase().as_str() {
                "u" => (true, false),
                "l" | "ll" => (false, true),
                "ul" | "ull" | "lu" | "llu" | "z" | "uz" => (true, true),
                _ => return Err(ExpressionError::new(start, format!("`{other}` cannot follow a number"))),
            },
        };
        Ok(Token::Integer { value, unsigned, long, decimal: base == 10 })
    }

    fn fraction(&mut self, start: usize) -> Result<Token, ExpressionError> {
        self.at = start;
        let mut text = self.take_while(|c| c.is_ascii_digit() || c == '_').to_owned();
        if self.rest().starts_with('.') {
            self.take();
            text.push('.');
            text.push_str(self.take_while(|c| c.is_ascii_digit() || c == '_'));
        }
        if self.rest().starts_with(['e', 'E']) {
            self.take();
            text.push('e');
            if let Some(sign @ ('+' | '-')) = self.peek() {
                self.take();
                text.push(sign);
            }
            text.push_str(self.take_while(|c| c.is_ascii_digit()));
        }
        let suffix = self.take_while(is_name);
        let known = matches!(suffix, "" | "f" | "F" | "l" | "L" | "f32" | "f64");
        match text.replace('_', "").parse::<f64>() {
            Ok(value) if known && value.is_finite() => Ok(Token::Float(value)),
            _ => Err(ExpressionError::new(start, "not a number")),
        }
    }
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
