//! Taking checkpoints of the program and its monitors together, and going back to them.
//!
//! A checkpoint holds the program, every monitor and the position in the history. It does not hold the
//! scenarios' variables: a scenario decides what to do next across restores, and so must remember them.

use crate::checkpoints::{JointCheckpoint, Kept};
use crate::session::{Session, State};
use crate::subject::{CheckpointId, Done, Trouble};

impl Session {
    /// Takes a checkpoint; gives its number.
    ///
    /// # Errors
    /// If there is no room for it, or the program cannot be kept.
    pub fn checkpoint(&mut self, label: &str) -> Done<u32> {
        self.save(label, false)
    }

    /// Takes a checkpoint that may be dropped when there is no room for others. Goes on without them if one
    /// cannot be taken.
    pub(crate) fn automatic_checkpoint(&mut self) {
        self.last_automatic = self.history.count();
        if let Err(trouble) = self.save("", true) {
            self.options.auto_checkpoint = None;
            self.say(&format!("no more checkpoints are taken automatically: {trouble}"));
        }
    }

    fn save(&mut self, label: &str, automatic: bool) -> Done<u32> {
        if self.state != State::Ready {
            let words = match self.state {
                State::New => "a checkpoint can be taken when the session has started",
                _ => "the program has ended: there is nothing to keep",
            };
            return Err(Trouble::Request(words.to_owned()));
        }
        while self.checkpoints.len() >= self.options.max_checkpoints {
            self.make_room(None, &format!("there are {} checkpoints already", self.checkpoints.len()))?;
        }
        let program = self.subject.checkpoint()?;
        let monitors = self.monitors.iter_mut().map(|monitored| monitored.watch.checkpoint()).collect();
        let bytes: u64 = self.monitors.iter().map(|monitored| monitored.watch.slices().bytes() as u64).sum();
        let id = self.checkpoints.next_id(automatic && self.history.count() == 0);
        let info = JointCheckpoint {
            id,
            parent: self.checkpoints.current,
            label: label.to_owned(),
            automatic,
            event: self.history.count(),
            place: self.subject.place(),
            when: self.since.elapsed(),
            memory: bytes,
            limits: program.limits,
            restored: 0,
        };
        self.checkpoints.add(Kept {
            info,
            program: program.id,
            monitors,
            scripts: self.scripts.remembered(),
            monitor_memory: bytes,
            most: program.memory,
            needs: self.needs.clone(),
        });
        self.keep_within_memory(id)?;
        Ok(id)
    }

    /// Looks how much memory each checkpoint takes now, and what it cannot bring back.
    pub(crate) fn weigh(&mut self) -> u64 {
        let programs = self.subject.checkpoints();
        let mut sum = 0;
        for kept in self.checkpoints.iter_mut() {
            if let Some(program) = programs.iter().find(|program| program.id == kept.program) {
                kept.info.memory = program.memory + kept.monitor_memory;
                kept.info.limits.clone_from(&program.limits);
            }
            sum += kept.info.memory;
        }
        sum
    }

    /// Drops automatic checkpoints until all take no more memory than they may; if that is not enough, the
    /// new one is not kept.
    fn keep_within_memory(&mut self, new: u32) -> Done {
        // Weighing takes long for large programs; mostly there is enough room whatever they weigh.
        if self.checkpoints.most() <= self.options.max_checkpoint_memory {
            return Ok(());
        }
        while self.weigh() > self.options.max_checkpoint_memory {
            let words =
                format!("checkpoints take more than {} MiB", self.options.max_checkpoint_memory >> 20);
            if let Err(trouble) = self.make_room(Some(new), &words) {
                self.forget(new)?;
                return Err(trouble);
            }
        }
        Ok(())
    }

    /// Drops the oldest automatic checkpoint.
    fn make_room(&mut self, except: Option<u32>, why: &str) -> Done {
        match self.checkpoints.oldest_automatic(except) {
            Some(oldest) => self.forget(oldest),
            None => Err(Trouble::Request(format!("{why}: forget one to make room"))),
        }
    }

