//! Reads snapshots from a filter or a log and runs a recogniser over them.

use super::args::{SourceArgs, SourceFormat};
use crate::CliError;
use crate::interrupt::{InterruptFlag, InterruptibleStream};
use crate::terminal::Terminal;
use invigil_lang::pedl::MonitoringScript;
use invigil_mac::trace::TraceMapping;
use invigil_mac::{
    Channel, Connection, EntityTable, FormatError, RecognitionSummary, Sink, SnapshotReader, StreamFormat,
    WaitPolicy, recognise,
};
use invigil_monitor::mac::{EventGroup, Interface, Recogniser};
use invigil_trace::{Input, ReadOptions};
use std::io::{Cursor, Read};
use std::time::Duration;

/// Opens a channel and waits for its other side until the time-out or Ctrl-C.
pub(super) fn connect(
    channel: &Channel,
    timeout: Duration,
    quiet: bool,
    interrupt: &InterruptFlag,
    terminal: &Terminal,
    open: fn(&Channel, &WaitPolicy<'_>) -> Result<Connection, String>,
) -> Result<Connection, CliError> {
    let stop = || interrupt.is_set();
    let notify = |message: &str| {
        if !quiet {
            terminal.eprint(message);
        }
    };
    open(channel, &WaitPolicy { timeout, stop: &stop, notify: &notify }).map_err(CliError::new)
}

/// Runs a recogniser over the input.
pub(super) fn run(
    args: &SourceArgs,
    quiet: bool,
    script: MonitoringScript,
    to: &mut dyn Sink,
    interrupt: &InterruptFlag,
    terminal: &Terminal,
) -> Result<RecognitionSummary, CliError> {
    let entities = EntityTable::of(&script);
    let period = script.options.timestamp.as_ref().map(|timestamp| i64::from(timestamp.milliseconds));
    let mut recogniser = Recogniser::new(script.parts).map_err(CliError::new)?;
    let connection = connect(&args.from, args.wait.timeout, quiet, interrupt, terminal, Channel::open)?;
    let mut stream = InterruptibleStream::new(connection.into_file(), interrupt.clone());
    // The checker reports missing imports before the first input arrives.
    if let Err(limit) = to.names(&recogniser.script().exports()) {
        return Ok(RecognitionSummary { failure: Some(limit.to_string()), ..RecognitionSummary::default() });
    }
    to.idle();
    let to = &mut HeaderSink(to);
    let mut first = Vec::new();
    let format = match args.format {
        SourceFormat::Auto => detect_format(&mut stream, &mut first),
        format => format,
    };
    let mut from = Cursor::new(first).chain(stream);
    let format = match format {
        SourceFormat::Trace => {
            let name = args.from.to_string();
            let options = ReadOptions { strict: args.strict, ..ReadOptions::default() };
            let mapping = TraceMapping::new(&entities, period);
            return Ok(mapping.recognise(vec![Input::reader(name, from)], &options, &mut recogniser, to));
        }
        SourceFormat::Filter(format) => format,
        SourceFormat::Auto => StreamFormat::Lines,
    };
    let mut reader = SnapshotReader::new(format, entities, period).map_err(CliError::new)?;
    Ok(recognise(&mut from, &mut reader, &mut recogniser, to, args.strict))
}

/// Sink whose header (the names) has been written already.
struct HeaderSink<'a>(&'a mut dyn Sink);

impl Sink for HeaderSink<'_> {
    fn names(&mut self, _: &Interface) -> Result<(), FormatError> {
        Ok(())
    }

    fn group(&mut self, group: &EventGroup) -> Result<(), FormatError> {
        self.0.group(group)
    }

    fn idle(&mut self) {
        self.0.idle();
    }
}

/// First words of a filter's lines.
const LINE_KEYWORDS: [&str; 5] = ["update", "start", "end", "gone", "tick"];

/// Maximum number of bytes that are read to detect the format.
const MAX_PREFIX: usize = 64 << 10;

/// Detects the format from the first line with content. `first` receives the bytes that were read.
fn detect_format(stream: &mut impl Read, first: &mut Vec<u8>) -> SourceFormat {
    let mut block = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(first);
        let (complete, _) = text.rsplit_once('\n').unwrap_or_default();
        let line = complete.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        if let Some(line) = line {
            let word = line.split_whitespace().next().unwrap_or_default();
            return if LINE_KEYWORDS.contains(&word) {
                SourceFormat::Filter(StreamFormat::Lines)
            } else {
                SourceFormat::Trace
            };
        }
        if first.len() > MAX_PREFIX {
            return SourceFormat::Trace;
        }
        match stream.read(&mut block) {
            Ok(count) if count > 0 => first.extend_from_slice(&block[..count]),
            // The reader reports the error.
            _ => return SourceFormat::Filter(StreamFormat::Lines),
        }
    }
}
