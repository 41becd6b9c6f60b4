//! Formatting of numbers, times and long texts.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Renders a count with its noun: `1 event`, `2,000 events`.
pub fn count(number: u64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {what}{ending}", grouped(number))
}

/// Renders a number with its digits in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Width of a text, in columns.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Replaces control characters.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '·' } else { c }).collect()
}

/// Cuts a text to at most `columns`.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut taken = 1;
    for c in text.chars() {
        taken += c.width().unwrap_or(0);
        if taken > columns {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// Shortens a text to at most `columns`, keeping both ends, because long values often differ at their end.
pub fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let tail = columns / 3;
    let head = cut(text, columns - tail);
    let mut end: Vec<char> = Vec::new();
    let mut taken = 0;
    for c in text.chars().rev() {
        taken += c.width().unwrap_or(0);
        if taken > tail {
            break;
        }
        end.push(c);
    }
    head + &end.iter().rev().collect::<String>()
}

/// Number of decimals needed for these times, at most six.
pub(super) fn decimals(times: impl Iterator<Item = f64>) -> usize {
    let needed = |time: f64| {
        let text = format!("{time:.6}");
        let digits = text.trim_end_matches('0');
        digits.len() - digits.find('.').map_or(digits.len(), |point| point + 1)
    };
    times.map(needed).max().unwrap_or(0)
}

/// Renders a time with as many decimals as it needs.
pub fn time(time: f64) -> String {
    format!("{time:.*}", decimals(std::iter::once(time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grouped_separates_thousands() {
        assert_eq!(count(1, "event"), "1 event");
        assert_eq!(count(0, "event"), "0 events");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
    }

    #[test]
    fn shorten_keeps_both_ends() {
        assert_eq!(shorten("93824992252512", 10), "938249…512");
        assert_eq!(shorten("short", 10), "short");
        assert_eq!(cut("日本語の文", 6), "日本…");
        assert_eq!(cut("abc", 3), "abc");
    }

    #[test]
    fn time_uses_needed_decimals() {
        assert_eq!(decimals([1.0, 2.25].into_iter()), 2);
        assert_eq!(time(3.0), "3");
        assert_eq!(time(1_700_000_000.125), "1700000000.125");
        assert_eq!(time(0.1 + 0.2), "0.3");
    }
}
