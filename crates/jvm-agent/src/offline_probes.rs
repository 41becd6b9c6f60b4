//! Classes that were instrumented on disk: the meaning of their probes.
//!
//! The file is stored beside the classes, so that the agent finds it where the program finds them. The agent then uses
//! these classes as they are.

use crate::agent::{Agent, HELPER};
use crate::probe_site::ProbeSite;
use crate::probe_table;
use crate::protocol::wire::message;
use crate::protocol::{decode, encode};
use crate::subscription::ResolvedSubscription;
use crate::weaving;
use invigil_weave::{CallSide, Capture, Class, Site, SiteKind, StoreTarget};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// The name of the file.
pub const FILE: &str = "invigil.probes";
const MAGIC: u32 = u32::from_le_bytes(*b"IVPR");
const VERSION: u32 = 1;

message! {
    /// All probes of a directory.
    pub struct OfflineProbes {
        /// Identifies the file format.
        pub magic: u32,
        /// The version of the file format.
        pub version: u32,
        /// The probes by class.
        pub classes: Vec<(String, Vec<OfflineProbe>)>,
    }
}

message! {
    /// A probe.
    pub struct OfflineProbe {
        /// The number that it reports.
        pub number: u32,
        /// The method that contains it.
        pub method: String,
        /// The descriptor of that method.
        pub descriptor: String,
        /// Whether that method is static.
        pub is_static: bool,
        /// What it observes.
        pub kind: ProbeEvent,
        /// What it passes, with types.
        pub captures: Vec<(u32, String)>,
    }
}

message! {
    /// See [`SiteKind`].
    pub enum ProbeEvent {
        /// See [`SiteKind::Enter`].
        0 = Enter,
        /// See [`SiteKind::Return`].
        1 = Return,
        /// See [`SiteKind::ExceptionalExit`].
        2 = ExceptionalExit,
        /// See [`SiteKind::Field`].
        3 = Field { owner: String, name: String, descriptor: String, is_static: bool },
        /// See [`SiteKind::Local`].
        4 = Local { slot: u16, name: String, descriptor: String },
        /// See [`SiteKind::Call`].
        5 = Call {
            owner: String,
            name: String,
            descriptor: String,
            is_static: bool,
            after: bool,
            stored: Option<StoredValue>,
        },
    }
}

message! {
    /// See [`StoreTarget`].
    pub enum StoredValue {
        /// See [`StoreTarget::Field`].
        0 = Field { owner: String, name: String, descriptor: String, is_static: bool, of_this: bool },
        /// See [`StoreTarget::Local`].
        1 = Local { name: String, descriptor: String },
    }
}

impl OfflineProbes {
    pub(crate) fn new(classes: Vec<(String, Vec<OfflineProbe>)>) -> OfflineProbes {
        OfflineProbes { magic: MAGIC, version: VERSION, classes }
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    fn read(bytes: &[u8]) -> Result<OfflineProbes, String> {
        let again = "instrument the classes again";
        let probes: OfflineProbes = decode(bytes).map_err(|_| format!("{FILE} is damaged: {again}"))?;
        match (probes.magic, probes.version) {
            (MAGIC, VERSION) => Ok(probes),
            _ => Err(format!("{FILE} was written by another version: {again}")),
        }
    }
}

impl OfflineProbe {
    pub(crate) fn new(number: u32, site: &Site<'_>, place: &ProbeSite) -> OfflineProbe {
        let own = str::to_owned;
        let kind = match site.kind {
            SiteKind::Enter => ProbeEvent::Enter,
            SiteKind::Return => ProbeEvent::Return,
            SiteKind::ExceptionalExit => ProbeEvent::ExceptionalExit,
            SiteKind::Field { owner, name, descriptor, is_static } => ProbeEvent::Field {
                owner: own(owner),
                name: own(name),
                descriptor: own(descriptor),
                is_static,
            },
            SiteKind::Local { slot, name, descriptor } => {
                ProbeEvent::Local { slot, name: own(name), descriptor: own(descriptor) }
            }
            SiteKind::Call { owner, name, descriptor, is_static, when, stored } => ProbeEvent::Call {
                owner: own(owner),
                name: own(name),
                descriptor: own(descriptor),
                is_static,
                after: when == CallSide::After,
                stored: stored.map(|stored| match stored {
                    StoreTarget::Field { owner, name, descriptor, is_static, of_this } => {
                        StoredValue::Field {
                            owner: own(owner),
                            name: own(name),
                            descriptor: own(descriptor),
                            is_static,
                            of_this,
                        }
                    }
                    StoreTarget::Local { name, descriptor } => {
                        StoredValue::Local { name: own(name), descriptor: own(descriptor) }
                    }
                }),
            },
        };
        let captures = place.captures.iter().map(|(capture, ty)| (number_of(*capture), ty.clone()));
        OfflineProbe {
            number,
            method: own(site.method),
            descriptor: own(site.descriptor),
            is_static: site.is_static,
            kind,
            captures: captures.collect(),
        }
    }

