//! Snapshots from wherever the user says: a filter or a log.

use super::args::{Source, SourceFormat};
use crate::Trouble;
use crate::interrupt::{Interrupt, Stream};
use crate::terminal::Terminal;
use invigil_lang::pedl::Lowered;
use invigil_mac::trace::Mapping;
use invigil_mac::{
    Channel, Connection, Entities, Format, Limit, Recognised, Sink, SnapshotReader, Waiting, recognise,
};
use invigil_monitor::mac::{Group, Interface, Recogniser};
use invigil_trace::{Input, Options};
use std::io::{Cursor, Read};
use std::time::Duration;

/// Waits for the other side of a channel as the user wants it.
pub(super) fn connect(
    channel: &Channel,
    patience: Duration,
    quiet: bool,
    interrupt: &Interrupt,
    terminal: &Terminal,
    open: fn(&Channel, &Waiting<'_>) -> Result<Connection, String>,
) -> Result<Connection, Trouble> {
    let stop = || interrupt.is_set();
    let tell = |words: &str| {
        if !quiet {
            terminal.complain(words);
        }
    };
    open(channel, &Waiting { patience, stop: &stop, tell: &tell }).map_err(Trouble::new)
}

/// Runs a recogniser over what comes.
pub(super) fn run(
    args: &Source,
    quiet: bool,
    script: Lowered,
    to: &mut dyn Sink,
    interrupt: &Interrupt,
    terminal: &Terminal,
) -> Result<Recognised, Trouble> {
    let entities = Entities::of(&script);
    let period = script.options.timestamp.as_ref().map(|timestamp| i64::from(timestamp.milliseconds));
    let mut recogniser = Recogniser::new(script.parts).map_err(Trouble::new)?;
    let connection = connect(&args.from, args.wait.patience, quiet, interrupt, terminal, Channel::open)?;
    let mut stream = Stream::new(connection.into_file(), interrupt.clone());
    // A checker says what it misses before anything comes: waiting for that is not its business.
    if let Err(limit) = to.names(&recogniser.parts().exports()) {
        return Ok(Recognised { failure: Some(limit.to_string()), ..Recognised::default() });
    }
    to.idle();
    let to = &mut Introduced(to);
    let mut first = Vec::new();
    let format = match args.format {
        SourceFormat::Auto => guess(&mut stream, &mut first),
        format => format,
    };
    let mut from = Cursor::new(first).chain(stream);
    let format = match format {
        SourceFormat::Trace => {
            let name = args.from.to_string();
            let options = Options { strict: args.strict, ..Options::default() };
            let mapping = Mapping::new(&entities, period);
            return Ok(mapping.recognise(vec![Input::reader(name, from)], &options, &mut recogniser, to));
        }
        SourceFormat::Filter(format) => format,
        SourceFormat::Auto => Format::Lines,
    };
    let mut reader = SnapshotReader::new(format, entities, period).map_err(Trouble::new)?;
    Ok(recognise(&mut from, &mut reader, &mut recogniser, to, args.strict))
}

/// A sink that has been told the names.
struct Introduced<'a>(&'a mut dyn Sink);

impl Sink for Introduced<'_> {
    fn names(&mut self, _: &Interface) -> Result<(), Limit> {
        Ok(())
    }

    fn group(&mut self, group: &Group) -> Result<(), Limit> {
        self.0.group(group)
    }

    fn idle(&mut self) {
        self.0.idle();
    }
}

/// The words that lines of a filter begin with.
const WORDS: [&str; 5] = ["update", "start", "end", "gone", "tick"];

/// How much is looked at before the format is clear.
const ENOUGH: usize = 64 << 10;

/// Tells lines of a filter from a trace by the first line that says something; what was read is in `first`.
fn guess(stream: &mut impl Read, first: &mut Vec<u8>) -> SourceFormat {
    let mut block = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(first);
        let (complete, _) = text.rsplit_once('\n').unwrap_or_default();
        let saying = complete.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        if let Some(line) = saying {
            let word = line.split_whitespace().next().unwrap_or_default();
            return if WORDS.contains(&word) {
                SourceFormat::Filter(Format::Lines)
            } else {
                SourceFormat::Trace
            };
        }
        if first.len() > ENOUGH {
            return SourceFormat::Trace;
        }
        match stream.read(&mut block) {
            Ok(count) if count > 0 => first.extend_from_slice(&block[..count]),
            // The reader will say why.
            _ => return SourceFormat::Filter(Format::Lines),
        }
    }
}
