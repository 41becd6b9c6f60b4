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
    let mut pool = Additions::new(raw.pool.len());
    let mut left = Vec::new();
    let mut probes = 0;
    let mut codes = Vec::with_capacity(raw.methods.len());
    for member in &raw.methods {
        let code = match raw.attribute(&member.attributes, b"Code") {
            Some(attribute) => {
                let woven =
                    method(&raw, &name, member, attribute, helper, plan, wants, &mut pool, &mut left)?;
                woven.map(|(code, count)| {
                    probes += count;
                    (attribute, code)
                })
            }
            None => None,
        };
        codes.push(code);
    }
    if probes == 0 {
        let nothing = left.is_empty();
        return Ok((!nothing).then(|| Woven { bytes: class.to_vec(), probes, left }));
    }
    Ok(Some(Woven { bytes: assemble(&raw, &pool, &codes), probes, left }))
}

/// Weaves one method. Gives its code and how many probes are in it, if there are any.
#[expect(clippy::too_many_arguments, reason = "they are the state of one loop")]
fn method(
    raw: &Raw<'_>,
    class: &str,
    member: &Member,
    attribute: Attribute,
    helper: &str,
    plan: &mut dyn Plan,
    wants: Wants,
    pool: &mut Additions,
    left: &mut Vec<Left>,
) -> Result<Option<(Vec<u8>, usize)>, Problem> {
    let problem = |what| Problem::Malformed { offset: member.start, what };
    let text = |index| raw.pool.text(index).ok_or_else(|| problem("a method has no name"));
    let (name, descriptor) = (text(member.name)?, text(member.descriptor)?);
    let (parameters, result) =
        descriptor::method(&descriptor).ok_or_else(|| problem("a method has no proper descriptor"))?;
    let is_static = member.access & ACC_STATIC != 0;
    let method = Method { class, name: &name, descriptor: &descriptor, is_static, parameters, result };
    let code = Code::read(raw, attribute)?;
    let sites = Asking::new(&method, plan, left).all(raw, member, &code, wants)?;
    if sites.is_empty() {
        return Ok(None);
    }
    let mark = pool.mark();
    match crate::method::weave(raw, &method, &code, &sites, helper, pool) {
        Ok(code) => Ok(Some((code, sites.probes().count()))),
        Err(Stop::Problem(problem)) => Err(problem),
        Err(Stop::Left(reason)) => {
            pool.rewind(mark);
            left.push(Left {
                method: name.into_owned(),
                descriptor: descriptor.to_string(),
                probes: sites.probes().map(|probe| probe.id).collect(),
                reason,
            });
            Ok(None)
        }
    }
}

/// Puts the class together: all as it was, but for more constants and new code.
fn assemble(raw: &Raw<'_>, pool: &Additions, codes: &[Option<(Attribute, Vec<u8>)>]) -> Vec<u8> {
    const BEFORE_POOL: usize = 8;
    let bytes = raw.bytes;
    let added: usize = codes.iter().flatten().map(|(_, code)| code.len()).sum();
    let mut out = Vec::with_capacity(bytes.len() + pool.bytes().len() + added);
    out.extend_from_slice(&bytes[..BEFORE_POOL]);
    out.put2(pool.len() as u16);
    out.extend_from_slice(&bytes[BEFORE_POOL + 2..raw.pool_end]);
    out.extend_from_slice(pool.bytes());
    let mut copied = raw.pool_end;
    for (attribute, code) in codes.iter().flatten() {
        // The length of an attribute stands right before its content.
        out.extend_from_slice(&bytes[copied..attribute.start - 4]);
        out.put4(code.len() as u32);
        out.extend_from_slice(code);
        copied = attribute.end;
    }
    out.extend_from_slice(&bytes[copied..]);
    out
}
