//! Blocks of Python inside users' files: dedents them and maps positions back to the file.
//!
//! A block may start on the line of its brace or on the next one, and its lines are indented for readability.
//! [`dedent`] turns it into a program that starts in column zero and records where each line came from, so that
//! a diagnostic of the program can point into the file.

use crate::python::{LexemeKind, lexemes};

/// Tab width, by Python's rule for comparing indentation.
const TAB: u32 = 8;

/// Returns the column after the single-line `text`, which starts at `column`. Columns count from zero.
pub(crate) fn column_after(column: u32, text: &str) -> u32 {
    text.chars().fold(column, |column, c| if c == '\t' { column / TAB * TAB + TAB } else { column + 1 })
}

/// A block as a Python program of its own, with a map to the file.
///
/// ```
/// use invigil_lang::block::dedent;
/// // The block of `initialization { N = 0⏎                 maxSize = 0 }`, which starts at byte 16.
/// let program = dedent(" N = 0\n                 maxSize = 0 ", 16, 16);
/// assert_eq!(program.text, "N = 0\nmaxSize = 0");
/// assert_eq!(program.to_file(0), 17);
/// assert_eq!(program.to_file(6), 40);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dedented {
    /// The program. Its lines end in `\n`, except the last one; blank lines at both ends are removed.
    pub text: String,
    /// The lines, in order.
    pub lines: Vec<Line>,
}

/// A line of a [`Dedented`] program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where the line starts in [`Dedented::text`].
    pub start: u32,
    /// The offset of its code in [`Dedented::text`], after the remaining indentation.
    pub code: u32,
    /// The offset of the same code in the file.
    pub file: u32,
    /// Whether the line starts inside a string, so that its indentation must not change.
    pub in_string: bool,
}

impl Dedented {
    /// Returns the file offset for an offset in [`Dedented::text`]. Offsets past the end map to the end.
    pub fn to_file(&self, offset: u32) -> u32 {
        let offset = offset.min(self.text.len() as u32);
        let at = self.lines.partition_point(|line| line.start <= offset);
        match at.checked_sub(1).and_then(|at| self.lines.get(at)) {
            Some(line) => line.file + offset.saturating_sub(line.code),
            None => 0,
        }
    }
}

/// Moves a block to column zero.
///
/// `text` is the text between the braces, `start` its offset in the file, and `column` its start column, counted
/// from zero. If the first statement is on the brace's line and all later ones start at its column or further right,
/// they lose that column. Otherwise all lines lose the indentation of the first later statement; a line with less
/// indentation loses what it has. If the first statement opens a suite, later lines stay to the right of it.
/// Comments and continuation lines move along but do not affect the choice. Lines that start inside a string do
/// not change. A tab counts up to the next multiple of eight.
pub fn dedent(text: &str, start: u32, column: u32) -> Dedented {
    let lines = split(text, column);
    let base = lost_columns(&lines, text);
    let mut out = Dedented { text: String::with_capacity(text.len()), lines: Vec::new() };
    let mut opened = false;
    for (number, line) in lines.iter().enumerate() {
        let content = text[line.content..line.end].trim_end_matches('\r');
        // Trailing spaces are dropped, except inside a string; and a backslash must not end up at the end of a
        // line.
        let trimmed = content.trim_end();
        let content = if line.runs_into_string || trimmed.ends_with('\\') { content } else { trimmed };
        if content.is_empty() && !line.in_string && !opened {
            continue;
        }
        if opened {
            out.text.push('\n');
        }
        opened = true;
        let line_start = out.text.len() as u32;
        if number > 0 && !line.in_string && !content.is_empty() {
            let left = line.column.saturating_sub(base);
            out.text.extend(std::iter::repeat_n(' ', left as usize));
        }
        out.lines.push(Line {
            start: line_start,
            code: out.text.len() as u32,
            file: start + line.content as u32,
            in_string: line.in_string,
        });
        out.text.push_str(content);
    }
    let kept = out.text.trim_end().len();
    out.text.truncate(kept);
    out.lines.retain(|line| line.start as usize <= kept);
    out
}

/// A line of a block before dedenting.
struct SourceLine {
    /// The offset of the first byte after the indentation; the line's start if it starts inside a string.
    content: usize,
    /// The offset of its end, before the `\n`.
    end: usize,
    /// The column of `content`.
    column: u32,
    in_string: bool,
    /// Whether a string continues past its end.
    runs_into_string: bool,
    /// Whether a statement can start here: no string, bracket or backslash continues into the line.
    starts_statement: bool,
}

fn split(text: &str, column: u32) -> Vec<SourceLine> {
    // Line ends inside strings, and those that do not end a statement.
    let mut in_string = Vec::new();
    let mut continued = Vec::new();
    let mut depth = 0u32;
    for lexeme in lexemes(text, 0) {
        match lexeme.kind {
            LexemeKind::Open(_) => depth += 1,
            LexemeKind::Close(_) => depth = depth.saturating_sub(1),
            LexemeKind::String => {
                let inside = text[lexeme.start..lexeme.end].match_indices('\n');
                in_string.extend(inside.map(|(at, _)| lexeme.start + at));
            }
            LexemeKind::LineEnd if depth > 0 => continued.push(lexeme.start),
            LexemeKind::Continuation => continued.push(lexeme.end - 1),
            _ => {}
        }
    }
    let mut lines = Vec::new();
    let mut at = 0;
    let mut line = |from: usize, end: usize, column: u32| {
        let before = from.wrapping_sub(1);
        let inside = in_string.binary_search(&before).is_ok();
        let indentation = text[from..end].len() - text[from..end].trim_start_matches([' ', '\t']).len();
        let content = if inside { from } else { from + indentation };
        lines.push(SourceLine {
            content,
            end,
            column: column_after(column, &text[from..content]),
            in_string: inside,
            runs_into_string: in_string.binary_search(&end).is_ok(),
            starts_statement: !inside && continued.binary_search(&before).is_err(),
        });
    };
    for (end, _) in text.match_indices('\n') {
        line(at, end, if at == 0 { column } else { 0 });
        at = end + 1;
    }
    line(at, text.len(), if at == 0 { column } else { 0 });
    lines
}

