//! Weaving of a class.

use std::borrow::Cow;
use std::fmt;

use crate::bytes::Write;
use crate::code::Code;
use crate::descriptor;
use crate::error::ClassFileError;
use crate::layout::WeaveError;
use crate::plan::{ProbePlan, SiteKinds};
use crate::pool::Additions;
use crate::raw::{Attribute, ClassFileParts, Member};
use crate::sites::{Method, SiteVisitor};

const ACC_STATIC: u16 = 8;

/// A class with probes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Woven {
    /// The class file.
    pub bytes: Vec<u8>,
    /// The number of added probes. A probe at [`crate::SiteKind::ExceptionalExit`] counts once.
    pub probes: usize,
    /// Probes that could not be added.
    pub skipped: Vec<SkippedMethod>,
}

/// A method in which probes could not be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedMethod {
    /// The method.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The identities of the missing probes; the same identities may be present at other sites.
    pub probes: Vec<u32>,
    /// The reason.
    pub reason: Cow<'static, str>,
}

impl fmt::Display for SkippedMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} is not instrumented: {}", self.method, self.descriptor, self.reason)
    }
}

/// Adds the probes of a plan to a class. The helper is the class whose methods the probes call, such as
/// `java/lang/Invigil`.
///
/// Returns `None` if the plan has no probes for this class. `java/lang/Object` and the helper itself are never woven: a
/// virtual machine does not start with the former, and the latter would recurse infinitely.
pub fn weave(class: &[u8], helper: &str, plan: &mut dyn ProbePlan) -> Result<Option<Woven>, ClassFileError> {
    let raw = ClassFileParts::read(class)?;
    let name = raw
        .pool
        .class(raw.this_class)
        .ok_or(ClassFileError::Malformed { offset: raw.pool_end, message: "the class has no name" })?;
    if name == "java/lang/Object" || name == helper {
        return Ok(None);
    }
    let site_kinds = plan.site_kinds(&name);
    if site_kinds == SiteKinds::NOTHING {
        return Ok(None);
    }
    let pool = Additions::new(raw.pool.len());
    let mut weaver = ClassWeaver {
        raw: &raw,
        class: &name,
        helper,
        plan,
        site_kinds,
        pool,
        probes: 0,
        skipped: Vec::new(),
    };
    let mut codes = Vec::with_capacity(raw.methods.len());
    for member in &raw.methods {
        if let Some(attribute) = raw.attribute(&member.attributes, b"Code") {
            codes.extend(weaver.method(member, attribute)?.map(|code| (attribute, code)));
        }
    }
    let ClassWeaver { pool, probes, skipped, .. } = weaver;
    Ok(match (codes.is_empty(), skipped.is_empty()) {
        (true, true) => None,
        (true, false) => Some(Woven { bytes: class.to_vec(), probes, skipped }),
        (false, _) => Some(Woven { bytes: assemble(&raw, &pool, &codes), probes, skipped }),
    })
}

/// State of weaving a class.
struct ClassWeaver<'a, 'p> {
    raw: &'a ClassFileParts<'a>,
    class: &'a str,
    helper: &'a str,
    plan: &'p mut dyn ProbePlan,
    site_kinds: SiteKinds,
    pool: Additions,
    probes: usize,
    skipped: Vec<SkippedMethod>,
}

impl ClassWeaver<'_, '_> {
    /// Weaves one method. Returns its new code if it has probes.
    fn method(&mut self, member: &Member, attribute: Attribute) -> Result<Option<Vec<u8>>, ClassFileError> {
        let raw = self.raw;
        let error = |message| ClassFileError::Malformed { offset: member.start, message };
        let text = |index| raw.pool.text(index).ok_or_else(|| error("a method has no name"));
        let (name, descriptor) = (text(member.name)?, text(member.descriptor)?);
        let (parameters, result) =
            descriptor::method(&descriptor).ok_or_else(|| error("a method has an invalid descriptor"))?;
        let is_static = member.access & ACC_STATIC != 0;
        let method =
            Method { class: self.class, name: &name, descriptor: &descriptor, is_static, parameters, result };
        let code = Code::read(raw, attribute)?;
        let sites = SiteVisitor::new(&method, &mut *self.plan, &mut self.skipped).visit_all(
            raw,
            member,
            &code,
            self.site_kinds,
        )?;
        if sites.is_empty() {
            return Ok(None);
        }
        let mark = self.pool.mark();
        match crate::method::weave(raw, &method, &code, &sites, self.helper, &mut self.pool) {
            Ok(code) => {
                self.probes += sites.probes().count();
                Ok(Some(code))
            }
            Err(WeaveError::Malformed(error)) => Err(error),
            Err(WeaveError::Skipped(reason)) => {
                self.pool.rewind(mark);
                self.skipped.push(SkippedMethod {
                    method: name.to_string(),
                    descriptor: descriptor.to_string(),
                    probes: sites.probes().map(|probe| probe.id).collect(),
                    reason,
                });
                Ok(None)
            }
        }
    }
}

