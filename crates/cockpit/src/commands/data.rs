//! Values and memory of the target.

use super::required;
use crate::command::{ArgumentKind, Arguments, Command, CommandContext, CommandResult, CommandTopic};
use crate::command_error::CommandError;
use crate::render::frame;
use crate::repl_state::MemoryView;

const FORMATS: &str =
    "x hexadecimal, d decimal, u unsigned, o octal, t binary, c character, a address, s string";

pub(crate) const TABLE: &[Command] = &[
    Command::new(CommandTopic::Program, "print", "EXPR", "Show the value of an expression", print)
        .aliases(&["p", "inspect"])
        .argument(ArgumentKind::Variable)
        .more("The expression is in the program's language and is evaluated in the selected frame. A letter after a slash\nselects the format: x hexadecimal, d decimal, u unsigned, o octal, t binary, c character, a address, s string.\n\n  print q->size\n  print/x flags & 0xff\n  print table[3].name"),
    Command::new(CommandTopic::Program, "ptype", "EXPR", "Show the type of an expression", ptype)
        .aliases(&["whatis"])
        .argument(ArgumentKind::Variable),
    Command::new(CommandTopic::Program, "set", "[var] LVALUE = EXPR", "Assign to a variable of the program", set)
        .argument(ArgumentKind::Variable)
        .more("  set N = 3\n  set var q->size = q->size + 1"),
    Command::new(CommandTopic::Program, "x", "EXPR", "Show memory", examine)
        .argument(ArgumentKind::Variable)
        .repeats("x")
        .more("After a slash: a count, a format and a size. The formats are those of `print`, and i for\ninstructions; sizes are b for 1 byte, h for 2, w for 4 and g for 8. An empty line shows the next block.\n\n  x/8xw buffer      eight words, hexadecimal\n  x/s name          a string\n  x/5i $pc          five instructions"),
];

fn print(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let expression = required(arguments.rest, "expression, as in `print q->size`")?;
    let mut formats = arguments.format.chars();
    let format = formats.next();
    if formats.next().is_some() {
        return Err(format!("unknown format `{}`; use one letter: {FORMATS}", arguments.format).into());
    }
    if format == Some('s') {
        let lines = examine_memory(context, expression, 1, 's', 1)?;
        return Ok(lines.join("\n") + "\n");
    }
    let value = context.session.target().evaluate(expression)?;
    match format {
        None => Ok(format!("{expression} = {}\n", frame::printable_lines(&value))),
        Some(format) => Ok(format!("{expression} = {}\n", format_integer(&value, format)?)),
    }
}

/// Parses the integer at the start of a rendered value, as in `105 'i'` and `(int *) 0x4052a0`.
fn leading_integer(value: &str) -> Option<i128> {
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

fn format_integer(value: &str, format: char) -> Result<String, String> {
    let Some(number) = leading_integer(value) else {
        return Err(format!("`{value}` is not an integer: only integers can be shown in another format"));
    };
    // Negative numbers are shown in two's complement, extended to 64 bits.
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
        other => return Err(format!("unknown format `{other}`; use {FORMATS}")),
    })
}

fn ptype(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let expression = required(arguments.rest, "expression, as in `ptype q`")?;
    let kind = context.session.target().type_of(expression)?;
    Ok(format!("type = {}\n", frame::printable_lines(&kind)))
}

/// Splits `LVALUE = EXPR` at the first `=` that is not part of a comparison operator.
pub(super) fn split_assignment(rest: &str) -> Option<(&str, &str)> {
    let bytes = rest.as_bytes();
    let is_assignment = |at: usize| {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        bytes.get(at + 1) != Some(&b'=') && !matches!(before, Some(b'=' | b'!' | b'<' | b'>'))
    };
    let at = (0..bytes.len()).find(|at| bytes[*at] == b'=' && is_assignment(*at))?;
    let (lvalue, value) = (rest[..at].trim(), rest[at + 1..].trim());
    (!lvalue.is_empty() && !value.is_empty()).then_some((lvalue, value))
}

