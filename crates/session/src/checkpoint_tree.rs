//! The tree of joint checkpoints of target and monitors.

use invigil_monitor::event::EventSet;
use invigil_monitor::interactive;
use invigil_monitor::mac::ScriptState;
use invigil_target::CheckpointId;
use std::collections::BTreeMap;
use std::time::Duration;

/// Description of a checkpoint of the target and all its monitors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointInfo {
    /// Its number, counted from one; zero for the automatic one at the start.
    pub id: u32,
    /// The checkpoint last taken or restored before this one.
    pub parent: Option<u32>,
    /// Label from the user or scenario; empty if none was given.
    pub label: String,
    /// Whether the session took it automatically.
    pub automatic: bool,
    /// Number of events before it.
    pub event_count: u64,
    /// Location of the target, as text.
    pub location: String,
    /// Session time when it was taken.
    pub taken_at: Duration,
    /// Memory in bytes, as last measured; before that, only the monitors' share.
    pub memory: u64,
    /// Messages about state that a restore cannot bring back.
    pub limitations: Vec<String>,
    /// Number of times that it was restored.
    pub restore_count: u32,
}

/// A joint checkpoint with the handles of its parts.
pub(crate) struct StoredCheckpoint {
    pub(crate) info: CheckpointInfo,
    pub(crate) target: CheckpointId,
    pub(crate) monitors: Vec<interactive::CheckpointId>,
    pub(crate) scripts: Vec<ScriptState>,
    /// Memory of the monitors' states.
    pub(crate) monitor_memory: u64,
    /// Upper bound of the memory of the target's checkpoint.
    pub(crate) memory_bound: u64,
    /// The events that the target was instrumented for.
    pub(crate) instrumented_events: EventSet,
}

/// The joint checkpoints by number; each refers to its parent.
#[derive(Default)]
pub(crate) struct CheckpointTree {
    stored: BTreeMap<u32, StoredCheckpoint>,
    /// The checkpoint last taken or restored.
    pub(crate) current: Option<u32>,
    /// The highest number given to a checkpoint.
    last_id: u32,
}

impl CheckpointTree {
    pub(crate) fn len(&self) -> usize {
        self.stored.len()
    }

    /// Returns the number for the next checkpoint. The automatic one at the start is 0, so that the user's start at 1.
    pub(crate) fn next_id(&mut self, at_start: bool) -> u32 {
        if at_start && !self.stored.contains_key(&0) {
            return 0;
        }
        self.last_id += 1;
        self.last_id
    }

    pub(crate) fn add(&mut self, stored: StoredCheckpoint) {
        self.current = Some(stored.info.id);
        self.stored.insert(stored.info.id, stored);
    }

    /// Upper bound of the memory of all checkpoints.
    pub(crate) fn memory_bound(&self) -> u64 {
        self.stored.values().map(|stored| stored.memory_bound + stored.monitor_memory).sum()
    }

    pub(crate) fn get(&self, id: u32) -> Option<&StoredCheckpoint> {
        self.stored.get(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &StoredCheckpoint> {
        self.stored.values()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut StoredCheckpoint> {
        self.stored.values_mut()
    }

    /// Removes a checkpoint. Its children become children of its parent.
    pub(crate) fn remove(&mut self, id: u32) -> Option<StoredCheckpoint> {
        let removed = self.stored.remove(&id)?;
        for stored in self.stored.values_mut().filter(|stored| stored.info.parent == Some(id)) {
            stored.info.parent = removed.info.parent;
        }
        if self.current == Some(id) {
            self.current = removed.info.parent;
        }
        Some(removed)
    }

    /// The oldest automatic checkpoint other than `except`.
    pub(crate) fn oldest_automatic(&self, except: Option<u32>) -> Option<u32> {
        let mut all = self.stored.values().map(|stored| &stored.info);
        all.find(|info| info.automatic && Some(info.id) != except).map(|info| info.id)
    }

    /// The nearest checkpoint on the path from `current` to the root with at most this many events.
    pub(crate) fn latest_at_or_before(&self, events: u64) -> Option<&StoredCheckpoint> {
        let mut next = self.current;
        while let Some(stored) = next.and_then(|id| self.stored.get(&id)) {
            if stored.info.event_count <= events {
                return Some(stored);
            }
            next = stored.info.parent;
        }
        None
    }
}
