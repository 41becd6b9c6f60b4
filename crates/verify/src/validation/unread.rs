//! Fields of a trace that are nothing in the model: a name that is misspelt should not go unnoticed.

use invigil_explore::validate::Binding;
use invigil_expr::diag::nearest;

/// So many lines are looked at: records of one kind have the same fields.
const LINES: usize = 200;
/// So many fields are told.
const FIELDS: usize = 20;

/// Fields that are never asked for by these names, and are no mistake.
const USUAL: [&str; 6] = ["event", "time", "kind", "thread", "program", "action"];

/// Whether a field is nothing in the model.
pub(super) fn is_unread(binding: &Binding<'_>, field: &str) -> bool {
    binding.field(field).is_none() && !USUAL.contains(&field) && !field.starts_with("arg ")
}

/// The fields of the first lines of a trace that are nothing in the model. Columns have their own way.
pub(super) fn in_text(binding: &Binding<'_>, text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines().take(LINES) {
        let names = match line.trim_start().starts_with('{') {
            true => keys(line),
            false => arguments(line),
        };
        for name in names {
            if is_unread(binding, &name) && !found.contains(&name) && found.len() < FIELDS {
                found.push(name);
            }
        }
    }
    found
}

/// The keys of an object.
fn keys(line: &str) -> Vec<String> {
    match serde_json::from_str(line) {
        Ok(serde_json::Value::Object(object)) => object.into_iter().map(|(key, _)| key).collect(),
        _ => Vec::new(),
    }
}

/// The names of the arguments of an event in the line format.
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

/// The fields, each with one that may be meant.
pub(super) fn with_meant(binding: &Binding<'_>, fields: Vec<String>) -> Vec<(String, Option<String>)> {
    let meant = |field: &str| nearest(field, binding.fields()).map(str::to_owned);
    fields.into_iter().map(|field| (meant(&field), field)).map(|(meant, field)| (field, meant)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_arguments_are_found() {
        assert_eq!(arguments(r#"@1.5 push(n=4, text="a=b, c=\"d", 7, x = y)"#), ["n", "text", "x"]);
        assert!(arguments("tick").is_empty());
        assert_eq!(keys(r#"{"event": "push", "n": {"deep": 1}}"#), ["event", "n"]);
    }
}
