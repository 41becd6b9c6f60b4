//! Conversion of slices to text, and of text to values.

use invigil_expr::value::Value;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::Event;
use invigil_monitor::slices::SliceTable;

/// A slice as text: `queue = 7`, `a = any, b = 2`; empty if the property is not sliced.
///
/// If the slice has been dropped (`is_dropped`), a long string in its binding is looked up in the event, which may have
/// it.
pub(crate) fn slice_label(
    automaton: &Automaton,
    slices: &SliceTable,
    binding: &[Value],
    event: Option<&Event<'_>>,
    is_dropped: bool,
) -> String {
    let mut label = String::new();
    for (at, (name, value)) in automaton.slice_on.iter().zip(binding).enumerate() {
        if at > 0 {
            label.push_str(", ");
        }
        label.push_str(name);
        label.push_str(" = ");
        let text_of_event = event.filter(|_| is_dropped && !value.is_inline()).and_then(|event| {
            let (_, param) = automaton.binding(event.id).find(|(slot, _)| *slot == at)?;
            let (start, len) = event.params.get(param)?.as_text()?;
            event.text.get(start as usize..start as usize + len as usize)
        });
        match text_of_event {
            _ if value.is_unset() => label.push_str("any"),
            Some(text) => label.push_str(&format!("'{text}'")),
            None if is_dropped && !value.is_inline() => label.push('…'),
            None => label.push_str(&slices.show(*value)),
        }
    }
    label
}

/// A value of the block language, parsed from the text that a target renders.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ParsedValue {
    /// A number, a Boolean or `None`.
    Scalar(Scalar),
    /// Text.
    Text(String),
}

/// A value that needs no heap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
}

/// Parses a value as debuggers print it: `16`, `105 'i'`, `(int *) 0x5581`, `0x5581 "text"`, `true`. Anything else
/// stays text.
pub(crate) fn parse_value(text: &str) -> ParsedValue {
    let text = text.trim();
    let scalar = |value| ParsedValue::Scalar(value);
    match text {
        "true" | "True" => return scalar(Scalar::Bool(true)),
        "false" | "False" => return scalar(Scalar::Bool(false)),
        "" | "None" | "void" | "<optimized out>" => return scalar(Scalar::None),
        _ => {}
    }
    // The type in front of a pointer does not matter for its value.
    let bare = match text.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
        Some((ty, rest)) if ty.ends_with('*') => rest.trim_start(),
        _ => text,
    };
    if let Some(string) = quoted(bare) {
        return ParsedValue::Text(string);
    }
    let (first, rest) = bare.split_once(' ').unwrap_or((bare, ""));
    if rest.starts_with('"')
        && let Some(string) = quoted(rest)
    {
        return ParsedValue::Text(string);
    }
    let may_be_integer = rest.is_empty() || rest.starts_with(['\'', '<']);
    if may_be_integer && let Some(int) = integer(first) {
        return scalar(Scalar::Int(int));
    }
    match first.parse::<f64>() {
        Ok(float)
            if rest.is_empty() && first.starts_with(|c: char| c.is_ascii_digit() || "-+.".contains(c)) =>
        {
            scalar(Scalar::Float(float))
        }
        _ => ParsedValue::Text(text.to_owned()),
    }
}

fn integer(word: &str) -> Option<i64> {
    match word.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// The text between double quotes, if there is nothing else. Simple escapes are resolved.
fn quoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut unescaped = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return None,
            '\\' => match chars.next()? {
                'n' => unescaped.push('\n'),
                't' => unescaped.push('\t'),
                'r' => unescaped.push('\r'),
                other => unescaped.push(other),
            },
            _ => unescaped.push(c),
        }
    }
    Some(unescaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debugger_output_is_parsed_as_values() {
        let int = |value| ParsedValue::Scalar(Scalar::Int(value));
        let text = |value: &str| ParsedValue::Text(value.to_owned());
        for (text, value) in [
            ("16", int(16)),
            ("-3", int(-3)),
            ("105 'i'", int(105)),
            ("0x10", int(16)),
            ("(int *) 0x5581", int(0x5581)),
            ("0x401136 <main>", int(0x401136)),
            ("0x5581 \"a \\\"b\\\"\"", text("a \"b\"")),
            ("\"abc\"", text("abc")),
            ("1.5", ParsedValue::Scalar(Scalar::Float(1.5))),
            ("true", ParsedValue::Scalar(Scalar::Bool(true))),
            ("<optimized out>", ParsedValue::Scalar(Scalar::None)),
            ("{a = 1, b = 2}", text("{a = 1, b = 2}")),
            ("RED", text("RED")),
            ("99999999999999999999", ParsedValue::Scalar(Scalar::Float(1e20))),
            ("infinite", text("infinite")),
        ] {
            assert_eq!(parse_value(text), value, "{text}");
        }
    }
}
