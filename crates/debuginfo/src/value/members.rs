//! Members of records, including those of base classes, anonymous members and Rust's variants.

use crate::value::error::ExpressionError;
use crate::value::evaluate::EvalError;
use crate::value::info::DieRef;
use crate::value::scope::Scope;
use crate::value::typed_value::{Location, TypedValue, Unavailable};
use crate::value::types::{Member, Offset, Shape};
use gimli::AttributeValue;

/// Maximum depth of derived classes and anonymous members.
const MAX_NESTING: u8 = 16;
/// Maximum number of pointers that are followed to find a member.
const MAX_POINTERS: usize = 8;

impl Scope<'_> {
    /// The member of a record, or of the record that a pointer points to.
    pub(crate) fn select(&self, whole: &TypedValue, name: &str, at: usize) -> Result<TypedValue, EvalError> {
        let mut whole = self.without_reference(whole)?;
        for _ in 0..MAX_POINTERS {
            match self.info.shape(&whole.ty) {
                Shape::Pointer(_) => whole = self.pointee(&whole, at)?,
                Shape::Reference(_) => whole = self.without_reference(&whole)?,
                _ => break,
            }
        }
        let Shape::Record(record) = self.info.shape(&whole.ty) else {
            let ty = self.type_name(&whole.ty);
            return Err(ExpressionError::new(at, format!("a value of type `{ty}` has no members")).into());
        };
        if let Some(found) = self.member(&whole, name)? {
            return Ok(found);
        }
        let mut names = Vec::new();
        self.member_names(record, &mut names, MAX_NESTING);
        let ty = self.type_name(&whole.ty);
        let is_incomplete = names.is_empty() && self.info.size(&whole.ty).is_none();
        let text = if is_incomplete {
            format!("`{ty}` is only declared; its members are unknown")
        } else {
            format!("`{ty}` has no member `{name}`")
        };
        let error = ExpressionError::new(at, text).nearest(name, names);
        match self.members_of_variants(&whole, name) {
            Ok(found) if found.is_empty() => Err(error.into()),
            _ => Err(EvalError::Inapplicable(error, Unavailable::InactiveVariant)),
        }
    }

    /// The members with a name in all variants of a Rust enumeration, active or not.
    fn members_of_variants(&self, whole: &TypedValue, name: &str) -> Result<Vec<TypedValue>, EvalError> {
        let Shape::Record(record) = self.info.shape(&whole.ty) else { return Ok(Vec::new()) };
        let variants = self.info.variants(record).map(|variants| variants.all).unwrap_or_default();
        let found = variants.iter().map(|(_, variant)| self.member(&self.part(whole, variant)?, name));
        found.filter_map(Result::transpose).collect()
    }

    /// The member with a name, if the record has one.
    pub(crate) fn member(&self, whole: &TypedValue, name: &str) -> Result<Option<TypedValue>, EvalError> {
        let Shape::Record(record) = self.info.shape(&whole.ty) else { return Ok(None) };
        // The fields of Rust tuples are named by numbers.
        let field = match name.bytes().all(|byte| byte.is_ascii_digit()) {
            true => format!("__{name}"),
            false => name.to_owned(),
        };
        if let Some(path) = self.path_to(record, &field, MAX_NESTING) {
            let mut typed_value = whole.clone();
            for member in &path {
                typed_value = self.part(&typed_value, member)?;
            }
            return Ok(Some(typed_value));
        }
        if self.is_check {
            let mut found = self.members_of_variants(whole, name)?;
            return match found.len() {
                0 | 1 => Ok(found.pop()),
                // Their types may differ.
                _ => Err(Unavailable::InactiveVariant.into()),
            };
        }
        match self.active_variant(whole) {
            Some(Ok(variant)) => self.member(&self.part(whole, &variant)?, name),
            Some(Err(reason)) => Err(reason.into()),
            None => Ok(None),
        }
    }

    /// The chain of members that leads to the one with a name.
    pub(crate) fn path_to_member(&self, record: DieRef, name: &str) -> Option<Vec<Member>> {
        self.path_to(record, name, MAX_NESTING)
    }

    fn path_to(&self, record: DieRef, name: &str, depth: u8) -> Option<Vec<Member>> {
        let depth = depth.checked_sub(1)?;
        let members = self.info.members(record);
        if let Some(own) = members.iter().find(|member| !member.is_base && member.name == Some(name)) {
            return Some(vec![own.clone()]);
        }
        // Anonymous members take precedence over inherited ones, as in C++.
        let (bases, others): (Vec<Member>, Vec<Member>) =
            members.into_iter().partition(|member| member.is_base);
        for member in others.into_iter().filter(|member| member.name.is_none()).chain(bases) {
            if let Shape::Record(inner) = self.info.shape(&member.ty)
                && let Some(rest) = self.path_to(inner, name, depth)
            {
                return Some(std::iter::once(member).chain(rest).collect());
            }
        }
        None
    }

    fn member_names(&self, record: DieRef, names: &mut Vec<&'static str>, depth: u8) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for member in self.info.members(record) {
            match (member.name, self.info.shape(&member.ty)) {
                (Some(name), _) if !member.is_base => names.push(name),
                (_, Shape::Record(inner)) => self.member_names(inner, names, depth),
                _ => {}
            }
        }
    }

    /// The part of a record that a member denotes.
    pub(crate) fn part(&self, whole: &TypedValue, member: &Member) -> Result<TypedValue, EvalError> {
        let size = match member.bits {
            Some(bits) => Some((bits.first + bits.count).div_ceil(8)),
            None => self.info.size(&member.ty),
        };
        let location = match member.offset {
            Offset::Fixed(offset) => whole.location.at(offset, size),
            Offset::Computed(at) => match &whole.location {
                Location::Memory(address) => self.computed_location(at, *address),
                Location::Unavailable(reason) => Location::Unavailable(*reason),
                _ => Location::Unavailable(Unavailable::NotUnderstood),
            },
        };
        Ok(TypedValue { ty: member.ty.clone(), location, bits: member.bits })
    }

    /// The location of a virtual base class is stored in the object itself.
    fn computed_location(&self, at: DieRef, object: u64) -> Location {
        let rule = self.info.entry(at).and_then(|entry| entry.attribute(gimli::DW_AT_data_member_location));
        match rule {
            Some(AttributeValue::Exprloc(rule)) => self.evaluate_rule(at, rule, Some(object)),
            _ => Location::Unavailable(Unavailable::NotUnderstood),
        }
    }
}
