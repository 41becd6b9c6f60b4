//! Names of types in the syntax of the language.

use crate::value::info::{DieRef, Entry, Info, Language};
use crate::value::scope::Scope;
use crate::value::types::{Shape, Type};

/// Maximum nesting depth of types.
const MAX_DEPTH: u8 = 24;

impl Scope<'_> {
    /// The name of a type in the syntax of its language.
    pub fn type_name(&self, ty: &Type) -> String {
        self.info.declare(ty, String::new(), MAX_DEPTH)
    }
}

impl Info<'_> {
    /// Formats a declaration: C wraps parts of the type around the declared name.
    fn declare(self, ty: &Type, inner: String, depth: u8) -> String {
        let Some(depth) = depth.checked_sub(1) else { return "...".to_owned() };
        match ty {
            Type::Void => spaced("void", &inner),
            Type::Basic(basic) => spaced(basic.name, &inner),
            Type::Pointer(target) => self.declare_pointer(target, "*", inner, depth),
            Type::Array(element, count) => self.declare_array(element, *count, inner, depth),
            Type::Described(at) => match self.entry(*at) {
                Some(entry) => self.declare_entry(&entry, inner, depth),
                None => spaced("?", &inner),
            },
        }
    }

    fn declare_entry(self, entry: &Entry, inner: String, depth: u8) -> String {
        let target = || self.type_of(entry);
        match entry.tag() {
            gimli::DW_TAG_pointer_type => match self.name(entry) {
                // In Rust, pointer types have names.
                Some(name) => spaced(name, &inner),
                None => self.declare_pointer(&target(), "*", inner, depth),
            },
            gimli::DW_TAG_reference_type => self.declare_pointer(&target(), "&", inner, depth),
            gimli::DW_TAG_rvalue_reference_type => self.declare_pointer(&target(), "&&", inner, depth),
            gimli::DW_TAG_const_type => self.declare_qualified("const", &target(), inner, depth),
            gimli::DW_TAG_volatile_type => self.declare_qualified("volatile", &target(), inner, depth),
            gimli::DW_TAG_restrict_type => self.declare_qualified("restrict", &target(), inner, depth),
            gimli::DW_TAG_atomic_type => self.declare_qualified("_Atomic", &target(), inner, depth),
            gimli::DW_TAG_array_type => match self.shape(&Type::Described(entry.at)) {
                Shape::Array(element, count) => {
                    if self.language(entry.at) == Language::Rust {
                        let element = self.declare(&element, String::new(), depth);
                        let count = count.map_or_else(|| "?".to_owned(), |count| count.to_string());
                        return spaced(&format!("[{element}; {count}]"), &inner);
                    }
                    self.declare_array(&element, count, inner, depth)
                }
                _ => spaced("?", &inner),
            },
            gimli::DW_TAG_subroutine_type | gimli::DW_TAG_subprogram => {
                let parameters: Vec<String> = self
                    .children(entry.at)
                    .iter()
                    .filter_map(|child| match child.tag() {
                        gimli::DW_TAG_formal_parameter => {
                            Some(self.declare(&self.type_of(child), String::new(), depth))
                        }
                        gimli::DW_TAG_unspecified_parameters => Some("...".to_owned()),
                        _ => None,
                    })
                    .collect();
                let all = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
                self.declare(&target(), format!("{inner}({all})"), depth)
            }
            tag => {
                let kind = match tag {
                    gimli::DW_TAG_structure_type => "struct",
                    gimli::DW_TAG_class_type => "class",
                    gimli::DW_TAG_union_type => "union",
                    gimli::DW_TAG_enumeration_type => "enum",
                    _ => "",
                };
                let name = match (self.name(entry), self.language(entry.at)) {
                    (Some(name), Language::C) if !kind.is_empty() => format!("{kind} {name}"),
                    (Some(name), _) => self.qualified_name(entry.at, name),
                    (None, _) if kind.is_empty() => "?".to_owned(),
                    (None, _) => format!("{kind} {{...}}"),
                };
                spaced(&name, &inner)
            }
        }
    }

    /// The name, qualified with its namespaces.
    fn qualified_name(self, at: DieRef, name: &str) -> String {
        self.types.qualified_name(self, at, name).unwrap_or_else(|| name.to_owned())
    }

    fn declare_pointer(self, target: &Type, operator: &str, inner: String, depth: u8) -> String {
        let needs_parentheses =
            matches!(self.declarator_kind(target), DeclaratorKind::Array | DeclaratorKind::Function);
        let inner =
            if needs_parentheses { format!("({operator}{inner})") } else { format!("{operator}{inner}") };
        self.declare(target, inner, depth)
    }

    fn declare_array(self, element: &Type, count: Option<u64>, inner: String, depth: u8) -> String {
        let count = count.map(|count| count.to_string()).unwrap_or_default();
        self.declare(element, format!("{inner}[{count}]"), depth)
    }

    /// Qualifiers follow the `*` of a pointer, but precede every other type.
    fn declare_qualified(self, word: &str, target: &Type, inner: String, depth: u8) -> String {
        if matches!(self.declarator_kind(target), DeclaratorKind::Pointer) {
            return self.declare(target, spaced(&format!(" {word}"), &inner), depth);
        }
        format!("{word} {}", self.declare(target, inner, depth))
    }

    fn declarator_kind(self, ty: &Type) -> DeclaratorKind {
        match ty {
            Type::Pointer(_) => DeclaratorKind::Pointer,
            Type::Array(..) => DeclaratorKind::Array,
            Type::Described(at) => match self.entry(*at).map(|entry| (entry.tag(), self.name(&entry))) {
                Some((gimli::DW_TAG_pointer_type, None)) => DeclaratorKind::Pointer,
                Some((gimli::DW_TAG_array_type, _)) => DeclaratorKind::Array,
                Some((gimli::DW_TAG_subroutine_type | gimli::DW_TAG_subprogram, _)) => {
                    DeclaratorKind::Function
                }
                _ => DeclaratorKind::Word,
            },
            _ => DeclaratorKind::Word,
        }
    }
}

/// Form of a type's declarator, which determines where the declared name is written.
enum DeclaratorKind {
    Word,
    Pointer,
    Array,
    Function,
}

fn spaced(word: &str, inner: &str) -> String {
    if inner.is_empty() { word.to_owned() } else { format!("{word} {inner}") }
}
