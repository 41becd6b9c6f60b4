//! Helpers of the tests.

use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_lang::{medl, pedl};

/// Compiles a monitoring script without errors.
pub(crate) fn pedl(text: &str) -> pedl::MonitoringScript {
    let (script, problems) = pedl::parse(SourceId(0), text);
    assert!(!problems.iter().any(Diagnostic::is_error), "{problems:?}");
    let (lowered, problems) = pedl::lower(&script, &|_| None);
    lowered.unwrap_or_else(|| panic!("{problems:?}"))
}

/// Compiles a requirement script without errors.
#[allow(dead_code)]
pub(crate) fn medl(text: &str, monitoring: &pedl::MonitoringScript) -> medl::RequirementScript {
    let (script, problems) = medl::parse(SourceId(0), text);
    assert!(!problems.iter().any(Diagnostic::is_error), "{problems:?}");
    let (lowered, problems) = medl::lower(&script, Some(monitoring));
    lowered.unwrap_or_else(|| panic!("{problems:?}"))
}

/// A variable of every type, and two methods.
pub(crate) const EVERYTHING: &str = "MonScr Everything
    monobj boolean A.b;  monobj byte A.y;   monobj char A.c;   monobj short A.s;  monobj int A.i;
    monobj long A.l;     monobj float A.f;  monobj double A.d; monobj String A.t; monobj int A.main(int, int).x;
    monmeth void A.go(); monmeth int A.sum(int, String, Object);  monmeth void A.sum(double);
    timestamp 10;
    event e = update(A.b) || update(A.y) || update(A.c) || update(A.s) || update(A.i) || update(A.l) || update(A.f)
           || update(A.d) || update(A.t) || update(A.main(int, int).x)
           || IOM(A.go()) || IOM(A.sum(int, String, Object)) || IOM(A.sum(double));
    export event e;
End";
