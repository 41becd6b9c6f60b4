//! The places that probes report, by the numbers that the probes carry.
//!
//! A probe that nobody listens to must cost next to nothing, so it looks at one flag here and no more. Places are never
//! taken away: code that was woven with a number may still run when nobody remembers it.
//!
//! Where all that is told is one event with the numbers that the probe passes, one word says which.

use crate::agent::locked;
use crate::place::Place;
use crate::route::Route;
use invigil_monitor::event::SymbolId;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

const CHUNK: usize = 1024;
const CHUNKS: usize = 4096;

struct Slot {
    enabled: AtomicBool,
    place: OnceLock<(Place, Option<Route>)>,
}

/// Looks whether somebody listens at a place.
fn refresh_one(number: u32) {
    /// Who looks first also writes first.
    static TURN: Mutex<()> = Mutex::new(());
    let Some((slot, (place, route))) = slot(number).and_then(|slot| Some((slot, slot.place.get()?))) else {
        return;
    };
    let _turn = locked(&TURN);
    // The way to a variable is followed also while nobody wants to know.
    let enabled = place.uses.iter().any(|each| each.wanted.is_active() || each.step.is_some());
    slot.enabled.store(enabled, Ordering::SeqCst);
    if let Some(word) = BRIEFS.get(number as usize) {
        let route = route.as_ref().filter(|route| enabled && route.is_brief);
        word.store(route.map_or(0, |route| route.symbol.0.wrapping_add(1)), Ordering::SeqCst);
    }
}

static SLOTS: [OnceLock<Box<[Slot]>>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];
/// How many places may be that simple; those that come later are not rare, but seldom busy.
const BRIEF: usize = 1 << 16;
/// For each of the first places, the event and one more; zero if it is not that simple, or nobody listens.
static BRIEFS: [AtomicU32; BRIEF] = [const { AtomicU32::new(0) }; BRIEF];
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
    refresh_one(number);
    is_new
}

/// The place of this number, if somebody listens there, and the short way from it.
#[inline]
pub(crate) fn listened(number: u32) -> Option<&'static (Place, Option<Route>)> {
    let slot = slot(number)?;
    if slot.enabled.load(Ordering::Acquire) { slot.place.get() } else { None }
}

/// The event that is told at the place of this number, if somebody listens there, and all there is to tell is what the probe
/// passes.
#[inline(always)]
pub(crate) fn brief(number: u32) -> Option<SymbolId> {
    BRIEFS.get(number as usize)?.load(Ordering::Relaxed).checked_sub(1).map(SymbolId)
}

/// How many places there are.
pub(crate) fn count() -> u32 {
    NEXT.load(Ordering::Relaxed)
}

/// Looks again who is listened to.
pub(crate) fn refresh() {
    (0..count()).for_each(refresh_one);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Moment, Source};
    use crate::want::tests::{class, text, wanted};
    use invigil_weave::{Kind, Site};
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    fn place(sources: &[Source]) -> (Place, Arc<crate::want::Wanted>) {
        let wanted = Arc::new(wanted(Moment::Enter, "Queue.push", sources));
        let (method, descriptor) = ("push", "(IJ)V");
        let site =
            Site { class: "app/Queue", method, descriptor, is_static: false, line: None, kind: Kind::Enter };
        (Place::of(&site, &class(true), &[Arc::clone(&wanted)]).unwrap(), wanted)
    }

    #[test]
    fn only_what_a_probe_passes_is_brief() {
        for (sources, is_brief) in [
            (vec![text("item"), text("when")], true),
            (vec![Source::Argument { number: 2 }], true),
            (vec![], true),
            (vec![text("this")], false),
            (vec![text("size")], false),
            (vec![text("item"), text("item")], false),
            (vec![text("item"), Source::Thread], false),
        ] {
            let number = add(place(&sources).0).unwrap();
            assert_eq!(brief(number), is_brief.then_some(SymbolId(0)), "{sources:?}");
        }
    }

    #[test]
    fn who_turns_it_on_last_has_it_on() {
        let (place, wanted) = place(&[text("item")]);
        let number = add(place).unwrap();
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
                wanted.active.store(on, Ordering::SeqCst);
                refresh();
                assert_eq!(brief(number).is_some(), on);
                assert_eq!(listened(number).is_some(), on);
                turns.store(turn + 1, Ordering::SeqCst);
            }
        });
    }
}
