//! Lexer of the property language: returns one token at a time.
//!
//! Tokens depend on their context: after `event`, `#join` is an event and `src/queue.c:12` a single name; elsewhere,
//! `#` starts a comment. The parser therefore passes the previous token when it requests the next one.

use invigil_monitor::predefined_event::PredefinedEvent;

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A word: keyword or name.
    Word(&'a str),
    /// `non-accepting`, with any kind of hyphen.
    NonAccepting,
    /// A run of digits.
    Number(&'a str),
    /// A predefined name such as `#join` or `#ecid`, without the `#`.
    Predefined(&'a str),
    /// Text in double quotes on a single line, without the quotes.
    Quoted(&'a str),
    /// `->`, `=>` or an arrow character.
    Arrow,
    /// Any other character.
    Mark(char),
    /// The end of the file.
    End,
}

/// A token with its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexed<'a> {
    pub(crate) token: Token<'a>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Names of the parameters that every event has.
pub(crate) const COMMON_PARAMS: [&str; 4] = ["ecid", "program", "thread", "time"];

/// Returns the names that do not start a comment when they follow `#` after the token `before`.
fn predefined_names_after(before: Token<'_>) -> &'static [&'static str] {
    match before {
        Token::Word("event" | "call" | "before" | "after" | "read" | "write" | "access") => {
            PredefinedEvent::WORDS
        }
        Token::Word("on") | Token::Mark(',' | '(' | '*' | '&' | '^') => &COMMON_PARAMS,
        _ => &[],
    }
}

/// Returns the token after `before`, which ends at `from`. Calls `comment` for each comment in between.
pub(crate) fn next<'a>(
    text: &'a str,
    before: Token<'a>,
    from: usize,
    mut comment: impl FnMut(usize, usize),
) -> Lexed<'a> {
    let mut start = from;
    loop {
        let rest = &text[start..];
        let Some(first) = rest.chars().next() else {
            return Lexed { token: Token::End, start, end: start };
        };
        if first.is_whitespace() || first == '\u{feff}' {
            start += first.len_utf8();
        } else if first == '#' {
            let word = word_at(&rest[1..]);
            if predefined_names_after(before).contains(&word) {
                return Lexed { token: Token::Predefined(word), start, end: start + 1 + word.len() };
            }
            let line = rest.find('\n').map_or(rest, |end| &rest[..end]).trim_end();
            comment(start, start + line.len());
            start += line.len();
        } else {
            let (token, length) = token_at(rest, first);
            return Lexed { token, start, end: start + length };
        }
    }
}

fn token_at(rest: &str, first: char) -> (Token<'_>, usize) {
    let word = word_at(rest);
    if word == "non" {
        let hyphen = rest[3..].chars().next().filter(|c| is_hyphen(*c)).map_or(0, char::len_utf8);
        if hyphen > 0 && word_at(&rest[3 + hyphen..]) == "accepting" {
            return (Token::NonAccepting, 3 + hyphen + "accepting".len());
        }
    }
    if first.is_ascii_digit() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        return (Token::Number(&rest[..digits]), digits);
    }
    if !word.is_empty() {
        return (Token::Word(word), word.len());
    }
    if first == '"'
        && let Some(length) = rest[1..].find(['"', '\n']).filter(|end| rest[1 + end..].starts_with('"'))
    {
        return (Token::Quoted(&rest[1..=length]), length + 2);
    }
    let second = rest[first.len_utf8()..].chars().next();
    if matches!(first, '→' | '⇒' | '⟶') {
        return (Token::Arrow, first.len_utf8());
    }
    if second == Some('>') && (first == '=' || is_hyphen(first)) {
        return (Token::Arrow, first.len_utf8() + 1);
    }
    (Token::Mark(first), first.len_utf8())
}

/// Returns the word at the start of `text`; empty if there is none.
pub(crate) fn word_at(text: &str) -> &str {
    let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &text[..end] }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a character is a hyphen, or a dash that editors put in its place.
pub(crate) fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}')
}

/// Returns the length of the event name at the start of `text`: a qualified function name, or a file and line.
pub(crate) fn event_name_length(text: &str) -> usize {
    const SYSCALL: &str = "syscall:";
    let is_syscall = text.strip_prefix(SYSCALL).is_some_and(|rest| rest.starts_with(is_word));
    let mut at = if is_syscall { SYSCALL.len() } else { 0 };
    loop {
        let rest = &text[at..];
        let Some(c) = rest.chars().next() else { return at };
        let after = rest[c.len_utf8()..].chars().next();
        at += match c {
            _ if is_word(c) || c == '$' || c == '@' => c.len_utf8(),
            '.' | '~' | '/' | '-' if after.is_some_and(|c| is_word(c) || "$~<./".contains(c)) => 1,
            ':' if after.is_some_and(|c| c.is_ascii_digit()) => 1,
            ':' if rest.starts_with("::") => 2,
            '<' => match template_length(rest) {
                0 => return at,
                length => length,
            },
            _ => return at,
        }
    }
}

/// Returns the length of the `<…>` at the start of `text`; 0 if it is not closed on its line.
fn template_length(text: &str) -> usize {
    let mut depth = 0u32;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            '(' | ')' | '{' | '}' | '\n' | '#' => return 0,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut found = Vec::new();
        let (mut before, mut at) = (Token::End, 0);
        loop {
            let lexed = next(text, before, at, |_, _| {});
            if lexed.token == Token::End {
                return found;
            }
            found.push(lexed.token);
            (before, at) = (lexed.token, lexed.end);
        }
    }

    #[test]
    fn words_marks_and_arrows_are_tokens() {
        use Token::{Arrow, Mark, NonAccepting, Number, Quoted, Word};
        assert_eq!(
            tokens("état non−accepting { 12 -> \"a b\" ⇒ x_1 \" }"),
            [
                Word("état"),
                NonAccepting,
                Mark('{'),
                Number("12"),
                Arrow,
                Quoted("a b"),
                Arrow,
                Word("x_1"),
                Mark('"'),
                Mark('}')
            ]
        );
    }

    #[test]
    fn number_sign_starts_comment_unless_predefined_name_is_expected() {
        use Token::{Mark, Predefined, Word};
        assert_eq!(tokens("event #join(#ecid as e)").len(), 7);
        assert_eq!(tokens("event #join")[1], Predefined("join"));
        assert_eq!(tokens("event #joined\nf"), [Word("event"), Word("f")]);
        assert_eq!(tokens("} #time to leave\n{"), [Mark('}'), Mark('{')]);
        assert_eq!(tokens("a, #thread"), [Word("a"), Mark(','), Predefined("thread")]);
    }

    #[test]
    fn event_name_length_covers_qualified_names() {
        for name in [
            "queue_push",
            "RaftConsensus.becomeLeader",
            "ns::f",
            "src/queue.c:12",
            "Queue<int>::~Queue",
            "a.B.<init>",
            "malloc@plt",
            "my-file.rs:7",
            "syscall:openat",
        ] {
            for after in ["", "(q)", " {", ": int", "->x", "\n"] {
                assert_eq!(event_name_length(&format!("{name}{after}")), name.len(), "{name}{after}");
            }
        }
        assert_eq!(event_name_length("f<"), 1);
    }
}