    fn site<'a>(&'a self, class: &'a str) -> Site<'a> {
        let kind = match &self.kind {
            ProbeEvent::Enter => SiteKind::Enter,
            ProbeEvent::Return => SiteKind::Return,
            ProbeEvent::ExceptionalExit => SiteKind::ExceptionalExit,
            ProbeEvent::Field { owner, name, descriptor, is_static } => {
                SiteKind::Field { owner, name, descriptor, is_static: *is_static }
            }
            ProbeEvent::Local { slot, name, descriptor } => SiteKind::Local { slot: *slot, name, descriptor },
            ProbeEvent::Call { owner, name, descriptor, is_static, after, stored } => SiteKind::Call {
                owner,
                name,
                descriptor,
                is_static: *is_static,
                when: if *after { CallSide::After } else { CallSide::Before },
                stored: stored.as_ref().map(|stored| match stored {
                    StoredValue::Field { owner, name, descriptor, is_static, of_this } => {
                        StoreTarget::Field {
                            owner,
                            name,
                            descriptor,
                            is_static: *is_static,
                            of_this: *of_this,
                        }
                    }
                    StoredValue::Local { name, descriptor } => StoreTarget::Local { name, descriptor },
                }),
            },
        };
        Site {
            class,
            method: &self.method,
            descriptor: &self.descriptor,
            is_static: self.is_static,
            line: None,
            kind,
        }
    }

    fn captures(&self) -> Vec<(Capture, String)> {
        self.captures.iter().map(|(number, ty)| (capture_of(*number), ty.clone())).collect()
    }
}

fn number_of(capture: Capture) -> u32 {
    match capture {
        Capture::This => 0,
        Capture::Result => 1,
        Capture::Value => 2,
        Capture::Owner => 3,
        Capture::Thrown => 4,
        Capture::Argument(at) => 16 + u32::from(at),
    }
}

fn capture_of(number: u32) -> Capture {
    match number {
        1 => Capture::Result,
        2 => Capture::Value,
        3 => Capture::Owner,
        4 => Capture::Thrown,
        16.. => Capture::Argument((number - 16) as u16),
        _ => Capture::This,
    }
}

static PROBES: OnceLock<HashMap<String, Vec<OfflineProbe>>> = OnceLock::new();

/// Loads a file that was found. Only the first one counts.
pub(crate) fn load(agent: &Agent, bytes: &[u8]) {
    match OfflineProbes::read(bytes) {
        Ok(probes) => {
            let last = probes.classes.iter().flat_map(|(_, probes)| probes).map(|probe| probe.number).max();
            probe_table::reserve(last.map_or(0, |last| last.saturating_add(1)));
            let _ = PROBES.set(probes.classes.into_iter().collect());
        }
        Err(message) => agent.warn(message),
    }
}

/// Connects the probes of a class that was instrumented on disk to these subscriptions. Returns false if it was not.
pub(crate) fn attach(
    agent: &Agent,
    class: &Class,
    bytes: &[u8],
    subscriptions: &[Arc<ResolvedSubscription>],
) -> bool {
    let Some(probes) = PROBES.get().and_then(|found| found.get(&class.name)) else { return false };
    if !weaving::contains_bytes(bytes, HELPER.as_bytes()) {
        // This is the original class, from another directory.
        return false;
    }
    let shown = class.name.replace('/', ".");
    for probe in probes {
        let captures = probe.captures();
        let woven_captures = captures.len();
        let Some(place) = ProbeSite::with(&probe.site(&class.name), class, subscriptions, captures) else {
            continue;
        };
        let message = match place.captures.len() > woven_captures {
            true => "was instrumented for another script",
            false if probe_table::put(probe.number, place) => continue,
            false => "was instrumented on disk and can be monitored by one session only",
        };
        agent.warn(format!("{shown}.{} {message}: instrument it again", probe.method));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offline_probes_round_trip() {
        let stored = StoreTarget::Field {
            owner: "a/B",
            name: "n",
            descriptor: "La/B;",
            is_static: false,
            of_this: true,
        };
        let kinds = [
            SiteKind::Enter,
            SiteKind::Return,
            SiteKind::ExceptionalExit,
            SiteKind::Field { owner: "a/B", name: "x", descriptor: "I", is_static: true },
            SiteKind::Local { slot: 3, name: "k", descriptor: "J" },
            SiteKind::Call {
                owner: "a/B",
                name: "<init>",
                descriptor: "()V",
                is_static: false,
                when: CallSide::After,
                stored: Some(stored),
            },
        ];
        for kind in kinds {
            let site =
                Site { class: "a/B", method: "m", descriptor: "()V", is_static: true, line: None, kind };
            let captures = vec![(Capture::Argument(7), "I".to_owned()), (Capture::Owner, "La/B;".to_owned())];
            let place = ProbeSite { captures, uses: Vec::new(), this: None };
            let probes =
                OfflineProbes::new(vec![("a/B".to_owned(), vec![OfflineProbe::new(5, &site, &place)])]);
            let read = OfflineProbes::read(&probes.to_bytes()).unwrap();
            assert_eq!(read, probes);
            assert_eq!(read.classes[0].1[0].site("a/B"), site);
            assert_eq!(read.classes[0].1[0].captures(), place.captures);
        }
        assert!(OfflineProbes::read(b"nonsense").unwrap_err().contains("instrument the classes again"));
    }
}
