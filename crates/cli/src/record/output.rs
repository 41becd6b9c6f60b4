//! Where recorded events go.

use super::args::Record;
use crate::Trouble;
use crate::files::is_standard;
use invigil_cockpit::{Loaded, format_of};
use invigil_monitor::event::Batch;
use invigil_native::Sink;
use invigil_session::Recorder;
use invigil_trace::Format;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::path::PathBuf;

/// A file or standard output, and how it is written.
pub(super) struct Output {
    path: PathBuf,
    format: Format,
}

impl Output {
    /// What was named.
    pub(super) fn named(args: &Record) -> Result<Output, Trouble> {
        let path = args.output.clone();
        let format = match args.format {
            Some(format) => format,
            None if is_standard(&path) => Format::JsonLines,
            None => format_of(&path).map_err(Trouble::new)?,
        };
        Ok(Output { path, format })
    }

    pub(super) fn is_standard(&self) -> bool {
        is_standard(&self.path)
    }

    /// What messages call it.
    pub(super) fn name(&self) -> String {
        match self.is_standard() {
            true => "standard output".to_owned(),
            false => self.path.display().to_string(),
        }
    }

    /// Opens it for the events of properties.
    pub(super) fn open(&self, loaded: &Loaded) -> Result<Box<dyn Sink>, Trouble> {
        let file = match self.is_standard() {
            true => io::stdout().as_fd().try_clone_to_owned().map(File::from),
            false => File::create(&self.path),
        };
        let failed = |error| Trouble::new(self.explain(&error));
        let file = file.map_err(failed)?;
        let recorder = Recorder::new(Box::new(file), self.format, &loaded.catalog).map_err(failed)?;
        Ok(Box::new(Writing { recorder, last: 0.0 }))
    }

    /// Why it cannot be written.
    pub(super) fn explain(&self, error: &io::Error) -> String {
        let name = self.name();
        match error.kind() {
            ErrorKind::BrokenPipe => format!("{name}: nobody reads the events any more"),
            // The words of the format, or of the ring.
            ErrorKind::InvalidInput => format!("{name}: {error}; another format may do: .jsonl takes all"),
            ErrorKind::InvalidData => format!("{name}: {error}"),
            _ => format!("{name}: cannot write the events: {error}"),
        }
    }
}

/// Writes events as `invigil run --record` does.
struct Writing {
    recorder: Recorder,
    /// The time of the last event. Two threads may look at the clock in one order and tell their events in the other.
    last: f64,
}

impl Sink for Writing {
    fn write(&mut self, events: &Batch, threads: &[u32]) -> io::Result<()> {
        for (at, thread) in threads.iter().enumerate() {
            let mut time = events.stamp(at).time;
            if !time.is_nan() {
                self.last = self.last.max(time);
                time = self.last;
            }
            self.recorder.write(&events.event(at), time, *thread)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.recorder.flush()
    }
}
