//! From text to tokens. What cannot be read is a token, too, so that the rest of a file is still looked at.

use super::words::{self, Word};
use super::{Binary, Mistake, Unary};
use std::ops::Range;

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name that is no operator.
    Name(String),
    /// A word that is an operator or a name, as it fits.
    Soft(Word),
    /// An expression in double quotes.
    Expression(String),
    /// A reference to another formula or monitor.
    Reference(String),
    Constant(bool),
    Unary(Unary),
    Binary(Binary),
    /// A number; too large a one is the largest.
    Number(u64),
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    /// `,`, `:` or `..`, between the two ends of a bound.
    To,
    /// `∞`, the end of a bound that has none.
    Infinity,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// `==`, which is no operator of ours.
    Compare,
    Equals,
    Semicolon,
    /// What cannot be read.
    Bad(Box<Mistake>),
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
}

/// A text in tokens.
pub(super) struct Scanned {
    pub(super) tokens: Vec<Token>,
    /// Where comments are, without the ends of their lines.
    pub(super) comments: Vec<Range<usize>>,
}

/// Takes a text apart.
pub(super) fn scan(text: &str) -> Scanned {
    let (mut tokens, mut comments) = (Vec::new(), Vec::new());
    // Some editors begin a file with a byte order mark.
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let comment = rest.starts_with("//") || first == '#' && words::name(rest).is_empty();
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
    Scanned { tokens, comments }
}

/// The token at the beginning of a text, and its length. The text begins at `at`, and not with a space.
fn token(text: &str, at: usize) -> (Kind, usize) {
    let first = text.chars().next().unwrap_or_default();
    match first {
        '"' => return string(text, at, Kind::Expression),
        '`' | '\'' => return string(text, at, Kind::Name),
        '@' => return reference(text, at),
        '0'..='9' => return number(text, at),
        '(' => return (Kind::Open, 1),
        ')' => return (Kind::Close, 1),
        _ => {}
    }
    let name = words::name(text);
    if !name.is_empty() {
        return word(name, text);
    }
    if let Some((word, length)) = words::sign(text) {
        return (meaning(word), length);
    }
    const MARKS: &[(&str, Kind)] = &[
        ("<=", Kind::LessEqual),
        (">=", Kind::GreaterEqual),
        ("≤", Kind::LessEqual),
        ("≥", Kind::GreaterEqual),
        ("..", Kind::To),
        ("∞", Kind::Infinity),
        ("[", Kind::OpenBracket),
        ("]", Kind::CloseBracket),
        (",", Kind::To),
        (":", Kind::To),
        ("<", Kind::Less),
        (">", Kind::Greater),
        ("==", Kind::Compare),
        ("=", Kind::Equals),
        (";", Kind::Semicolon),
    ];
    match MARKS.iter().find(|(mark, _)| text.starts_with(mark)) {
        Some((mark, kind)) => (kind.clone(), mark.len()),
        None => bad(unreadable(first, at), first.len_utf8()),
    }
}

fn bad(mistake: Mistake, length: usize) -> (Kind, usize) {
    (Kind::Bad(Box::new(mistake)), length)
}

fn meaning(word: Word) -> Kind {
    match word {
        Word::Constant(value) => Kind::Constant(value),
        Word::Unary(operator) => Kind::Unary(operator),
        Word::Binary(operator) => Kind::Binary(operator),
    }
}

/// What a name is; a mark right after it may belong to it.
fn word(name: &str, text: &str) -> (Kind, usize) {
    let marked = text.get(..name.len() + 1).filter(|marked| marked.ends_with('!'));
    if let Some((marked, word)) = marked.and_then(|marked| Some((marked, words::soft(marked)?))) {
        return (Kind::Soft(word), marked.len());
    }
    let kind = match (name, words::reserved(name), words::soft(name)) {
        (_, Some(word), _) => meaning(word),
        (_, _, Some(word)) => Kind::Soft(word),
        _ => Kind::Name(name.to_owned()),
    };
    (kind, name.len())
}

