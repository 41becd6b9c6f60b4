//! Paths in the target's language within expressions: `q->size`, `*p`, `a[3].b`. For the block language, such a path is
//! a parameter.

use invigil_monitor::event::{Param, ParamSource};
use std::ops::Range;

/// An expression of the block language, with names substituted for paths.
pub(super) struct PlainExpression {
    pub(super) text: String,
    /// For each byte of the text and for its end, the offset in the original expression.
    pub(super) offsets: Vec<u32>,
    /// The substituted names.
    pub(super) paths: Vec<(String, Param)>,
}

/// Words that are neither names nor the end of an operand.
const KEYWORDS: [&str; 8] = ["and", "or", "not", "in", "is", "if", "else", "for"];

/// The parameters that every event has, with their sources. `ecid` is the name of `program` in [Jak19].
const COMMON_PARAMS: [(&str, ParamSource); 4] = [
    ("thread", ParamSource::Thread),
    ("time", ParamSource::Time),
    ("program", ParamSource::Program),
    ("ecid", ParamSource::Program),
];

/// Substitutes names for paths.
///
/// # Errors
/// Returns the range of a part that is not allowed in an expression.
pub(super) fn replace_paths(written: &str) -> Result<PlainExpression, Range<usize>> {
    let mut replacer = PathReplacer {
        written,
        out: PlainExpression { text: String::new(), offsets: Vec::new(), paths: Vec::new() },
    };
    let (mut at, mut after_operand) = (0, false);
    while let Some(first) = written[at..].chars().next() {
        let rest = &written[at..];
        let end = at
            + match first {
                '"' | '\'' => string_length(rest),
                '0'..='9' => {
                    prefix_length(rest, |letter| letter.is_alphanumeric() || letter == '_' || letter == '.')
                }
                '#' => {
                    let length = 1 + prefix_length(&rest[1..], is_in_name);
                    let predefined = COMMON_PARAMS.iter().find(|(word, _)| rest[1..length] == **word);
                    let (word, source) = predefined.ok_or(at..at + length)?;
                    replacer.substitute(
                        at..at + length,
                        Param { source: source.clone(), name: (*word).to_owned(), ty: None },
                    );
                    (at, after_operand) = (at + length, true);
                    continue;
                }
                '*' | '&' if !after_operand => match path_length(rest) {
                    Some(length) => {
                        replacer.target_path(at..at + length);
                        (at, after_operand) = (at + length, true);
                        continue;
                    }
                    None => 1,
                },
                _ if begins_name(first) => match path_length(rest) {
                    Some(length) => {
                        replacer.target_path(at..at + length);
                        (at, after_operand) = (at + length, true);
                        continue;
                    }
                    None => prefix_length(rest, is_in_name),
                },
                _ => first.len_utf8(),
            };
        replacer.copy(at..end);
        let word = &written[at..end];
        after_operand = match first {
            _ if first.is_whitespace() => after_operand,
            ')' | ']' | '}' | '"' | '\'' => true,
            _ => (begins_name(first) || first.is_ascii_digit()) && !KEYWORDS.contains(&word),
        };
        at = end;
    }
    replacer.out.offsets.push(written.len() as u32);
    Ok(replacer.out)
}

struct PathReplacer<'a> {
    written: &'a str,
    out: PlainExpression,
}

impl PathReplacer<'_> {
    fn copy(&mut self, part: Range<usize>) {
        self.out.offsets.extend(part.clone().map(|at| at as u32));
        self.out.text.push_str(&self.written[part]);
    }

    /// Substitutes a path in the target's language.
    fn target_path(&mut self, part: Range<usize>) {
        let text = self.written[part.clone()].to_owned();
        self.substitute(part, Param { source: ParamSource::Expression(text.clone()), name: text, ty: None });
    }

    fn substitute(&mut self, part: Range<usize>, param: Param) {
        let known = self.out.paths.iter().find(|(_, known)| *known == param).map(|(name, _)| name.clone());
        let name = known.unwrap_or_else(|| {
            let numbers = self.out.paths.len()..;
            let names = numbers.map(|number| format!("_path{number}_"));
            // The text is finite, so some name is unused.
            let name =
                names.into_iter().find(|name| !self.written.contains(name.as_str())).unwrap_or_default();
            self.out.paths.push((name.clone(), param));
            name
        });
        self.out.offsets.extend(std::iter::repeat_n(part.start as u32, name.len()));
        self.out.text.push_str(&name);
    }
}

