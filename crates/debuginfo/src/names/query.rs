//! Function names as users write them, and which functions they match.

use super::path::{Path, without_arguments};

/// A function as a user names it: `f`, `ns::f`, `Class.method`, `f(int)`, `<T as Trait>::m`, `file.c:f`.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// The text without the file.
    pub(crate) text: String,
    /// The file in which the function must be defined.
    pub(crate) file: Option<String>,
    path: Path,
    /// The same path with each dot read as `::`.
    dotted: Option<Path>,
    /// The hash of a Rust function, if given.
    hash: Option<String>,
}

impl Query {
    pub(crate) fn parse(text: &str) -> Query {
        let (file, text) = split_file(text.trim());
        let mut path = Path::parse(text);
        let hash = path.segments.pop_if(|last| is_hash(last));
        if path.segments.is_empty() {
            path.segments.extend(hash.clone());
        }
        let dotted =
            (text.contains('.') && !text.contains("::")).then(|| Path::parse(&text.replace('.', "::")));
        Query { text: text.to_owned(), file: file.map(str::to_owned), path, dotted, hash }
    }

    /// Last segments without type arguments; they are the keys of the name index.
    pub(crate) fn bases(&self) -> impl Iterator<Item = &str> {
        [Some(&self.path), self.dotted.as_ref()]
            .into_iter()
            .flatten()
            .filter_map(|path| path.segments.last())
            .map(|segment| without_arguments(segment))
    }

    /// Whether the query matches a function, given its qualified name, its name with parameters and its linkage name.
    pub(crate) fn matches(&self, name: &str, signature: Option<&str>, linkage: Option<&str>) -> bool {
        if linkage == Some(self.text.as_str()) {
            return true;
        }
        if let Some(hash) = &self.hash
            && linkage.and_then(super::hash_of) != Some(hash)
        {
            return false;
        }
        let alternatives = alternatives(Path::parse(name).segments);
        let parameters = signature.and_then(|signature| Path::parse(signature).parameters);
        [Some(&self.path), self.dotted.as_ref()].into_iter().flatten().any(|wanted| {
            alternatives.iter().any(|found| is_suffix(&wanted.segments, found))
                && parameters_agree(wanted.parameters.as_deref(), parameters.as_deref())
        })
    }
}

/// Splits `file.c:f` at the single colon.
fn split_file(text: &str) -> (Option<&str>, &str) {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' => break,
            b':' if bytes.get(at + 1) == Some(&b':') || (at > 0 && bytes[at - 1] == b':') => {}
            b':' if at > 0 && at + 1 < bytes.len() => return (Some(&text[..at]), text[at + 1..].trim()),
            _ => {}
        }
    }
    (None, text)
}

fn is_hash(segment: &str) -> bool {
    segment.len() == 17
        && segment.starts_with('h')
        && segment.bytes().skip(1).all(|byte| byte.is_ascii_hexdigit())
}

/// The alternative readings of one name. A method of a trait is found by its type and by its trait: `<a::T as
/// a::Trait>::m` is also `a::T::m` and `a::Trait::m`.
fn alternatives(segments: Vec<String>) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    if let Some(at) = segments.iter().position(|segment| segment.starts_with('<') && segment.ends_with('>')) {
        let inside = &segments[at][1..segments[at].len() - 1];
        let parts = match (split_outside_brackets(inside, " as "), inside.strip_prefix("impl ")) {
            (Some((of_type, of_trait)), _) => vec![of_type, of_trait],
            (None, Some(rest)) => match split_outside_brackets(rest, " for ") {
                Some((of_trait, of_type)) => vec![of_type, of_trait],
                None => vec![rest],
            },
            (None, None) => vec![inside],
        };
        for part in parts {
            let mut path = Path::parse(bare_type(part)).segments;
            path.extend_from_slice(&segments[at + 1..]);
            all.push(path);
        }
    }
    all.push(segments);
    all
}

/// Splits at a word that occurs outside of brackets.
fn split_outside_brackets<'t>(text: &'t str, word: &str) -> Option<(&'t str, &'t str)> {
    let mut depth = 0_i32;
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' if !text[..at].ends_with('-') => depth -= 1,
            ' ' if depth == 0 && text[at..].starts_with(word) => {
                return Some((&text[..at], &text[at + word.len()..]));
            }
            _ => {}
        }
    }
    None
}

/// A type without references, `mut` and `dyn`.
fn bare_type(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let shorter = text.trim_start_matches('&').trim_start();
        let shorter = shorter.strip_prefix("mut ").unwrap_or(shorter);
        let shorter = shorter.strip_prefix("dyn ").unwrap_or(shorter);
        if shorter == text {
            return text;
        }
        text = shorter;
    }
}

fn is_suffix(wanted: &[String], found: &[String]) -> bool {
    !wanted.is_empty()
        && found.len() >= wanted.len()
        && wanted
            .iter()
            .zip(&found[found.len() - wanted.len()..])
            .all(|(wanted, found)| is_same(wanted, found))
}

