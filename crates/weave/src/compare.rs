//! Verification that weaving only added probes.
//!
//! Independent of the weaver except for the parsing of class files: it locates the original instructions among the new
//! ones and executes the instructions between them on a stack of symbols. They must leave the stack unchanged, write no
//! variables of the program, and call only the helper.

mod align;
mod gap;
mod tables;

use std::fmt;

use crate::code::Code;
use crate::raw::{Attribute, ClassFileParts, Member};

/// Size of the changes to a class.
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

/// A change that is not an added probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The method or the part of the class.
    pub place: String,
    /// Description of the change.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl std::error::Error for Difference {}

/// Checks that all contents of a class are still there in the same order, and that everything else is probes that call
/// the helper. Frames are left to the verifier of the virtual machine.
///
/// ```
/// use invigil_weave::{Capture, ProbePlan, Probe, Site, SiteKind, compare, helper_class, weave};
///
/// struct Entries;
/// impl ProbePlan for Entries {
///     fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
///         if site.kind == SiteKind::Enter { vec![Probe::new(1, [])] } else { Vec::new() }
///     }
/// }
///
/// // Any class will do: here, the helper of another one.
/// let before = helper_class("a/B");
/// let after = weave(&before, "java/lang/Invigil", &mut Entries).unwrap().unwrap().bytes;
/// assert_eq!(compare(&before, &after, "java/lang/Invigil").unwrap().probes, 2);
/// assert!(compare(&after, &before, "java/lang/Invigil").is_err());
/// ```
pub fn compare(before: &[u8], after: &[u8], helper: &str) -> Result<Growth, Difference> {
    let read = |bytes, which: &str| {
        ClassFileParts::read(bytes)
            .map_err(|error| Difference { place: format!("the class {which}"), what: error.to_string() })
    };
    let (old, new) = (read(before, "before")?, read(after, "after")?);
    let differs = |place: &str, what: &str| Difference { place: place.to_owned(), what: what.to_owned() };
    let same = |is_same: bool, place: &str| {
        if is_same { Ok(()) } else { Err(differs(place, "changed")) }
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

/// Why a method differs.
pub(crate) type Reason = String;

/// Compares two methods and returns the number of probes.
fn method(
    old: &ClassFileParts<'_>,
    was: &Member,
    new: &ClassFileParts<'_>,
    is: &Member,
    helper: &str,
) -> Result<usize, Reason> {
    let head = |member: &Member| (member.access, member.name, member.descriptor);
    if head(was) != head(is) || was.attributes.len() != is.attributes.len() {
        return Err("its name, descriptor or attributes changed".to_owned());
    }
    let mut probes = 0;
    for (a, b) in was.attributes.iter().zip(&is.attributes) {
        if a.name != b.name {
            return Err("its attributes changed".to_owned());
        }
        if same_content(old, a, new, b) {
            continue;
        }
        if old.pool.raw(a.name) != Some(b"Code") {
            return Err("an attribute changed".to_owned());
        }
        let read = |raw, attribute| Code::read(raw, attribute).map_err(|error| error.to_string());
        probes += code(old, &read(old, *a)?, new, &read(new, *b)?, helper)?;
    }
    Ok(probes)
}

fn same_content(old: &ClassFileParts<'_>, a: &Attribute, new: &ClassFileParts<'_>, b: &Attribute) -> bool {
    old.bytes[a.start..a.end] == new.bytes[b.start..b.end]
}

fn code(
    old: &ClassFileParts<'_>,
    was: &Code<'_>,
    new: &ClassFileParts<'_>,
    is: &Code<'_>,
    helper: &str,
) -> Result<usize, Reason> {
    if is.max_stack < was.max_stack || is.max_locals < was.max_locals {
        return Err("its stack or locals became smaller".to_owned());
    }
    let alignment = align::Alignment::find(was, is, new, helper)?;
    tables::handlers(was, is, &alignment)?;
    tables::attributes(old, was, new, is, &alignment)?;
    Ok(alignment.probes)
}
