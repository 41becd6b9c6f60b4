//! Weaving a class.

use std::borrow::Cow;
use std::fmt;

use crate::bytes::Write;
use crate::code::Code;
use crate::descriptor;
use crate::layout::Stop;
use crate::plan::{Plan, Wants};
use crate::pool::Additions;
use crate::problem::Problem;
use crate::raw::{Attribute, Member, Raw};
use crate::sites::{Asking, Method};

const ACC_STATIC: u16 = 8;

/// A class with probes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Woven {
    /// The class file.
    pub bytes: Vec<u8>,
    /// How many probes were put in. A probe at [`crate::Kind::Throw`] counts once.
    pub probes: usize,
    /// What the plan wanted and was left alone.
    pub left: Vec<Left>,
}

/// Something the plan wanted that was left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The method.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The identities of the probes that are missing: one at several sites may work at others.
    pub probes: Vec<u32>,
    /// Why.
    pub reason: Cow<'static, str>,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} is not watched: {}", self.method, self.descriptor, self.reason)
    }
}

/// Puts probes into a class, where the plan wants them. The helper is the class whose methods the probes call, as in
/// `java/lang/Invigil`.
///
/// Gives `None` if the plan wants nothing of this class. `java/lang/Object` and the helper itself are never woven: a virtual
/// machine does not start with the first, and the second would call itself for ever.
pub fn weave(class: &[u8], helper: &str, plan: &mut dyn Plan) -> Result<Option<Woven>, Problem> {
    let raw = Raw::read(class)?;
    let name = raw
        .pool
        .class(raw.this)
        .ok_or(Problem::Malformed { offset: raw.pool_end, what: "the class has no name" })?;
    if name == "java/lang/Object" || name == helper {
        return Ok(None);
    }
    let wants = plan.wants(&name);
    if wants == Wants::NOTHING {
        return Ok(None);
    }
    let pool = Additions::new(raw.pool.len());
    let mut weaving =
        Weaving { raw: &raw, class: &name, helper, plan, wants, pool, probes: 0, left: Vec::new() };
    let mut codes = Vec::with_capacity(raw.methods.len());
    for member in &raw.methods {
        if let Some(attribute) = raw.attribute(&member.attributes, b"Code") {
            codes.extend(weaving.method(member, attribute)?.map(|code| (attribute, code)));
        }
    }
    let Weaving { pool, probes, left, .. } = weaving;
    Ok(match (codes.is_empty(), left.is_empty()) {
        (true, true) => None,
        (true, false) => Some(Woven { bytes: class.to_vec(), probes, left }),
        (false, _) => Some(Woven { bytes: assemble(&raw, &pool, &codes), probes, left }),
    })
}

/// The state while the methods of a class are woven.
struct Weaving<'a, 'p> {
    raw: &'a Raw<'a>,
    class: &'a str,
    helper: &'a str,
    plan: &'p mut dyn Plan,
    wants: Wants,
    pool: Additions,
    probes: usize,
    left: Vec<Left>,
}

impl Weaving<'_, '_> {
    /// Weaves one method. Gives its new code, if there are probes in it.
    fn method(&mut self, member: &Member, attribute: Attribute) -> Result<Option<Vec<u8>>, Problem> {
        let raw = self.raw;
        let problem = |what| Problem::Malformed { offset: member.start, what };
        let text = |index| raw.pool.text(index).ok_or_else(|| problem("a method has no name"));
        let (name, descriptor) = (text(member.name)?, text(member.descriptor)?);
        let (parameters, result) =
            descriptor::method(&descriptor).ok_or_else(|| problem("a method has no proper descriptor"))?;
        let is_static = member.access & ACC_STATIC != 0;
        let method =
            Method { class: self.class, name: &name, descriptor: &descriptor, is_static, parameters, result };
        let code = Code::read(raw, attribute)?;
        let sites =
            Asking::new(&method, &mut *self.plan, &mut self.left).all(raw, member, &code, self.wants)?;
        if sites.is_empty() {
            return Ok(None);
        }
        let mark = self.pool.mark();
        match crate::method::weave(raw, &method, &code, &sites, self.helper, &mut self.pool) {
            Ok(code) => {
                self.probes += sites.probes().count();
                Ok(Some(code))
            }
            Err(Stop::Problem(problem)) => Err(problem),
            Err(Stop::Left(reason)) => {
                self.pool.rewind(mark);
                self.left.push(Left {
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

/// Puts the class together: all as it was, but for more constants and new code.
fn assemble(raw: &Raw<'_>, pool: &Additions, codes: &[(Attribute, Vec<u8>)]) -> Vec<u8> {
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
        // The length of an attribute stands right before its content.
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
    use crate::plan::{Capture, Kind, Probe, Site};
    use crate::{compare, helper_class};

    const HELPER: &str = "java/lang/Invigil";

    /// Reports exceptions, with more than one thing captured.
    struct Exceptions;

    impl Plan for Exceptions {
        fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
            match site.kind {
                Kind::Throw => vec![Probe::new(5, [Capture::Thrown, Capture::This])],
                _ => Vec::new(),
            }
        }
    }

    fn reasons(class: &[u8]) -> Vec<String> {
        let woven = weave(class, HELPER, &mut Exceptions).unwrap().unwrap();
        woven.left.iter().map(|left| left.reason.to_string()).collect()
    }

    /// A class with so many constants, most of which nobody uses.
    fn with_constants(count: u16) -> Vec<u8> {
        let class = helper_class("a/B");
        let raw = Raw::read(&class).unwrap();
        let more = usize::from(count) - raw.pool.len();
        let mut bytes = class[..raw.pool_end].to_vec();
        bytes[8..10].copy_from_slice(&count.to_be_bytes());
        bytes.extend([1, 0, 0].repeat(more));
        bytes.extend_from_slice(&class[raw.pool_end..]);
        bytes
    }

    #[test]
    fn a_full_pool_of_constants() {
        assert_eq!(reasons(&with_constants(65_000)), Vec::<String>::new());
        let full = with_constants(65_530);
        assert_eq!(reasons(&full), ["the class has no room for more constants"; 2]);
        let woven = weave(&full, HELPER, &mut Exceptions).unwrap().unwrap();
        assert_eq!((woven.bytes, woven.probes), (full, 0));
    }

    #[test]
    fn too_many_variables() {
        let mut class = helper_class("a/B");
        let raw = Raw::read(&class).unwrap();
        let code = raw.methods.iter().find_map(|member| raw.attribute(&member.attributes, b"Code")).unwrap();
        class[code.start + 2..code.start + 4].copy_from_slice(&[0xff, 0xff]);
        assert_eq!(
            reasons(&class),
            ["it would have too many variables: ask for fewer probes in it, or split it"]
        );
        // The other method is woven all the same.
        let woven = weave(&class, HELPER, &mut Exceptions).unwrap().unwrap();
        assert_eq!(compare(&class, &woven.bytes, HELPER).unwrap().probes, 1);
    }

    #[test]
    fn what_is_never_woven() {
        assert_eq!(weave(&helper_class(HELPER), HELPER, &mut Exceptions), Ok(None));
        assert_eq!(weave(&helper_class("java/lang/Object"), HELPER, &mut Exceptions), Ok(None));
    }
}