fn begins_name(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

fn is_in_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns the length of the longest prefix of matching characters.
fn prefix_length(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !is(letter)).unwrap_or(text.len())
}

/// Returns the length of a string literal with its quotes; of an unclosed one, the length of the text.
fn string_length(text: &str) -> usize {
    let mut letters = text.char_indices();
    let quote = letters.next().map_or('"', |(_, quote)| quote);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            _ if letter == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of the path at the start of `text`, if it is more than a name. A call `.name(…)` is left to the
/// block language as a method call; so is an index that is neither a name nor a number.
fn path_length(text: &str) -> Option<usize> {
    let prefix = prefix_length(text, |letter| letter == '*' || letter == '&');
    let name = prefix_length(&text[prefix..], is_in_name);
    let word = &text[prefix..prefix + name];
    if !word.starts_with(begins_name) || KEYWORDS.contains(&word) {
        return None;
    }
    let mut end = prefix + name;
    let mut is_path = prefix > 0;
    loop {
        let rest = &text[end..];
        let member = ["->", "::", "."].into_iter().find_map(|mark| {
            let after = rest.strip_prefix(mark)?;
            let name = prefix_length(after, is_in_name);
            let is_called = after[name..].starts_with('(');
            (after.starts_with(begins_name) && !(mark == "." && is_called)).then_some(mark.len() + name)
        });
        let index = || {
            let inside = rest.strip_prefix('[')?;
            let length = prefix_length(inside, is_in_name);
            (length > 0 && inside[length..].starts_with(']')).then_some(length + 2)
        };
        match member.or_else(index) {
            Some(length) => end += length,
            None => return is_path.then_some(end),
        }
        is_path = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(written: &str) -> (String, Vec<String>) {
        let plain = replace_paths(written).unwrap();
        assert_eq!(plain.offsets.len(), plain.text.len() + 1);
        (plain.text, plain.paths.into_iter().map(|(_, param)| param.source.to_string()).collect())
    }

    #[test]
    fn paths_are_replaced_by_names() {
        let cases: &[(&str, &str, &[&str])] = &[
            ("amount <= 5", "amount <= 5", &[]),
            ("q->size <= 3", "_path0_ <= 3", &["q->size"]),
            ("*p == a[3].b", "_path0_ == _path1_", &["*p", "a[3].b"]),
            ("a * b + *c", "a * b + _path0_", &["*c"]),
            ("x and *p or not &q", "x and _path0_ or not _path1_", &["*p", "&q"]),
            ("ns::count == ns::count", "_path0_ == _path0_", &["ns::count"]),
            ("s.startswith('a->b') and len(s) in (1, 2)", "s.startswith('a->b') and len(s) in (1, 2)", &[]),
            ("x in [1, 2] and c[-1] == \"*p\"", "x in [1, 2] and c[-1] == \"*p\"", &[]),
            ("#thread == 1", "_path0_ == 1", &["#thread"]),
            ("2 ** n & m", "2 ** n & m", &[]),
            ("a[i] > q->next->size", "_path0_ > _path1_", &["a[i]", "q->next->size"]),
            ("é == 'é", "é == 'é", &[]),
        ];
        for (written, text, paths) in cases {
            assert_eq!(
                replaced(written),
                ((*text).to_owned(), paths.iter().map(|p| (*p).to_owned()).collect()),
                "{written}"
            );
        }
    }

    #[test]
    fn offsets_map_back_to_expression() {
        let plain = replace_paths("ab + q->size").unwrap();
        assert_eq!(plain.offsets, [0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5, 12]);
    }

    #[test]
    fn comment_in_expression_is_rejected() {
        assert_eq!(replace_paths("x # y").err(), Some(2..3));
        assert_eq!(replace_paths("x == #thred").err(), Some(5..11));
    }
}
