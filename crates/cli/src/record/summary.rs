//! Summary of a recording.

use super::args::Record;
use crate::CliError;
use crate::terminal::Terminal;
use invigil_target::{ProbeInfo, Termination};
use serde_json::json;

/// Why a recording ended.
pub(super) enum RecordingEnd {
    /// The program ended.
    Ended(Termination),
    /// The user interrupted it, or the events could not be written.
    Interrupted,
    /// The program could not be resumed.
    Broken(String),
}

/// Result of a recording.
pub(super) struct RecordSummary {
    pub(super) output: String,
    pub(super) events: u64,
    pub(super) lost: u64,
    /// Why the events could not be written.
    pub(super) write_error: Option<String>,
    pub(super) end: RecordingEnd,
    /// Whether the program was started for the recording.
    pub(super) was_launched: bool,
    /// The instrumentation of each site.
    pub(super) probes: Vec<ProbeInfo>,
}

impl RecordSummary {
    /// Prints the summary as text to standard error, or as JSON to standard output.
    pub(super) fn print(&self, args: &Record, terminal: &Terminal) -> Result<(), CliError> {
        if args.json {
            terminal.print(&self.json())?;
        } else if !args.quiet {
            terminal.eprint(&self.text());
        }
        if let RecordingEnd::Broken(message) = &self.end {
            terminal.error(message);
        }
        if let Some(message) = &self.write_error {
            terminal.error(message);
        }
        Ok(())
    }

    fn text(&self) -> String {
        let left = if self.was_launched { "it was terminated" } else { "it continues to run" };
        let end = match &self.end {
            RecordingEnd::Ended(ending) => ending.to_string().replacen("it ", "", 1),
            RecordingEnd::Interrupted if self.write_error.is_some() => {
                format!("was recorded until an error; {left}")
            }
            RecordingEnd::Interrupted => format!("was recorded until the interrupt; {left}"),
            RecordingEnd::Broken(_) => format!("could not be resumed; {left}"),
        };
        let events = counted(self.events);
        let mut message = format!("The program {end}.\nWrote {events} to {}.", self.output);
        if self.lost > 0 {
            let lost = counted(self.lost);
            message += &format!("\nLost {lost} because the event buffer was full (see `--ring`).");
        }
        message
    }

    fn json(&self) -> String {
        let (end, status, signal) = match &self.end {
            RecordingEnd::Ended(Termination::Exited(status)) => ("exited", Some(*status), None),
            RecordingEnd::Ended(Termination::Killed { signal, .. }) => {
                ("killed", None, Some(signal.as_str()))
            }
            RecordingEnd::Ended(Termination::Detached) => ("detached", None, None),
            RecordingEnd::Interrupted | RecordingEnd::Broken(_) if self.was_launched => ("ended", None, None),
            RecordingEnd::Interrupted | RecordingEnd::Broken(_) => ("detached", None, None),
        };
        let broken = if let RecordingEnd::Broken(message) = &self.end { Some(message) } else { None };
        let probes = self
            .probes
            .iter()
            .map(|probe| json!({ "event": probe.event, "place": probe.location, "how": probe.mechanism }));
        let document = json!({
            "tool": { "name": "invigil", "version": env!("CARGO_PKG_VERSION") },
            "file": self.output,
            "events": self.events,
            "lost": self.lost,
            "program": { "end": end, "status": status, "signal": signal },
            "errors": self.write_error.iter().chain(broken).collect::<Vec<_>>(),
            "probes": probes.collect::<Vec<_>>(),
        });
        // Writing plain data into memory does not fail.
        serde_json::to_string_pretty(&document).map_or(String::new(), |text| text + "\n")
    }
}

fn counted(events: u64) -> String {
    format!("{events} {}", if events == 1 { "event" } else { "events" })
}
