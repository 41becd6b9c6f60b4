//! Objects under construction that will be on a path: what their constructors write counts before they are there.
//!
//! Each thread has a stack of them. An exception may leave a constructor without a word, so each entry knows how deep the
//! stack of calls was, and is dropped when it is no deeper any more.

use crate::agent::Agent;
use crate::vm::{Jni, Ref};
use std::cell::RefCell;

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

/// Forgets objects whose constructors were left; gives how many frames there are, or nothing if nothing is under
/// construction.
fn depth(agent: &Agent) -> Option<i32> {
    if STACK.with_borrow(Vec::is_empty) {
        return None;
    }
    let depth = agent.ti.frame_count(None).ok()?;
    STACK.with_borrow_mut(|stack| {
        while stack.last().is_some_and(|last| last.depth > depth) {
            stack.pop();
        }
    });
    Some(depth)
}

/// The constructor of an object is about to be called.
pub(crate) fn begin(agent: &Agent, path: usize, level: usize, class: &str) {
    let Ok(depth) = agent.ti.frame_count(None) else { return };
    STACK.with_borrow_mut(|stack| {
        // In this frame nothing else of the path is under construction any more.
        stack.retain(|entry| entry.depth < depth || entry.depth == depth && entry.path != path);
        stack.push(Building { path, level, class: class.to_owned(), depth, number: 0, done: Vec::new() });
    });
}

/// A constructor has returned.
pub(crate) fn end(agent: &Agent, path: usize) {
    let Some(depth) = depth(agent) else { return };
    STACK.with_borrow_mut(|stack| {
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
    let Some(depth) = depth(agent) else { return };
    let waits = |entry: &&mut Building| entry.path == path && entry.depth < depth;
    let class = STACK.with_borrow_mut(|stack| {
        let entry = stack.iter_mut().rev().find(waits)?;
        (entry.number == 0).then(|| entry.class.clone())
    });
    let Some(class) = class else { return };
    let known = agent.ti.signature(jni.class_of(this)).unwrap_or_default();
    if known.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')) != Some(class.as_str()) {
        return;
    }
    let number = agent.identities.number(agent.ti, this);
    STACK.with_borrow_mut(|stack| {
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
    let Some(depth) = depth(agent) else { return false };
    if let Some(this) = this {
        bind(agent, jni, path, this);
    }
    number != 0
        && STACK.with_borrow(|stack| {
            let mut entries = stack.iter().filter(|entry| entry.path == path && entry.depth < depth);
            entries.any(|entry| {
                entry.level == level && entry.number == number || entry.done.contains(&(level, number))
            })
        })
}
