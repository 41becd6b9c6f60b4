//! What a thread does when it reaches a site, and how requests of the debugger are answered.

use crate::capture::{EventRegisters, GeneralRegisters, VectorRegisters};
use crate::control::INVIGIL_CONTROL;
use crate::host::SiteHost;
use crate::lock::{Lock, MAX_NAPS};
use crate::message::Answer;
use crate::pending_calls::{self, ENTRY_MARK, SITE_MARKS};
use crate::tail_calls::{self, RETURN_MARK, TAIL_CALL_MARK, TailExit};
use crate::threads;
use crate::{entry, memory, recording, safe_read, shards, system};
use alloc::string::ToString;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;

/// The thread continues.
pub const CONTINUE: u32 = 0;
/// The event was processed and the thread must stop.
pub const STOP: u32 = 1;
/// The event was not processed: the thread must stop and enter the library again later.
pub const RETRY: u32 = 2;
/// The fast path does not apply and has done nothing: take the slow path.
pub const SLOW_PATH: u32 = 3;

static HOST: Lock<SiteHost> = Lock::new(SiteHost::new());

/// Fast path of an event. Returns [`CONTINUE`], or [`SLOW_PATH`] if the event needs more.
///
/// Uses no vector register but the first [`FAST_PATH_VECTORS`](entry::FAST_PATH_VECTORS), so the others need not be
/// saved. The debugger verifies that by disassembling the library before it uses this function.
pub(crate) extern "C" fn fast_hit(general: &GeneralRegisters, site: u32) -> u32 {
    if site & SITE_MARKS != 0 || INVIGIL_CONTROL.foreign_processes.load(Ordering::Relaxed) != 0 {
        return SLOW_PATH;
    }
    if let Some(recorded) = recording::fast_hit(general, site) {
        return if recorded { CONTINUE } else { SLOW_PATH };
    }
    if let Some(stepped) = shards::fast_hit(general, site) {
        return if stepped { CONTINUE } else { SLOW_PATH };
    }
    let single_thread = INVIGIL_CONTROL.single_thread.load(Ordering::Relaxed);
    let host = match single_thread {
        0 => HOST.try_lock(),
        // SAFETY: the debugger sees every new thread before its first instruction and clears `single_thread` first;
        // this thread creates none in the library.
        _ => Some(unsafe { HOST.lock_single_threaded() }),
    };
    let Some(mut host) = host else {
        shards::note_contention();
        return SLOW_PATH;
    };
    // Shards may have been opened since the check above.
    let is_done = INVIGIL_CONTROL.frozen.load(Ordering::Relaxed) == 0
        && !shards::are_open()
        && host.fast_step(site as usize, general, single_thread);
    if is_done { CONTINUE } else { SLOW_PATH }
}

/// Slow path of an event. Also records the call that is entered, or left by a tail call, at this site.
pub(crate) extern "C" fn hit(general: &GeneralRegisters, vectors: &VectorRegisters, marked_site: u32) -> u32 {
    let site = marked_site & !SITE_MARKS;
    if marked_site & ENTRY_MARK != 0 {
        pending_calls::add_call(general, site);
    }
    if INVIGIL_CONTROL.foreign_processes.load(Ordering::Relaxed) != 0 && is_foreign_process() {
        return CONTINUE;
    }
    let exit = if marked_site & TAIL_CALL_MARK != 0 {
        tail_calls::tail_exit(general, site)
    } else {
        TailExit::Stays
    };
    if exit == TailExit::Unknown {
        // The debugger makes a return site there first.
        return RETRY;
    }
    let base = threads::base();
    let registers = EventRegisters { general, vectors, thread_base: base, thread: threads::id(base) };
    let is_return_site = marked_site & RETURN_MARK != 0;
    if let Some(how) = recording::hit(&registers, site, is_return_site, exit) {
        return how;
    }
    let mut host = HOST.lock();
    if INVIGIL_CONTROL.frozen.load(Ordering::Relaxed) != 0 {
        return RETRY;
    }
    // If it only waited for a thread that held all shards, the thread continues in its own shard.
    if marked_site == site && shards::fast_hit(general, site) == Some(true) {
        return CONTINUE;
    }
    let shards = shards::take_all(host.monitors_mut());
    let stepped = host.step_site(site as usize, &registers, is_return_site);
    // Under the lock: the request that drains the monitors must also find the calls recorded here.
    if let (Some(_), TailExit::To(return_site)) = (stepped, exit) {
        tail_calls::add_tail_calls(&registers, site, return_site);
    }
    if stepped == Some(true) {
        INVIGIL_CONTROL.frozen.store(1, Ordering::SeqCst);
    }
    match shards {
        Some(shards) => shards.release(host.monitors_mut()),
        None if shards::is_contended() => host.open_shards(),
        None => {}
    }
    match stepped {
        None => RETRY,
        Some(true) => STOP,
        Some(false) => CONTINUE,
    }
}

/// Whether this is another process that shares the target's memory for a while.
#[cold]
fn is_foreign_process() -> bool {
    system::process_id() != INVIGIL_CONTROL.process.load(Ordering::Relaxed)
}

