//! Formatting of values in the style of gdb, with bounded length.

use crate::value::evaluate::EvalError;
use crate::value::expression::escaped;
use crate::value::info::{DieRef, Language};
use crate::value::number::{Integer, Number};
use crate::value::read::number_of;
use crate::value::scope::Scope;
use crate::value::typed_value::{Location, TypedValue, Unavailable};
use crate::value::types::{Basic, Encoding, Member, Shape, Type};

/// Limits for formatting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatLimits {
    /// Maximum number of elements of an array.
    pub elements: usize,
    /// Maximum nesting depth of structs.
    pub depth: usize,
    /// Maximum number of bytes of a string.
    pub text: usize,
}

impl Default for FormatLimits {
    fn default() -> Self {
        Self { elements: 200, depth: 20, text: 200 }
    }
}

/// Approximate maximum length of a formatted value, independent of the limits.
const MAX_OUTPUT_LEN: usize = 64 << 10;
/// From this number on, equal elements are counted instead of repeated.
const REPEATS: usize = 10;

impl Scope<'_> {
    /// Formats a value.
    pub fn show(&self, typed_value: &TypedValue, limits: &FormatLimits) -> String {
        let mut formatter = Formatter { scope: self, limits, out: String::new() };
        formatter.typed_value(typed_value, limits.depth);
        formatter.out
    }
}

struct Formatter<'s, 'a> {
    scope: &'s Scope<'a>,
    limits: &'s FormatLimits,
    out: String,
}

type FormatResult = Result<(), Unavailable>;