fn set(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let rest = required(arguments.rest, "assignment, as in `set N = 3`")?;
    let rest = ["variable ", "var "].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    let Some((lvalue, value)) = split_assignment(rest) else {
        return Err(format!("`{rest}` is not an assignment; usage: `set LVALUE = EXPR`").into());
    };
    context.session.target().assign(lvalue, value)?;
    let now = context.session.target().evaluate(lvalue)?;
    Ok(format!("{lvalue} = {}\n", frame::printable_lines(&now)))
}

fn examine(context: &mut CommandContext<'_>, arguments: Arguments<'_>) -> CommandResult {
    let last = context.repl.memory_view;
    let mut request = match last {
        Some(last) => last,
        None => MemoryView { count: 1, format: 'x', size: 4, next: None },
    };
    if !arguments.format.is_empty() {
        request = parse_examine_format(arguments.format, request)?;
    } else if !arguments.rest.is_empty() {
        request.count = 1;
    }
    let address;
    let expression = match (arguments.rest, last.and_then(|last| last.next)) {
        ("", Some(next)) => {
            address = format!("{next:#x}");
            address.as_str()
        }
        ("", None) => return Err("missing address, as in `x/8xw buffer`".into()),
        (expression, _) => expression,
    };
    let lines = examine_memory(context, expression, request.count, request.format, request.size)?;
    let target = context.session.target();
    // Strings and instructions have no fixed length: only the target knows where they end.
    request.next = match request.format {
        's' | 'i' => None,
        _ => target
            .evaluate(expression)
            .ok()
            .or(Some(expression.to_owned()))
            .and_then(|value| leading_integer(&value))
            .map(|start| (start as u64).wrapping_add((request.count * request.size) as u64)),
    };
    context.repl.memory_view = Some(request);
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// Parses a format such as `4xw`.
fn parse_examine_format(format: &str, last: MemoryView) -> Result<MemoryView, String> {
    let digits = format.find(|c: char| !c.is_ascii_digit()).unwrap_or(format.len());
    let count = match &format[..digits] {
        "" => 1,
        digits => digits.parse().map_err(|_| format!("count `{digits}` is too large"))?,
    };
    if count == 0 || count > 1 << 16 {
        return Err("the count must be between 1 and 65536".to_owned());
    }
    let mut request = MemoryView { count, next: None, ..last };
    for letter in format[digits..].chars() {
        match letter {
            'x' | 'd' | 'u' | 'o' | 't' | 'c' | 'a' | 's' | 'i' | 'f' => request.format = letter,
            'b' => request.size = 1,
            'h' => request.size = 2,
            'w' => request.size = 4,
            'g' => request.size = 8,
            other => {
                return Err(format!(
                    "`{other}` is neither a format ({FORMATS}, i instructions, f float) nor a size (b, h, w, g)"
                ));
            }
        }
    }
    if request.format == 'a' {
        request.size = 8;
    }
    if matches!(request.format, 'c' | 's') && !format.contains(['h', 'w', 'g']) {
        request.size = 1;
    }
    Ok(request)
}

/// Memory from the address that an expression denotes, one text per line.
fn examine_memory(
    context: &mut CommandContext<'_>,
    expression: &str,
    count: usize,
    format: char,
    size: usize,
) -> Result<Vec<String>, CommandError> {
    Ok(context.session.target().native_inspection()?.examine_memory(expression, count, format, size)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_formatted_in_other_bases() {
        for (value, format, shown) in [
            ("105 'i'", 'x', "0x69"),
            ("105 'i'", 'd', "105"),
            ("(int *) 0x4052a0", 'd', "4215456"),
            ("-1", 'x', "0xffffffffffffffff"),
            ("10", 't', "1010"),
            ("8", 'o', "010"),
            ("105", 'c', "105 'i'"),
        ] {
            assert_eq!(format_integer(value, format).as_deref(), Ok(shown), "{value}");
        }
        assert!(format_integer("{a = 1}", 'x').is_err());
        assert!(format_integer("1", 'q').is_err());
    }

    #[test]
    fn assignment_is_not_split_at_a_comparison() {
        assert_eq!(split_assignment("a = 3"), Some(("a", "3")));
        assert_eq!(split_assignment("a=b==c"), Some(("a", "b==c")));
        assert_eq!(split_assignment("a == 3"), None);
        assert_eq!(split_assignment("a <= 3"), None);
        assert_eq!(split_assignment("= 3"), None);
    }
}
