//! Buffered sending of instants to a checker, without silent loss of data.

use crate::channel::Connection;
use crate::error::FormatError;
use crate::format::{GroupWriter, StreamFormat};
use crate::recognise::Sink;
use invigil_monitor::mac::{EventGroup, Interface};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Sends instants to a checker. They are collected in a buffer, which is flushed when it is full or when no input is
/// available. If the channel breaks, the remaining instants are counted, and written to a fallback file if there is
/// one.
pub struct BufferedSender {
    format: StreamFormat,
    to: Connection,
    buffer: Vec<u8>,
    capacity: usize,
    /// For each instant, its end in the buffer.
    ends: Vec<usize>,
    /// The instants in the buffer, if a fallback file is configured.
    unsent: Vec<EventGroup>,
    writer: Option<GroupWriter>,
    names: Interface,
    fallback_path: Option<PathBuf>,
    fallback: Option<FallbackFile>,
    stats: SendStats,
    /// Whether the channel is broken.
    broken: bool,
}

/// Statistics of a sender.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendStats {
    /// The number of instants that were sent.
    pub sent: u64,
    /// The number of instants that were not sent.
    pub lost: u64,
    /// The number of unsent instants in the fallback file.
    pub saved: u64,
    /// Error messages.
    pub failures: Vec<String>,
}

impl SendStats {
    /// Whether everything was delivered.
    pub fn is_complete(&self) -> bool {
        self.lost == 0 && self.failures.is_empty()
    }
}

struct FallbackFile {
    file: io::BufWriter<File>,
    writer: GroupWriter,
    buffer: Vec<u8>,
}

impl BufferedSender {
    /// A sender with a buffer of `capacity` bytes. Undelivered instants are written to `fallback_path` in the line
    /// format.
    pub fn new(
        format: StreamFormat,
        to: Connection,
        capacity: usize,
        fallback_path: Option<PathBuf>,
    ) -> BufferedSender {
        BufferedSender {
            format,
            to,
            buffer: Vec::new(),
            capacity,
            ends: Vec::new(),
            unsent: Vec::new(),
            writer: None,
            names: Interface::default(),
            fallback_path,
            fallback: None,
            stats: SendStats::default(),
            broken: false,
        }
    }

    /// Flushes the buffer.
    fn send(&mut self) {
        let mut at = 0;
        while at < self.buffer.len() && !self.broken {
            match self.to.write(&self.buffer[at..]) {
                Ok(0) => self.mark_broken(&io::ErrorKind::WriteZero.into()),
                Ok(count) => at += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.mark_broken(&error),
            }
        }
        let sent = self.ends.iter().filter(|end| **end <= at).count();
        self.stats.sent += sent as u64;
        self.stats.lost += (self.ends.len() - sent) as u64;
        let unsent = std::mem::take(&mut self.unsent);
        if self.broken {
            unsent.iter().skip(sent).for_each(|group| self.save(group));
        }
        self.buffer.clear();
        self.ends.clear();
    }

    fn mark_broken(&mut self, error: &io::Error) {
        self.broken = true;
        self.stats.failures.push(format!("the connection to the checker was lost: {error}"));
    }

    /// Writes an instant to the fallback file.
    fn save(&mut self, group: &EventGroup) {
        let Some(path) = self.fallback_path.clone() else { return };
        match self.write_fallback(&path, group) {
            Ok(()) => self.stats.saved += 1,
            Err(error) => {
                self.stats.failures.push(format!("{}: cannot write: {error}", path.display()));
                (self.fallback_path, self.fallback) = (None, None);
            }
        }
    }

    fn write_fallback(&mut self, path: &Path, group: &EventGroup) -> io::Result<()> {
        let fallback = match &mut self.fallback {
            Some(fallback) => fallback,
            none => {
                let mut buffer = Vec::new();
                let writer = GroupWriter::new(StreamFormat::Lines, &self.names, &mut buffer)
                    .map_err(io::Error::other)?;
                none.insert(FallbackFile { file: io::BufWriter::new(File::create(path)?), writer, buffer })
            }
        };
        fallback.writer.write(group, &mut fallback.buffer).map_err(io::Error::other)?;
        fallback.file.write_all(&fallback.buffer)?;
        fallback.buffer.clear();
        Ok(())
    }

    /// Flushes the buffer, and waits until the checker has read everything.
    pub fn finish(mut self) -> SendStats {
        if let Some(writer) = &self.writer {
            writer.finish(&mut self.buffer);
        }
        self.send();
        if !self.broken
            && let Err(error) = self.to.finish()
        {
            self.stats.failures.push(format!(
                "the checker did not read everything: {error}; the amount it has read is unknown, \
                 `--record FILE` saves everything"
            ));
        }
        if let Some(mut fallback) = self.fallback.take() {
            fallback.writer.finish(&mut fallback.buffer);
            if let Err(error) = fallback.file.write_all(&fallback.buffer).and_then(|()| fallback.file.flush())
            {
                self.stats.failures.push(format!("the saved instants are incomplete: {error}"));
            }
        }
        self.stats
    }
}

impl Sink for BufferedSender {
    fn names(&mut self, names: &Interface) -> Result<(), FormatError> {
        self.names = names.clone();
        self.writer = Some(GroupWriter::new(self.format, names, &mut self.buffer)?);
        // Flushed immediately, so that the checker can report missing exports.
        self.send();
        Ok(())
    }

    fn group(&mut self, group: &EventGroup) -> Result<(), FormatError> {
        if self.broken {
            self.stats.lost += 1;
            self.save(group);
            return Ok(());
        }
        let Some(writer) = &mut self.writer else { return Ok(()) };
        writer.write(group, &mut self.buffer)?;
        self.ends.push(self.buffer.len());
        if self.fallback_path.is_some() {
            self.unsent.push(group.clone());
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
