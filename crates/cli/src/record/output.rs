//! Output of recorded events.

use super::args::Record;
use crate::CliError;
use crate::files::is_standard;
use invigil_cockpit::{LoadedFiles, format_from_path};
use invigil_monitor::event::EventBatch;
use invigil_native::RecordingSink;
use invigil_session::Recorder;
use invigil_trace::Format;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::path::PathBuf;

/// A file or standard output, with its format.
pub(super) struct Output {
    path: PathBuf,
    format: Format,
}

impl Output {
    /// The output that the options name.
    pub(super) fn named(args: &Record) -> Result<Output, CliError> {
        let path = args.output.clone();
        let format = match args.format {
            Some(format) => format,
            None if is_standard(&path) => Format::JsonLines,
            None => format_from_path(&path).map_err(CliError::new)?,
        };
        Ok(Output { path, format })
    }

    pub(super) fn is_standard(&self) -> bool {
        is_standard(&self.path)
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> String {
        match self.is_standard() {
            true => "standard output".to_owned(),
            false => self.path.display().to_string(),
        }
    }

    /// Opens it for the events of the properties.
    pub(super) fn open(&self, loaded: &LoadedFiles) -> Result<Box<dyn RecordingSink>, CliError> {
        let file = match self.is_standard() {
            true => io::stdout().as_fd().try_clone_to_owned().map(File::from),
            false => File::create(&self.path),
        };
        let failed = |error| CliError::new(self.explain(&error));
        let file = file.map_err(failed)?;
        let recorder = Recorder::new(Box::new(file), self.format, &loaded.catalog).map_err(failed)?;
        Ok(Box::new(OrderedRecorder { recorder, last: 0.0 }))
    }

    /// The message for a write error.
    pub(super) fn explain(&self, error: &io::Error) -> String {
        let name = self.name();
        match error.kind() {
            ErrorKind::BrokenPipe => format!("{name}: the reader has closed the pipe"),
            // The message is from the format or the ring buffer.
            ErrorKind::InvalidInput => {
                format!("{name}: {error}; use another format; .jsonl supports all values")
            }
            ErrorKind::InvalidData => format!("{name}: {error}"),
            _ => format!("{name}: cannot write the events: {error}"),
        }
    }
}

/// Writes events in the same form as `invigil run --record`, with monotonic times.
struct OrderedRecorder {
    recorder: Recorder,
    /// The time of the last event. Two threads may read the clock in one order and write their events in the other.
    last: f64,
}

impl RecordingSink for OrderedRecorder {
    fn write(&mut self, events: &EventBatch, threads: &[u32]) -> io::Result<()> {
        for (at, thread) in threads.iter().enumerate() {
            let mut time = events.meta(at).time;
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
