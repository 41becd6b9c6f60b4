//! Lexer for Python code that recognises strings, comments and brackets only.
//!
//! That suffices to find the end of a block and to re-indent its lines. String prefixes need no treatment: even in a
//! raw string, a backslash keeps a quote from ending it. Replacement fields of f-strings are part of the string.

/// The kind of a [`Lexeme`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LexemeKind {
    /// `(`, `[` or `{`.
    Open(u8),
    /// `)`, `]` or `}`.
    Close(u8),
    /// A whole string literal without its prefix.
    String,
    /// The opening quotes of an unclosed string. Lexing continues after them.
    UnclosedString,
    /// From `#` to the end of the line.
    Comment,
    /// A line end without a backslash before it.
    LineEnd,
    /// A backslash at the end of a line, with the line end.
    Continuation,
    /// Anything else.
    Code,
}

/// A range of Python code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub(crate) kind: LexemeKind,
    /// Offset of the first byte.
    pub(crate) start: usize,
    /// Offset after the last byte.
    pub(crate) end: usize,
}

/// Returns the lexemes of `text` from `start` on. Linear in the bytes consumed.
pub(crate) fn lexemes(text: &str, start: usize) -> Lexemes<'_> {
    Lexemes { bytes: text.as_bytes(), at: start, plain_quotes_until: 0, never_closed: [false; 2] }
}

/// The iterator returned by [`lexemes`].
pub(crate) struct Lexemes<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Quotes before this offset are lexed as code, so that brackets after an unclosed string on its line are still found.
    plain_quotes_until: usize,
    /// Whether `'''` and `"""` are known to have no closing counterpart ahead.
    never_closed: [bool; 2],
}

impl Iterator for Lexemes<'_> {
    type Item = Lexeme;

    fn next(&mut self) -> Option<Lexeme> {
        let start = self.at;
        let first = *self.bytes.get(start)?;
        let (kind, end) = match first {
            b'(' | b'[' | b'{' => (LexemeKind::Open(first), start + 1),
            b')' | b']' | b'}' => (LexemeKind::Close(first), start + 1),
            b'\n' => (LexemeKind::LineEnd, start + 1),
            b'#' => (LexemeKind::Comment, self.line_end(start)),
            b'\\' => match self.escaped_line_end(start) {
                Some(end) => (LexemeKind::Continuation, end),
                None => (LexemeKind::Code, start + 1),
            },
            b'"' | b'\'' if start >= self.plain_quotes_until => self.string(start, first),
            b'"' | b'\'' => (LexemeKind::Code, start + 1),
            _ => {
                let length = self.bytes[start..].iter().take_while(|b| !is_special(**b)).count();
                (LexemeKind::Code, start + length)
            }
        };
        self.at = end;
        Some(Lexeme { kind, start, end })
    }
}

impl Lexemes<'_> {
    /// Returns the end of the line that contains `from`, before its `\n`.
    fn line_end(&self, from: usize) -> usize {
        self.bytes[from..].iter().position(|b| *b == b'\n').map_or(self.bytes.len(), |n| from + n)
    }

    /// Returns the start of the next line if the backslash at `at` ends its line.
    fn escaped_line_end(&self, at: usize) -> Option<usize> {
        match self.bytes[at + 1..] {
            [b'\n', ..] => Some(at + 2),
            [b'\r', b'\n', ..] => Some(at + 3),
            _ => None,
        }
    }

    fn string(&mut self, start: usize, quote: u8) -> (LexemeKind, usize) {
        let triple = self.bytes[start..].starts_with(&[quote; 3]);
        let kind = usize::from(quote == b'"');
        let text_start = start + if triple { 3 } else { 1 };
        let is_known_unclosed = triple && self.never_closed[kind];
        let mut line_end_at = self.line_end(start);
        if !is_known_unclosed {
            match self.string_end(text_start, quote, triple) {
                Ok(end) => return (LexemeKind::String, end),
                Err(_) if triple => self.never_closed[kind] = true,
                Err(at) => line_end_at = at,
            }
        }
        self.plain_quotes_until = line_end_at;
        (LexemeKind::UnclosedString, text_start)
    }

    /// Returns the offset after the closing quotes of the string whose text starts at `at`; as an error, the offset by
    /// which it should have been closed.
    fn string_end(&self, mut at: usize, quote: u8, triple: bool) -> Result<usize, usize> {
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at = self.escaped_line_end(at).unwrap_or(at + 2),
                b'\n' if !triple => return Err(at),
                _ if byte == quote && !triple => return Ok(at + 1),
                _ if byte == quote && self.bytes[at..].starts_with(&[quote; 3]) => return Ok(at + 3),
                _ => at += 1,
            }
        }
        Err(self.bytes.len())
    }
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'(' | b'[' | b'{' | b')' | b']' | b'}' | b'\n' | b'#' | b'\\' | b'"' | b'\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(text: &str) -> Vec<&str> {
        let strings = lexemes(text, 0).filter(|l| l.kind == LexemeKind::String);
        strings.map(|l| &text[l.start..l.end]).collect()
    }

    #[test]
    fn string_literals_are_single_lexemes() {
        assert_eq!(strings(r#"a = 'it' + "b\"}" "#), ["'it'", r#""b\"}""#]);
        assert_eq!(strings("x = \"\"\"a\n\"b\" }\n\"\"\" + ''"), ["\"\"\"a\n\"b\" }\n\"\"\"", "''"]);
        assert_eq!(strings(r"r'\'' + b'\\'"), [r"'\''", r"'\\'"]);
        assert_eq!(strings("'a\\\nb'"), ["'a\\\nb'"]);
        assert_eq!(strings("'a\\\r\nb'"), ["'a\\\r\nb'"]);
        assert_eq!(strings("# it's a comment\n'x'"), ["'x'"]);
    }

    #[test]
    fn unclosed_string_does_not_hide_following_brackets() {
        let found: Vec<LexemeKind> = lexemes("print('oops }\n{", 0).map(|l| l.kind).collect();
        assert_eq!(
            found,
            [
                LexemeKind::Code,
                LexemeKind::Open(b'('),
                LexemeKind::UnclosedString,
                LexemeKind::Code,
                LexemeKind::Close(b'}'),
                LexemeKind::LineEnd,
                LexemeKind::Open(b'{'),
            ]
        );
        assert!(lexemes("x = '''never", 0).any(|l| l.kind == LexemeKind::UnclosedString));
        assert!(lexemes("'\\", 0).any(|l| l.kind == LexemeKind::UnclosedString));
    }

    #[test]
    fn many_unclosed_strings_are_lexed_in_linear_time() {
        for piece in ["\\\"", "'''\\\n", "\\'\\\n", "\"\n", "'\"'\n"] {
            assert!(lexemes(&piece.repeat(200_000), 0).count() > 0);
        }
    }

    #[test]
    fn lexemes_cover_the_text_without_gaps() {
        let text = "if x:  # why\n    y = {'a': [1, 2]} \\\n      + 3\r\n";
        let mut at = 0;
        for lexeme in lexemes(text, 0) {
            assert_eq!(lexeme.start, at);
            assert!(lexeme.end > at);
            at = lexeme.end;
        }
        assert_eq!(at, text.len());
    }
}
