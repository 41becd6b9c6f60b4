//! Files that pretend to be Java classes.

use invigil_weave::{Capture, Class, Probe, ProbePlan, Site, SiteKind, compare, weave};

const HELPER: &str = "java/lang/Invigil";

/// Probes everywhere, with all that can be taken.
struct Everywhere;

impl ProbePlan for Everywhere {
    fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
        let captures: &[Capture] = match site.kind {
            SiteKind::Enter => &[Capture::This, Capture::Argument(0)],
            SiteKind::Return => &[Capture::Result, Capture::Argument(1)],
            SiteKind::Throw => &[Capture::Thrown],
            SiteKind::Field { .. } => &[Capture::Owner, Capture::Value],
            SiteKind::Local { .. } => &[Capture::Value],
            SiteKind::Call { .. } => &[Capture::Owner],
        };
        vec![Probe::new(1, captures)]
    }
}

/// Any bytes are read and woven without a panic, and what is woven differs by probes only.
pub(crate) fn run(data: &[u8]) {
    let _ = Class::read(data);
    if let Ok(Some(woven)) = weave(data, HELPER, &mut Everywhere) {
        let _ = Class::read(&woven.bytes);
        let _ = compare(data, &woven.bytes, HELPER);
    }
}