fn is_same(wanted: &str, found: &str) -> bool {
    if wanted == found || without_arguments(found) == wanted {
        return true;
    }
    if let (Some(wanted), Some(found)) = (trait_of(wanted), trait_of(found)) {
        let fits = |wanted: &str, found: &str| {
            is_suffix(&Path::parse(bare_type(wanted)).segments, &Path::parse(bare_type(found)).segments)
        };
        return fits(wanted.0, found.0) && fits(wanted.1, found.1);
    }
    wanted.contains('<') && without_whitespace(wanted) == without_whitespace(found)
}

/// The type and the trait of `<T as Trait>`.
fn trait_of(segment: &str) -> Option<(&str, &str)> {
    split_outside_brackets(segment.strip_prefix('<')?.strip_suffix('>')?, " as ")
}

fn without_whitespace(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

/// Whether parameter lists match. If the program does not encode parameters (in C they are not part of the name), the
/// user's list is ignored, because it is not needed to distinguish functions.
fn parameters_agree(wanted: Option<&str>, found: Option<&str>) -> bool {
    let (Some(wanted), Some(found)) = (wanted, found) else { return true };
    let (wanted, found) = (canonical_parameters(wanted), canonical_parameters(found));
    wanted == found || found.strip_suffix("const") == Some(wanted.as_str())
}

/// Parameters in a canonical spelling.
fn canonical_parameters(text: &str) -> String {
    let words = text.replace("unsigned int", "unsigned").replace("size_t", "unsigned long");
    without_whitespace(&words)
        .replace(
            "std::__cxx11::basic_string<char,std::char_traits<char>,std::allocator<char>>",
            "std::string",
        )
        .replace("std::basic_string<char,std::char_traits<char>,std::allocator<char>>", "std::string")
        .replace("(void)", "()")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(query: &str, name: &str) -> bool {
        Query::parse(query).matches(name, None, None)
    }

    #[test]
    fn query_matches_suffix_of_path() {
        assert!(matches("f", "f"));
        assert!(matches("f", "ns::f"));
        assert!(matches("ns::f", "outer::ns::f"));
        assert!(!matches("ns::f", "f"));
        assert!(!matches("s::f", "ns::f"));
        assert!(matches("Class.method", "ns::Class::method"));
        assert!(matches("f.constprop.0", "f.constprop.0"));
    }

    #[test]
    fn query_without_type_arguments_matches_instances() {
        assert!(matches("max", "max<int>"));
        assert!(matches("max<int>", "ns::max<int>"));
        assert!(matches("Map::get", "Map<K, V>::get"));
        assert!(!matches("max<int>", "max<long>"));
        assert!(matches("pair<int,int>", "pair<int, int>"));
    }

    #[test]
    fn trait_method_matches_by_type_and_by_trait() {
        let name = "<demo::shapes::Circle as demo::Shape>::area";
        for query in [
            "area",
            "Circle::area",
            "shapes::Circle::area",
            "Shape::area",
            "<Circle as Shape>::area",
            name,
            "Circle.area",
        ] {
            assert!(matches(query, name), "{query}");
        }
        assert!(!matches("<Square as Shape>::area", name));
        assert!(matches("Circle::new", "<demo::Circle>::new"));
        assert!(matches("X::m", "demo::<impl demo::T for demo::X>::m"));
        assert!(matches("Vec::push", "<alloc::vec::Vec<i32>>::push"));
        assert!(matches("f", "demo::f::<i32>"));
    }

    #[test]
    fn parameters_select_overload() {
        let matches =
            |query: &str, signature: &str| Query::parse(query).matches("ns::f", Some(signature), None);
        assert!(matches("f(int)", "ns::f(int)"));
        assert!(!matches("f(int)", "ns::f(double)"));
        assert!(matches("f( char const* ,int)", "ns::f(char const*, int)"));
        assert!(matches("f(unsigned)", "ns::f(unsigned int)"));
        assert!(matches("f()", "ns::f() const"));
        assert!(matches(
            "f(std::string)",
            "ns::f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)"
        ));
    }

    #[test]
    fn query_accepts_file_and_hash() {
        let query = Query::parse("src/list.c:insert");
        assert_eq!((query.file.as_deref(), query.text.as_str()), (Some("src/list.c"), "insert"));
        let query = Query::parse("main.rs:module::f");
        assert_eq!((query.file.as_deref(), query.text.as_str()), (Some("main.rs"), "module::f"));
        assert_eq!(Query::parse("ns::f").file, None);
        let linkage = "_ZN4main3run17h0123456789abcdefE";
        assert!(Query::parse("main::run::h0123456789abcdef").matches("main::run", None, Some(linkage)));
        assert!(!Query::parse("main::run::h0123456789abcde0").matches("main::run", None, Some(linkage)));
        assert!(Query::parse(linkage).matches("main::run", None, Some(linkage)));
    }
}
