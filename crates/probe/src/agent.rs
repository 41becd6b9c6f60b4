//! What happens when a thread comes in, and how the tool is answered.

use crate::calls::{self, BEGINS, MARKS};
use crate::capture::{General, Moment, Vectors};
use crate::lock::{Lock, PATIENCE};
use crate::message::Answer;
use crate::room::Room;
use crate::tails::{self, LEAVES, RETURNS, Way};
use crate::threads;
use crate::words::INVIGIL_WORDS;
use crate::{entry, guarded, lanes, memory, recording, system};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;

/// The thread goes on.
pub const GO_ON: u32 = 0;
/// The event has been dealt with, and the thread is to stop.
pub const STOP: u32 = 1;
/// The event could not be dealt with: the thread is to stop, and to come in again.
pub const REFUSED: u32 = 2;
/// The shortest way does not lead there, and nothing was done: the thread takes the other one.
pub const NOT_QUICK: u32 = 3;

static ROOM: Lock<Room> = Lock::new(Room::new());

/// A thread is at a site, and takes the shortest way: no vector register is used on it but the first few, which the tool has
/// made sure of, so that the others need not be put aside. [`GO_ON`], or [`NOT_QUICK`] if something must be done that takes longer.
pub(crate) extern "C" fn hit_quickly(general: &General, site: u32) -> u32 {
    if site & MARKS != 0 || INVIGIL_WORDS.foreign.load(Ordering::Relaxed) != 0 {
        return NOT_QUICK;
    }
    if let Some(recorded) = recording::hit_quickly(general, site) {
        return if recorded { GO_ON } else { NOT_QUICK };
    }
    if let Some(stepped) = lanes::hit_quickly(general, site) {
        return if stepped { GO_ON } else { NOT_QUICK };
    }
    let only = INVIGIL_WORDS.alone.load(Ordering::Relaxed);
    let room = match only {
        0 => ROOM.try_lock(),
        // SAFETY: the tool sees every thread before it begins, and takes this back first; this thread makes none in here.
        _ => Some(unsafe { ROOM.lock_alone() }),
    };
    let Some(mut room) = room else {
        lanes::note_crowd();
        return NOT_QUICK;
    };
    // Lanes may have been opened just now.
    let is_done = INVIGIL_WORDS.frozen.load(Ordering::Relaxed) == 0
        && !lanes::are_open()
        && room.happen_quickly(site as usize, general, only);
    if is_done { GO_ON } else { NOT_QUICK }
}

/// A thread is at a site; if calls begin there, or are left for other functions, they are noted.
pub(crate) extern "C" fn hit(general: &General, vectors: &Vectors, marked: u32) -> u32 {
    let site = marked & !MARKS;
    if marked & BEGINS != 0 {
        calls::note(general, site);
    }
    if INVIGIL_WORDS.foreign.load(Ordering::Relaxed) != 0 && is_foreign() {
        return GO_ON;
    }
    let way = if marked & LEAVES != 0 { tails::way(general, site) } else { Way::On };
    if way == Way::Unknown {
        // The tool makes a site there.
        return REFUSED;
    }
    let base = threads::base();
    let moment = Moment { general, vectors, base, thread: threads::number(base) };
    let returns = marked & RETURNS != 0;
    if let Some(how) = recording::hit(&moment, site, returns, way) {
        return how;
    }
    let mut room = ROOM.lock();
    if INVIGIL_WORDS.frozen.load(Ordering::Relaxed) != 0 {
        return REFUSED;
    }
    // If all it had to wait for was that someone had all lanes, it goes on in its own.
    if marked == site && lanes::hit_quickly(general, site) == Some(true) {
        return GO_ON;
    }
    let lanes = lanes::take(room.inside.as_mut());
    let happened = room.happen(site as usize, &moment, returns);
    // Still with the lock: whoever takes the monitors takes what is noted with them.
    if let (Some(_), Way::To(back)) = (happened, way) {
        tails::leave(&moment, site, back);
    }
    if happened == Some(true) {
        INVIGIL_WORDS.frozen.store(1, Ordering::SeqCst);
    }
    match lanes {
        Some(lanes) => lanes.give_back(room.inside.as_mut()),
        None if lanes::is_crowded() => room.open_lanes(),
        None => {}
    }
    match happened {
        None => REFUSED,
        Some(true) => STOP,
        Some(false) => GO_ON,
    }
}

/// Whether this is another process, which has the program's memory for a while.
#[cold]
fn is_foreign() -> bool {
    system::process() != INVIGIL_WORDS.process.load(Ordering::Relaxed)
}

