//! Events that go to the tool as they happen: no monitor steps in here.

use crate::agent::{GO_ON, REFUSED};
use crate::capture::{General, Moment};
use crate::message::{FEW, Site, Told};
use crate::ring::{Entry, NO_TIME, Pushed, Ring};
use crate::short::{Deed, Short};
use crate::tails::{self, Way};
use crate::words::INVIGIL_WORDS;
use crate::{system, threads};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use invigil_expr::value::Value;
use invigil_monitor::event::SymbolId;

/// What is recorded, if anything is. It changes only when the program stands still and no thread is in here.
static RECORDING: AtomicPtr<Recording> = AtomicPtr::new(ptr::null_mut());

struct Recording {
    ring: Ring,
    /// When the program began, if times are recorded.
    begun: Option<u64>,
    sites: Vec<Post>,
}

/// What is recorded at a site.
struct Post {
    events: Vec<Recorded>,
    /// The one event, if there is a short way to all that it carries.
    short: Option<Short>,
}

struct Recorded {
    told: Told,
    /// Whether all that it carries are whole numbers, and few.
    is_plain: bool,
}

/// Records from now on, into a ring. The program stands still, and no thread is in here.
///
/// # Safety
/// The ring lies in memory that is there as long as the library.
pub(crate) unsafe fn begin(ring: Ring, begun: Option<u64>) {
    let recording = Recording { ring, begun, sites: Vec::new() };
    let before = RECORDING.swap(Box::into_raw(Box::new(recording)), AcqRel);
    if !before.is_null() {
        // SAFETY: it came out of a box, and nobody has it any more.
        drop(unsafe { Box::from_raw(before) });
    }
}

/// What happens at the sites from this number on, if it is recorded; else it is given back. The program stands still, and no
/// thread is in here.
pub(crate) fn tell_sites(first: u32, sites: Vec<Site>) -> Option<Vec<Site>> {
    // SAFETY: it came out of a box, and nobody else has it at the moment.
    let Some(recording) = (unsafe { RECORDING.load(Acquire).as_mut() }) else { return Some(sites) };
    let recorded = |told: Told| Recorded { is_plain: told.is_plain(), told };
    let post =
        |site: Site| Post { short: Short::of(&site), events: site.into_iter().map(recorded).collect() };
    recording.sites.truncate(first as usize);
    recording.sites.extend(sites.into_iter().map(post));
    None
}

/// A thread is at a site, and takes the shortest way: whether its event was recorded, or else nothing was done; `None` if nothing
/// is recorded.
#[inline(always)]
pub(crate) fn hit_quickly(general: &General, site: u32) -> Option<bool> {
    // SAFETY: it came out of a box, and is there while threads are in here.
    let recording = unsafe { RECORDING.load(Acquire).as_ref() }?;
    Some(recording.hit_quickly(general, site))
}

/// A thread is at a site; functions may return to it for others, or be left there. `None` if nothing is recorded.
pub(crate) fn hit(moment: &Moment<'_>, site: u32, returns: bool, way: Way) -> Option<u32> {
    // SAFETY: it came out of a box, and is there while threads are in here.
    let recording = unsafe { RECORDING.load(Acquire).as_ref() }?;
    let how = recording.hit(moment, site);
    if how != REFUSED {
        if returns {
            recording.end_calls(moment, site);
        }
        if let Way::To(back) = way {
            tails::leave(moment, site, back);
        }
    }
    Some(how)
}

fn is_frozen() -> bool {
    INVIGIL_WORDS.frozen.load(Relaxed) != 0
}

impl Recording {
    /// Records a short event, if there is room, and nobody wants to know the time.
    #[inline(always)]
    fn hit_quickly(&self, general: &General, site: u32) -> bool {
        let Some(Post { short: Some(short), .. }) = self.sites.get(site as usize) else { return false };
        if self.begun.is_some() || is_frozen() {
            return false;
        }
        let thread = threads::number(threads::base());
        short.with(general, thread, Push { ring: &self.ring, thread })
    }

    fn hit(&self, moment: &Moment<'_>, site: u32) -> u32 {
        let Some(site) = self.sites.get(site as usize).filter(|_| !is_frozen()) else { return REFUSED };
        for (at, recorded) in site.events.iter().enumerate() {
            // What has been told in part is told whole.
            let pushed = if at == 0 {
                self.record(recorded, moment, &is_frozen)
            } else {
                self.record(recorded, moment, &|| false)
            };
            if pushed == Pushed::Refused {
                return REFUSED;
            }
        }
        GO_ON
    }

    /// The events of calls that end because a thread has returned to a site for them. They are told whole.
    fn end_calls(&self, moment: &Moment<'_>, site: u32) {
        while let Some((left, ending)) = tails::ended(moment, site) {
            let entry = self.entry(ending.symbol, moment);
            let mut numbers = [0; FEW];
            if ending.integers(moment, &left, &mut numbers) {
                self.ring.push_integers(&entry, &numbers[..ending.params.len()], &|| false);
                continue;
            }
            let (mut text, mut values) = (String::new(), Vec::new());
            ending.values(moment, &left, &mut text, &mut values);
            self.ring.push(&entry, &values, &text, &|| false);
        }
    }

    #[inline]
    fn entry(&self, symbol: SymbolId, moment: &Moment<'_>) -> Entry {
        let time = self.begun.map_or(NO_TIME, |begun| system::now().saturating_sub(begun));
        Entry { symbol, thread: moment.thread, time }
    }

    #[inline]
    fn record(&self, recorded: &Recorded, moment: &Moment<'_>, refuses: &dyn Fn() -> bool) -> Pushed {
        let told = &recorded.told;
        let entry = self.entry(told.symbol, moment);
        if recorded.is_plain {
            let mut numbers = [0; FEW];
            if told.integers(moment, &mut numbers) {
                return self.ring.push_integers(&entry, &numbers[..told.captures.len()], refuses);
            }
        }
        let mut text = String::new();
        let values = told.captures.iter().map(|capture| capture.value(moment, system::now, &mut text));
        let values: Vec<Value> = values.collect();
        self.ring.push(&entry, &values, &text, refuses)
    }
}

/// An event goes into the ring.
struct Push<'a> {
    ring: &'a Ring,
    thread: u32,
}

impl Deed for Push<'_> {
    #[inline(always)]
    fn done<const N: usize>(self, symbol: SymbolId, numbers: [i64; N]) -> bool {
        self.ring.try_push_few(&Entry { symbol, thread: self.thread, time: NO_TIME }, &numbers)
    }
}
