//! Taking and restoring checkpoints of the target and its monitors together.
//!
//! A checkpoint holds the target, every monitor and the position in the history. It does not hold the scenarios'
//! variables: a scenario decides across restores what to do next, and must remember what it has tried.

use crate::checkpoint_tree::{CheckpointInfo, StoredCheckpoint};
use crate::session::{Session, State};
use invigil_target::{Checkpoint, CheckpointId, TargetError, TargetResult};

impl Session {
    /// Takes a checkpoint and returns its number.
    ///
    /// # Errors
    /// If the limits are reached, or the target cannot be checkpointed.
    pub fn take_checkpoint(&mut self, label: &str) -> TargetResult<u32> {
        self.save(label, false)
    }

    /// Takes a checkpoint that may be dropped to make room for later ones. If that fails, no further automatic
    /// checkpoints are taken.
    pub(crate) fn take_automatic_checkpoint(&mut self) {
        self.last_automatic = self.history.count();
        if let Err(error) = self.save("", true) {
            self.options.auto_checkpoint = None;
            self.notify(&format!("no more checkpoints are taken automatically: {error}"));
        }
    }

    fn save(&mut self, label: &str, automatic: bool) -> TargetResult<u32> {
        if self.state != State::Ready {
            let message = match self.state {
                State::New => "a checkpoint can be taken only after the session has started",
                _ => "the program has ended: no checkpoint can be taken",
            };
            return Err(TargetError::Request(message.to_owned()));
        }
        while self.checkpoints.len() >= self.options.max_checkpoints {
            self.drop_oldest_automatic(
                None,
                &format!("there are {} checkpoints already", self.checkpoints.len()),
            )?;
        }
        let program = self.target.checkpoints()?.take_checkpoint()?;
        let monitors = self.monitors.iter_mut().map(|attached| attached.monitor.checkpoint()).collect();
        let bytes: u64 = self.monitors.iter().map(|attached| attached.monitor.slices().bytes() as u64).sum();
        let id = self.checkpoints.next_id(automatic && self.history.count() == 0);
        let info = CheckpointInfo {
            id,
            parent: self.checkpoints.current,
            label: label.to_owned(),
            automatic,
            event_count: self.history.count(),
            location: self.target.current_location(),
            taken_at: self.started_at.elapsed(),
            memory: bytes,
            limitations: program.limitations,
            restore_count: 0,
        };
        self.checkpoints.add(StoredCheckpoint {
            info,
            target: program.id,
            monitors,
            scripts: self.scripts.state(),
            monitor_memory: bytes,
            memory_bound: program.memory,
            instrumented_events: self.needs.clone(),
        });
        self.enforce_memory_limit(id)?;
        Ok(id)
    }

    fn list_target_checkpoints(&mut self) -> Vec<Checkpoint> {
        self.target.checkpoints().map(|target| target.list_checkpoints()).unwrap_or_default()
    }

    /// Updates the memory and the limitations of every checkpoint. Returns the sum of the memory.
    pub(crate) fn refresh_memory(&mut self) -> u64 {
        let programs = self.list_target_checkpoints();
        let mut sum = 0;
        for stored in self.checkpoints.iter_mut() {
            if let Some(program) = programs.iter().find(|program| program.id == stored.target) {
                stored.info.memory = program.memory + stored.monitor_memory;
                stored.info.limitations.clone_from(&program.limitations);
            }
            sum += stored.info.memory;
        }
        sum
    }