/// Assembles the class: the original with additional constants and new code.
fn assemble(raw: &ClassFileParts<'_>, pool: &Additions, codes: &[(Attribute, Vec<u8>)]) -> Vec<u8> {
    const BEFORE_POOL: usize = 8;
    let bytes = raw.bytes;
    let added: usize = codes.iter().map(|(_, code)| code.len()).sum();
    let mut out = Vec::with_capacity(bytes.len() + pool.bytes().len() + added);
    out.extend_from_slice(&bytes[..BEFORE_POOL]);
    out.put2(pool.len() as u16);
    out.extend_from_slice(&bytes[BEFORE_POOL + 2..raw.pool_end]);
    out.extend_from_slice(pool.bytes());
    let mut copied = raw.pool_end;
    for (attribute, code) in codes {
        // The length of an attribute directly precedes its content.
        out.extend_from_slice(&bytes[copied..attribute.start - 4]);
        out.put4(code.len() as u32);
        out.extend_from_slice(code);
        copied = attribute.end;
    }
    out.extend_from_slice(&bytes[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Capture, Probe, Site, SiteKind};
    use crate::{compare, helper_class};

    const HELPER: &str = "java/lang/Invigil";

    /// Reports exceptions with more than one capture.
    struct ExceptionPlan;

    impl ProbePlan for ExceptionPlan {
        fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
            match site.kind {
                SiteKind::ExceptionalExit => vec![Probe::new(5, [Capture::Thrown, Capture::This])],
                _ => Vec::new(),
            }
        }
    }

    fn reasons(class: &[u8]) -> Vec<String> {
        let woven = weave(class, HELPER, &mut ExceptionPlan).unwrap().unwrap();
        woven.skipped.iter().map(|skipped| skipped.reason.to_string()).collect()
    }

    /// A class with `count` constants, most of which are unused.
    fn with_constants(count: u16) -> Vec<u8> {
        let class = helper_class("a/B");
        let raw = ClassFileParts::read(&class).unwrap();
        let more = usize::from(count) - raw.pool.len();
        let mut bytes = class[..raw.pool_end].to_vec();
        bytes[8..10].copy_from_slice(&count.to_be_bytes());
        bytes.extend([1, 0, 0].repeat(more));
        bytes.extend_from_slice(&class[raw.pool_end..]);
        bytes
    }

    #[test]
    fn full_constant_pool_skips_method() {
        assert_eq!(reasons(&with_constants(65_000)), Vec::<String>::new());
        let full = with_constants(65_530);
        assert_eq!(reasons(&full), ["the constant pool of the class is full"; 2]);
        let woven = weave(&full, HELPER, &mut ExceptionPlan).unwrap().unwrap();
        assert_eq!((woven.bytes, woven.probes), (full, 0));
    }

    #[test]
    fn method_with_too_many_variables_is_skipped() {
        let mut class = helper_class("a/B");
        let raw = ClassFileParts::read(&class).unwrap();
        let code = raw.methods.iter().find_map(|member| raw.attribute(&member.attributes, b"Code")).unwrap();
        class[code.start + 2..code.start + 4].copy_from_slice(&[0xff, 0xff]);
        assert_eq!(
            reasons(&class),
            ["it would have too many variables; instrument fewer sites in it or split it"]
        );
        // The other method is woven nevertheless.
        let woven = weave(&class, HELPER, &mut ExceptionPlan).unwrap().unwrap();
        assert_eq!(compare(&class, &woven.bytes, HELPER).unwrap().probes, 1);
    }

    #[test]
    fn object_and_helper_are_never_woven() {
        assert_eq!(weave(&helper_class(HELPER), HELPER, &mut ExceptionPlan), Ok(None));
        assert_eq!(weave(&helper_class("java/lang/Object"), HELPER, &mut ExceptionPlan), Ok(None));
    }
}
