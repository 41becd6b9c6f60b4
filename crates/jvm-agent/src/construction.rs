//! Objects under construction that will be on a tracked path: writes in their constructors are observed although the
//! objects are not yet reachable.
//!
//! Each thread has a stack of them. An exception may leave a constructor without notice. Each entry therefore records
//! the depth of the call stack, and is dropped when the stack is no longer that deep.

use crate::agent::{Agent, locked};
use crate::vm::{Jni, Ref};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An object under construction.
#[derive(Debug)]
struct Construction {
    /// The path that it will be on.
    path: usize,
    /// Its level on the path.
    level: usize,
    /// Its class.
    class: String,
    /// The depth of the call stack at the call of its constructor.
    depth: i32,
    /// Its id; 0 until known.
    object_id: i64,
    /// Level and id of each object on the path that was constructed for it.
    constructed: Vec<(usize, i64)>,
}

thread_local! {
    static STACK: RefCell<Vec<Construction>> = const { RefCell::new(Vec::new()) };
}

/// Stacks by thread number. Used instead of `STACK` in virtual machines with virtual threads, which can move between
/// system threads.
static STACKS: Mutex<BTreeMap<u32, Vec<Construction>>> = Mutex::new(BTreeMap::new());
/// The number of these stacks.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Runs a function on the stack of the current thread. It must not call the virtual machine.
fn with_stack<R>(agent: &Agent, jni: Jni, work: impl FnOnce(&mut Vec<Construction>) -> R) -> R {
    if !agent.capabilities.can_support_virtual_threads() {
        return STACK.with_borrow_mut(work);
    }
    let thread_number = agent.ti.current_thread().map_or(0, |thread| {
        let thread_number = agent.thread_number(jni, thread);
        jni.delete_local(thread);
        thread_number
    });
    let mut stacks = locked(&STACKS);
    let mut stack = stacks.remove(&thread_number).unwrap_or_default();
    let result = work(&mut stack);
    if !stack.is_empty() {
        stacks.insert(thread_number, stack);
    }
    COUNT.store(stacks.len(), Ordering::Relaxed);
    result
}

/// Whether this thread may have an object under construction; most have none.
fn may_construct(agent: &Agent) -> bool {
    match agent.capabilities.can_support_virtual_threads() {
        true => COUNT.load(Ordering::Relaxed) > 0,
        false => !STACK.with_borrow(Vec::is_empty),
    }
}

/// Drops objects whose constructors have been left. Returns the depth of the call stack, or `None` if nothing is under
/// construction.
fn prune_and_depth(agent: &Agent, jni: Jni) -> Option<i32> {
    if !may_construct(agent) {
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

/// Records that the constructor of an object is about to be called.
pub(crate) fn begin(agent: &Agent, jni: Jni, path: usize, level: usize, class: &str) {
    let Ok(depth) = agent.ti.frame_count(None) else { return };
    with_stack(agent, jni, |stack| {
        // Nothing else on the path is still under construction in this frame.
        stack.retain(|entry| entry.depth < depth || entry.depth == depth && entry.path != path);
        stack.push(Construction {
            path,
            level,
            class: class.to_owned(),
            depth,
            object_id: 0,
            constructed: Vec::new(),
        });
    });
}

/// Records that a constructor has returned.
pub(crate) fn end(agent: &Agent, jni: Jni, path: usize) {
    let Some(depth) = prune_and_depth(agent, jni) else { return };
    with_stack(agent, jni, |stack| {
        let Some(at) = stack.iter().rposition(|entry| entry.path == path && entry.depth == depth) else {
            return;
        };
        let finished = stack.remove(at);
        if let Some(enclosing) = stack.iter_mut().rev().find(|entry| entry.path == path) {
            enclosing.constructed.push((finished.level, finished.object_id));
            enclosing.constructed.extend(finished.constructed);
        }
    });
}

/// Sets the object id of the innermost pending construction to that of `this`, if the classes agree. Called inside a
/// constructor once `this` is initialised.
pub(crate) fn bind(agent: &Agent, jni: Jni, path: usize, this: Ref) {
    let Some(depth) = prune_and_depth(agent, jni) else { return };
    let is_running = |entry: &&mut Construction| entry.path == path && entry.depth < depth;
    let class = with_stack(agent, jni, |stack| {
        let entry = stack.iter_mut().rev().find(is_running)?;
        (entry.object_id == 0).then(|| entry.class.clone())
    });
    let Some(class) = class else { return };
    let signature = agent.ti.signature(jni.class_of(this)).unwrap_or_default();
    if signature.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')) != Some(class.as_str()) {
        return;
    }
    let object_id = agent.object_ids.number(agent.ti, this);
    with_stack(agent, jni, |stack| {
        if let Some(entry) = stack.iter_mut().rev().find(is_running) {
            entry.object_id = object_id;
        }
    });
}

/// Whether this thread is constructing the object for this level of the path, or constructed it for an object under
/// construction.
pub(crate) fn is_at(
    agent: &Agent,
    jni: Jni,
    path: usize,
    level: usize,
    this: Option<Ref>,
    object_id: i64,
) -> bool {
    let Some(depth) = prune_and_depth(agent, jni) else { return false };
    if let Some(this) = this {
        bind(agent, jni, path, this);
    }
    object_id != 0
        && with_stack(agent, jni, |stack| {
            let mut entries = stack.iter().filter(|entry| entry.path == path && entry.depth < depth);
            entries.any(|entry| {
                entry.level == level && entry.object_id == object_id
                    || entry.constructed.contains(&(level, object_id))
            })
        })
}
