//! Calls that have not returned, with the arguments that events at their exits need.
//!
//! At the exit of a function, its arguments are no longer where they were passed. If an event at the exit needs them,
//! the probe at the entry saves the registers that held them.

use crate::capture::GeneralRegisters;
use crate::lock::{Lock, MAX_NAPS};
use crate::tail_calls::{PendingTailCall, RETURN_MARK, TAIL_CALL_MARK};
use crate::threads;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Flag in the site number that a trampoline passes: the site is a function entry whose calls are tracked.
pub const ENTRY_MARK: u32 = 1 << 31;
/// All flags that a site number may carry.
pub const SITE_MARKS: u32 = ENTRY_MARK | TAIL_CALL_MARK | RETURN_MARK;
/// Registers in which integer arguments are passed, by DWARF number.
pub const ARGUMENT_REGISTERS: [u8; 6] = [5, 4, 1, 2, 8, 9];
/// The stack pointer's DWARF number.
const STACK_POINTER: usize = 7;
/// Largest size of a stack: a call further away is on another stack and was not unwound.
pub const MAX_STACK_SIZE: u64 = 64 << 20;
/// Number of lists, which threads share by their ids.
const LISTS: usize = 64;

/// A call that was entered and has not returned, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCall {
    /// Id of its thread.
    pub thread: u32,
    /// Site of the function's entry.
    pub site: u32,
    /// Stack pointer at the entry.
    pub sp: u64,
    /// Contents of the [argument registers](ARGUMENT_REGISTERS) at the entry.
    pub arguments: [u64; 6],
}

static CALLS: Lock<Calls> = Lock::new(Calls::new());

/// Pending calls of all threads.
#[derive(Debug)]
struct Calls {
    lists: [Vec<PendingCall>; LISTS],
    /// Tail calls: they end when another function returns.
    tail_calls: [Vec<PendingTailCall>; LISTS],
}

impl Calls {
    const fn new() -> Calls {
        Calls { lists: [const { Vec::new() }; LISTS], tail_calls: [const { Vec::new() }; LISTS] }
    }

    fn list(&mut self, thread: u32) -> &mut Vec<PendingCall> {
        &mut self.lists[thread as usize % LISTS]
    }

    fn tail_calls(&mut self, thread: u32) -> &mut Vec<PendingTailCall> {
        &mut self.tail_calls[thread as usize % LISTS]
    }

    /// Drops the calls of a thread that were unwound by `longjmp` or an exception.
    fn drop_unwound(&mut self, thread: u32, sp: u64) {
        let is_unwound = |call_sp: u64| call_sp < sp && sp - call_sp < MAX_STACK_SIZE;
        self.list(thread).retain(|call| call.thread != thread || !is_unwound(call.sp));
        self.tail_calls(thread).retain(|call| call.thread != thread || !is_unwound(call.sp));
    }

    /// Adds a call. Drops the calls of its thread that were unwound, and one with the same site and stack
    /// pointer, which has returned.
    fn push_call(&mut self, call: PendingCall) {
        self.drop_unwound(call.thread, call.sp);
        self.forget(call.thread, call.site, call.sp);
        self.list(call.thread).push(call);
    }

    fn forget(&mut self, thread: u32, site: u32, sp: u64) {
        self.list(thread).retain(|call| (call.thread, call.site, call.sp) != (thread, site, sp));
    }

    /// Adds a tail call.
    fn push_tail_call(&mut self, call: PendingTailCall) {
        self.drop_unwound(call.thread, call.sp);
        self.tail_calls(call.thread).push(call);
    }

    /// Removes and returns the latest tail call of a thread for a return site and a stack pointer.
    fn take_ended(&mut self, thread: u32, return_site: u32, sp: u64) -> Option<PendingTailCall> {
        let tail_calls = self.tail_calls(thread);
        let at = tail_calls
            .iter()
            .rposition(|call| (call.thread, call.return_site, call.sp) == (thread, return_site, sp))?;
        Some(tail_calls.remove(at))
    }

