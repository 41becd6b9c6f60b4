//! Calls that have begun: what was passed to them, for events at their end.
//!
//! When a function ends, its arguments are not where they were passed any more. Where an event at its end carries them, the
//! probe at its begin notes the registers in which they were.

use crate::capture::General;
use crate::lock::Lock;
use crate::threads;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// In the number of a site that a trampoline gives: calls begin there, and are noted.
pub const BEGINS: u32 = 1 << 31;
/// The registers in which whole arguments are passed, as debug information numbers them.
pub const ARGUMENTS: [u8; 6] = [5, 4, 1, 2, 8, 9];
/// The stack pointer, as debug information numbers it.
const STACK: usize = 7;
/// Calls further down the stack than this are on another stack, not left by a jump.
pub const ONE_STACK: u64 = 64 << 20;
/// Threads share this many lists.
const LISTS: usize = 64;

/// A call that has begun and not ended, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The number of its thread.
    pub thread: u32,
    /// The site at which it began.
    pub site: u32,
    /// The stack pointer then.
    pub sp: u64,
    /// What was in the [registers for arguments](ARGUMENTS) then.
    pub arguments: [u64; 6],
}

static CALLS: Lock<Calls> = Lock::new(Calls::new());

/// The open calls of all threads.
#[derive(Debug)]
struct Calls {
    lists: [Vec<Call>; LISTS],
}

impl Calls {
    const fn new() -> Calls {
        Calls { lists: [const { Vec::new() }; LISTS] }
    }

    fn list(&mut self, thread: u32) -> &mut Vec<Call> {
        &mut self.lists[thread as usize % LISTS]
    }

    /// Notes a call. Those of its thread that were left by a jump are forgotten, and so is one that began at the same place
    /// of the stack: it has ended.
    fn begin(&mut self, call: Call) {
        let list = self.list(call.thread);
        list.retain(|known| {
            let is_left = known.sp < call.sp && call.sp - known.sp < ONE_STACK;
            let is_over = known.sp == call.sp && known.site == call.site;
            known.thread != call.thread || !(is_left || is_over)
        });
        list.push(call);
    }

    fn find(&mut self, thread: u32, site: u32, sp: u64) -> Option<&Call> {
        let is_it = |call: &&Call| call.thread == thread && call.site == site && call.sp == sp;
        self.list(thread).iter().rfind(is_it)
    }
}

/// Notes a call that begins at a site.
pub(crate) fn note(general: &General, site: u32) {
    let arguments = ARGUMENTS.map(|register| general[usize::from(register)]);
    let thread = threads::number(threads::base());
    CALLS.lock().begin(Call { thread, site, sp: general[STACK], arguments });
}

/// What was passed to the call that began at a site, and whose return address the thread's stack pointer points to.
pub(crate) fn argument(thread: u32, general: &General, site: u32, number: u8) -> Option<u64> {
    CALLS.lock().find(thread, site, general[STACK])?.arguments.get(usize::from(number)).copied()
}

/// The open calls of a thread; they stay.
pub(crate) fn of(thread: u32) -> Vec<Call> {
    CALLS.lock().list(thread).iter().filter(|call| call.thread == thread).cloned().collect()
}

/// The open calls of all threads; they are forgotten here.
pub(crate) fn take() -> Vec<Call> {
    CALLS.lock().lists.iter_mut().flat_map(core::mem::take).collect()
}

/// Notes calls that have begun elsewhere, those of each thread in their order.
pub(crate) fn put(calls: Vec<Call>) {
    let mut known = CALLS.lock();
    calls.into_iter().for_each(|call| known.begin(call));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(thread: u32, site: u32, sp: u64, first: u64) -> Call {
        Call { thread, site, sp, arguments: [first, 0, 0, 0, 0, 0] }
    }

    fn first(calls: &mut Calls, thread: u32, site: u32, sp: u64) -> Option<u64> {
        calls.find(thread, site, sp).map(|call| call.arguments[0])
    }

    #[test]
    fn a_call_is_known_until_another_takes_its_place() {
        let mut calls = Calls::new();
        calls.begin(call(64, 1, 1000, 7));
        calls.begin(call(64, 2, 900, 8));
        calls.begin(call(100, 1, 2000, 9));
        // On the same list as the first.
        calls.begin(call(64 + LISTS as u32, 1, 5000, 10));
        assert_eq!(first(&mut calls, 64, 1, 1000), Some(7));
        assert_eq!(first(&mut calls, 64, 2, 900), Some(8));
        assert_eq!(first(&mut calls, 64, 1, 900), None);
        assert_eq!(first(&mut calls, 100, 1, 2000), Some(9));
        calls.begin(call(64, 1, 1000, 11));
        assert_eq!(first(&mut calls, 64, 1, 1000), Some(11));
        assert_eq!(first(&mut calls, 64, 2, 900), None, "it was left");
        assert_eq!(first(&mut calls, 64 + LISTS as u32, 1, 5000), Some(10));
    }

    #[test]
    fn other_stacks_are_left_alone() {
        let mut calls = Calls::new();
        calls.begin(call(64, 1, 1000, 7));
        calls.begin(call(64, 1, 1000 + ONE_STACK, 8));
        assert_eq!(first(&mut calls, 64, 1, 1000), Some(7));
        assert_eq!(first(&mut calls, 64, 1, 1000 + ONE_STACK), Some(8));
    }
}
