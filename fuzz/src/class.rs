//! Files that pretend to be Java classes.

use invigil_weave::{Capture, Class, Kind, Plan, Probe, Site, compare, weave};

const HELPER: &str = "java/lang/Invigil";

/// Probes everywhere, with all that can be taken.
struct Everywhere;

impl Plan for Everywhere {
    fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
        let captures: &[Capture] = match site.kind {
            Kind::Enter => &[Capture::This, Capture::Argument(0)],
            Kind::Return => &[Capture::Result, Capture::Argument(1)],
            Kind::Throw => &[Capture::Thrown],
            Kind::Field { .. } => &[Capture::Owner, Capture::Value],
            Kind::Local { .. } => &[Capture::Value],
            Kind::Call { .. } => &[Capture::Owner],
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