    /// Drops automatic checkpoints until the rest fit into the memory limit. If that is not enough, drops the new
    /// one and fails.
    fn enforce_memory_limit(&mut self, new: u32) -> TargetResult {
        // Measuring a large program is slow, and is needed only if the upper bound exceeds the limit.
        if self.checkpoints.memory_bound() <= self.options.max_checkpoint_memory {
            return Ok(());
        }
        while self.refresh_memory() > self.options.max_checkpoint_memory {
            let reason =
                format!("checkpoints take more than {} MiB", self.options.max_checkpoint_memory >> 20);
            if let Err(error) = self.drop_oldest_automatic(Some(new), &reason) {
                self.drop_checkpoint(new)?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Drops the oldest automatic checkpoint, or fails with the reason why one had to be dropped.
    fn drop_oldest_automatic(&mut self, except: Option<u32>, reason: &str) -> TargetResult {
        match self.checkpoints.oldest_automatic(except) {
            Some(oldest) => self.drop_checkpoint(oldest),
            None => Err(TargetError::Request(format!("{reason}: delete one first"))),
        }
    }

    /// Restores the target, the monitors and the history. The checkpoint is kept. Breakpoints of the user and the
    /// scenarios stay as they are now, and so do the scenarios' variables.
    ///
    /// # Errors
    /// If there is no such checkpoint, or the target cannot be restored. If the target ends in the attempt, the
    /// session ends; otherwise nothing has changed. A checkpoint that turns out to be lost is dropped.
    pub fn restore_checkpoint(&mut self, id: u32) -> TargetResult {
        let Some(stored) = self.checkpoints.get(id) else { return Err(self.unknown_checkpoint(id)) };
        let (program, event, needs) =
            (stored.target, stored.info.event_count, stored.instrumented_events.clone());
        let (monitors, scripts) = (stored.monitors.clone(), stored.scripts.clone());
        if let Err(error) = self
            .target
            .checkpoints()
            .map_err(TargetError::from)
            .and_then(|target| target.restore_checkpoint(program))
        {
            self.handle_failed_restore(id, program)?;
            return Err(error);
        }
        for (attached, checkpoint) in self.monitors.iter_mut().zip(monitors) {
            let restored = attached.monitor.restore(checkpoint);
            restored.map_err(|error| TargetError::Control(error.to_string()))?;
            if attached.monitor.fault().is_none() {
                attached.failure = None;
            }
        }
        self.restore_scripts(&scripts)?;
        self.state = State::Ready;
        self.history.truncate_after(event);
        self.last_automatic = self.last_automatic.min(event);
        self.checkpoints.current = Some(id);
        if let Some(stored) = self.checkpoints.iter_mut().find(|stored| stored.info.id == id) {
            stored.info.restore_count += 1;
        }
        for violation in &mut self.violations {
            let number = violation.violation.event.as_ref().map_or(0, |event| event.index);
            let number = if violation.violation.at_end { u64::MAX } else { number };
            violation.undone |= number > event;
        }
        if let Some(recorder) = &mut self.recorder
            && recorder.record_restore()
        {
            self.notify("the recording continues after a restore: it contains events that were undone");
        }
        self.handling.restored = true;
        // The target is instrumented as at the checkpoint.
        self.needs = needs;
        self.update_needs()
    }

    /// Updates the session after a failed restore: the checkpoint may be lost, and the target with it.
    fn handle_failed_restore(&mut self, id: u32, program: CheckpointId) -> TargetResult {
        if !self.target.is_alive() && self.state == State::Ready {
            self.state = State::Ended(None);
            self.finish_recording();
        }
        let known = self.list_target_checkpoints();
        if known.iter().any(|checkpoint| checkpoint.id == program) {
            return Ok(());
        }
        self.drop_stored(id).map(drop)
    }

    /// Drops a checkpoint.
    ///
    /// # Errors
    /// If there is no such checkpoint, or the target cannot drop it.
    pub fn drop_checkpoint(&mut self, id: u32) -> TargetResult {
        let program = self.drop_stored(id)?;
        self.target.checkpoints()?.drop_checkpoint(program)
    }

    /// Drops the session's part of a checkpoint. Returns the target's part.
    fn drop_stored(&mut self, id: u32) -> TargetResult<CheckpointId> {
        let Some(stored) = self.checkpoints.remove(id) else { return Err(self.unknown_checkpoint(id)) };
        for (attached, checkpoint) in self.monitors.iter_mut().zip(&stored.monitors) {
            let dropped = attached.monitor.drop_checkpoint(*checkpoint);
            dropped.map_err(|error| TargetError::Control(error.to_string()))?;
        }
        Ok(stored.target)
    }

    fn unknown_checkpoint(&self, id: u32) -> TargetError {
        let known: Vec<String> = self.checkpoints.iter().map(|stored| stored.info.id.to_string()).collect();
        let help = match known.is_empty() {
            true => "there is none".to_owned(),
            false => format!("there are {}", known.join(", ")),
        };
        TargetError::Request(format!("there is no checkpoint {id}: {help}"))
    }
}
