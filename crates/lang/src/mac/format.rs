//! Formats a script without losing a comment.
//!
//! The same tokens are laid out again in the same order, with the comments between them. Only semicolons are
//! regenerated: one after every statement.

use super::scan;
use crate::parsing::cursor::Token;
use invigil_monitor::mac::Type;

/// The offsets of the statements of a valid script, and of its closing keyword.
#[derive(Default)]
pub(crate) struct Layout {
    pub(crate) starts: Vec<usize>,
    pub(crate) end: usize,
}

/// The indentation of statements.
const STATEMENT_INDENT: usize = 4;
/// The indentation of continuation lines, and of the updates of a multi-line guard.
const INNER_INDENT: usize = 8;

/// Words that are not operands: a parenthesis or sign after them belongs to what follows.
const JOINING: [&str; 5] = ["when", "print", "in", "not", "invoke"];

/// Formats a script.
pub(crate) fn format(text: &str, layout: &Layout) -> String {
    let words = words(text, layout);
    let mut printer = Printer {
        text,
        words: &words,
        out: String::new(),
        is_fresh: true,
        has_statements: false,
        depth: 0,
        is_multiline_guard: false,
    };
    let mut from = 0;
    for at in 0..words.len() {
        let gap = &text[from..words[at].start];
        from = words[at].end;
        printer.word(at, gap);
    }
    printer.comments(&text[from..], 0);
    let mut out = printer.out.trim_end().to_owned();
    out.push('\n');
    out
}

/// A token of the script.
struct FormatToken<'a> {
    token: Token<'a>,
    start: usize,
    end: usize,
    context: TokenContext,
}

/// The context of a token.
#[derive(Clone, Copy, PartialEq)]
enum TokenContext {
    /// At the start of the script.
    Opening,
    /// At the start of a statement.
    Statement,
    /// Anywhere else in the script.
    Inside,
    /// At the end of the script.
    Closing,
}

fn words<'a>(text: &'a str, layout: &Layout) -> Vec<FormatToken<'a>> {
    let mut words: Vec<FormatToken<'a>> = Vec::new();
    let mut starts = layout.starts.iter().peekable();
    let mut is_declaration = false;
    let mut at = 0;
    loop {
        let lexed = scan::next(text, at);
        if lexed.token == Token::End {
            return words;
        }
        at = lexed.end;
        let context = match lexed.start {
            start if starts.next_if_eq(&&start).is_some() => {
                is_declaration = matches!(lexed.token, Token::Word("monobj" | "monmeth"));
                TokenContext::Statement
            }
            start if start == layout.end => TokenContext::Closing,
            _ if words.is_empty() => TokenContext::Opening,
            _ => TokenContext::Inside,
        };
        let (start, end) = (lexed.start, lexed.end);
        // `x<-1` is a comparison, except in a declaration with an alias.
        if lexed.token == Token::Mark("<-") && !is_declaration {
            words.push(FormatToken { token: Token::Mark("<"), start, end: start + 1, context });
            words.push(FormatToken {
                token: Token::Mark("-"),
                start: start + 1,
                end,
                context: TokenContext::Inside,
            });
        } else {
            words.push(FormatToken { token: lexed.token, start, end, context });
        }
    }
}

struct Printer<'a> {
    text: &'a str,
    words: &'a [FormatToken<'a>],
    out: String,
    /// Whether the current line is empty.
    is_fresh: bool,
    /// Whether a statement has been printed.
    has_statements: bool,
    /// The number of open braces.
    depth: usize,
    /// Whether the current guard spans several lines.
    is_multiline_guard: bool,
}

