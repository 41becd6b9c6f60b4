//! Verification that weaving only added probes.
//!
//! Independent of the weaver except for the parsing of class files: it locates the original instructions among the new
//! ones and executes the instructions in between on a symbolic stack. In total, the
//! added instructions must leave the stack unchanged, write no variables of the program, and call only the helper (and
//! `Double.doubleToRawLongBits`).

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
    pub probed_methods: usize,
    /// How many calls of the helper there are.
    pub probes: usize,
}

/// A change that is not an added probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The method or the part of the class.
    pub part: String,
    /// Description of the change.
    pub change: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.part, self.change)
    }
}

impl std::error::Error for Difference {}

/// Checks that all contents of a class are still there in the same order, and that everything else is probes that call
/// the helper, and jumps over long distances. Of type annotations of code, only the length is compared. Frames are left to the verifier of the virtual machine.
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
/// // Any class will do; here, a helper class with a different name.
/// let before = helper_class("a/B");
/// let after = weave(&before, "java/lang/Invigil", &mut Entries).unwrap().unwrap().bytes;
/// assert_eq!(compare(&before, &after, "java/lang/Invigil").unwrap().probes, 2);
/// assert!(compare(&after, &before, "java/lang/Invigil").is_err());
/// ```
pub fn compare(before: &[u8], after: &[u8], helper: &str) -> Result<Growth, Difference> {
    let read = |bytes, which: &str| {
        ClassFileParts::read(bytes)
            .map_err(|error| Difference { part: format!("the class {which}"), change: error.to_string() })
    };
    let (old_class, new_class) = (read(before, "before")?, read(after, "after")?);
    let difference =
        |part: &str, change: &str| Difference { part: part.to_owned(), change: change.to_owned() };
    let same = |is_same: bool, part: &str| {
        if is_same { Ok(()) } else { Err(difference(part, "changed")) }
    };
    same(before[..8] == after[..8], "the version")?;
    same(
        after[10..].starts_with(&before[10..old_class.pool_end])
            && new_class.pool.len() >= old_class.pool.len(),
        "the constants",
    )?;
    same(
        before[old_class.pool_end..old_class.methods_at] == after[new_class.pool_end..new_class.methods_at],
        "the names and fields",
    )?;
    same(
        before[old_class.attributes_at..] == after[new_class.attributes_at..],
        "the attributes of the class",
    )?;
    same(old_class.methods.len() == new_class.methods.len(), "the number of methods")?;

    let mut growth = Growth {
        bytes_before: before.len(),
        bytes_after: after.len(),
        constants: new_class.pool.len() - old_class.pool.len(),
        ..Growth::default()
    };
    for (old_method, new_method) in old_class.methods.iter().zip(&new_class.methods) {
        let name = old_class.pool.text(old_method.name).unwrap_or_default();
        let part = format!("{name}{}", old_class.pool.text(old_method.descriptor).unwrap_or_default());
        let probes = method(&old_class, old_method, &new_class, new_method, helper)
            .map_err(|change| Difference { part, change })?;
        growth.probed_methods += usize::from(probes > 0);
        growth.probes += probes;
    }
    Ok(growth)
}

/// Why a method differs.
pub(crate) type Reason = String;

/// Compares two methods and returns the number of probes.
fn method(
    old_class: &ClassFileParts<'_>,
    old_method: &Member,
    new_class: &ClassFileParts<'_>,
    new_method: &Member,
    helper: &str,
) -> Result<usize, Reason> {
    let head = |member: &Member| (member.access, member.name, member.descriptor);
    if head(old_method) != head(new_method) || old_method.attributes.len() != new_method.attributes.len() {
        return Err("its name, descriptor or attributes changed".to_owned());
    }
    let mut probes = 0;
    for (a, b) in old_method.attributes.iter().zip(&new_method.attributes) {
        if a.name != b.name {
            return Err("its attributes changed".to_owned());
        }
        if same_content(old_class, a, new_class, b) {
            continue;
        }
        if old_class.pool.raw(a.name) != Some(b"Code") {
            return Err("an attribute changed".to_owned());
        }
        let read = |raw, attribute| Code::read(raw, attribute).map_err(|error| error.to_string());
        probes += code(old_class, &read(old_class, *a)?, new_class, &read(new_class, *b)?, helper)?;
    }
    Ok(probes)
}

fn same_content(
    old_class: &ClassFileParts<'_>,
    a: &Attribute,
    new_class: &ClassFileParts<'_>,
    b: &Attribute,
) -> bool {
    old_class.bytes[a.start..a.end] == new_class.bytes[b.start..b.end]
}

fn code(
    old_class: &ClassFileParts<'_>,
    old_code: &Code<'_>,
    new_class: &ClassFileParts<'_>,
    new_code: &Code<'_>,
    helper: &str,
) -> Result<usize, Reason> {
    if new_code.max_stack < old_code.max_stack || new_code.max_locals < old_code.max_locals {
        return Err("its stack or locals became smaller".to_owned());
    }
    let alignment = align::Alignment::find(old_code, new_code, new_class, helper)?;
    tables::check_handlers(old_code, new_code, &alignment)?;
    tables::check_attributes(old_class, old_code, new_class, new_code, &alignment)?;
    Ok(alignment.probes)
}
