//! Objects under construction that will be on a path: what their constructors write counts before they are there.
//!
//! Each thread has a stack of them. An exception may leave a constructor without a word, so each entry knows how deep the
//! stack of calls was, and is dropped when it is no deeper any more.

use crate::agent::{Agent, locked};
use crate::vm::{Jni, Ref};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An object under construction.
#[derive(Debug)]
struct Building {
    /// Whose business it is.
    path: usize,
    /// Where it will be.
    level: usize,
    /// Its class.
    class: String,
    /// How many frames there were when its constructor was called.
    depth: i32,
    /// Its number, once it is known.
    number: i64,
    /// Objects on the path that were made for it.
    done: Vec<(usize, i64)>,
}

thread_local! {
    static STACK: RefCell<Vec<Building>> = const { RefCell::new(Vec::new()) };
}

/// Where there may be virtual threads, which go on in another one of the system's: the stacks by the numbers of threads.
static STACKS: Mutex<BTreeMap<u32, Vec<Building>>> = Mutex::new(BTreeMap::new());
/// How many of these there are.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Does something with the stack of the thread that runs this. Nothing may be asked of the machine there.
fn with_stack<R>(agent: &Agent, jni: Jni, work: impl FnOnce(&mut Vec<Building>) -> R) -> R {
    if !agent.powers.can_support_virtual_threads() {
        return STACK.with_borrow_mut(work);
    }
    let number = agent.ti.current_thread().map_or(0, |thread| {
        let number = agent.thread_number(jni, thread);
        jni.let_go(thread);
        number
    });
    let mut stacks = locked(&STACKS);
    let mut stack = stacks.remove(&number).unwrap_or_default();
    let result = work(&mut stack);
    if !stack.is_empty() {
        stacks.insert(number, stack);
    }
    COUNT.store(stacks.len(), Ordering::Relaxed);
    result
}

/// Whether this thread may have something under construction; most have not.
fn may_build(agent: &Agent) -> bool {
    match agent.powers.can_support_virtual_threads() {
        true => COUNT.load(Ordering::Relaxed) > 0,
        false => !STACK.with_borrow(Vec::is_empty),
    }
}

/// Forgets objects whose constructors were left; gives how many frames there are, or nothing if nothing is under
/// construction.
fn depth(agent: &Agent, jni: Jni) -> Option<i32> {
    if !may_build(agent) {
        return None;
    }
    let depth = agent.ti.frame_count(None).ok()?;
    with_stack(agent, jni, |stack| {
        while stack.last().is_some_and(|last| last.depth > depth) {
            stack.pop();
        }
        (!stack.is_empty()).then_some(depth)
    })
}

/// The constructor of an object is about to be called.
pub(crate) fn begin(agent: &Agent, jni: Jni, path: usize, level: usize, class: &str) {
    let Ok(depth) = agent.ti.frame_count(None) else { return };
    with_stack(agent, jni, |stack| {
        // In this frame nothing else of the path is under construction any more.
        stack.retain(|entry| entry.depth < depth || entry.depth == depth && entry.path != path);
        stack.push(Building { path, level, class: class.to_owned(), depth, number: 0, done: Vec::new() });
    });
}

/// A constructor has returned.
pub(crate) fn end(agent: &Agent, jni: Jni, path: usize) {
    let Some(depth) = depth(agent, jni) else { return };
    with_stack(agent, jni, |stack| {
        let Some(at) = stack.iter().rposition(|entry| entry.path == path && entry.depth == depth) else {
            return;
        };
        let ended = stack.remove(at);
        if let Some(around) = stack.iter_mut().rev().find(|entry| entry.path == path) {
            around.done.push((ended.level, ended.number));
            around.done.extend(ended.done);
        }
    });
}

/// In a constructor of this object there is a `this`: notes which object is under construction, if it is this one.
pub(crate) fn bind(agent: &Agent, jni: Jni, path: usize, this: Ref) {
    let Some(depth) = depth(agent, jni) else { return };
    let waits = |entry: &&mut Building| entry.path == path && entry.depth < depth;
    let class = with_stack(agent, jni, |stack| {
        let entry = stack.iter_mut().rev().find(waits)?;
        (entry.number == 0).then(|| entry.class.clone())
    });
    let Some(class) = class else { return };
    let known = agent.ti.signature(jni.class_of(this)).unwrap_or_default();
    if known.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')) != Some(class.as_str()) {
        return;
    }
    let number = agent.identities.number(agent.ti, this);
    with_stack(agent, jni, |stack| {
        if let Some(entry) = stack.iter_mut().rev().find(waits) {
            entry.number = number;
        }
    });
}

/// Whether an object is, or will be, at a place of the path, by what this thread constructs.
pub(crate) fn is_at(
    agent: &Agent,
    jni: Jni,
    path: usize,
    level: usize,
    this: Option<Ref>,
    number: i64,
) -> bool {
    let Some(depth) = depth(agent, jni) else { return false };
    if let Some(this) = this {
        bind(agent, jni, path, this);
    }
    number != 0
        && with_stack(agent, jni, |stack| {
            let mut entries = stack.iter().filter(|entry| entry.path == path && entry.depth < depth);
            entries.any(|entry| {
                entry.level == level && entry.number == number || entry.done.contains(&(level, number))
            })
        })
}