/// Location of an encoded answer, for the debugger to read.
#[repr(C)]
struct EncodedAnswer {
    at: *const u8,
    length: usize,
}

static ANSWER: Lock<Vec<u8>> = Lock::new(Vec::new());

/// Unlocks everything, in a copy of a dead target's memory.
///
/// No thread of the target exists any more, so locks that were held at its death have no owner.
extern "C" fn force_unlock() {
    HOST.force_unlock();
    shards::force_unlock();
    pending_calls::force_unlock();
    ANSWER.force_unlock();
    memory::force_unlock();
}

/// Answers the debugger's request of `length` bytes at `at`. The answer stays valid until the next request.
///
/// # Safety
/// The request is in a block that [`memory::malloc`] returned; this function frees it.
unsafe extern "C" fn serve(at: *mut u8, length: usize) -> EncodedAnswer {
    // SAFETY: by the contract.
    let request = unsafe { core::slice::from_raw_parts(at, length) };
    let answer = match postcard::from_bytes(request) {
        Ok(request) => match HOST.lock_within(MAX_NAPS) {
            Some(mut host) => host.answer(request),
            None => Answer::Locked,
        },
        Err(error) => Answer::Failed(error.to_string()),
    };
    // SAFETY: the block belongs to this function.
    unsafe { memory::free(at) };
    let mut encoded = ANSWER.lock();
    *encoded = postcard::to_allocvec(&answer).unwrap_or_default();
    EncodedAnswer { at: encoded.as_ptr(), length: encoded.len() }
}

/// Addresses that the debugger needs, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct EntryPoints<P> {
    /// Called by trampolines.
    pub entry: P,
    /// Fast path of an event.
    pub fast_hit: P,
    /// Last instruction of a thread that leaves the library and continues.
    pub exit_trap: P,
    /// Trap after an event for which a reaction is due.
    pub react_trap: P,
    /// Trap before an event that was not processed yet.
    pub retry_trap: P,
    /// Target of imports that are not bound.
    pub unbound: P,
    /// Allocates memory for a request.
    pub allocate: P,
    /// Answers a request.
    pub serve: P,
    /// Makes a copy of the memory usable after the target has died.
    pub force_unlock: P,
    /// The functions that may fault while reading memory, and where to continue then.
    pub safe_reads: [P; 5],
    /// The functions in [`BOUND`], in its order.
    pub bound: [P; BOUND.len()],
}

impl EntryPoints<u64> {
    /// Reads the table as it is laid out in memory.
    pub fn from_words(words: [u64; ENTRY_POINT_COUNT]) -> EntryPoints<u64> {
        let [
            entry,
            fast_hit,
            exit_trap,
            react_trap,
            retry_trap,
            unbound,
            allocate,
            serve,
            force_unlock,
            rest @ ..,
        ] = words;
        let (safe_reads, bound) = rest.split_at(5);
        EntryPoints {
            entry,
            fast_hit,
            exit_trap,
            react_trap,
            retry_trap,
            unbound,
            allocate,
            serve,
            force_unlock,
            safe_reads: core::array::from_fn(|n| safe_reads[n]),
            bound: core::array::from_fn(|n| bound[n]),
        }
    }
}

/// Number of addresses in the table.
pub const ENTRY_POINT_COUNT: usize = 14 + BOUND.len();

/// Names of functions that compiled code calls and that the library provides itself.
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

type FnPtr = unsafe extern "C" fn();

/// Erases the type of a function pointer.
macro_rules! fn_ptr {
    ($function:path) => {
        // SAFETY: all function pointers have the same size, and this one is never called with this type.
        unsafe { core::mem::transmute::<*const (), FnPtr>($function as *const ()) }
    };
}

/// The debugger finds the table by this symbol name.
#[unsafe(no_mangle)]
pub static INVIGIL_ENTRY_POINTS: EntryPoints<FnPtr> = EntryPoints {
    entry: fn_ptr!(entry::entry),
    fast_hit: fn_ptr!(fast_hit),
    exit_trap: fn_ptr!(entry::exit_trap),
    react_trap: fn_ptr!(entry::react_trap),
    retry_trap: fn_ptr!(entry::retry_trap),
    unbound: fn_ptr!(entry::unbound),
    allocate: fn_ptr!(memory::allocate),
    serve: fn_ptr!(serve),
    force_unlock: fn_ptr!(force_unlock),
    safe_reads: safe_read::FUNCTIONS,
    bound: [
        fn_ptr!(memory::malloc),
        fn_ptr!(memory::free),
        fn_ptr!(memory::calloc),
        fn_ptr!(memory::realloc),
        fn_ptr!(memory::posix_memalign),
        fn_ptr!(memory::memcpy),
        fn_ptr!(memory::memmove),
        fn_ptr!(memory::memset),
        fn_ptr!(memory::memcmp),
        fn_ptr!(memory::memcmp),
        fn_ptr!(memory::strlen),
    ],
};