    /// Goes back to a checkpoint, which remains: the program, the monitors and the history are as they were
    /// then. Points of the developer and the scenario stay as they are now, and so do the scenarios'
    /// variables.
    ///
    /// # Errors
    /// If there is no such checkpoint, or the program cannot be brought back. If the program is lost with that,
    /// the session is at its end; otherwise nothing has changed. A checkpoint that turns out to be lost is
    /// dropped.
    pub fn restore(&mut self, id: u32) -> Done {
        let Some(kept) = self.checkpoints.get(id) else { return Err(self.no_checkpoint(id)) };
        let (program, event, needs) = (kept.program, kept.info.event, kept.needs.clone());
        let (monitors, scripts) = (kept.monitors.clone(), kept.scripts.clone());
        if let Err(trouble) = self.subject.restore(program) {
            self.not_restored(id, program)?;
            return Err(trouble);
        }
        for (monitored, checkpoint) in self.monitors.iter_mut().zip(monitors) {
            let restored = monitored.watch.restore(checkpoint);
            restored.map_err(|mistake| Trouble::Subject(mistake.to_string()))?;
            if monitored.watch.failure().is_none() {
                monitored.failure = None;
            }
        }
        self.bring_scripts_back(&scripts)?;
        self.state = State::Ready;
        self.history.cut(event);
        self.last_automatic = self.last_automatic.min(event);
        self.checkpoints.current = Some(id);
        if let Some(kept) = self.checkpoints.iter_mut().find(|kept| kept.info.id == id) {
            kept.info.restored += 1;
        }
        for violation in &mut self.violations {
            let at = violation.finding.event.as_ref().map_or(0, |event| event.index);
            let at = if violation.finding.at_end { u64::MAX } else { at };
            violation.undone |= at > event;
        }
        if let Some(recorder) = &mut self.recorder
            && recorder.note_restore()
        {
            self.say("the recording goes on after a restore: it has events that were undone");
        }
        self.turn.restored = true;
        // The subject has the points of the checkpoint.
        self.needs = needs;
        self.update_needs()
    }

    /// A checkpoint could not be restored: it may be lost, and the program with it.
    fn not_restored(&mut self, id: u32, program: CheckpointId) -> Done {
        if !self.subject.is_alive() && self.state == State::Ready {
            self.state = State::Ended(None);
            self.finish_recording();
        }
        let known = self.subject.checkpoints();
        if known.iter().any(|checkpoint| checkpoint.id == program) {
            return Ok(());
        }
        self.drop_kept(id).map(drop)
    }

    /// Drops a checkpoint.
    ///
    /// # Errors
    /// If there is no such checkpoint, or the subject cannot drop it.
    pub fn forget(&mut self, id: u32) -> Done {
        let program = self.drop_kept(id)?;
        self.subject.forget(program)
    }

    /// Drops what the session has of a checkpoint; gives the program's part.
    fn drop_kept(&mut self, id: u32) -> Done<CheckpointId> {
        let Some(kept) = self.checkpoints.remove(id) else { return Err(self.no_checkpoint(id)) };
        for (monitored, checkpoint) in self.monitors.iter_mut().zip(&kept.monitors) {
            let dropped = monitored.watch.drop_checkpoint(*checkpoint);
            dropped.map_err(|mistake| Trouble::Subject(mistake.to_string()))?;
        }
        Ok(kept.program)
    }

    fn no_checkpoint(&self, id: u32) -> Trouble {
        let known: Vec<String> = self.checkpoints.iter().map(|kept| kept.info.id.to_string()).collect();
        let help = match known.is_empty() {
            true => "there is none".to_owned(),
            false => format!("there are {}", known.join(", ")),
        };
        Trouble::Request(format!("there is no checkpoint {id}: {help}"))
    }
}
