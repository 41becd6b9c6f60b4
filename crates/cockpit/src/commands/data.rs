//! Values and memory of the program.

use super::needed;
use crate::command::{Command, Said, Scene, Takes, Topic, Words};
use crate::desk::Examined;
use crate::say::frame;

const FORMATS: &str =
    "x hexadecimal, d decimal, u unsigned, o octal, t binary, c character, a address, s string";

pub(crate) const TABLE: &[Command] = &[
    Command::new(Topic::Program, "print", "EXPR", "Show the value of an expression", print)
        .short(&["p", "inspect"])
        .takes(Takes::Variable)
        .more("The expression is of the program's language, about the selected frame. A letter behind a slash is the\nformat: x hexadecimal, d decimal, u unsigned, o octal, t binary, c character, a address, s string.\n\n  print q->size\n  print/x flags & 0xff\n  print table[3].name"),
    Command::new(Topic::Program, "ptype", "EXPR", "Show the type of an expression", ptype)
        .short(&["whatis"])
        .takes(Takes::Variable),
    Command::new(Topic::Program, "set", "[var] PLACE = EXPR", "Change a value of the program", set)
        .takes(Takes::Variable)
        .more("  set N = 3\n  set var q->size = q->size + 1"),
    Command::new(Topic::Program, "x", "EXPR", "Show memory", examine)
        .takes(Takes::Variable)
        .repeats("x")
        .more("Behind a slash: how many, a format and a size. The formats are those of `print`, and i for\ninstructions; sizes are b for 1 byte, h for 2, w for 4 and g for 8. An empty line goes on.\n\n  x/8xw buffer      eight words, hexadecimal\n  x/s name          a string\n  x/5i $pc          five instructions"),
];

fn print(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let expression = needed(words.rest, "what to print: `print q->size`")?;
    let mut formats = words.format.chars();
    let format = formats.next();
    if formats.next().is_some() {
        return Err(format!("`{}` is no format: one letter of {FORMATS}", words.format));
    }
    if format == Some('s') {
        let lines =
            scene.session.subject().examine(expression, 1, 's', 1).map_err(|trouble| trouble.to_string())?;
        return Ok(lines.join("\n") + "\n");
    }
    let value = scene.session.subject().print(expression).map_err(|trouble| trouble.to_string())?;
    match format {
        None => Ok(format!("{expression} = {}\n", frame::lines(&value))),
        Some(format) => Ok(format!("{expression} = {}\n", formatted(&value, format)?)),
    }
}

