//! Sending on what was recognised, without losing anything silently.

use crate::channel::Connection;
use crate::format::{Format, GroupWriter};
use crate::problem::Limit;
use crate::recognise::Sink;
use invigil_monitor::mac::{Group, Interface};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A way to a checker. What is sent is gathered in a buffer, which is emptied when it is full or when there is nothing
/// else to do. When the channel breaks, the rest is counted, and kept in a file if that is wanted.
pub struct Delivery {
    format: Format,
    to: Connection,
    buffer: Vec<u8>,
    capacity: usize,
    /// Where in the buffer each instant ends.
    ends: Vec<usize>,
    /// The instants in the buffer, if they are to be kept when they cannot be delivered.
    held: Vec<Group>,
    writer: Option<GroupWriter>,
    names: Interface,
    keep: Option<PathBuf>,
    kept: Option<Kept>,
    done: Delivered,
    /// Whether the channel is broken.
    broken: bool,
}

/// How a delivery went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// How many instants were sent.
    pub sent: u64,
    /// How many were not.
    pub lost: u64,
    /// How many of those are in the file.
    pub kept: u64,
    /// What went wrong.
    pub failures: Vec<String>,
}

impl Delivered {
    /// Whether all has arrived.
    pub fn is_complete(&self) -> bool {
        self.lost == 0 && self.failures.is_empty()
    }
}

struct Kept {
    file: io::BufWriter<File>,
    writer: GroupWriter,
    buffer: Vec<u8>,
}

impl Delivery {
    /// A delivery in this format, with a buffer of `capacity` bytes. What cannot be delivered is written to `keep`, as
    /// a recording in lines.
    pub fn new(format: Format, to: Connection, capacity: usize, keep: Option<PathBuf>) -> Delivery {
        Delivery {
            format,
            to,
            buffer: Vec::new(),
            capacity,
            ends: Vec::new(),
            held: Vec::new(),
            writer: None,
            names: Interface::default(),
            keep,
            kept: None,
            done: Delivered::default(),
            broken: false,
        }
    }

    /// Writes what is in the buffer.
    fn send(&mut self) {
        let mut at = 0;
        while at < self.buffer.len() && !self.broken {
            match self.to.write(&self.buffer[at..]) {
                Ok(0) => self.breaks(&io::ErrorKind::WriteZero.into()),
                Ok(count) => at += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.breaks(&error),
            }
        }
        let sent = self.ends.iter().filter(|end| **end <= at).count();
        self.done.sent += sent as u64;
        self.done.lost += (self.ends.len() - sent) as u64;
        let held = std::mem::take(&mut self.held);
        if self.broken {
            held.iter().skip(sent).for_each(|group| self.save(group));
        }
        self.buffer.clear();
        self.ends.clear();
    }

    fn breaks(&mut self, error: &io::Error) {
        self.broken = true;
        self.done.failures.push(format!("the connection to the checker was lost: {error}"));
    }

    /// Writes an instant to the file for what could not be delivered.
    fn save(&mut self, group: &Group) {
        let Some(path) = self.keep.clone() else { return };
        match self.write_kept(&path, group) {
            Ok(()) => self.done.kept += 1,
            Err(error) => {
                self.done.failures.push(format!("{}: cannot be written: {error}", path.display()));
                (self.keep, self.kept) = (None, None);
            }
        }
    }

    fn write_kept(&mut self, path: &Path, group: &Group) -> io::Result<()> {
        let kept = match &mut self.kept {
            Some(kept) => kept,
            none => {
                let mut buffer = Vec::new();
                let writer =
                    GroupWriter::new(Format::Lines, &self.names, &mut buffer).map_err(io::Error::other)?;
                none.insert(Kept { file: io::BufWriter::new(File::create(path)?), writer, buffer })
            }
        };
        kept.writer.write(group, &mut kept.buffer).map_err(io::Error::other)?;
        kept.file.write_all(&kept.buffer)?;
        kept.buffer.clear();
        Ok(())
    }

    /// Sends the rest, and waits until it has been read.
    pub fn finish(mut self) -> Delivered {
        if let Some(writer) = &self.writer {
            writer.finish(&mut self.buffer);
        }
        self.send();
        if !self.broken
            && let Err(error) = self.to.finish()
        {
            self.done.failures.push(format!(
                "the checker did not read everything: {error}; how much it has read is not known, \
                 `--record FILE` keeps all"
            ));
        }
        if let Some(mut kept) = self.kept.take() {
            kept.writer.finish(&mut kept.buffer);
            if let Err(error) = kept.file.write_all(&kept.buffer).and_then(|()| kept.file.flush()) {
                self.done.failures.push(format!("what was kept is not complete: {error}"));
            }
        }
        self.done
    }
}

impl Sink for Delivery {
    fn names(&mut self, names: &Interface) -> Result<(), Limit> {
        self.names = names.clone();
        self.writer = Some(GroupWriter::new(self.format, names, &mut self.buffer)?);
        // A checker says at once what it misses.
        self.send();
        Ok(())
    }

    fn group(&mut self, group: &Group) -> Result<(), Limit> {
        if self.broken {
            self.done.lost += 1;
            self.save(group);
            return Ok(());
        }
        let Some(writer) = &mut self.writer else { return Ok(()) };
        writer.write(group, &mut self.buffer)?;
        self.ends.push(self.buffer.len());
        if self.keep.is_some() {
            self.held.push(group.clone());
        }
        if self.buffer.len() >= self.capacity {
            self.send();
        }
        Ok(())
    }

    fn idle(&mut self) {
        if !self.buffer.is_empty() {
            self.send();
        }
    }
}
