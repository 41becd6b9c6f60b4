//! The sites that probes report, by the numbers that the probes carry.
//!
//! A probe at an inactive site must cost next to nothing, so it reads a word or two here and no more. Sites are never
//! removed: code that was woven with a number may still run long after its subscription has gone.
//!
//! If all that a site reports is one event with the integers that the probe passes, one word per site holds that event.

use crate::agent::locked;
use crate::int_capture::IntCapture;
use crate::probe_site::ProbeSite;
use invigil_monitor::event::EventId;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

const CHUNK: usize = 1024;
const CHUNKS: usize = 4096;

struct Slot {
    enabled: AtomicBool,
    site: OnceLock<(ProbeSite, Option<IntCapture>)>,
}

/// Updates whether a site is active.
fn refresh_one(number: u32) {
    /// Makes checking and storing one step, so that concurrent calls cannot store an outdated result.
    static REFRESH_LOCK: Mutex<()> = Mutex::new(());
    let Some((slot, (site, capture))) = slot(number).and_then(|slot| Some((slot, slot.site.get()?))) else {
        return;
    };
    let _lock = locked(&REFRESH_LOCK);
    // The path to a variable is tracked even while its event is inactive.
    let enabled = site.uses.iter().any(|each| each.resolved.is_active() || each.step.is_some());
    slot.enabled.store(enabled, Ordering::SeqCst);
    if let Some(word) = INT_EVENTS.get(number as usize) {
        let capture = capture.as_ref().filter(|capture| enabled && capture.is_direct);
        word.store(capture.map_or(0, |capture| capture.event.0.wrapping_add(1)), Ordering::SeqCst);
    }
}

static SLOTS: [OnceLock<Box<[Slot]>>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];
/// Number of sites that can have an entry in the table. Later ones are slower, but rare.
const MAX_INT_EVENT_SITES: usize = 1 << 16;
/// For each of the first sites, its integer-only event plus one; zero if it has none, or is inactive.
static INT_EVENTS: [AtomicU32; MAX_INT_EVENT_SITES] = [const { AtomicU32::new(0) }; MAX_INT_EVENT_SITES];
static NEXT: AtomicU32 = AtomicU32::new(0);

fn slot(number: u32) -> Option<&'static Slot> {
    let number = number as usize;
    SLOTS.get(number / CHUNK)?.get()?.get(number % CHUNK)
}

/// Adds a site and returns its number; `None` if there are too many.
pub(crate) fn add(site: ProbeSite) -> Option<u32> {
    let number = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
        ((next as usize) < CHUNK * CHUNKS).then_some(next + 1)
    });
    let number = number.ok()?;
    put(number, site).then_some(number)
}

/// Reserves the first numbers for sites that were numbered when they were woven on disk.
pub(crate) fn reserve(count: u32) {
    NEXT.fetch_max(count.min((CHUNK * CHUNKS) as u32), Ordering::Relaxed);
}

/// Adds a site under its own number. Returns false if there is one already, or if the number is too large.
pub(crate) fn put(number: u32, site: ProbeSite) -> bool {
    let empty = || Slot { enabled: AtomicBool::new(false), site: OnceLock::new() };
    let Some(chunk) = SLOTS.get(number as usize / CHUNK) else { return false };
    chunk.get_or_init(|| (0..CHUNK).map(|_| empty()).collect());
    let Some(slot) = slot(number) else { return false };
    let capture = IntCapture::of(&site);
    let is_new = slot.site.set((site, capture)).is_ok();
    // After the site is stored: a subscription that is activated concurrently either sees the site, or was active
    // before this check.
    refresh_one(number);
    is_new
}

/// The site of a number, if it is active, with its integer-only capture plan.
#[inline]
pub(crate) fn active_site(number: u32) -> Option<&'static (ProbeSite, Option<IntCapture>)> {
    let slot = slot(number)?;
    if slot.enabled.load(Ordering::Acquire) { slot.site.get() } else { None }
}

/// The event of an active site that reports nothing but the integers that the probe passes.
#[inline(always)]
pub(crate) fn integer_event(number: u32) -> Option<EventId> {
    INT_EVENTS.get(number as usize)?.load(Ordering::Relaxed).checked_sub(1).map(EventId)
}

/// The number of sites, reserved ones included.
pub(crate) fn count() -> u32 {
    NEXT.load(Ordering::Relaxed)
}

/// Updates which sites are active.
pub(crate) fn refresh() {
    (0..count()).for_each(refresh_one);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Trigger, ValueSource};
    use crate::subscription::tests::{class, resolved, text};
    use invigil_weave::{Site, SiteKind};
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    fn site(sources: &[ValueSource]) -> (ProbeSite, Arc<crate::subscription::ResolvedSubscription>) {
        let resolved = Arc::new(resolved(Trigger::Enter, "Queue.push", sources));
        let (method, descriptor) = ("push", "(IJ)V");
        let site = Site {
            class: "app/Queue",
            method,
            descriptor,
            is_static: false,
            line: None,
            kind: SiteKind::Enter,
        };
        (ProbeSite::of(&site, &class(true), &[Arc::clone(&resolved)]).unwrap(), resolved)
    }

    #[test]
    fn only_passed_integers_make_an_int_event() {
        for (sources, is_direct) in [
            (vec![text("item"), text("when")], true),
            (vec![ValueSource::Argument { number: 2 }], true),
            (vec![], true),
            (vec![text("this")], false),
            (vec![text("size")], false),
            (vec![text("item"), text("item")], false),
            (vec![text("item"), ValueSource::Thread], false),
        ] {
            let number = add(site(&sources).0).unwrap();
            assert_eq!(integer_event(number), is_direct.then_some(EventId(0)), "{sources:?}");
        }
    }

    #[test]
    fn concurrent_refresh_keeps_last_activation() {
        let (site, resolved) = site(&[text("item")]);
        let number = add(site).unwrap();
        let turns = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while turns.load(Ordering::SeqCst) < 1000 {
                        refresh_one(number);
                    }
                });
            }
            for turn in 0..1000 {
                let on = turn % 2 == 0;
                resolved.active.store(on, Ordering::SeqCst);
                refresh();
                assert_eq!(integer_event(number).is_some(), on);
                assert_eq!(active_site(number).is_some(), on);
                turns.store(turn + 1, Ordering::SeqCst);
            }
        });
    }
}
