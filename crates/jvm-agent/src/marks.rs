//! Classes that were instrumented on disk: which of their probes is what.
//!
//! The file lies beside the classes, so that the agent finds it where the program finds them. It then leaves these
//! classes as they are.

use crate::agent::{Agent, HELPER};
use crate::hook;
use crate::place::Place;
use crate::protocol::wire::message;
use crate::protocol::{decode, encode};
use crate::table;
use crate::want::Wanted;
use invigil_weave::{Capture, Class, Kind, Site, Stored, When};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// The name of the file.
pub const FILE: &str = "invigil.probes";
const MAGIC: u32 = u32::from_le_bytes(*b"IVPR");
const VERSION: u32 = 1;

message! {
    /// All probes of a folder.
    pub struct Marks {
        /// So that a stranger is known as one.
        pub magic: u32,
        /// As written by this version.
        pub version: u32,
        /// By class.
        pub classes: Vec<(String, Vec<Mark>)>,
    }
}

message! {
    /// A probe.
    pub struct Mark {
        /// What it calls itself.
        pub number: u32,
        /// The method that it is in.
        pub method: String,
        /// The descriptor of that method.
        pub descriptor: String,
        /// Whether that method is static.
        pub is_static: bool,
        /// What happens there.
        pub kind: Happens,
        /// What it passes, with types.
        pub captures: Vec<(u32, String)>,
    }
}

message! {
    /// See [`Kind`].
    pub enum Happens {
        /// See [`Kind::Enter`].
        0 = Enter,
        /// See [`Kind::Return`].
        1 = Return,
        /// See [`Kind::Throw`].
        2 = Throw,
        /// See [`Kind::Field`].
        3 = Field { owner: String, name: String, descriptor: String, is_static: bool },
        /// See [`Kind::Local`].
        4 = Local { slot: u16, name: String, descriptor: String },
        /// See [`Kind::Call`].
        5 = Call {
            owner: String,
            name: String,
            descriptor: String,
            is_static: bool,
            after: bool,
            stored: Option<Kept>,
        },
    }
}

message! {
    /// See [`Stored`].
    pub enum Kept {
        /// See [`Stored::Field`].
        0 = Field { owner: String, name: String, descriptor: String, is_static: bool, of_this: bool },
        /// See [`Stored::Local`].
        1 = Local { name: String, descriptor: String },
    }
}

