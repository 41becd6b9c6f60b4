//! Calls that have begun: what was passed to them, for events at their end.
//!
//! When a function ends, its arguments are not where they were passed any more. Where an event at its end carries them, the
//! probe at its begin notes the registers in which they were.

use crate::capture::General;
use crate::lock::Lock;
use crate::tails::{LEAVES, Left, RETURNS};
use crate::threads;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// In the number of a site that a trampoline gives: calls begin there, and are noted.
pub const BEGINS: u32 = 1 << 31;
/// All that may be in the number of a site besides.
pub const MARKS: u32 = BEGINS | LEAVES | RETURNS;
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
    /// Those that end when another function returns.
    left: [Vec<Left>; LISTS],
}

impl Calls {
    const fn new() -> Calls {
        Calls { lists: [const { Vec::new() }; LISTS], left: [const { Vec::new() }; LISTS] }
    }

    fn list(&mut self, thread: u32) -> &mut Vec<Call> {
        &mut self.lists[thread as usize % LISTS]
    }

    fn left(&mut self, thread: u32) -> &mut Vec<Left> {
        &mut self.left[thread as usize % LISTS]
    }

    /// Forgets the calls of a thread that were left by a jump up its stack.
    fn drop_left(&mut self, thread: u32, sp: u64) {
        let is_left = |known: u64| known < sp && sp - known < ONE_STACK;
        self.list(thread).retain(|call| call.thread != thread || !is_left(call.sp));
        self.left(thread).retain(|call| call.thread != thread || !is_left(call.sp));
    }

    /// Notes a call. Those of its thread that were left by a jump are forgotten, and so is one that began at the same place
    /// of the stack: it has ended.
    fn begin(&mut self, call: Call) {
        self.drop_left(call.thread, call.sp);
        self.forget(call.thread, call.site, call.sp);
        self.list(call.thread).push(call);
    }

    fn forget(&mut self, thread: u32, site: u32, sp: u64) {
        self.list(thread).retain(|call| (call.thread, call.site, call.sp) != (thread, site, sp));
    }

    /// Notes a call that another function returns for.
    fn leave(&mut self, call: Left) {
        self.drop_left(call.thread, call.sp);
        self.left(call.thread).push(call);
    }

    /// Of such calls of a thread, the one that was noted last for a place and a stack pointer; it is forgotten.
    fn ended(&mut self, thread: u32, back: u32, sp: u64) -> Option<Left> {
        let left = self.left(thread);
        let at = left.iter().rposition(|call| (call.thread, call.back, call.sp) == (thread, back, sp))?;
        Some(left.remove(at))
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

/// What was passed to a call that began at a site, if it is noted.
pub(crate) fn passed(thread: u32, site: u32, sp: u64) -> Option<[u64; 6]> {
    CALLS.lock().find(thread, site, sp).map(|call| call.arguments)
}

/// The begin of a call is not needed any more.
pub(crate) fn forget(thread: u32, site: u32, sp: u64) {
    CALLS.lock().forget(thread, site, sp);
}

/// Notes a call that another function returns for.
pub(crate) fn leave(call: Left) {
    CALLS.lock().leave(call);
}

/// The call that was left last, of those of a thread that end at a site with this stack pointer; it is forgotten.
pub(crate) fn ended(thread: u32, site: u32, sp: u64) -> Option<Left> {
    CALLS.lock().ended(thread, site, sp)
}

/// The calls of all threads that were left for other functions; they are forgotten here.
pub(crate) fn take_left() -> Vec<Left> {
    CALLS.lock().left.iter_mut().flat_map(core::mem::take).collect()
}

/// Notes calls that were left for other functions elsewhere, those at the same place of a stack in their order. None is
/// newer than others that are left.
pub(crate) fn put_left(calls: Vec<Left>) {
    let mut known = CALLS.lock();
    calls.into_iter().for_each(|call| known.left(call.thread).push(call));
}

/// The open calls of a thread; they stay.
pub(crate) fn of(thread: u32) -> Vec<Call> {
    CALLS.lock().list(thread).iter().filter(|call| call.thread == thread).cloned().collect()
}

/// The open calls of all threads; they are forgotten here.
pub(crate) fn take() -> Vec<Call> {
    CALLS.lock().lists.iter_mut().flat_map(core::mem::take).collect()
}

/// Notes calls that have begun elsewhere.
pub(crate) fn put(mut calls: Vec<Call>) {
    // Callers first: none that is further down the stack was left by them.
    calls.sort_by_key(|call| core::cmp::Reverse(call.sp));
    let mut known = CALLS.lock();
    calls.into_iter().for_each(|call| known.begin(call));
}

#[cfg(test)]
mod tests {
    use super::*;
    use invigil_monitor::event::SymbolId;

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

    fn left(thread: u32, symbol: u32, sp: u64, back: u32) -> Left {
        Left { thread, symbol: SymbolId(symbol), sp, back, passed: None, values: Vec::new() }
    }

    #[test]
    fn calls_that_were_left_end_the_last_one_first() {
        let mut calls = Calls::new();
        let symbol = |ended: Option<Left>| ended.map(|left| left.symbol.0);
        calls.leave(left(64, 1, 1000, 7));
        calls.leave(left(64, 2, 1000, 7));
        // On the same list.
        calls.leave(left(64 + LISTS as u32, 3, 1000, 7));
        assert_eq!(symbol(calls.ended(64, 8, 1000)), None, "it returns elsewhere");
        assert_eq!(symbol(calls.ended(64, 7, 992)), None, "another call is meant");
        assert_eq!(symbol(calls.ended(64, 7, 1000)), Some(2));
        assert_eq!(symbol(calls.ended(64, 7, 1000)), Some(1));
        assert_eq!(symbol(calls.ended(64, 7, 1000)), None);
        assert_eq!(symbol(calls.ended(64 + LISTS as u32, 7, 1000)), Some(3));
    }

    #[test]
    fn calls_that_were_left_are_forgotten_with_their_stack() {
        let mut calls = Calls::new();
        calls.leave(left(64, 1, 1000, 7));
        calls.leave(left(64, 2, 1000 + ONE_STACK, 7));
        calls.begin(call(64, 1, 1008, 7));
        assert!(calls.ended(64, 7, 1000).is_none());
        assert!(calls.ended(64, 7, 1000 + ONE_STACK).is_some());
        calls.leave(left(64, 1, 2000, 7));
        assert_eq!(first(&mut calls, 64, 1, 1008), None, "it was left");
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