fn number(text: &str, at: usize) -> (Kind, usize) {
    let length = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let rest = &text[length..];
    let after = rest.find(|letter| !words::continues_name(letter)).unwrap_or(rest.len());
    if after > 0 {
        let all = &text[..length + after];
        let mistake = Mistake::new(format!("a name cannot begin with a digit: `{all}`"), at..at + all.len());
        return bad(mistake.hint(format!("put it in single quotes: '{all}'")), all.len());
    }
    // Only too large a number is none.
    (Kind::Number(text[..length].parse().unwrap_or(u64::MAX)), length)
}

fn reference(text: &str, at: usize) -> (Kind, usize) {
    let rest = &text[1..];
    if rest.starts_with(['`', '\'']) {
        let (kind, length) = string(rest, at + 1, Kind::Reference);
        return (kind, length + 1);
    }
    // A reference may begin with a digit.
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let length = match words::name(&rest[digits..]).len() {
        0 => digits,
        // What joins names cannot stand after the digits, so nothing else was skipped.
        more => digits + more,
    };
    if length == 0 {
        return bad(Mistake::expected(&["a name after `@`"], "none", at..at + 1), 1);
    }
    (Kind::Reference(rest[..length].to_owned()), length + 1)
}

/// A text in the quotes with which it begins.
fn string(text: &str, at: usize, kind: fn(String) -> Kind) -> (Kind, usize) {
    let mut letters = text.char_indices();
    let quote = letters.next().map_or('"', |(_, quote)| quote);
    let mut found = String::new();
    while let Some((place, letter)) = letters.next() {
        match letter {
            _ if letter == quote => {
                let length = place + quote.len_utf8();
                if found.is_empty() {
                    return bad(Mistake::new("there is nothing between the quotes", at..at + length), length);
                }
                return (kind(found), length);
            }
            '\n' => break,
            '\\' => match escaped(letters.as_str()) {
                Some((letter, length)) => {
                    found.push(letter);
                    // Steps over what the escape is made of.
                    let end = place + 1 + length;
                    while letters.offset() < end && letters.next().is_some() {}
                }
                None => {
                    let end = letters.offset() + letters.as_str().chars().next().map_or(0, char::len_utf8);
                    let what = &text[place..end];
                    let mistake =
                        Mistake::new(format!("`{}` is no escape", what.escape_debug()), at + place..at + end);
                    let line = text.find('\n').unwrap_or(text.len());
                    return bad(mistake.hint("a backslash is written twice: `\\\\`"), line);
                }
            },
            _ => found.push(letter),
        }
    }
    let line = text.find('\n').unwrap_or(text.len());
    let mistake = Mistake::new("the quote is not closed on its line", at..at + quote.len_utf8());
    bad(mistake, line)
}

/// The letter that stands for an escape, after its backslash, and the length of the rest of the escape.
fn escaped(text: &str) -> Option<(char, usize)> {
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

/// Whether nobody can see it.
pub(super) fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// What is wrong with a letter that means nothing.
fn unreadable(letter: char, at: usize) -> Mistake {
    let span = at..at + letter.len_utf8();
    let code = format!("U+{:04X}", u32::from(letter));
    let what = match letter {
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            format!("{code}, which changes the direction of text,")
        }
        _ if is_invisible(letter) => format!("{code}, which cannot be seen,"),
        _ if letter.is_control() => format!("{code}, a control character,"),
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}' => format!("{code}, an accent without its letter,"),
        _ => format!("`{letter}`"),
    };
    let mistake = Mistake::new(format!("{what} means nothing in a formula"), span);
    match letter {
        '-' | '/' | '%' | '?' => mistake.hint("an expression over the subject stands in double quotes"),
        _ => mistake,
    }
}

/// A token as a message names it.
pub(super) fn shown(token: Option<&Token>, text: &str) -> String {
    const LONGEST: usize = 40;
    let Some(token) = token else { return "the end".to_owned() };
    let written = &text[token.span.clone()];
    match written.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("`{}…`", &written[..cut]),
        None => format!("`{written}`"),
    }
}
