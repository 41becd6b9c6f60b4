//! Lexer of the modelling language.

use invigil_expr::diag::{Diagnostic, SourceId, Span};

/// Longer files are rejected: they are probably not models.
pub(super) const MAX_BYTES: usize = 4 << 20;

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A word: keyword or name.
    Word(&'a str),
    /// A number.
    Number(i64),
    /// Text in double quotes on a single line, without the quotes.
    Quoted(&'a str),
    /// An operator, a bracket, or any other character.
    Mark(&'a str),
    /// The end of the text.
    End,
}

/// A token with its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexed<'a> {
    pub(super) token: Token<'a>,
    pub(super) span: Span,
    /// Whether it is the first token on its line.
    pub(super) starts_line: bool,
}

/// Marks of several characters.
const LONG_MARKS: [&str; 20] = [
    "..", "->", "→", "=>", "⇒", "<=", "≤", ">=", "≥", "==", "!=", "≠", "&&", "||", "<<", ">>", "+=", "-=",
    "++", "--",
];

/// Returns all tokens of a text, including the end, and the lexical errors.
pub(super) fn tokens(source: SourceId, text: &str) -> (Vec<Lexed<'_>>, Vec<Diagnostic>) {
    let (mut found, mut diagnostics) = (Vec::new(), Vec::new());
    let span = |start: usize, end: usize| Span::new(source, start as u32, end as u32);
    let (mut at, mut starts_line) = (0, true);
    if text.len() > MAX_BYTES {
        let message = format!("the file is too large for a model ({} MiB)", text.len() >> 20);
        diagnostics.push(Diagnostic::error(span(0, 0), message).label("not parsed"));
        at = text.len();
    }
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        starts_line |= first == '\n';
        if first.is_whitespace() || first == '\u{feff}' {
            at += first.len_utf8();
            continue;
        }
        if first == '#' || rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (token, length) = token_at(rest, first);
        let place = span(at, at + length);
        match token {
            Some(token) => found.push(Lexed { token, span: place, starts_line }),
            None => {
                if diagnostics.len() < 20 {
                    let diagnostic = Diagnostic::error(place, "this number is too large");
                    diagnostics.push(diagnostic.label("more than 63 bits"));
                }
                found.push(Lexed { token: Token::Number(0), span: place, starts_line });
            }
        }
        at += length;
        starts_line = false;
    }
    let end = text.len();
    found.push(Lexed { token: Token::End, span: span(end, end), starts_line });
    (found, diagnostics)
}

/// Returns the token at the start of `rest`; `None` for a number that is too large.
fn token_at(rest: &str, first: char) -> (Option<Token<'_>>, usize) {
    let run = |is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
    if first.is_ascii_digit() {
        if let Some(hex) = rest.strip_prefix("0x") {
            let length = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
            let number = i64::from_str_radix(&hex[..length], 16).ok();
            return (number.map(Token::Number), 2 + length);
        }
        let length = run(|c| c.is_ascii_digit());
        return (rest[..length].parse().ok().map(Token::Number), length);
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if is_word(first) {
        let length = run(is_word);
        return (Some(Token::Word(&rest[..length])), length);
    }
    if first == '"'
        && let Some(length) = rest[1..].find(['"', '\n']).filter(|end| rest[1 + end..].starts_with('"'))
    {
        return (Some(Token::Quoted(&rest[1..=length])), length + 2);
    }
    if let Some(mark) = LONG_MARKS.iter().find(|mark| rest.starts_with(**mark)) {
        return (Some(Token::Mark(mark)), mark.len());
    }
    let length = first.len_utf8();
    (Some(Token::Mark(&rest[..length])), length)
}