impl Marks {
    pub(crate) fn new(classes: Vec<(String, Vec<Mark>)>) -> Marks {
        Marks { magic: MAGIC, version: VERSION, classes }
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    fn read(bytes: &[u8]) -> Result<Marks, String> {
        let again = "instrument the classes again";
        let marks: Marks = decode(bytes).map_err(|_| format!("{FILE} is damaged: {again}"))?;
        match (marks.magic, marks.version) {
            (MAGIC, VERSION) => Ok(marks),
            _ => Err(format!("{FILE} was written by another version: {again}")),
        }
    }
}

impl Mark {
    pub(crate) fn new(number: u32, site: &Site<'_>, place: &Place) -> Mark {
        let own = str::to_owned;
        let kind = match site.kind {
            Kind::Enter => Happens::Enter,
            Kind::Return => Happens::Return,
            Kind::Throw => Happens::Throw,
            Kind::Field { owner, name, descriptor, is_static } => {
                Happens::Field { owner: own(owner), name: own(name), descriptor: own(descriptor), is_static }
            }
            Kind::Local { slot, name, descriptor } => {
                Happens::Local { slot, name: own(name), descriptor: own(descriptor) }
            }
            Kind::Call { owner, name, descriptor, is_static, when, stored } => Happens::Call {
                owner: own(owner),
                name: own(name),
                descriptor: own(descriptor),
                is_static,
                after: when == When::After,
                stored: stored.map(|stored| match stored {
                    Stored::Field { owner, name, descriptor, is_static, of_this } => Kept::Field {
                        owner: own(owner),
                        name: own(name),
                        descriptor: own(descriptor),
                        is_static,
                        of_this,
                    },
                    Stored::Local { name, descriptor } => {
                        Kept::Local { name: own(name), descriptor: own(descriptor) }
                    }
                }),
            },
        };
        let captures = place.captures.iter().map(|(capture, ty)| (number_of(*capture), ty.clone()));
        Mark {
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
            Happens::Enter => Kind::Enter,
            Happens::Return => Kind::Return,
            Happens::Throw => Kind::Throw,
            Happens::Field { owner, name, descriptor, is_static } => {
                Kind::Field { owner, name, descriptor, is_static: *is_static }
            }
            Happens::Local { slot, name, descriptor } => Kind::Local { slot: *slot, name, descriptor },
            Happens::Call { owner, name, descriptor, is_static, after, stored } => Kind::Call {
                owner,
                name,
                descriptor,
                is_static: *is_static,
                when: if *after { When::After } else { When::Before },
                stored: stored.as_ref().map(|stored| match stored {
                    Kept::Field { owner, name, descriptor, is_static, of_this } => {
                        Stored::Field { owner, name, descriptor, is_static: *is_static, of_this: *of_this }
                    }
                    Kept::Local { name, descriptor } => Stored::Local { name, descriptor },
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

static FOUND: OnceLock<HashMap<String, Vec<Mark>>> = OnceLock::new();

/// Notes what is in a file that was found; the first one counts.
pub(crate) fn found(agent: &Agent, bytes: &[u8]) {
    match Marks::read(bytes) {
        Ok(marks) => {
            let last = marks.classes.iter().flat_map(|(_, marks)| marks).map(|mark| mark.number).max();
            table::reserve(last.map_or(0, |last| last.saturating_add(1)));
            let _ = FOUND.set(marks.classes.into_iter().collect());
        }
        Err(words) => agent.complain(words),
    }
}

/// Listens to the probes of a class that was instrumented on disk. False if it was not.
pub(crate) fn listens(agent: &Agent, class: &Class, bytes: &[u8], wants: &[Arc<Wanted>]) -> bool {
    let Some(marks) = FOUND.get().and_then(|found| found.get(&class.name)) else { return false };
    if !hook::has(bytes, HELPER.as_bytes()) {
        // It is the class as it was before: it comes from another place.
        return false;
    }
    let shown = class.name.replace('/', ".");
    for mark in marks {
        let captures = mark.captures();
        let taken = captures.len();
        let Some(place) = Place::with(&mark.site(&class.name), class, wants, captures) else { continue };
        let words = match place.captures.len() > taken {
            true => "was instrumented for another script",
            false if table::put(mark.number, place) => continue,
            false => "was instrumented on disk, and is watched for one session only",
        };
        agent.complain(format!("{shown}.{} {words}: instrument it again", mark.method));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_as_they_are_written() {
        let stored =
            Stored::Field { owner: "a/B", name: "n", descriptor: "La/B;", is_static: false, of_this: true };
        let kinds = [
            Kind::Enter,
            Kind::Return,
            Kind::Throw,
            Kind::Field { owner: "a/B", name: "x", descriptor: "I", is_static: true },
            Kind::Local { slot: 3, name: "k", descriptor: "J" },
            Kind::Call {
                owner: "a/B",
                name: "<init>",
                descriptor: "()V",
                is_static: false,
                when: When::After,
                stored: Some(stored),
            },
        ];
        for kind in kinds {
            let site =
                Site { class: "a/B", method: "m", descriptor: "()V", is_static: true, line: None, kind };
            let captures = vec![(Capture::Argument(7), "I".to_owned()), (Capture::Owner, "La/B;".to_owned())];
            let place = Place { captures, uses: Vec::new(), this: None };
            let marks = Marks::new(vec![("a/B".to_owned(), vec![Mark::new(5, &site, &place)])]);
            let read = Marks::read(&marks.to_bytes()).unwrap();
            assert_eq!(read, marks);
            assert_eq!(read.classes[0].1[0].site("a/B"), site);
            assert_eq!(read.classes[0].1[0].captures(), place.captures);
        }
        assert!(Marks::read(b"nonsense").unwrap_err().contains("instrument the classes again"));
    }
}