impl Formatter<'_, '_> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn typed_value(&mut self, typed_value: &TypedValue, depth: usize) {
        if self.out.len() > MAX_OUTPUT_LEN {
            self.put("...");
            return;
        }
        if let Err(reason) = self.value(typed_value, depth) {
            self.put(&format!("<{reason}>"));
        }
    }

    fn value(&mut self, typed_value: &TypedValue, depth: usize) -> FormatResult {
        let scope = self.scope;
        if let Some(reason) = typed_value.unavailable_reason() {
            return Err(reason);
        }
        match scope.info.shape(&typed_value.ty) {
            Shape::Void => match typed_value.location {
                Location::Memory(address) => {
                    self.put(&format!("{{code or data}} {}", self.address_text(address)))
                }
                _ => self.put("void"),
            },
            Shape::Basic(basic) if basic.size == 0 => self.put("()"),
            Shape::Basic(basic) => {
                let bits = scope.scalar(typed_value)?.map_or(0, |(bits, _)| bits);
                self.put(&basic_text(bits, &basic, scope.info.language_of_type(&typed_value.ty)));
            }
            Shape::Enumeration(at) => {
                let (bits, basic) = scope.scalar(typed_value)?.ok_or(Unavailable::NotUnderstood)?;
                self.enumerator(at, bits, &basic);
            }
            Shape::Pointer(target) => self.pointer(typed_value, &target)?,
            Shape::Reference(_) => {
                let target = scope.without_reference(typed_value)?;
                if let Location::Memory(address) = target.location {
                    self.put(&format!("@{address:#x}: "));
                }
                self.typed_value(&target, depth);
            }
            Shape::Function(_) => {
                let ty = scope.type_name(&typed_value.ty);
                match typed_value.location {
                    Location::Memory(address) => {
                        self.put(&format!("{{{ty}}} {}", self.address_text(address)))
                    }
                    _ => self.put(&format!("{{{ty}}}")),
                }
            }
            Shape::Array(element, count) => self.array(typed_value, &element, count, depth)?,
            Shape::Record(at) => self.record(typed_value, at, depth)?,
            Shape::Unknown => return Err(Unavailable::NotUnderstood),
        }
        Ok(())
    }

    fn enumerator(&mut self, at: DieRef, bits: u128, basic: &Basic) {
        let width = (basic.size * 8).clamp(8, 128) as u8;
        let wanted = Integer::new(bits, width, basic.is_signed());
        let all = self.scope.info.enumerators(at);
        let name = all.iter().find(|(_, value)| Integer::new(*value, width, basic.is_signed()) == wanted);
        match name {
            Some((name, _)) => self.put(name),
            None => self.put(&wanted.to_string()),
        }
    }

    /// Formats an address, with the name of the function if it is code.
    fn address_text(&self, address: u64) -> String {
        match self.scope.info.program.symbol_at(address) {
            Some((name, 0)) => format!("{address:#x} <{name}>"),
            Some((name, by)) => format!("{address:#x} <{name}+{by}>"),
            None => format!("{address:#x}"),
        }
    }

    fn pointer(&mut self, typed_value: &TypedValue, target: &Type) -> FormatResult {
        let scope = self.scope;
        let (bits, _) = scope.scalar(typed_value)?.ok_or(Unavailable::NotUnderstood)?;
        let address = bits as u64;
        let is_code = matches!(scope.info.shape(target), Shape::Function(_))
            || scope.info.shape(target) == Shape::Void && scope.info.program.is_code(address);
        if is_code {
            let text = self.address_text(address);
            self.put(&text);
            return Ok(());
        }
        self.put(&format!("{address:#x}"));
        if scope.is_char(target) && address != 0 {
            match scope.text_at(address, self.limits.text) {
                Ok((text, more)) => {
                    self.put(" ");
                    self.text(&text, more);
                }
                Err(reason) => self.put(&format!(" <{reason}>")),
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &[u8], more: bool) {
        self.put(&format!("\"{}\"", escaped(text, '"')));
        if more {
            self.put("...");
        }
    }

    fn array(
        &mut self,
        typed_value: &TypedValue,
        element: &Type,
        count: Option<u64>,
        depth: usize,
    ) -> FormatResult {
        let count = count.unwrap_or(0);
        if self.scope.is_char(element) {
            let shown = count.min(self.limits.text as u64);
            let bytes = self.scope.bytes_at(&typed_value.location, shown)?;
            // Bytes after the terminator of a string are leftovers of earlier contents.
            let end = bytes.iter().position(|byte| *byte == 0);
            let text = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            let more = end.is_none() && shown < count;
            self.text(text, more);
            return Ok(());
        }
        let rust = self.scope.info.language_of_type(&typed_value.ty) == Language::Rust;
        let size = self.scope.info.size(element).unwrap_or(0);
        let brackets = if rust { ("[", "]") } else { ("{", "}") };
        let location = typed_value.location.clone();
        self.elements(element, size, count, brackets, depth, |by| location.at(by, Some(size)));
        Ok(())
    }

    /// Formats a sequence of elements; equal ones are counted.
    fn elements(
        &mut self,
        element: &Type,
        size: u64,
        count: u64,
        (open, close): (&str, &str),
        depth: usize,
        location: impl Fn(u64) -> Location,
    ) {
        self.put(open);
        let mut shown = 0;
        let mut index = 0;
        let limit = self.limits.elements as u64;
        while index < count {
            if shown >= limit || self.out.len() > MAX_OUTPUT_LEN {
                self.put("...");
                break;
            }
            if index > 0 {
                self.put(", ");
            }
            let first = TypedValue::new(element.clone(), location(index.wrapping_mul(size)));
            let mut run = 1;
            if let Ok(bytes) = self.scope.bytes_at(&first.location, size) {
                let same = |by: u64| {
                    self.scope
                        .bytes_at(&location(by.wrapping_mul(size)), size)
                        .is_ok_and(|other| other == bytes)
                };
                while run < limit && index + run < count && same(index + run) {
                    run += 1;
                }
            } else if matches!(first.location, Location::Memory(_)) {
                // If the first one cannot be read, the others are not tried one by one.
                self.typed_value(&first, depth);
                break;
            }
            self.typed_value(&first, depth);
            if run >= REPEATS as u64 {
                self.put(&format!(" <repeats {run} times>"));
            } else {
                run = 1;
            }
            index += run;
            shown += 1;
        }
        self.put(close);
    }

    fn record(&mut self, typed_value: &TypedValue, at: DieRef, depth: usize) -> FormatResult {
        let scope = self.scope;
        if scope.is_text_record(typed_value)
            && let Some((text, more)) = scope.text_with_truncation(typed_value, self.limits.text)?
        {
            self.text(&text, more);
            return Ok(());
        }
        let Some(below) = depth.checked_sub(1) else {
            self.put("{...}");
            return Ok(());
        };
        let rust = scope.info.language(at) == Language::Rust;
        if let Some(slice) = scope.elements_of(typed_value) {
            let (element, start, length) = slice?;
            let size = scope.info.size(&element).unwrap_or(0);
            let brackets = if rust { ("[", "]") } else { ("{", "}") };
            self.elements(&element, size, length, brackets, below, |by| {
                Location::Memory(start.wrapping_add(by))
            });
            return Ok(());
        }
        if let Some(variant) = scope.active_variant(typed_value) {
            let variant = variant?;
            let inner = part(scope, typed_value, &variant)?;
            match scope.info.shape(&inner.ty) {
                Shape::Record(of) => self.rust_record(&inner, of, variant.name.unwrap_or("?"), below),
                _ => self.typed_value(&inner, below),
            }
            return Ok(());
        }
        if rust {
            let name = scope.info.entry(at).and_then(|entry| scope.info.name(&entry)).unwrap_or("");
            self.rust_record(typed_value, at, name, below);
            return Ok(());
        }
        let members = scope.info.members(at);
        if members.is_empty() && scope.info.size(&typed_value.ty).is_none() {
            self.put("<incomplete type>");
            return Ok(());
        }
        self.put("{");
        for (i, member) in members.iter().enumerate() {
            self.put(if i == 0 { "" } else { ", " });
            if member.is_base {
                self.put(&format!("<{}> = ", scope.type_name(&member.ty)));
            } else if let Some(name) = member.name {
                self.put(&format!("{name} = "));
            }
            self.part(typed_value, member, below);
        }
        self.put("}");
        Ok(())
    }

    fn part(&mut self, whole: &TypedValue, member: &Member, depth: usize) {
        match part(self.scope, whole, member) {
            Ok(inner) => self.typed_value(&inner, depth),
            Err(reason) => self.put(&format!("<{reason}>")),
        }
    }

    /// `Point {x: 1, y: 2}`, `Some(3)`, `(1, 2)`, `None`
    fn rust_record(&mut self, typed_value: &TypedValue, at: DieRef, name: &str, depth: usize) {
        let members = self.scope.info.members(at);
        let is_tuple =
            !members.is_empty() && members.iter().all(|m| m.name.is_some_and(|n| n.starts_with("__")));
        if !name.starts_with('(') {
            let short = name.split('<').next().unwrap_or(name);
            self.put(short);
        }
        match (members.is_empty(), is_tuple) {
            (true, _) if name.starts_with('(') => self.put("()"),
            (true, _) => {}
            (false, true) => {
                self.put("(");
                for (i, member) in members.iter().enumerate() {
                    self.put(if i == 0 { "" } else { ", " });
                    self.part(typed_value, member, depth);
                }
                self.put(")");
            }
            (false, false) => {
                self.put(" {");
                for (i, member) in members.iter().enumerate() {
                    self.put(if i == 0 { "" } else { ", " });
                    self.put(&format!("{}: ", member.name.unwrap_or("?")));
                    self.part(typed_value, member, depth);
                }
                self.put("}");
            }
        }
    }
}

fn part(scope: &Scope<'_>, whole: &TypedValue, member: &Member) -> Result<TypedValue, Unavailable> {
    scope.part(whole, member).map_err(|error| match error {
        EvalError::Missing(reason) | EvalError::Inapplicable(_, reason) => reason,
        EvalError::Invalid(_) => Unavailable::NotUnderstood,
    })
}

/// Formats a number, character or Boolean.
fn basic_text(bits: u128, basic: &Basic, language: Language) -> String {
    let integer = Integer::new(bits, (basic.size * 8).clamp(8, 128) as u8, basic.is_signed());
    let unicode = || match basic.size {
        1 => char::from_u32(u32::from(integer.low() as u8)),
        _ => char::from_u32(bits as u32),
    };
    match basic.encoding {
        Encoding::Bool => match integer.low() {
            0 => "false".to_owned(),
            1 => "true".to_owned(),
            other => other.to_string(),
        },
        Encoding::Char { .. } => format!("{integer} '{}'", escaped(&[bits as u8], '\'')),
        Encoding::Unicode => {
            let shown = unicode().map_or_else(|| "?".to_owned(), |c| escaped(c.to_string().as_bytes(), '\''));
            match language {
                Language::Rust => format!("'{shown}'"),
                _ => format!("{integer} '{shown}'"),
            }
        }
        _ => match number_of(bits, basic) {
            Some(Number::Float(_)) if basic.size == 4 => float_text(f32::from_bits(bits as u32)),
            Some(Number::Float(value)) => float_text(value),
            Some(Number::Integer(value)) => value.to_string(),
            None => format!("{bits:#x}"),
        },
    }
}

/// The shortest text that denotes the same number.
fn float_text(value: impl std::fmt::Display + std::fmt::LowerExp + PartialEq) -> String {
    let text = value.to_string();
    match text.as_str() {
        "NaN" => "nan".to_owned(),
        _ if text.len() > 24 => format!("{value:e}"),
        _ => text,
    }
}
