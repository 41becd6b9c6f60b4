//! Loads a pair of scripts.

use super::ast::Literal;
use crate::{medl, pedl};
use invigil_expr::diag::{Diagnostic, SourceId};

/// A PEDL script and the MEDL script that imports from it.
#[derive(Clone, Debug)]
pub struct ScriptPair {
    /// The monitored entities, with the events and conditions derived from them.
    pub pedl: pedl::MonitoringScript,
    /// The requirements.
    pub medl: medl::RequirementScript,
}

/// Parses and compiles a PEDL script and the MEDL script that imports from it, and checks them against each other.
/// `constants` returns the values of constants of the target; see [`pedl::lower()`].
///
/// Returns a result if no error is among the diagnostics, which cover both scripts.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::mac::load;
///
/// let pedl = "MonScr  monobj int A.x;  export condition high;  condition high = A.x > 3;  End";
/// let medl = "ReqSpec  import condition hihg;  property low = !hihg;  End";
/// let (loaded, diagnostics) = load((SourceId(0), pedl), (SourceId(1), medl), &|_| None);
/// assert!(loaded.is_none());
/// assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `high`?"));
/// ```
pub fn load(
    pedl: (SourceId, &str),
    medl: (SourceId, &str),
    constants: &dyn Fn(&str) -> Option<Literal>,
) -> (Option<ScriptPair>, Vec<Diagnostic>) {
    let (monitoring, mut diagnostics) = pedl::parse(pedl.0, pedl.1);
    // Names are not resolved in a script with syntax errors: most further diagnostics would be consequences.
    let is_valid = |diagnostics: &[Diagnostic]| !diagnostics.iter().any(Diagnostic::is_error);
    let is_pedl_valid = is_valid(&diagnostics);
    let recogniser = match is_pedl_valid {
        true => {
            let (lowered, more) = pedl::lower(&monitoring, constants);
            diagnostics.extend(more);
            lowered
        }
        false => None,
    };
    let (requirements, more) = medl::parse(medl.0, medl.1);
    let can_be_checked = is_pedl_valid && is_valid(&more);
    diagnostics.extend(more);
    if !can_be_checked {
        return (None, diagnostics);
    }
    let exports = match &recogniser {
        Some(recogniser) => recogniser.exports.clone(),
        None => pedl::exports(&monitoring),
    };
    let (checker, more) = medl::lower_with(&requirements, Some(&exports));
    diagnostics.extend(more);
    (recogniser.zip(checker).map(|(pedl, medl)| ScriptPair { pedl, medl }), diagnostics)
}
