//! Weaving of malformed class files.

use invigil_weave::{Capture, Class, Probe, ProbePlan, Site, SiteKind, compare, weave};

const HELPER: &str = "java/lang/Invigil";

/// Plan with a probe at every site, which captures every kind of value.
struct AllSites;

impl ProbePlan for AllSites {
    fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
        let captures: &[Capture] = match site.kind {
            SiteKind::Enter => &[Capture::This, Capture::Argument(0)],
            SiteKind::Return => &[Capture::Result, Capture::Argument(1)],
            SiteKind::ExceptionalExit => &[Capture::Thrown],
            SiteKind::Field { .. } => &[Capture::Owner, Capture::Value],
            SiteKind::Local { .. } => &[Capture::Value],
            SiteKind::Call { .. } => &[Capture::Owner],
        };
        vec![Probe::new(1, captures)]
    }
}

/// No input causes a panic. A woven class is compared with the original.
pub(crate) fn run(data: &[u8]) {
    let _ = Class::read(data);
    if let Ok(Some(woven)) = weave(data, HELPER, &mut AllSites) {
        let _ = Class::read(&woven.bytes);
        let _ = compare(data, &woven.bytes, HELPER);
    }
}
