//! Estimates the size of text without access to a font.
//!
//! The viewer chooses the font, so the estimates are slightly larger than what common fonts need.

use unicode_width::UnicodeWidthChar;

/// The font size of state names, in pixels.
pub(super) const NAME_SIZE: f64 = 14.0;

/// The font size of notes and labels, in pixels.
pub(super) const LABEL_SIZE: f64 = 11.0;

/// The line height of notes and labels.
pub(super) const LINE: f64 = 14.0;

/// The maximum width of a label line, in columns.
const LABEL_COLUMNS: usize = 44;

/// The maximum number of lines of a label.
const LABEL_LINES: usize = 18;

/// The maximum width of a name, in columns.
const NAME_COLUMNS: usize = 48;

/// The width of a name in a proportional font.
pub(super) fn name_width(name: &str) -> f64 {
    let ems = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | '.' | ',' | ':' | '\'' | '|' | '!' | ' ' | '(' | ')' => {
            0.42
        }
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        'A'..='Z' | '0'..='9' => 0.72,
        c if columns(c) > 1 => 1.05,
        _ => 0.64,
    };
    name.chars().map(ems).sum::<f64>() * NAME_SIZE
}

/// The width of a line in a monospaced font.
pub(super) fn label_width(line: &str) -> f64 {
    line.chars().map(columns).sum::<usize>() as f64 * LABEL_SIZE * 0.61
}

fn columns(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Shortens a name so that it fits into a box.
pub(super) fn short_name(name: &str) -> String {
    let total: usize = name.chars().map(columns).sum();
    if total <= NAME_COLUMNS {
        return name.to_owned();
    }
    // Both ends of a long name are more informative than its middle.
    let half = NAME_COLUMNS / 2 - 1;
    let head: String = prefix(name.chars(), half).into_iter().collect();
    let tail: String = prefix(name.chars().rev(), half).into_iter().rev().collect();
    format!("{head}…{tail}")
}

/// The longest prefix that fits into `room` columns.
fn prefix(chars: impl Iterator<Item = char>, room: usize) -> Vec<char> {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += columns(*c);
            used <= room
        })
        .collect()
}

/// Wraps the lines of a label that are too long, and drops lines beyond the limit.
pub(super) fn wrap(lines: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    for line in lines.iter().flat_map(|line| line.split('\n')) {
        let mut rest = line.trim_end();
        let mut indent = "";
        loop {
            let room = LABEL_COLUMNS - indent.len();
            let fits: usize = prefix(rest.chars(), room).into_iter().map(char::len_utf8).sum();
            if fits >= rest.len() || fits == 0 {
                out.push(format!("{indent}{rest}"));
                break;
            }
            let cut = rest[..fits].rfind(' ').filter(|at| *at > fits / 2).unwrap_or(fits);
            out.push(format!("{indent}{}", rest[..cut].trim_end()));
            rest = rest[cut..].trim_start();
            indent = "  ";
            if out.len() > LABEL_LINES {
                break;
            }
        }
        if out.len() > LABEL_LINES {
            out.truncate(LABEL_LINES - 1);
            while out.pop_if(|line| line.is_empty()).is_some() {}
            out.push("…".to_owned());
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened() {
        assert_eq!(short_name("init"), "init");
        let short = short_name(&"x".repeat(500));
        assert!(short.chars().count() <= NAME_COLUMNS && short.contains('…'));
        assert!(short_name(&"日".repeat(100)).chars().count() < NAME_COLUMNS);
    }

    #[test]
    fn long_labels_are_wrapped_and_truncated() {
        let lines = wrap(&["return currentTerm >= highestTerm and leaderId != 0 and state == 2".to_owned()]);
        assert_eq!(lines, ["return currentTerm >= highestTerm and", "  leaderId != 0 and state == 2"]);
        let many = wrap(&["x ".repeat(10_000)]);
        assert_eq!(many.len(), LABEL_LINES);
        assert_eq!(wrap(&vec![String::from("a"); 100]).last().unwrap(), "…");
        assert_eq!(wrap(&["a\nb".to_owned()]), ["a", "b"]);
    }
}
