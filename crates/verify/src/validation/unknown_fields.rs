//! Detection of trace fields without a meaning in the model, which may be misspelt.

use invigil_explore::trace_validation::Binding;
use invigil_expr::diag::nearest;

/// Number of lines that are examined; records of one kind have the same fields.
const MAX_LINES: usize = 200;
/// Maximum number of fields that are reported.
const MAX_FIELDS: usize = 20;

/// Fields that need no meaning in the model.
const COMMON_FIELDS: [&str; 6] = ["event", "time", "kind", "thread", "program", "action"];

/// Whether a field has no meaning in the model.
pub(super) fn is_unknown(binding: &Binding<'_>, field: &str) -> bool {
    binding.field(field).is_none() && !COMMON_FIELDS.contains(&field) && !is_argument(field)
}

/// Whether a field is named `arg 1` or `arg1`, like the arguments of plain lines and of MaC.
fn is_argument(field: &str) -> bool {
    field.strip_prefix("arg").is_some_and(|number| {
        let digits = number.trim_start_matches(' ');
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The unknown fields in the first lines of a trace. Columns of CSV files are handled by the trace reader.
pub(super) fn in_text(binding: &Binding<'_>, text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines().take(MAX_LINES) {
        let names = match line.trim_start().starts_with('{') {
            true => keys(line),
            false => arguments(line),
        };
        for name in names {
            if is_unknown(binding, &name) && !found.contains(&name) && found.len() < MAX_FIELDS {
                found.push(name);
            }
        }
    }
    found
}

/// The keys of a JSON object.
fn keys(line: &str) -> Vec<String> {
    match serde_json::from_str(line) {
        Ok(serde_json::Value::Object(object)) => object.into_iter().map(|(key, _)| key).collect(),
        _ => Vec::new(),
    }
}

/// The names of the arguments of an event in a plain line.
fn arguments(line: &str) -> Vec<String> {
    let Some((_, inside)) = line.split_once('(') else { return Vec::new() };
    let mut names = Vec::new();
    let (mut name, mut is_quoted, mut is_escaped) = (String::new(), false, false);
    for c in inside.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            ',' => name.clear(),
            '=' => names.push(name.trim().to_owned()),
            c => name.push(c),
        }
    }
    names
}

/// Adds a suggestion to each field.
pub(super) fn with_suggestions(binding: &Binding<'_>, fields: Vec<String>) -> Vec<(String, Option<String>)> {
    let suggestion = |field: &str| nearest(field, binding.fields()).map(str::to_owned);
    fields
        .into_iter()
        .map(|field| (suggestion(&field), field))
        .map(|(suggestion, field)| (field, suggestion))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argument_names_are_extracted_from_lines() {
        assert_eq!(arguments(r#"@1.5 push(n=4, text="a=b, c=\"d", 7, x = y)"#), ["n", "text", "x"]);
        assert!(arguments("tick").is_empty());
        assert_eq!(keys(r#"{"event": "push", "n": {"deep": 1}}"#), ["event", "n"]);
    }
}
