//! Lexer. Invalid text becomes a token as well, so that errors in the rest of a file are still found.

use super::spelling::{self, Keyword};
use super::{Binary, SyntaxError, Unary};
use std::ops::Range;

/// Kind of a token, with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name that is not a keyword.
    Name(String),
    /// A keyword that is a name where no operator can be.
    SoftKeyword(Keyword),
    /// An expression in double quotes.
    Expression(String),
    /// A reference to another formula or monitor.
    Reference(String),
    Constant(bool),
    Unary(Unary),
    Binary(Binary),
    /// A number; one that overflows is the maximum.
    Number(u64),
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    /// `,`, `:` or `..` between the ends of a bound.
    RangeSeparator,
    /// `∞`, the upper end of an unbounded operator.
    Infinity,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// `==`, which is not an operator of formulae.
    DoubleEquals,
    Equals,
    Semicolon,
    /// Invalid text.
    Invalid(Box<SyntaxError>),
}

/// Token with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

/// Tokens and comments of a text.
pub(super) struct TokenStream {
    pub(super) tokens: Vec<Token>,
    /// The positions of comments, without line ends.
    pub(super) comments: Vec<Range<usize>>,
}

/// Splits a text into tokens and comments.
pub(super) fn scan(text: &str) -> TokenStream {
    let (mut tokens, mut comments) = (Vec::new(), Vec::new());
    // Some editors write a byte order mark at the start of a file.
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let comment = rest.starts_with("//") || first == '#' && spelling::name_prefix(rest).is_empty();
        if comment {
            let end = at + rest.find('\n').unwrap_or(rest.len());
            comments.push(at..end);
            at = end;
        } else if first.is_whitespace() {
            at += first.len_utf8();
        } else {
            let (kind, length) = token(rest, at);
            tokens.push(Token { kind, span: at..at + length });
            at += length;
        }
    }
    TokenStream { tokens, comments }
}

/// Returns the token at the start of a text, and its length. The text is at offset `at` and does not start with white space.
fn token(text: &str, at: usize) -> (TokenKind, usize) {
    let first = text.chars().next().unwrap_or_default();
    match first {
        '"' => return string(text, at, TokenKind::Expression),
        '`' | '\'' => return string(text, at, TokenKind::Name),
        '@' => return reference(text, at),
        '0'..='9' => return number(text, at),
        '(' => return (TokenKind::Open, 1),
        ')' => return (TokenKind::Close, 1),
        _ => {}
    }
    let name = spelling::name_prefix(text);
    if !name.is_empty() {
        return name_or_keyword(name, text);
    }
    if let Some((keyword, length)) = spelling::symbol(text) {
        return (token_kind(keyword), length);
    }
    const MARKS: &[(&str, TokenKind)] = &[
        ("<=", TokenKind::LessEqual),
        (">=", TokenKind::GreaterEqual),
        ("≤", TokenKind::LessEqual),
        ("≥", TokenKind::GreaterEqual),
        ("..", TokenKind::RangeSeparator),
        ("∞", TokenKind::Infinity),
        ("[", TokenKind::OpenBracket),
        ("]", TokenKind::CloseBracket),
        (",", TokenKind::RangeSeparator),
        (":", TokenKind::RangeSeparator),
        ("<", TokenKind::Less),
        (">", TokenKind::Greater),
        ("==", TokenKind::DoubleEquals),
        ("=", TokenKind::Equals),
        (";", TokenKind::Semicolon),
    ];
    match MARKS.iter().find(|(mark, _)| text.starts_with(mark)) {
        Some((mark, kind)) => (kind.clone(), mark.len()),
        None => invalid(invalid_character(first, at), first.len_utf8()),
    }
}

fn invalid(error: SyntaxError, length: usize) -> (TokenKind, usize) {
    (TokenKind::Invalid(Box::new(error)), length)
}

fn token_kind(keyword: Keyword) -> TokenKind {
    match keyword {
        Keyword::Constant(value) => TokenKind::Constant(value),
        Keyword::Unary(operator) => TokenKind::Unary(operator),
        Keyword::Binary(operator) => TokenKind::Binary(operator),
    }
}

/// Classifies a name as keyword or name. An exclamation mark that follows may be part of a keyword.
fn name_or_keyword(name: &str, text: &str) -> (TokenKind, usize) {
    let marked = text.get(..name.len() + 1).filter(|marked| marked.ends_with('!'));
    if let Some((marked, keyword)) = marked.and_then(|marked| Some((marked, spelling::soft_keyword(marked)?)))
    {
        return (TokenKind::SoftKeyword(keyword), marked.len());
    }
    let kind = match (name, spelling::reserved_keyword(name), spelling::soft_keyword(name)) {
        (_, Some(keyword), _) => token_kind(keyword),
        (_, _, Some(keyword)) => TokenKind::SoftKeyword(keyword),
        _ => TokenKind::Name(name.to_owned()),
    };
    (kind, name.len())
}