/// The number of columns that the lines after the first one lose.
fn lost_columns(lines: &[SourceLine], text: &str) -> u32 {
    let code = |line: &&SourceLine| {
        let content = text[line.content..line.end].trim();
        line.starts_statement && !content.is_empty() && !content.starts_with('#')
    };
    let first = lines.first().filter(code);
    let mut later = lines.iter().skip(1).filter(code).map(|line| line.column);
    let Some(next) = later.next() else {
        // Only comments: the leftmost one determines it.
        let comments = lines.iter().skip(1).filter(|line| line.starts_statement && line.content < line.end);
        let least = comments.map(|line| line.column).min().unwrap_or(0);
        return first.map_or(least, |line| line.column);
    };
    let least = later.fold(next, u32::min);
    match first {
        None => next,
        Some(first) if least >= first.column => first.column,
        Some(first) if opens_suite(&text[first.content..first.end]) => {
            if least < next {
                least
            } else {
                next.saturating_sub(4)
            }
        }
        Some(_) => next,
    }
}

/// Whether a first line such as `if x:` requires the next one to be indented further.
fn opens_suite(line: &str) -> bool {
    let mut depth = 0i32;
    let mut last = "";
    for lexeme in lexemes(line, 0) {
        match lexeme.kind {
            LexemeKind::Open(_) => depth += 1,
            LexemeKind::Close(_) => depth -= 1,
            LexemeKind::Comment => break,
            _ => {}
        }
        let piece = line[lexeme.start..lexeme.end].trim_end();
        last = if piece.is_empty() { last } else { piece };
    }
    depth == 0 && last.ends_with(':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(block: &str, column: u32) -> String {
        dedent(block, 0, column).text
    }

    #[test]
    fn block_on_own_lines_is_dedented() {
        assert_eq!(text("\n    N = 0\n    if N:\n        M = 1\n", 16), "N = 0\nif N:\n    M = 1");
        assert_eq!(text("\n\n  a\n\n  b\n\n", 0), "a\n\nb");
    }

    #[test]
    fn block_starting_beside_brace_is_dedented() {
        assert_eq!(text(" N = 0\n    maxSize = 0 ", 3), "N = 0\nmaxSize = 0");
        assert_eq!(text(" N = 0\n  maxSize = 0\n  x = 1\n", 20), "N = 0\nmaxSize = 0\nx = 1");
        assert_eq!(text(" return N < 3 ", 20), "return N < 3");
        assert_eq!(text(" if a:\n        b\n    c", 3), "if a:\n    b\nc");
    }

    #[test]
    fn suite_opened_beside_brace_keeps_body_indented() {
        assert_eq!(text(" if a:\n        b\n        c\n", 30), "if a:\n    b\n    c");
        assert_eq!(text(" if a:  # {\n        b\n    c\n", 30), "if a:  # {\n    b\nc");
        assert_eq!(text(" x = {1:\n  2}\n", 30), "x = {1:\n2}");
    }

    #[test]
    fn comments_and_continuations_do_not_set_indentation() {
        assert_eq!(text("\n# note\n    a\n    b", 0), "# note\na\nb");
        assert_eq!(text(" # note\n     # more\n   # still\n", 0), "# note\n  # more\n# still");
        assert_eq!(text("\n    x = [\n  1,\n      2]\n    y", 0), "x = [\n1,\n  2]\ny");
        assert_eq!(text("\n    x = 1 + \\\n 2\n    y", 0), "x = 1 + \\\n2\ny");
    }

    #[test]
    fn multiline_strings_are_unchanged() {
        let block = "\n    s = '''a  \n  b\n    c'''  \n    t\n";
        assert_eq!(text(block, 0), "s = '''a  \n  b\n    c'''\nt");
    }

    #[test]
    fn tabs_and_carriage_returns_are_handled() {
        assert_eq!(text("\r\n\ta = 1\r\n\tif a:\r\n\t\tb = 2\r\n", 0), "a = 1\nif a:\n        b = 2");
        assert_eq!(text("\n\ta\n        b\n", 0), "a\nb");
        assert_eq!(column_after(0, "\tx\t"), 16);
    }

    #[test]
    fn empty_block_gives_empty_program() {
        assert_eq!(text("", 5), "");
        assert_eq!(text(" \n \n", 5), "");
        assert_eq!(dedent("  ", 7, 0).to_file(3), 0);
    }

    #[test]
    fn dedented_offsets_map_back_to_file() {
        let block = " if a:\n\t\tb = 'ü'  \r\n\n    # c\n    d = '''x\n  y''' ";
        let program = dedent(block, 100, 10);
        for (at, c) in program.text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
            let there = program.to_file(at as u32) as usize - 100;
            assert!(block[there..].starts_with(c), "{c} at {at} came from {there}");
        }
    }

    proptest! {
        #[test]
        fn dedent_accepts_any_text(block in "([ \t\n\r#:'\"\\\\{}()]|ab|é){0,60}", column in 0u32..40) {
            let program = dedent(&block, 0, column);
            let squeeze = |s: &str| s.split_whitespace().collect::<String>();
            prop_assert_eq!(squeeze(&program.text), squeeze(&block));
            for at in 0..=program.text.len() {
                prop_assert!(program.to_file(at as u32) as usize <= block.len());
            }
        }
    }
}
