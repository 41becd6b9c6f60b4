//! Threads that step at once, each about another object of the program.
//!
//! The property is behind one lock. Where its events are about slices that threads have to themselves, that lock is all they
//! share, and they wait for each other for nothing. When that happens often, [lanes](invigil_monitor::inside::Lane) of the property
//! are opened: then a thread takes its own lane only. Whoever has more to do than a lane can takes the lock, and then all lanes. If
//! that happens too often, there are no lanes any more.

use crate::capture::General;
use crate::lock::{Held, Lock};
use crate::short::{Deed, Short};
use crate::threads;
use crate::words::INVIGIL_WORDS;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::arch::x86_64::{_mm_lfence, _rdtsc};
use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU32};
use invigil_monitor::event::SymbolId;
use invigil_monitor::inside::{Inside, LANES, Lane};

/// Each is apart from the others, so that those who use them do not slow each other down.
#[repr(align(128))]
struct Apart(Lock<Lane>);

static ALL: [Apart; LANES] = [const { Apart(Lock::new(Lane::new())) }; LANES];

/// What is known without a lock while lanes are open. It changes only when the program stands still and no thread is in here.
static OPEN: AtomicPtr<Open> = AtomicPtr::new(ptr::null_mut());

/// The same when there were lanes, and are none any more.
static FORMER: AtomicPtr<Open> = AtomicPtr::new(ptr::null_mut());

struct Open {
    /// For each site, its event, if there is a short way to all that it carries.
    sites: Vec<Option<Short>>,
    /// For each event, where the slice parameter is among its own.
    keys: Vec<Option<u16>>,
}

/// Other than zero while someone takes all lanes: those who have one come back to it so soon that it would be waited for too long.
static TAKING: AtomicU32 = AtomicU32::new(0);

/// How often a thread found another one at the property; whether there are to be lanes is decided once.
static CROWDED: AtomicU32 = AtomicU32::new(0);
/// There are lanes when that happened so often.
const OFTEN: u32 = 100;
/// It is decided.
const DECIDED: u32 = u32::MAX;

/// A thread found another one at the property.
#[cold]
pub(crate) fn note_crowd() {
    let _ = CROWDED.fetch_update(Relaxed, Relaxed, |count| (count < OFTEN).then(|| count + 1));
}

/// Whether there are to be lanes.
pub(crate) fn is_crowded() -> bool {
    CROWDED.load(Relaxed) == OFTEN
}

/// Whether lanes are open, or may be at any moment.
#[inline(always)]
pub(crate) fn are_open() -> bool {
    !OPEN.load(Relaxed).is_null()
}

/// A thread is at a site, and takes the shortest way: whether its event was followed, or else nothing was done; `None` if there
/// are no lanes.
#[inline(always)]
pub(crate) fn hit_quickly(general: &General, site: u32) -> Option<bool> {
    // SAFETY: it came out of a box, and is there while threads are in here.
    let open = unsafe { OPEN.load(Acquire).as_ref() }?;
    let Some(Some(short)) = open.sites.get(site as usize) else { return Some(false) };
    if TAKING.load(Relaxed) != 0 {
        return Some(false);
    }
    let thread = threads::number(threads::base());
    Some(short.with(general, thread, Step { keys: &open.keys, thread }))
}

/// The monitors step in a lane.
struct Step<'a> {
    keys: &'a [Option<u16>],
    thread: u32,
}

impl Deed for Step<'_> {
    #[inline(always)]
    fn done<const N: usize>(self, symbol: SymbolId, numbers: [i64; N]) -> bool {
        let Some(Some(at)) = self.keys.get(symbol.0 as usize) else { return false };
        let Some(key) = numbers.get(usize::from(*at)) else { return false };
        let Some(mut lane) = ALL[self.thread as usize % LANES].0.try_lock() else { return false };
        if INVIGIL_WORDS.frozen.load(Relaxed) != 0 {
            return false;
        }
        // SAFETY: whoever uses the property has all lanes, and closes them first.
        unsafe { lane.step(*key, symbol, &numbers, (self.thread, now())) }
    }
}

/// The processor's clock. What the program did before has been done then, so that one event is before another if it
/// was so in the program.
#[inline(always)]
fn now() -> u64 {
    // SAFETY: every processor of this kind has both.
    unsafe {
        _mm_lfence();
        _rdtsc()
    }
}

/// All lanes, for someone who uses the property itself.
pub(crate) struct Taken([Held<'static, Lane>; LANES]);

/// Takes all lanes, if they are open, and closes them. The property is this thread's already.
pub(crate) fn take(inside: Option<&mut Inside>) -> Option<Taken> {
    if !are_open() {
        return None;
    }
    TAKING.store(1, Relaxed);
    let taken = core::array::from_fn(|lane| ALL[lane].0.lock());
    TAKING.store(0, Relaxed);
    Some(Taken::closed(taken, inside))
}

/// The same within so many naps; `Err` if one has a lane for longer.
pub(crate) fn take_within(naps: u32, inside: Option<&mut Inside>) -> Result<Option<Taken>, ()> {
    if !are_open() {
        return Ok(None);
    }
    TAKING.store(1, Relaxed);
    // What was got is given back where it is dropped.
    let taken: Vec<_> = ALL.iter().map_while(|lane| lane.0.lock_within(naps)).collect();
    TAKING.store(0, Relaxed);
    let taken = taken.try_into().map_err(|_| ())?;
    Ok(Some(Taken::closed(taken, inside)))
}

impl Taken {
    fn closed(mut all: [Held<'static, Lane>; LANES], inside: Option<&mut Inside>) -> Taken {
        if let Some(inside) = inside {
            inside.close(all.iter_mut().map(|lane| &mut **lane));
        }
        Taken(all)
    }

    /// Opens the lanes again, if they are worth it.
    pub(crate) fn give_back(mut self, inside: Option<&mut Inside>) {
        if let Some(inside) = inside
            && !inside.open(self.0.iter_mut().map(|lane| &mut **lane))
        {
            // Others may be looking at it.
            FORMER.store(OPEN.swap(ptr::null_mut(), AcqRel), Release);
        }
    }
}

/// There are lanes from now on, if the property is of that kind, for sites with these events.
pub(crate) fn open(inside: &mut Inside, sites: impl Iterator<Item = Option<Short>>) {
    CROWDED.store(DECIDED, Relaxed);
    let Some(keys) = inside.keys() else { return };
    let mut all: [Held<'static, Lane>; LANES] = core::array::from_fn(|lane| ALL[lane].0.lock());
    if !inside.open(all.iter_mut().map(|lane| &mut **lane)) {
        return;
    }
    OPEN.store(Box::into_raw(Box::new(Open { sites: sites.collect(), keys })), Release);
}

/// There are no lanes any more. The program stands still, no other thread is in here, and the property is not used before it was put
/// here again.
pub(crate) fn end() {
    CROWDED.store(0, Relaxed);
    for place in [&OPEN, &FORMER] {
        let before = place.swap(ptr::null_mut(), AcqRel);
        if !before.is_null() {
            // SAFETY: it came out of a box, and nobody has it any more.
            drop(unsafe { Box::from_raw(before) });
        }
    }
}

/// Whoever had one is no more.
pub(crate) fn break_open() {
    TAKING.store(0, Relaxed);
    ALL.iter().for_each(|lane| lane.0.break_open());
}
