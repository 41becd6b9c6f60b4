//! What is told when a recording is over.

use super::args::Record;
use crate::Trouble;
use crate::terminal::Terminal;
use invigil_session::subject::{Ending, Probe};
use serde_json::json;

/// How a recording came to its end.
pub(super) enum End {
    /// The program ended.
    Ended(Ending),
    /// Someone broke off, or the events could not be written any more.
    Interrupted,
    /// The program could not be run on.
    Broken(String),
}

/// What came of a recording.
pub(super) struct Told {
    pub(super) output: String,
    pub(super) events: u64,
    pub(super) lost: u64,
    /// Why the events could not be written any more.
    pub(super) trouble: Option<String>,
    pub(super) end: End,
    /// Whether the program was started for this.
    pub(super) is_ours: bool,
    /// How events were noticed, place by place.
    pub(super) probes: Vec<Probe>,
}

impl Told {
    /// Tells it: in words on standard error, or as a document.
    pub(super) fn tell(&self, args: &Record, terminal: &Terminal) -> Result<(), Trouble> {
        if args.json {
            terminal.print(&self.json())?;
        } else if !args.quiet {
            terminal.complain(&self.words());
        }
        if let End::Broken(words) = &self.end {
            terminal.error(words);
        }
        if let Some(words) = &self.trouble {
            terminal.error(words);
        }
        Ok(())
    }

    fn words(&self) -> String {
        let left = if self.is_ours { "it is ended now" } else { "it runs on" };
        let end = match &self.end {
            End::Ended(ending) => ending.to_string(),
            End::Interrupted if self.trouble.is_some() => format!("the recording had to end, {left}"),
            End::Interrupted => format!("interrupted, {left}"),
            End::Broken(_) => format!("it could not be run on, {left}"),
        };
        let events = counted(self.events, "is", "are");
        let mut words = format!("The program: {end}.\n{events} in {}.", self.output);
        if self.lost > 0 {
            let lost = counted(self.lost, "was", "were");
            words += &format!("\n{lost} lost: there was no room for them (`--ring`).");
        }
        words
    }

    fn json(&self) -> String {
        let (end, status, signal) = match &self.end {
            End::Ended(Ending::Exited(status)) => ("exited", Some(*status), None),
            End::Ended(Ending::Killed { signal, .. }) => ("killed", None, Some(signal.as_str())),
            End::Ended(Ending::Detached) => ("detached", None, None),
            End::Interrupted | End::Broken(_) if self.is_ours => ("ended", None, None),
            End::Interrupted | End::Broken(_) => ("detached", None, None),
        };
        let broken = if let End::Broken(words) = &self.end { Some(words) } else { None };
        let probes = self
            .probes
            .iter()
            .map(|probe| json!({ "event": probe.event, "place": probe.place, "how": probe.how }));
        let document = json!({
            "tool": { "name": "invigil", "version": env!("CARGO_PKG_VERSION") },
            "file": self.output,
            "events": self.events,
            "lost": self.lost,
            "program": { "end": end, "status": status, "signal": signal },
            "errors": self.trouble.iter().chain(broken).collect::<Vec<_>>(),
            "probes": probes.collect::<Vec<_>>(),
        });
        // Writing plain data into memory does not fail.
        serde_json::to_string_pretty(&document).map_or(String::new(), |text| text + "\n")
    }
}

/// A number of events, with the word that follows.
fn counted(events: u64, one: &str, many: &str) -> String {
    match events {
        1 => format!("1 event {one}"),
        events => format!("{events} events {many}"),
    }
}
