//! Checkpoints of the program and its monitors together: a tree, with limits.

use crate::subject::CheckpointId;
use invigil_monitor::event::EventSet;
use invigil_monitor::mac::Remembered;
use invigil_monitor::watch;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is known of a checkpoint of the program and all its monitors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointCheckpoint {
    /// Its number, counted from one; zero if it is the one at the start.
    pub id: u32,
    /// The checkpoint that the run came from when this one was taken.
    pub parent: Option<u32>,
    /// What it was taken for, in words; may be empty.
    pub label: String,
    /// Whether the session took it by itself.
    pub automatic: bool,
    /// How many events had happened.
    pub event: u64,
    /// Where the program stood, in words.
    pub place: String,
    /// How long the session had been going on.
    pub when: Duration,
    /// The memory that is kept for it, in bytes, when last looked at.
    pub memory: u64,
    /// What a restore will not bring back, each in words.
    pub limits: Vec<String>,
    /// How often it was restored.
    pub restored: u32,
}

pub(crate) struct Kept {
    pub(crate) info: JointCheckpoint,
    pub(crate) program: CheckpointId,
    pub(crate) monitors: Vec<watch::CheckpointId>,
    pub(crate) scripts: Vec<Remembered>,
    /// What the monitors' states take.
    pub(crate) monitor_memory: u64,
    /// The most that the program's copy can come to take.
    pub(crate) most: u64,
    /// The events that there were points for.
    pub(crate) needs: EventSet,
}

#[derive(Default)]
pub(crate) struct Checkpoints {
    kept: BTreeMap<u32, Kept>,
    /// The checkpoint that the run comes from.
    pub(crate) current: Option<u32>,
    last: u32,
}

impl Checkpoints {
    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// The number of the next one. The one that a session takes by itself at the start is 0, so that those that
    /// a person takes count from 1.
    pub(crate) fn next_id(&mut self, at_start: bool) -> u32 {
        if at_start && !self.kept.contains_key(&0) {
            return 0;
        }
        self.last += 1;
        self.last
    }

    pub(crate) fn add(&mut self, kept: Kept) {
        self.current = Some(kept.info.id);
        self.kept.insert(kept.info.id, kept);
    }

    /// The most that all of them can come to take.
    pub(crate) fn most(&self) -> u64 {
        self.kept.values().map(|kept| kept.most + kept.monitor_memory).sum()
    }

    pub(crate) fn get(&self, id: u32) -> Option<&Kept> {
        self.kept.get(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Kept> {
        self.kept.values()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Kept> {
        self.kept.values_mut()
    }

    /// Takes a checkpoint out; those that came from it now come from its parent.
    pub(crate) fn remove(&mut self, id: u32) -> Option<Kept> {
        let gone = self.kept.remove(&id)?;
        for kept in self.kept.values_mut().filter(|kept| kept.info.parent == Some(id)) {
            kept.info.parent = gone.info.parent;
        }
        if self.current == Some(id) {
            self.current = gone.info.parent;
        }
        Some(gone)
    }

    /// The oldest that the session took by itself, except this one.
    pub(crate) fn oldest_automatic(&self, except: Option<u32>) -> Option<u32> {
        let mut all = self.kept.values().map(|kept| &kept.info);
        all.find(|info| info.automatic && Some(info.id) != except).map(|info| info.id)
    }

    /// The latest in the past of the present run, at which not more than so many events had happened.
    pub(crate) fn before(&self, events: u64) -> Option<&Kept> {
        let mut at = self.current;
        while let Some(kept) = at.and_then(|id| self.kept.get(&id)) {
            if kept.info.event <= events {
                return Some(kept);
            }
            at = kept.info.parent;
        }
        None
    }
}
