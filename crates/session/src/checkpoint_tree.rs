//! The tree of joint checkpoints of target and monitors.

use crate::target::CheckpointId;
use invigil_monitor::event::EventSet;
use invigil_monitor::interactive;
use invigil_monitor::mac::ScriptState;
use std::collections::BTreeMap;
use std::time::Duration;

/// Description of a checkpoint of the target and all its monitors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointCheckpoint {
    /// Its number, counted from one; zero for the automatic one at the start.
    pub id: u32,
    /// The checkpoint that the run continued from when this one was taken.
    pub parent: Option<u32>,
    /// A label by the user; may be empty.
    pub label: String,
    /// Whether the session took it automatically.
    pub automatic: bool,
    /// The number of events before it.
    pub event: u64,
    /// The location of the target, as text.
    pub location: String,
    /// How long the session had run when it was taken.
    pub age: Duration,
    /// Its memory in bytes, as last measured.
    pub memory: u64,
    /// Messages about state that a restore cannot bring back.
    pub limitations: Vec<String>,
    /// The number of times it was restored.
    pub restored: u32,
}

/// A joint checkpoint with the handles of its parts.
pub(crate) struct StoredCheckpoint {
    pub(crate) info: JointCheckpoint,
    pub(crate) program: CheckpointId,
    pub(crate) monitors: Vec<interactive::CheckpointId>,
    pub(crate) scripts: Vec<ScriptState>,
    /// Memory of the monitors' states.
    pub(crate) monitor_memory: u64,
    /// Upper bound of the memory of the target's checkpoint.
    pub(crate) max_memory: u64,
    /// The events that the target was instrumented for.
    pub(crate) needs: EventSet,
}

/// The joint checkpoints by number; each refers to its parent.
#[derive(Default)]
pub(crate) struct CheckpointTree {
    stored: BTreeMap<u32, StoredCheckpoint>,
    /// The checkpoint that the run continues from.
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
    pub(crate) fn max_memory(&self) -> u64 {
        self.stored.values().map(|stored| stored.max_memory + stored.monitor_memory).sum()
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

    /// The latest checkpoint in the past of the current run that has at most this many events.
    pub(crate) fn latest_before(&self, events: u64) -> Option<&StoredCheckpoint> {
        let mut next = self.current;
        while let Some(stored) = next.and_then(|id| self.stored.get(&id)) {
            if stored.info.event <= events {
                return Some(stored);
            }
            next = stored.info.parent;
        }
        None
    }
}
