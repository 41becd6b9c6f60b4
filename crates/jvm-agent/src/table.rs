//! The places that probes report, by the numbers that the probes carry.
//!
//! A probe that nobody listens to must cost next to nothing, so it looks at one flag here and no more. Places are never
//! taken away: code that was woven with a number may still run when nobody remembers it.

use crate::place::Place;
use crate::route::Route;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const CHUNK: usize = 1024;
const CHUNKS: usize = 4096;

struct Slot {
    enabled: AtomicBool,
    place: OnceLock<(Place, Option<Route>)>,
}

impl Slot {
    fn refresh(&self) {
        if let Some((place, _)) = self.place.get() {
            // The way to a variable is followed also while nobody wants to know.
            let enabled = place.uses.iter().any(|each| each.wanted.is_active() || each.step.is_some());
            self.enabled.store(enabled, Ordering::SeqCst);
        }
    }
}

static SLOTS: [OnceLock<Box<[Slot]>>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];
static NEXT: AtomicU32 = AtomicU32::new(0);

fn slot(number: u32) -> Option<&'static Slot> {
    let number = number as usize;
    SLOTS.get(number / CHUNK)?.get()?.get(number % CHUNK)
}

/// Keeps a place and gives its number; nothing if there are too many.
pub(crate) fn add(place: Place) -> Option<u32> {
    let number = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
        ((next as usize) < CHUNK * CHUNKS).then_some(next + 1)
    });
    let number = number.ok()?;
    put(number, place).then_some(number)
}

/// Leaves these numbers to places that have one already.
pub(crate) fn reserve(count: u32) {
    NEXT.fetch_max(count.min((CHUNK * CHUNKS) as u32), Ordering::Relaxed);
}

/// Keeps a place under its number. False if there is one, or if the number is too large.
pub(crate) fn put(number: u32, place: Place) -> bool {
    let empty = || Slot { enabled: AtomicBool::new(false), place: OnceLock::new() };
    let Some(chunk) = SLOTS.get(number as usize / CHUNK) else { return false };
    chunk.get_or_init(|| (0..CHUNK).map(|_| empty()).collect());
    let Some(slot) = slot(number) else { return false };
    let route = Route::of(&place);
    let is_new = slot.place.set((place, route)).is_ok();
    // Only now: whoever turns a want on either sees the place here, or did so before this looks.
    slot.refresh();
    is_new
}

/// The place of this number, if somebody listens there, and the short way from it.
#[inline]
pub(crate) fn listened(number: u32) -> Option<&'static (Place, Option<Route>)> {
    let slot = slot(number)?;
    if slot.enabled.load(Ordering::Acquire) { slot.place.get() } else { None }
}

/// How many places there are.
pub(crate) fn count() -> u32 {
    NEXT.load(Ordering::Relaxed)
}

/// Looks again who is listened to.
pub(crate) fn refresh() {
    for number in 0..count() {
        if let Some(slot) = slot(number) {
            slot.refresh();
        }
    }
}