    fn find(&mut self, thread: u32, site: u32, sp: u64) -> Option<&PendingCall> {
        let is_it = |call: &&PendingCall| call.thread == thread && call.site == site && call.sp == sp;
        self.list(thread).iter().rfind(is_it)
    }
}

/// Adds a call at the entry of a function.
pub(crate) fn add_call(general: &GeneralRegisters, site: u32) {
    let arguments = ARGUMENT_REGISTERS.map(|register| general[usize::from(register)]);
    let thread = threads::id(threads::base());
    CALLS.lock().push_call(PendingCall { thread, site, sp: general[STACK_POINTER], arguments });
}

/// Argument of the call that was entered at a site and whose return address is at the thread's stack pointer.
pub(crate) fn argument(thread: u32, general: &GeneralRegisters, site: u32, number: u8) -> Option<u64> {
    CALLS.lock().find(thread, site, general[STACK_POINTER])?.arguments.get(usize::from(number)).copied()
}

/// Arguments of a pending call that was entered at a site.
pub(crate) fn arguments_of(thread: u32, site: u32, sp: u64) -> Option<[u64; 6]> {
    CALLS.lock().find(thread, site, sp).map(|call| call.arguments)
}

/// Removes a call: its entry is not needed any more.
pub(crate) fn forget(thread: u32, site: u32, sp: u64) {
    CALLS.lock().forget(thread, site, sp);
}

/// Adds a tail call.
pub(crate) fn push_tail_call(call: PendingTailCall) {
    CALLS.lock().push_tail_call(call);
}

/// Removes and returns the latest tail call of a thread that returns to a site with this stack pointer.
pub(crate) fn take_ended(thread: u32, site: u32, sp: u64) -> Option<PendingTailCall> {
    CALLS.lock().take_ended(thread, site, sp)
}

// The debugger's requests. A signal may have stopped a thread that holds the lock, so they do not wait for long: `None` if
// such a thread has to be resumed first.

/// Removes and returns the tail calls of all threads.
pub(crate) fn take_tail_calls() -> Option<Vec<PendingTailCall>> {
    Some(CALLS.lock_within(MAX_NAPS)?.tail_calls.iter_mut().flat_map(core::mem::take).collect())
}

/// Adds tail calls that the debugger has observed, oldest first. They count as newer than those already stored.
pub(crate) fn put_tail_calls(calls: Vec<PendingTailCall>) -> Option<()> {
    let mut pending = CALLS.lock_within(MAX_NAPS)?;
    calls.into_iter().for_each(|call| pending.tail_calls(call.thread).push(call));
    Some(())
}

/// Returns the pending calls of a thread, without removing them.
pub(crate) fn of_thread(thread: u32) -> Option<Vec<PendingCall>> {
    let mut pending = CALLS.lock_within(MAX_NAPS)?;
    Some(pending.list(thread).iter().filter(|call| call.thread == thread).cloned().collect())
}

/// Removes and returns the pending calls of all threads.
pub(crate) fn take() -> Option<Vec<PendingCall>> {
    Some(CALLS.lock_within(MAX_NAPS)?.lists.iter_mut().flat_map(core::mem::take).collect())
}

/// Adds calls whose entry the debugger has observed.
pub(crate) fn put(mut calls: Vec<PendingCall>) -> Option<()> {
    // Callers first: otherwise they would drop calls further down the stack.
    calls.sort_by_key(|call| core::cmp::Reverse(call.sp));
    let mut pending = CALLS.lock_within(MAX_NAPS)?;
    calls.into_iter().for_each(|call| pending.push_call(call));
    Some(())
}

/// Unlocks the calls: the thread that held the lock no longer exists.
pub(crate) fn force_unlock() {
    CALLS.force_unlock();
}

#[cfg(test)]
mod tests {
    use super::*;
    use invigil_monitor::event::EventId;