/// An answer, for the tool to fetch.
#[repr(C)]
struct Reply {
    at: *const u8,
    length: usize,
}

static ANSWER: Lock<Vec<u8>> = Lock::new(Vec::new());

/// The program is no more, and neither are its threads, wherever they were: this is a copy of its memory, and nobody else has it.
extern "C" fn alone() {
    ROOM.break_open();
    lanes::break_open();
    ANSWER.break_open();
    memory::break_open();
}

/// Answers a request of the tool, which lies at `at`. Gives where the answer lies, of which the first eight bytes are the
/// length of the rest; it is there until the next request.
///
/// # Safety
/// The request lies in a piece of memory that [`memory::malloc`] gave, and is this function's from now on.
unsafe extern "C" fn serve(at: *mut u8, length: usize) -> Reply {
    // SAFETY: by the contract.
    let request = unsafe { core::slice::from_raw_parts(at, length) };
    let answer = match postcard::from_bytes(request) {
        Ok(request) => match ROOM.lock_within(PATIENCE) {
            Some(mut room) => match room.answer_alone(request) {
                Some(answer) => answer.unwrap_or_else(Answer::Refused),
                None => Answer::Locked,
            },
            None => Answer::Locked,
        },
        Err(error) => Answer::Refused(error.to_string()),
    };
    // SAFETY: nobody else knows it.
    unsafe { memory::free(at) };
    let mut kept = ANSWER.lock();
    *kept = postcard::to_allocvec(&answer).unwrap_or_default();
    Reply { at: kept.as_ptr(), length: kept.len() }
}

/// Where the tool finds what it needs, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Places<P> {
    /// Where trampolines call.
    pub entry: P,
    /// The shortest way of a thread.
    pub quick: P,
    /// The last instruction of a thread that goes on.
    pub leaving: P,
    /// The trap after an event to react to.
    pub stopped: P,
    /// The trap before an event that is yet to happen.
    pub refused: P,
    /// Where what is not bound goes.
    pub unbound: P,
    /// Gives memory for a request.
    pub allot: P,
    /// Answers requests.
    pub serve: P,
    /// Makes a copy of the memory usable after the program's end.
    pub alone: P,
    /// The functions that may fail, and where to go on then.
    pub guarded: [P; 5],
    /// What is bound, in the order of [`BOUND`].
    pub bound: [P; BOUND.len()],
}

impl Places<u64> {
    /// As they lie in memory.
    pub fn from_words(words: [u64; PLACES]) -> Places<u64> {
        let [entry, quick, leaving, stopped, refused, unbound, allot, serve, alone, rest @ ..] = words;
        let (guarded, bound) = rest.split_at(5);
        Places {
            entry,
            quick,
            leaving,
            stopped,
            refused,
            unbound,
            allot,
            serve,
            alone,
            guarded: core::array::from_fn(|n| guarded[n]),
            bound: core::array::from_fn(|n| bound[n]),
        }
    }
}

/// How many places there are.
pub const PLACES: usize = 14 + BOUND.len();

/// The names of functions that compiled code calls, and that are given to it here.
pub const BOUND: [&str; 11] = [
    "malloc",
    "free",
    "calloc",
    "realloc",
    "posix_memalign",
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "bcmp",
    "strlen",
];

type Place = unsafe extern "C" fn();

/// Makes a place of a function.
macro_rules! place {
    ($function:path) => {
        // SAFETY: a function pointer of another type is as large; nobody calls it as this.
        unsafe { core::mem::transmute::<*const (), Place>($function as *const ()) }
    };
}

/// Found by the tool by its name.
#[unsafe(no_mangle)]
pub static INVIGIL_PLACES: Places<Place> = Places {
    entry: place!(entry::entry),
    quick: place!(hit_quickly),
    leaving: place!(entry::leaving),
    stopped: place!(entry::stopped),
    refused: place!(entry::refused),
    unbound: place!(entry::unbound),
    allot: place!(memory::allot),
    serve: place!(serve),
    alone: place!(alone),
    guarded: guarded::PLACES,
    bound: [
        place!(memory::malloc),
        place!(memory::free),
        place!(memory::calloc),
        place!(memory::realloc),
        place!(memory::posix_memalign),
        place!(memory::memcpy),
        place!(memory::memmove),
        place!(memory::memset),
        place!(memory::memcmp),
        place!(memory::memcmp),
        place!(memory::strlen),
    ],
};
