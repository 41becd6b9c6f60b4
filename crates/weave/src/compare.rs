//! Whether weaving only added probes.
//!
//! This shares nothing with the weaver but the reading of class files: it finds the old instructions among the new by
//! itself, and runs what stands in between on a stack of symbols, to see that it takes nothing away, changes nothing
//! and calls nobody but the helper.

mod align;
mod gap;
mod tables;

use std::fmt;

use crate::code::Code;
use crate::raw::{Attribute, Member, Raw};

/// How much a class grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Growth {
    /// The length of the class file before.
    pub bytes_before: usize,
    /// The length after.
    pub bytes_after: usize,
    /// How many constants were added.
    pub constants: usize,
    /// How many methods have probes.
    pub methods: usize,
    /// How many calls of the helper there are.
    pub probes: usize,
}

/// Something that is not only an added probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where: a method, or a part of the class.
    pub place: String,
    /// What is different.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl std::error::Error for Difference {}

/// Checks that a class was only added to: that all it had is still there, in the same order, and that all else is probes
/// which call the helper. Frames are left to the verifier of the virtual machine.
///
/// ```
/// use invigil_weave::{Capture, Kind, Plan, Probe, Site, compare, helper_class, weave};
///
/// struct Entries;
/// impl Plan for Entries {
///     fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
///         if site.kind == Kind::Enter { vec![Probe::new(1, [])] } else { Vec::new() }
///     }
/// }
///
/// // Some class: the helper of another.
/// let before = helper_class("a/B");
/// let after = weave(&before, "java/lang/Invigil", &mut Entries).unwrap().unwrap().bytes;
/// assert_eq!(compare(&before, &after, "java/lang/Invigil").unwrap().probes, 2);
/// assert!(compare(&after, &before, "java/lang/Invigil").is_err());
/// ```
pub fn compare(before: &[u8], after: &[u8], helper: &str) -> Result<Growth, Difference> {
    let read = |bytes, which: &str| {
        Raw::read(bytes)
            .map_err(|problem| Difference { place: format!("the class {which}"), what: problem.to_string() })
    };
    let (old, new) = (read(before, "before")?, read(after, "after")?);
    let differs = |place: &str, what: &str| Difference { place: place.to_owned(), what: what.to_owned() };
    let same = |is_same: bool, place: &str| {
        if is_same { Ok(()) } else { Err(differs(place, "it is not what it was")) }
    };
    same(before[..8] == after[..8], "the version")?;
    same(
        after[10..].starts_with(&before[10..old.pool_end]) && new.pool.len() >= old.pool.len(),
        "the constants",
    )?;
    same(
        before[old.pool_end..old.methods_at] == after[new.pool_end..new.methods_at],
        "the names and fields",
    )?;
    same(before[old.attributes_at..] == after[new.attributes_at..], "the attributes of the class")?;
    same(old.methods.len() == new.methods.len(), "the number of methods")?;

    let mut growth = Growth {
        bytes_before: before.len(),
        bytes_after: after.len(),
        constants: new.pool.len() - old.pool.len(),
        ..Growth::default()
    };
    for (was, is) in old.methods.iter().zip(&new.methods) {
        let name = old.pool.text(was.name).unwrap_or_default();
        let place = format!("{name}{}", old.pool.text(was.descriptor).unwrap_or_default());
        let probes = method(&old, was, &new, is, helper).map_err(|what| Difference { place, what })?;
        growth.methods += usize::from(probes > 0);
        growth.probes += probes;
    }
    Ok(growth)
}

/// What is wrong with a method, in words.
pub(crate) type Words = String;

/// Compares two methods. Gives the number of probes.
fn method(old: &Raw<'_>, was: &Member, new: &Raw<'_>, is: &Member, helper: &str) -> Result<usize, Words> {
    let head = |member: &Member| (member.access, member.name, member.descriptor);
    if head(was) != head(is) || was.attributes.len() != is.attributes.len() {
        return Err("its name, its type or its attributes are not what they were".to_owned());
    }
    let mut probes = 0;
    for (a, b) in was.attributes.iter().zip(&is.attributes) {
        if a.name != b.name {
            return Err("its attributes are not what they were".to_owned());
        }
        if same_content(old, a, new, b) {
            continue;
        }
        if old.pool.raw(a.name) != Some(b"Code") {
            return Err("an attribute is not what it was".to_owned());
        }
        let read = |raw, attribute| Code::read(raw, attribute).map_err(|problem| problem.to_string());
        probes += code(old, &read(old, *a)?, new, &read(new, *b)?, helper)?;
    }
    Ok(probes)
}

fn same_content(old: &Raw<'_>, a: &Attribute, new: &Raw<'_>, b: &Attribute) -> bool {
    old.bytes[a.start..a.end] == new.bytes[b.start..b.end]
}

fn code(old: &Raw<'_>, was: &Code<'_>, new: &Raw<'_>, is: &Code<'_>, helper: &str) -> Result<usize, Words> {
    if is.max_stack < was.max_stack || is.max_locals < was.max_locals {
        return Err("it has less room for values than it had".to_owned());
    }
    let alignment = align::Alignment::find(was, is, new, helper)?;
    tables::handlers(was, is, &alignment)?;
    tables::attributes(old, was, new, is, &alignment)?;
    Ok(alignment.probes)
}
