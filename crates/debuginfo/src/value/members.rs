//! Parts of records: members, also of base classes and anonymous parts, and of Rust's variants.

use crate::value::datum::{Datum, Place};
use crate::value::evaluate::Stop;
use crate::value::info::At;
use crate::value::mistake::Mistake;
use crate::value::scope::Scope;
use crate::value::types::{Member, Offset, Shape};
use gimli::AttributeValue;

/// How deep classes may be derived, or anonymous parts nested.
const DEEPEST: u8 = 16;
/// How many pointers are followed to find a member.
const MOST_POINTERS: usize = 8;

impl Scope<'_> {
    /// The member of a record, or of what a pointer to one points to.
    pub(crate) fn select(&self, whole: &Datum, name: &str, at: usize) -> Result<Datum, Stop> {
        let mut whole = self.dereferenced(whole)?;
        for _ in 0..MOST_POINTERS {
            match self.info.shape(&whole.ty) {
                Shape::Pointer(_) => whole = self.pointee(&whole, at)?,
                Shape::Reference(_) => whole = self.dereferenced(&whole)?,
                _ => break,
            }
        }
        let Shape::Record(record) = self.info.shape(&whole.ty) else {
            let ty = self.type_name(&whole.ty);
            return Err(Mistake::new(at, format!("a value of type `{ty}` has no members")).into());
        };
        if let Some(found) = self.member(&whole, name)? {
            return Ok(found);
        }
        let mut names = Vec::new();
        self.member_names(record, &mut names, DEEPEST);
        let ty = self.type_name(&whole.ty);
        let is_incomplete = names.is_empty() && self.info.size(&whole.ty).is_none();
        let text = if is_incomplete {
            format!("`{ty}` is declared, but what is in it is not known")
        } else {
            format!("`{ty}` has no member `{name}`")
        };
        Err(Mistake::new(at, text).nearest(name, names).into())
    }

    /// The member of a record with a name, if it has one.
    pub(crate) fn member(&self, whole: &Datum, name: &str) -> Result<Option<Datum>, Stop> {
        let Shape::Record(record) = self.info.shape(&whole.ty) else { return Ok(None) };
        // Rust calls the fields of tuples by numbers.
        let field = match name.bytes().all(|byte| byte.is_ascii_digit()) {
            true => format!("__{name}"),
            false => name.to_owned(),
        };
        if let Some(path) = self.path_to(record, &field, DEEPEST) {
            let mut datum = whole.clone();
            for member in &path {
                datum = self.part(&datum, member)?;
            }
            return Ok(Some(datum));
        }
        match self.active_variant(whole) {
            Some(Ok(variant)) => self.member(&self.part(whole, &variant)?, name),
            Some(Err(reason)) => Err(reason.into()),
            None => Ok(None),
        }
    }

    /// The members that lead to the one with a name.
    pub(crate) fn path_to_member(&self, record: At, name: &str) -> Option<Vec<Member>> {
        self.path_to(record, name, DEEPEST)
    }

    fn path_to(&self, record: At, name: &str, depth: u8) -> Option<Vec<Member>> {
        let depth = depth.checked_sub(1)?;
        let members = self.info.members(record);
        if let Some(own) = members.iter().find(|member| !member.is_base && member.name == Some(name)) {
            return Some(vec![own.clone()]);
        }
        // What is anonymous comes before what is inherited, as the language has it.
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

    fn member_names(&self, record: At, names: &mut Vec<&'static str>, depth: u8) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for member in self.info.members(record) {
            match (member.name, self.info.shape(&member.ty)) {
                (Some(name), _) if !member.is_base => names.push(name),
                (_, Shape::Record(inner)) => self.member_names(inner, names, depth),
                _ => {}
            }
        }
    }

    /// The part of a record that a member is.
    pub(crate) fn part(&self, whole: &Datum, member: &Member) -> Result<Datum, Stop> {
        let size = match member.bits {
            Some(bits) => Some((bits.first + bits.count).div_ceil(8)),
            None => self.info.size(&member.ty),
        };
        let place = match member.offset {
            Offset::Fixed(offset) => whole.place.at(offset, size),
            Offset::Computed(at) => match &whole.place {
                Place::Memory(address) => self.computed_place(at, *address),
                Place::Unavailable(reason) => Place::Unavailable(*reason),
                _ => Place::Unavailable(crate::value::datum::Unavailable::NotUnderstood),
            },
        };
        Ok(Datum { ty: member.ty.clone(), place, bits: member.bits })
    }

    /// A virtual base class is where the object itself says.
    fn computed_place(&self, at: At, object: u64) -> Place {
        let rule = self.info.entry(at).and_then(|entry| entry.attribute(gimli::DW_AT_data_member_location));
        match rule {
            Some(AttributeValue::Exprloc(rule)) => self.follow(at, rule, Some(object)),
            _ => Place::Unavailable(crate::value::datum::Unavailable::NotUnderstood),
        }
    }
}
