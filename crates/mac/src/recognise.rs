//! The recogniser as a stage: consumes snapshots and produces instants.

use crate::error::{FormatError, InputErrors};
use crate::format::SnapshotReader;
use crate::snapshot::{OwnedSnapshot, TimedSnapshot};
use invigil_monitor::mac::{EventGroup, Interface, Recogniser};
use std::io::{ErrorKind, Read};

/// Receives the output of a recogniser.
pub trait Sink {
    /// Receives the names of the exports. Called once, before any instant.
    fn names(&mut self, names: &Interface) -> Result<(), FormatError>;
    /// Receives the next instant.
    fn group(&mut self, group: &EventGroup) -> Result<(), FormatError>;
    /// Called when no input is available at the moment: buffered data should be sent now.
    fn idle(&mut self) {}
}

/// Passes everything to both sinks.
impl<A: Sink, B: Sink> Sink for (A, B) {
    fn names(&mut self, names: &Interface) -> Result<(), FormatError> {
        self.0.names(names)?;
        self.1.names(names)
    }

    fn group(&mut self, group: &EventGroup) -> Result<(), FormatError> {
        self.0.group(group)?;
        self.1.group(group)
    }

    fn idle(&mut self) {
        self.0.idle();
        self.1.idle();
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn names(&mut self, names: &Interface) -> Result<(), FormatError> {
        (**self).names(names)
    }

    fn group(&mut self, group: &EventGroup) -> Result<(), FormatError> {
        (**self).group(group)
    }

    fn idle(&mut self) {
        (**self).idle();
    }
}

/// An optional sink.
impl<S: Sink> Sink for Option<S> {
    fn names(&mut self, names: &Interface) -> Result<(), FormatError> {
        self.as_mut().map_or(Ok(()), |sink| sink.names(names))
    }

    fn group(&mut self, group: &EventGroup) -> Result<(), FormatError> {
        self.as_mut().map_or(Ok(()), |sink| sink.group(group))
    }

    fn idle(&mut self) {
        self.iter_mut().for_each(Sink::idle);
    }
}

/// The result of a run of a recogniser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecognitionSummary {
    /// The number of snapshots.
    pub snapshots: u64,
    /// The number of instants.
    pub instants: u64,
    /// Snapshots that could not be read or do not fit the script.
    pub errors: InputErrors,
    /// The number of faults in definitions of the script.
    pub faults: u64,
    /// Why the run ended early, if it did.
    pub failure: Option<String>,
}

impl RecognitionSummary {
    /// Whether everything was read.
    pub fn is_complete(&self) -> bool {
        self.errors.is_empty() && self.failure.is_none()
    }
}

/// The number of bytes read at a time.
const BLOCK: usize = 64 << 10;

/// Runs a recogniser over the output of a filter until its end. Ticks are passed on even if nothing changes, so that a
/// checker knows the current time. Input errors are counted and skipped; with `strict`, the first one ends the run.
///
/// ```
/// # use invigil_expr::diag::SourceId;
/// # use invigil_lang::{medl, pedl};
/// use invigil_mac::{CheckRun, EntityTable, StreamFormat, SnapshotReader, recognise};
/// use invigil_monitor::mac::Recogniser;
///
/// # let text = "MonScr monobj int A.x; condition high = A.x > 3; export condition high; End";
/// # let script = pedl::lower(&pedl::parse(SourceId(0), text).0, &|_| None).0.unwrap();
/// # let text = "ReqSpec import condition high; property low = !high; End";
/// # let requirements = medl::lower(&medl::parse(SourceId(0), text).0, Some(&script)).0.unwrap();
/// // condition high = A.x > 3;      property low = !high;
/// let mut reader = SnapshotReader::new(StreamFormat::Lines, EntityTable::of(&script), None)?;
/// let mut recogniser = Recogniser::new(script.parts)?;
/// let mut check_run = CheckRun::new(requirements)?;
/// let filter = "update A.x 1 @10\nupdate A.x 5 @20\n";
/// let summary = recognise(&mut filter.as_bytes(), &mut reader, &mut recogniser, &mut check_run, false);
/// assert_eq!((summary.snapshots, summary.instants), (2, 2));
/// let low = &check_run.outcome().requirements[0];
/// assert_eq!((low.name.as_str(), low.count, low.first), ("low", 1, Some(20)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recognise(
    from: &mut dyn Read,
    reader: &mut SnapshotReader,
    recogniser: &mut Recogniser,
    to: &mut dyn Sink,
    strict: bool,
) -> RecognitionSummary {
    let mut summary = RecognitionSummary::default();
    let mut ended = to.names(&recogniser.script().exports()).is_err_and(|error| {
        summary.failure = Some(error.to_string());
        true
    });
    let mut block = vec![0; BLOCK];
    while !ended {
        to.idle();
        match from.read(&mut block) {
            Ok(0) => {
                ended = true;
                reader.end();
            }
            Ok(count) => reader.feed(&block[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                ended = true;
                summary.failure = Some(format!("the connection to the filter was lost: {error}"));
            }
        }
        loop {
            match reader.next() {
                Ok(None) => break,
                Ok(Some(timed)) => {
                    summary.snapshots += 1;
                    if let Err(message) = step(recogniser, &timed, to, &mut summary) {
                        summary.failure = Some(message);
                    }
                }
                Err(error) => {
                    if error.is_fatal || strict {
                        summary.failure = Some(error.to_string());
                    } else {
                        summary.errors.add(error);
                    }
                }
            }
            if summary.failure.is_some() || strict && !summary.errors.is_empty() {
                ended = true;
                break;
            }
        }
    }
    to.idle();
    summary.faults = recogniser.fault_count();
    summary
}

fn step(
    recogniser: &mut Recogniser,
    timed: &TimedSnapshot,
    to: &mut dyn Sink,
    summary: &mut RecognitionSummary,
) -> Result<(), String> {
    let is_tick = timed.snapshot == OwnedSnapshot::Tick;
    timed.snapshot.with_borrowed(|snapshot| match recogniser.snapshot(snapshot, timed.time) {
        Ok(group) if is_tick || !group.is_empty() => {
            summary.instants += 1;
            to.group(group).map_err(|error| error.to_string())
        }
        Ok(_) => Ok(()),
        Err(error) => {
            summary.errors.add(error);
            Ok(())
        }
    })
}
