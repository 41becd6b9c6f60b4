//! Qualified names, split into their segments.

/// The segments of a qualified name, and its parameter list if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) segments: Vec<String>,
    pub(crate) parameters: Option<String>,
}

impl Path {
    /// Splits at `::` outside of brackets. Parameter lists in the middle (of the function that encloses a local one)
    /// are dropped.
    pub(crate) fn parse(text: &str) -> Path {
        let mut segments: Vec<String> = Vec::new();
        let mut parameters = None;
        let mut rest = text.trim();
        let mut current = String::new();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("::") {
                push(&mut segments, &mut current);
                rest = after;
            } else if current.is_empty() && is_operator(rest) {
                let length = operator_length(rest);
                current.push_str(&rest[..length]);
                rest = &rest[length..];
            } else if rest.starts_with('(') && !current.is_empty() {
                let length = bracket_length(rest);
                let after = &rest[length..];
                let after = after.strip_prefix(" const").unwrap_or(after);
                if after.starts_with("::") {
                    rest = after;
                } else {
                    parameters = Some(rest.to_owned());
                    rest = "";
                }
            } else if rest.starts_with(['<', '(', '[', '{']) {
                let length = bracket_length(rest);
                current.push_str(&rest[..length]);
                rest = &rest[length..];
            } else {
                let mut characters = rest.chars();
                current.extend(characters.next());
                rest = characters.as_str();
            }
        }
        push(&mut segments, &mut current);
        Path { segments, parameters }
    }
}

/// Completes a segment. `f::<i32>` is one segment, `f<i32>`.
fn push(segments: &mut Vec<String>, current: &mut String) {
    let segment = std::mem::take(current).trim().to_owned();
    if segment.is_empty() {
        return;
    }
    match segments.last_mut() {
        Some(last)
            if segment.starts_with('<') && !segment.contains(" as ") && !segment.starts_with("<impl ") =>
        {
            last.push_str(&segment);
        }
        _ => segments.push(segment),
    }
}

/// Length in bytes of the bracket that starts the text, including its contents.
fn bracket_length(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '[' | '{' => depth += 1,
            // The arrow of a function type is not a closing bracket.
            '>' if before == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = character;
        if depth == 0 {
            return at + character.len_utf8();
        }
    }
    text.len()
}

fn is_operator(text: &str) -> bool {
    text.strip_prefix("operator").is_some_and(|rest| {
        rest.chars().next().is_some_and(|next| !next.is_alphanumeric() && next != '_' && next != ':')
    })
}

/// Length in bytes of the name of a C++ operator with its type arguments, that is, up to its parameter list.
fn operator_length(text: &str) -> usize {
    let from = if text.starts_with("operator()") { "operator()".len() } else { "operator".len() };
    text[from..].find('(').map_or(text.len(), |at| from + at)
}

/// A segment without its type arguments: `f<int>` is `f`.
pub(crate) fn without_arguments(segment: &str) -> &str {
    if let Some(operator) = segment.strip_prefix("operator")
        && is_operator(segment)
    {
        let symbols =
            operator.find(|next: char| next.is_alphanumeric() || next == '_').unwrap_or(operator.len());
        let symbols = operator[..symbols].trim_end();
        // In `operator<< <int>` the last bracket opens the arguments; in `operator<<` there are none.
        let symbols = symbols.split_once(" <").map_or(symbols, |(before, _)| before);
        return &segment[.."operator".len() + symbols.len()];
    }
    match segment.find('<') {
        Some(at) if at > 0 => segment[..at].trim_end(),
        _ => segment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(text: &str) -> Vec<String> {
        Path::parse(text).segments
    }

    #[test]
    fn path_splits_outside_of_brackets() {
        assert_eq!(segments("a::b"), ["a", "b"]);
        assert_eq!(segments("a<x::y>::b"), ["a<x::y>", "b"]);
        assert_eq!(segments("<k::T as k::Tr>::m"), ["<k::T as k::Tr>", "m"]);
        assert_eq!(segments("k::f::<i32>"), ["k", "f<i32>"]);
        assert_eq!(segments("(anonymous namespace)::f"), ["(anonymous namespace)", "f"]);
        assert_eq!(segments("A::operator<<"), ["A", "operator<<"]);
        assert_eq!(segments("<fn(i32) -> i32 as T>::m"), ["<fn(i32) -> i32 as T>", "m"]);
        assert_eq!(segments("f(int)::{lambda()#1}::operator()"), ["f", "{lambda()#1}", "operator()"]);
    }

    #[test]
    fn path_separates_parameter_list() {
        assert_eq!(Path::parse("a::f(int, b::c)").parameters.as_deref(), Some("(int, b::c)"));
        assert_eq!(Path::parse("A::operator()(int) const").parameters.as_deref(), Some("(int) const"));
        assert_eq!(Path::parse("f").parameters, None);
    }

    #[test]
    fn without_arguments_strips_type_arguments() {
        assert_eq!(without_arguments("f<int>"), "f");
        assert_eq!(without_arguments("operator<"), "operator<");
        assert_eq!(without_arguments("operator<< <int>"), "operator<<");
        assert_eq!(without_arguments("<T as U>"), "<T as U>");
    }

    #[test]
    fn path_parses_any_text() {
        for text in
            ["", ":", "::", "<", ">", "(", "a::<", "operator", "operator(", "->", "é::ü(", "((((", "a)b"]
        {
            let path = Path::parse(text);
            for segment in &path.segments {
                let _ = without_arguments(segment);
            }
        }
    }
}
