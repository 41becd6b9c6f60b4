//! The recogniser as a stage: snapshots in, instants out.

use crate::format::SnapshotReader;
use crate::problem::{Limit, Problems};
use crate::taken::{Taken, What};
use invigil_monitor::mac::{Group, Interface, Recogniser};
use std::io::{ErrorKind, Read};

/// Takes what a recogniser tells.
pub trait Sink {
    /// The names of what is exported. They come first, and once.
    fn names(&mut self, names: &Interface) -> Result<(), Limit>;
    /// The next instant.
    fn group(&mut self, group: &Group) -> Result<(), Limit>;
    /// There is nothing more at the moment: what is held back should be sent now.
    fn idle(&mut self) {}
}

/// Two sinks get the same.
impl<A: Sink, B: Sink> Sink for (A, B) {
    fn names(&mut self, names: &Interface) -> Result<(), Limit> {
        self.0.names(names)?;
        self.1.names(names)
    }

    fn group(&mut self, group: &Group) -> Result<(), Limit> {
        self.0.group(group)?;
        self.1.group(group)
    }

    fn idle(&mut self) {
        self.0.idle();
        self.1.idle();
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn names(&mut self, names: &Interface) -> Result<(), Limit> {
        (**self).names(names)
    }

    fn group(&mut self, group: &Group) -> Result<(), Limit> {
        (**self).group(group)
    }

    fn idle(&mut self) {
        (**self).idle();
    }
}

/// Perhaps a sink.
impl<S: Sink> Sink for Option<S> {
    fn names(&mut self, names: &Interface) -> Result<(), Limit> {
        self.as_mut().map_or(Ok(()), |sink| sink.names(names))
    }

    fn group(&mut self, group: &Group) -> Result<(), Limit> {
        self.as_mut().map_or(Ok(()), |sink| sink.group(group))
    }

    fn idle(&mut self) {
        self.iter_mut().for_each(Sink::idle);
    }
}

/// How it went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recognised {
    /// How many snapshots were read.
    pub snapshots: u64,
    /// How many instants were told.
    pub instants: u64,
    /// What could not be read or does not fit the script.
    pub problems: Problems,
    /// How often a definition of the script failed.
    pub faults: u64,
    /// Why it ended before the end.
    pub failure: Option<String>,
}

impl Recognised {
    /// Whether everything was read.
    pub fn is_complete(&self) -> bool {
        self.problems.is_empty() && self.failure.is_none()
    }
}

/// How much is read at a time.
const BLOCK: usize = 64 << 10;

/// Runs a recogniser over what a filter sends, until it ends. Ticks are passed on even if nothing changes: a checker
/// learns from them how late it is. What cannot be read is counted and left aside; with `strict` it is the end.
///
/// ```
/// # use invigil_expr::diag::SourceId;
/// # use invigil_lang::{medl, pedl};
/// use invigil_mac::{Checking, Entities, Format, SnapshotReader, recognise};
/// use invigil_monitor::mac::Recogniser;
///
/// # let text = "MonScr monobj int A.x; condition high = A.x > 3; export condition high; End";
/// # let script = pedl::lower(&pedl::parse(SourceId(0), text).0, &|_| None).0.unwrap();
/// # let text = "ReqSpec import condition high; property low = !high; End";
/// # let requirements = medl::lower(&medl::parse(SourceId(0), text).0, Some(&script)).0.unwrap();
/// // condition high = A.x > 3;      property low = !high;
/// let mut reader = SnapshotReader::new(Format::Lines, Entities::of(&script), None)?;
/// let mut recogniser = Recogniser::new(script.parts)?;
/// let mut checking = Checking::new(requirements)?;
/// let filter = "update A.x 1 @10\nupdate A.x 5 @20\n";
/// let done = recognise(&mut filter.as_bytes(), &mut reader, &mut recogniser, &mut checking, false);
/// assert_eq!((done.snapshots, done.instants), (2, 2));
/// let low = &checking.outcome().requirements[0];
/// assert_eq!((low.name.as_str(), low.count, low.first), ("low", 1, Some(20)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recognise(
    from: &mut dyn Read,
    reader: &mut SnapshotReader,
    recogniser: &mut Recogniser,
    to: &mut dyn Sink,
    strict: bool,
) -> Recognised {
    let mut done = Recognised::default();
    let mut ended = to.names(&recogniser.parts().exports()).is_err_and(|limit| {
        done.failure = Some(limit.to_string());
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
                done.failure = Some(format!("the connection to the filter was lost: {error}"));
            }
        }
        loop {
            match reader.next() {
                Ok(None) => break,
                Ok(Some(taken)) => {
                    done.snapshots += 1;
                    if let Err(words) = step(recogniser, &taken, to, &mut done) {
                        done.failure = Some(words);
                    }
                }
                Err(problem) => {
                    if problem.is_fatal || strict {
                        done.failure = Some(problem.to_string());
                    } else {
                        done.problems.add(problem);
                    }
                }
            }
            if done.failure.is_some() || strict && !done.problems.is_empty() {
                ended = true;
                break;
            }
        }
    }
    to.idle();
    done.faults = recogniser.fault_count();
    done
}

fn step(
    recogniser: &mut Recogniser,
    taken: &Taken,
    to: &mut dyn Sink,
    done: &mut Recognised,
) -> Result<(), String> {
    let is_tick = taken.what == What::Tick;
    taken.what.with(|snapshot| match recogniser.snapshot(snapshot, taken.time) {
        Ok(group) if is_tick || !group.is_empty() => {
            done.instants += 1;
            to.group(group).map_err(|limit| limit.to_string())
        }
        Ok(_) => Ok(()),
        Err(misfit) => {
            done.problems.add(misfit);
            Ok(())
        }
    })
}