    fn call(thread: u32, site: u32, sp: u64, first: u64) -> PendingCall {
        PendingCall { thread, site, sp, arguments: [first, 0, 0, 0, 0, 0] }
    }

    fn first(calls: &mut Calls, thread: u32, site: u32, sp: u64) -> Option<u64> {
        calls.find(thread, site, sp).map(|call| call.arguments[0])
    }

    #[test]
    fn call_is_found_until_another_replaces_it() {
        let mut calls = Calls::new();
        calls.push_call(call(64, 1, 1000, 7));
        calls.push_call(call(64, 2, 900, 8));
        calls.push_call(call(100, 1, 2000, 9));
        // On the same list as the first.
        calls.push_call(call(64 + LISTS as u32, 1, 5000, 10));
        assert_eq!(first(&mut calls, 64, 1, 1000), Some(7));
        assert_eq!(first(&mut calls, 64, 2, 900), Some(8));
        assert_eq!(first(&mut calls, 64, 1, 900), None);
        assert_eq!(first(&mut calls, 100, 1, 2000), Some(9));
        calls.push_call(call(64, 1, 1000, 11));
        assert_eq!(first(&mut calls, 64, 1, 1000), Some(11));
        assert_eq!(first(&mut calls, 64, 2, 900), None, "it was unwound");
        assert_eq!(first(&mut calls, 64 + LISTS as u32, 1, 5000), Some(10));
    }

    fn tail_call(thread: u32, event: u32, sp: u64, return_site: u32) -> PendingTailCall {
        PendingTailCall {
            thread,
            event: EventId(event),
            sp,
            return_site,
            arguments: None,
            values: Vec::new(),
        }
    }

    #[test]
    fn tail_calls_end_in_reverse_order() {
        let mut calls = Calls::new();
        let event = |ended: Option<PendingTailCall>| ended.map(|tail_call| tail_call.event.0);
        calls.push_tail_call(tail_call(64, 1, 1000, 7));
        calls.push_tail_call(tail_call(64, 2, 1000, 7));
        // On the same list.
        calls.push_tail_call(tail_call(64 + LISTS as u32, 3, 1000, 7));
        assert_eq!(event(calls.take_ended(64, 8, 1000)), None, "it returns elsewhere");
        assert_eq!(event(calls.take_ended(64, 7, 992)), None, "another call is meant");
        assert_eq!(event(calls.take_ended(64, 7, 1000)), Some(2));
        assert_eq!(event(calls.take_ended(64, 7, 1000)), Some(1));
        assert_eq!(event(calls.take_ended(64, 7, 1000)), None);
        assert_eq!(event(calls.take_ended(64 + LISTS as u32, 7, 1000)), Some(3));
    }

    #[test]
    fn tail_calls_of_unwound_frames_are_dropped() {
        let mut calls = Calls::new();
        calls.push_tail_call(tail_call(64, 1, 1000, 7));
        calls.push_tail_call(tail_call(64, 2, 1000 + MAX_STACK_SIZE, 7));
        calls.push_call(call(64, 1, 1008, 7));
        assert!(calls.take_ended(64, 7, 1000).is_none());
        assert!(calls.take_ended(64, 7, 1000 + MAX_STACK_SIZE).is_some());
        calls.push_tail_call(tail_call(64, 1, 2000, 7));
        assert_eq!(first(&mut calls, 64, 1, 1008), None, "it was unwound");
    }

    #[test]
    fn calls_on_other_stacks_are_kept() {
        let mut calls = Calls::new();
        calls.push_call(call(64, 1, 1000, 7));
        calls.push_call(call(64, 1, 1000 + MAX_STACK_SIZE, 8));
        assert_eq!(first(&mut calls, 64, 1, 1000), Some(7));
        assert_eq!(first(&mut calls, 64, 1, 1000 + MAX_STACK_SIZE), Some(8));
    }
}