impl Printer<'_> {
    fn token(&self, at: usize) -> Option<Token<'_>> {
        self.words.get(at).map(|word| word.token)
    }

    fn word(&mut self, at: usize, gap: &str) {
        let word = &self.words[at];
        if word.token == Token::Mark(";") {
            // The semicolon has been printed already; the next token starts a statement.
            self.comments(gap, self.continuation_indent() - STATEMENT_INDENT);
            return;
        }
        self.has_statements |= word.context == TokenContext::Statement;
        let begins = self.begins_update(at) || word.token == Token::Mark("}") && self.is_multiline_guard;
        let indent = match (word.context, word.token) {
            (TokenContext::Opening | TokenContext::Closing, _) => 0,
            (TokenContext::Statement, _) | (_, Token::Mark("}")) => STATEMENT_INDENT,
            _ if begins => INNER_INDENT,
            _ => self.continuation_indent(),
        };
        let is_new = word.context != TokenContext::Inside || begins;
        // Comments before the end of the script are indented like its statements.
        let inner = if word.context == TokenContext::Closing { STATEMENT_INDENT } else { indent };
        let inner = if word.token == Token::Mark("}") { INNER_INDENT } else { inner };
        let tail = self.comments(gap, inner);
        let sticks = matches!(word.token, Token::Mark("," | ")" | "]"));
        let breaks = tail.contains('\n')
            && !sticks
            && self.token(at.wrapping_sub(1)) != Some(Token::Word(self.opening()));
        if is_new || breaks {
            let after_blank_line = word.context == TokenContext::Statement && is_blank(tail);
            self.line(indent, after_blank_line);
        } else if self.is_fresh {
            self.indent(indent);
        } else if self.has_space_before(at) {
            self.out.push(' ');
        }
        self.print(at);
    }

    /// The token that opens the script.
    fn opening(&self) -> &str {
        match self.words.first().map(|word| word.token) {
            Some(Token::Word(word)) => word,
            _ => "",
        }
    }

    /// The indentation of continuation lines.
    fn continuation_indent(&self) -> usize {
        if self.depth > 0 { INNER_INDENT + STATEMENT_INDENT } else { INNER_INDENT }
    }

    fn print(&mut self, at: usize) {
        let word = &self.words[at];
        match word.token {
            Token::Primed(name) => {
                self.out.push_str(name);
                self.out.push('\'');
            }
            Token::Word(_) if word.context == TokenContext::Closing => self.out.push_str("End"),
            _ => self.out.push_str(&self.text[word.start..word.end]),
        }
        self.is_fresh = false;
        match word.token {
            Token::Mark("{") => {
                self.depth += 1;
                self.is_multiline_guard = self.spans_lines(at);
            }
            Token::Mark("}") => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.needs_semicolon(at) {
            self.out.push(';');
        }
    }

    /// Whether a semicolon follows a token.
    fn needs_semicolon(&self, at: usize) -> bool {
        let word = &self.words[at];
        if matches!(word.token, Token::Mark("{" | "}")) || matches!(word.context, TokenContext::Closing) {
            return false;
        }
        if self.depth > 0 {
            return matches!(self.token(at + 1), Some(Token::Mark(";" | "}")));
        }
        let next = self.words[at + 1..].iter().find(|next| next.token != Token::Mark(";"));
        self.has_statements && next.is_none_or(|next| next.context != TokenContext::Inside)
    }

    /// Whether a token starts an update of a multi-line guard.
    fn begins_update(&self, at: usize) -> bool {
        self.depth > 0
            && self.is_multiline_guard
            && at > 0
            && self.words[at].token != Token::Mark("}")
            && matches!(self.words[at - 1].token, Token::Mark("{" | ";"))
    }

    /// Whether the braces that open at a token span several lines.
    fn spans_lines(&self, at: usize) -> bool {
        let close = self.words[at..].iter().find(|word| word.token == Token::Mark("}"));
        close.is_some_and(|close| self.text[self.words[at].end..close.start].contains('\n'))
    }

    /// Starts a line.
    fn line(&mut self, indent: usize, after_blank_line: bool) {
        if !self.is_fresh {
            self.out.push('\n');
        }
        if after_blank_line && !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
        self.indent(indent);
    }

    fn indent(&mut self, indent: usize) {
        self.out.push_str(&" ".repeat(indent));
        self.is_fresh = false;
    }

    /// Prints the comments between two tokens; returns the text after the last one.
    fn comments<'g>(&mut self, gap: &'g str, indent: usize) -> &'g str {
        let mut rest = gap;
        // Between tokens there are only blanks and comments.
        while let Some(start) = rest.find('/') {
            let (before, comment) = rest.split_at(start);
            let to_line_end = comment.starts_with("//");
            let end = match to_line_end {
                true => comment.find('\n').unwrap_or(comment.len()),
                false => comment[2..].find("*/").map_or(comment.len(), |end| end + 4),
            };
            let is_own = before.contains('\n') || self.is_fresh;
            if is_own {
                self.line(indent, is_blank(before));
            } else {
                self.out.push_str(if to_line_end { "  " } else { " " });
            }
            self.out.push_str(comment[..end].trim_end());
            rest = &comment[end..];
            let ends_line = rest.split_once('\n').is_some_and(|(blank, _)| blank.trim().is_empty());
            if to_line_end || is_own && ends_line {
                self.out.push('\n');
                self.is_fresh = true;
            }
        }
        rest
    }

    /// Whether a space precedes a token.
    fn has_space_before(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        let (last, now) = (self.words[before].token, self.words[at].token);
        match (last, now) {
            (_, Token::Mark("," | ")" | "]")) => false,
            (_, Token::Mark("." | "::")) | (Token::Mark("." | "::" | "(" | "["), _) => false,
            _ if self.is_sign(before) => false,
            (_, Token::Mark("[")) => self.token(at + 1) != Some(Token::Mark("]")),
            // `A.<init>(int)`
            _ if self.is_constructor(at) => false,
            (Token::Mark(">"), Token::Mark("(")) => !self.is_constructor(before),
            (Token::Word(word), Token::Mark("(")) => JOINING.contains(&word),
            _ => true,
        }
    }

    /// Whether a token is the name in `<init>`, or the mark after it.
    fn is_constructor(&self, at: usize) -> bool {
        let is_opened = |at: usize| {
            at >= 2
                && self.words[at - 1].token == Token::Mark("<")
                && matches!(self.words[at - 2].token, Token::Mark("."))
        };
        is_opened(at) || at > 0 && self.words[at].token == Token::Mark(">") && is_opened(at - 1)
    }

    /// Whether a token is a prefix operator.
    fn is_sign(&self, at: usize) -> bool {
        match self.words[at].token {
            Token::Mark("!" | "~") => true,
            Token::Mark("+" | "-") => !at.checked_sub(1).is_some_and(|before| self.is_operand(before)),
            _ => false,
        }
    }

    fn is_operand(&self, at: usize) -> bool {
        match self.words[at].token {
            Token::Word(word) => !JOINING.contains(&word),
            Token::Primed(_) | Token::Number(_) | Token::Text(_) | Token::Char(_) | Token::Mark("]") => true,
            Token::Mark(")") => !self.is_cast(at),
            _ => false,
        }
    }

    /// Whether a parenthesis closes a cast such as `(int)`, not a parameter list.
    fn is_cast(&self, close: usize) -> bool {
        let Some(open) = close.checked_sub(2) else { return false };
        let is_type =
            matches!(self.words[open + 1].token, Token::Word(word) if Type::from_word(word).is_some());
        let is_list = open > 0 && self.is_operand(open - 1);
        self.words[open].token == Token::Mark("(") && is_type && !is_list
    }
}

/// Whether the blanks contain an empty line.
fn is_blank(blanks: &str) -> bool {
    blanks.matches('\n').count() > 1
}
