//! What the tool and the library inside the program say to each other.
//!
//! Both are built together, so there is no version: the tool puts in what it was built with.

use crate::calls::Call;
use crate::capture::{Capture, Moment};
use crate::tails::{Ending, Leaving, Left};
use alloc::string::String;
use alloc::vec::Vec;
use invigil_monitor::event::{Batch, SymbolId};
use invigil_monitor::inside::Unseen;
use invigil_monitor::mac::Remembered;
use serde::{Deserialize, Serialize};

/// An event at a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Which.
    pub symbol: SymbolId,
    /// Its parameters.
    pub captures: Vec<Capture>,
}

/// Events with more parameters go the long way.
pub(crate) const FEW: usize = 8;

impl Told {
    /// Whether all that it carries are whole numbers, and few.
    pub(crate) fn is_plain(&self) -> bool {
        self.captures.len() <= FEW && self.captures.iter().all(Capture::is_integer)
    }

    /// Reads all that it carries as whole numbers, if they are all there.
    #[inline]
    pub(crate) fn integers(&self, moment: &Moment<'_>, numbers: &mut [i64]) -> bool {
        numbers.iter_mut().zip(&self.captures).all(|(number, capture)| match capture.integer(moment) {
            Some(read) => {
                *number = read;
                true
            }
            None => false,
        })
    }
}

/// What happens at a place in the code: events, in the order in which they are told.
pub type Site = Vec<Told>;

/// What the tool asks for. The program stands still then, and no thread of it is in here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// These are the sites from this number on.
    Sites {
        /// The number of the first.
        first: u32,
        /// The sites.
        sites: Vec<Site>,
    },
    /// These are the properties, each as [`Parts`](invigil_monitor::automaton::Parts), once for all.
    Properties(Vec<Vec<u8>>),
    /// These are the scripts that make events of events, each as a [`Plan`](invigil_monitor::mac::Plan), once for all. Sites are
    /// told anew.
    Scripts {
        /// The scripts.
        plans: Vec<Vec<u8>>,
        /// When the program began, by the clock.
        begun: u64,
    },
    /// They step in here from now on, from these states, and someone reacts to what the concerns say.
    Put {
        /// For each property, where it stands.
        states: Vec<Vec<u8>>,
        /// For each property and state, what someone reacts to.
        concerns: Vec<Vec<u8>>,
        /// What each pair of scripts remembers.
        scripts: Vec<Remembered>,
    },
    /// From now on events go into a ring, and no property steps. Sites are told anew.
    Record {
        /// Where it lies.
        at: u64,
        /// How many slots it has, as a power of two.
        bits: u32,
        /// When the program began, by the clock, if times are recorded.
        begun: Option<u64>,
    },
    /// What they did; they step elsewhere from now on.
    Take,
    /// The open calls of the thread of this number.
    Calls(u32),
    /// The open calls of all threads, which are forgotten in here.
    TakeCalls,
    /// Calls that have begun elsewhere.
    PutCalls(Vec<Call>),
    /// This is what happens at the end of calls for which other functions return.
    Tails {
        /// The events.
        endings: Vec<Ending>,
        /// The sites where calls may be left.
        leaving: Vec<(u32, Vec<Leaving>)>,
    },
    /// These are the places that such functions return to and that have a probe now, each with its site.
    Returns(Vec<(u64, u32)>),
    /// The calls of all threads that were left for other functions, which are forgotten in here.
    TakeLeft,
    /// Calls that were left for other functions elsewhere.
    PutLeft(Vec<Left>),
    /// These events happened in a thread, all at one place, and the tool has seen them: the properties step.
    Step {
        /// The events.
        events: Batch,
        /// The thread.
        thread: u32,
    },
}

/// What comes of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// It is done.
    Done,
    /// It cannot be done: why.
    Refused(String),
    /// What the properties did, if they were in here.
    Taken(Option<Past>),
    /// Open calls, those of each thread in the order in which they began.
    Calls(Vec<Call>),
    /// Calls that were left for other functions, those of each thread in the order in which they were.
    Left(Vec<Left>),
    /// They stepped: whether someone is to react.
    Stepped(bool),
    /// They did not step: someone is yet to react to what another thread did.
    Busy,
    /// Nothing was done: a thread that is in here stands still.
    Locked,
}

/// What properties did in here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Past {
    /// How many events there were that are not told, with those that scripts found.
    pub unseen_events: u64,
    /// What those did, per property.
    pub unseen: Vec<Unseen>,
    /// Where each property stood then.
    pub before: Vec<Vec<u8>>,
    /// What each pair of scripts remembered then.
    pub scripts: Vec<Remembered>,
    /// The events since, without those that scripts found.
    pub events: Batch,
    /// The thread of each.
    pub threads: Vec<u32>,
    /// The last so many are those that someone is to react to.
    pub due: u32,
}
