//! Messages between the debugger and the library inside the target.
//!
//! There is no version number: the debugger maps the library it was built with.

use crate::capture::{Capture, EventRegisters};
use crate::pending_calls::PendingCall;
use crate::tail_calls::{PendingTailCall, TailCallEvent, TailReturnEvent};
use alloc::string::String;
use alloc::vec::Vec;
use invigil_monitor::embedded::{HostReply, HostRequest};
use invigil_monitor::event::EventId;
use serde::{Deserialize, Serialize};

/// An event that occurs at a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteEvent {
    /// Its id.
    pub event: EventId,
    /// How its parameters are read.
    pub captures: Vec<Capture>,
}

/// Largest number of parameters that are read as integers without an allocation.
pub(crate) const MAX_INTS: usize = 8;

impl SiteEvent {
    /// Whether all parameters are integers and there are few of them.
    pub(crate) fn is_int_only(&self) -> bool {
        self.captures.len() <= MAX_INTS && self.captures.iter().all(Capture::is_integer)
    }

    /// Reads all parameters as integers. Returns false if one of them cannot be read.
    #[inline]
    pub(crate) fn integers(&self, registers: &EventRegisters<'_>, numbers: &mut [i64]) -> bool {
        numbers.iter_mut().zip(&self.captures).all(|(number, capture)| match capture.integer(registers) {
            Some(read) => {
                *number = read;
                true
            }
            None => false,
        })
    }
}

/// The events of a site, in the order in which they occur.
pub type SiteEvents = Vec<SiteEvent>;

/// A request of the debugger. The target is stopped, and none of its threads is in the library.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// Defines the sites from this number on.
    Sites {
        /// Number of the first site.
        first: u32,
        /// The sites.
        sites: Vec<SiteEvents>,
    },
    /// To the host of the embedded monitors. After [`LoadScripts`](HostRequest::LoadScripts), sites must be sent again.
    Host(HostRequest),
    /// Records events in a ring from now on; no monitor steps. Sites must be sent again afterwards.
    Record {
        /// Address of the ring.
        at: u64,
        /// Number of slots, as a power of two.
        bits: u32,
        /// Start time of the target by the monotonic clock, if times are recorded.
        start_time: Option<u64>,
    },
    /// Returns the pending calls of the thread with this id.
    Calls(u32),
    /// Removes and returns the pending calls of all threads.
    TakeCalls,
    /// Adds calls whose entry the debugger has observed.
    PutCalls(Vec<PendingCall>),
    /// Defines the events of functions that end in tail calls.
    TailCalls {
        /// The events.
        return_events: Vec<TailReturnEvent>,
        /// The sites at which tail calls may be made.
        tail_calls: Vec<(u32, Vec<TailCallEvent>)>,
    },
    /// Defines the return sites of tail calls that have a probe now: return address and site number.
    ReturnSites(Vec<(u64, u32)>),
    /// Removes and returns the pending tail calls of all threads.
    TakeTailCalls,
    /// Adds tail calls that the debugger has observed.
    PutTailCalls(Vec<PendingTailCall>),
}

/// Answer to a [`Request`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// The request was carried out.
    Done,
    /// The request failed, with the reason.
    Failed(String),
    /// Of the host of the embedded monitors.
    Host(HostReply),
    /// Pending calls, those of each thread in the order of their entries.
    Calls(Vec<PendingCall>),
    /// Pending tail calls, those of each thread in the order in which they were made.
    TailCalls(Vec<PendingTailCall>),
    /// Nothing was done: a stopped thread holds a lock of the library.
    Locked,
}