fn number(text: &str, at: usize) -> (TokenKind, usize) {
    let length = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let rest = &text[length..];
    let after = rest.find(|letter| !spelling::is_name_continue(letter)).unwrap_or(rest.len());
    if after > 0 {
        let all = &text[..length + after];
        let error =
            SyntaxError::new(format!("a name cannot start with a digit: `{all}`"), at..at + all.len());
        return invalid(error.hint(format!("put it in single quotes: '{all}'")), all.len());
    }
    // Parsing fails only on overflow.
    (TokenKind::Number(text[..length].parse().unwrap_or(u64::MAX)), length)
}

fn reference(text: &str, at: usize) -> (TokenKind, usize) {
    let rest = &text[1..];
    if rest.starts_with(['`', '\'']) {
        let (kind, length) = string(rest, at + 1, TokenKind::Reference);
        return (kind, length + 1);
    }
    // A reference may start with digits.
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let length = match spelling::name_prefix(&rest[digits..]).len() {
        0 => digits,
        // A name does not start with a separator, so nothing is skipped.
        more => digits + more,
    };
    if length == 0 {
        return invalid(SyntaxError::expected(&["a name after `@`"], "none", at..at + 1), 1);
    }
    (TokenKind::Reference(rest[..length].to_owned()), length + 1)
}

/// Scans a text in quotes, up to the quote with which it starts.
fn string(text: &str, at: usize, kind: fn(String) -> TokenKind) -> (TokenKind, usize) {
    let mut letters = text.char_indices();
    let quote = letters.next().map_or('"', |(_, quote)| quote);
    let mut found = String::new();
    while let Some((offset, letter)) = letters.next() {
        match letter {
            _ if letter == quote => {
                let length = offset + quote.len_utf8();
                if found.is_empty() {
                    return invalid(SyntaxError::new("empty quotes", at..at + length), length);
                }
                return (kind(found), length);
            }
            '\n' => break,
            '\\' => match unescape(letters.as_str()) {
                Some((letter, length)) => {
                    found.push(letter);
                    // Skips the rest of the escape sequence.
                    let end = offset + 1 + length;
                    while letters.offset() < end && letters.next().is_some() {}
                }
                None => {
                    let end = letters.offset() + letters.as_str().chars().next().map_or(0, char::len_utf8);
                    let escape = &text[offset..end];
                    let error = SyntaxError::new(
                        format!("`{}` is not an escape sequence", escape.escape_debug()),
                        at + offset..at + end,
                    );
                    let line = text.find('\n').unwrap_or(text.len());
                    return invalid(error.hint("write a backslash as `\\\\`"), line);
                }
            },
            _ => found.push(letter),
        }
    }
    let line = text.find('\n').unwrap_or(text.len());
    let error = SyntaxError::new("the closing quote is missing on this line", at..at + quote.len_utf8());
    invalid(error, line)
}

/// Decodes the escape sequence after a backslash. Returns the character, and the length without the backslash.
fn unescape(text: &str) -> Option<(char, usize)> {
    let letter = match text.chars().next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        quote @ ('\\' | '"' | '\'' | '`') => quote,
        'u' => {
            let code = text.strip_prefix("u{")?;
            let code = &code[..code.find('}').filter(|length| (1..=6).contains(length))?];
            return Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, code.len() + 3));
        }
        _ => return None,
    };
    Some((letter, 1))
}

/// Whether a character is invisible.
pub(super) fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Returns the error for a character that cannot occur in a formula.
fn invalid_character(letter: char, at: usize) -> SyntaxError {
    let span = at..at + letter.len_utf8();
    let code = format!("U+{:04X}", u32::from(letter));
    let character = match letter {
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            format!("{code}, a text direction control,")
        }
        _ if is_invisible(letter) => format!("{code}, an invisible character,"),
        _ if letter.is_control() => format!("{code}, a control character,"),
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}' => format!("{code}, a combining mark without a base letter,"),
        _ => format!("`{letter}`"),
    };
    let error = SyntaxError::new(format!("{character} is not allowed in a formula"), span);
    match letter {
        '-' | '/' | '%' | '?' => error.hint("write expressions in double quotes"),
        _ => error,
    }
}

/// Returns a token as messages quote it.
pub(super) fn token_text(token: Option<&Token>, text: &str) -> String {
    const MAX_LENGTH: usize = 40;
    let Some(token) = token else { return "the end".to_owned() };
    let written = &text[token.span.clone()];
    match written.char_indices().nth(MAX_LENGTH) {
        Some((cut, _)) => format!("`{}…`", &written[..cut]),
        None => format!("`{written}`"),
    }
}