/// The whole number that a value begins with, as in `105 'i'` and `(int *) 0x4052a0`.
fn whole(value: &str) -> Option<i128> {
    let value = value.trim();
    let value = match (value.starts_with('('), value.find(')')) {
        (true, Some(end)) => value[end + 1..].trim_start(),
        _ => value,
    };
    let word = value.split_whitespace().next()?;
    match word.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

fn formatted(value: &str, format: char) -> Result<String, String> {
    let Some(number) = whole(value) else {
        return Err(format!("`{value}` is no whole number, so it has no other format"));
    };
    // Negative numbers show the bits that the program has, in 64 of them.
    let bits = number as u64;
    Ok(match format {
        'x' | 'a' => format!("{bits:#x}"),
        'd' => number.to_string(),
        'u' => bits.to_string(),
        'o' => format!("0{bits:o}"),
        't' => format!("{bits:b}"),
        'c' => {
            let byte = bits as u8;
            format!("{} '{}'", byte as i8, byte.escape_ascii())
        }
        other => return Err(format!("`{other}` is no format: {FORMATS}")),
    })
}

fn ptype(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let expression = needed(words.rest, "the type of what: `ptype q`")?;
    let kind = scene.session.subject().type_of(expression).map_err(|trouble| trouble.to_string())?;
    Ok(format!("type = {}\n", frame::lines(&kind)))
}

/// `PLACE = EXPR`, split at the sign that is no part of a comparison.
pub(super) fn assignment(rest: &str) -> Option<(&str, &str)> {
    let bytes = rest.as_bytes();
    let is_alone = |at: usize| {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        bytes.get(at + 1) != Some(&b'=') && !matches!(before, Some(b'=' | b'!' | b'<' | b'>'))
    };
    let at = (0..bytes.len()).find(|at| bytes[*at] == b'=' && is_alone(*at))?;
    let (place, value) = (rest[..at].trim(), rest[at + 1..].trim());
    (!place.is_empty() && !value.is_empty()).then_some((place, value))
}

fn set(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let rest = needed(words.rest, "what to change: `set N = 3`")?;
    let rest = ["variable ", "var "].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    let Some((place, value)) = assignment(rest) else {
        return Err(format!("`{rest}` is no assignment: `set PLACE = EXPR`"));
    };
    scene.session.subject().assign(place, value).map_err(|trouble| trouble.to_string())?;
    let now = scene.session.subject().print(place).map_err(|trouble| trouble.to_string())?;
    Ok(format!("{place} = {}\n", frame::lines(&now)))
}

fn examine(scene: &mut Scene<'_>, words: Words<'_>) -> Said {
    let last = scene.desk.examined;
    let mut wanted = match last {
        Some(last) => last,
        None => Examined { count: 1, format: 'x', size: 4, next: None },
    };
    if !words.format.is_empty() {
        wanted = layout(words.format, wanted)?;
    } else if !words.rest.is_empty() {
        wanted.count = 1;
    }
    let address;
    let expression = match (words.rest, last.and_then(|last| last.next)) {
        ("", Some(next)) => {
            address = format!("{next:#x}");
            address.as_str()
        }
        ("", None) => return Err("say from where: `x/8xw buffer`".to_owned()),
        (expression, _) => expression,
    };
    let subject = scene.session.subject();
    let lines = subject
        .examine(expression, wanted.count, wanted.format, wanted.size)
        .map_err(|trouble| trouble.to_string())?;
    // Strings and instructions have no fixed length: only the subject knows where they end.
    wanted.next = match wanted.format {
        's' | 'i' => None,
        _ => subject
            .print(expression)
            .ok()
            .or(Some(expression.to_owned()))
            .and_then(|value| whole(&value))
            .map(|start| (start as u64).wrapping_add((wanted.count * wanted.size) as u64)),
    };
    scene.desk.examined = Some(wanted);
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// `4xw` in its parts.
fn layout(format: &str, last: Examined) -> Result<Examined, String> {
    let digits = format.find(|c: char| !c.is_ascii_digit()).unwrap_or(format.len());
    let count = match &format[..digits] {
        "" => 1,
        digits => digits.parse().map_err(|_| format!("`{digits}` is too many"))?,
    };
    if count == 0 || count > 1 << 16 {
        return Err("between 1 and 65536 can be shown at once".to_owned());
    }
    let mut wanted = Examined { count, next: None, ..last };
    for letter in format[digits..].chars() {
        match letter {
            'x' | 'd' | 'u' | 'o' | 't' | 'c' | 'a' | 's' | 'i' | 'f' => wanted.format = letter,
            'b' => wanted.size = 1,
            'h' => wanted.size = 2,
            'w' => wanted.size = 4,
            'g' => wanted.size = 8,
            other => {
                return Err(format!(
                    "`{other}` is neither a format ({FORMATS}, i instructions, f float) nor a size (b, h, w, g)"
                ));
            }
        }
    }
    if wanted.format == 'a' {
        wanted.size = 8;
    }
    if matches!(wanted.format, 'c' | 's') && !format.contains(['h', 'w', 'g']) {
        wanted.size = 1;
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_other_formats() {
        for (value, format, shown) in [
            ("105 'i'", 'x', "0x69"),
            ("105 'i'", 'd', "105"),
            ("(int *) 0x4052a0", 'd', "4215456"),
            ("-1", 'x', "0xffffffffffffffff"),
            ("10", 't', "1010"),
            ("8", 'o', "010"),
            ("105", 'c', "105 'i'"),
        ] {
            assert_eq!(formatted(value, format).as_deref(), Ok(shown), "{value}");
        }
        assert!(formatted("{a = 1}", 'x').is_err());
        assert!(formatted("1", 'q').is_err());
    }

    #[test]
    fn assignments_are_no_comparisons() {
        assert_eq!(assignment("a = 3"), Some(("a", "3")));
        assert_eq!(assignment("a=b==c"), Some(("a", "b==c")));
        assert_eq!(assignment("a == 3"), None);
        assert_eq!(assignment("a <= 3"), None);
        assert_eq!(assignment("= 3"), None);
    }
}
