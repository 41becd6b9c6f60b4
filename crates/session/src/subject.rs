//! What a session needs of a live program, whatever kind of program it is.
//!
//! A [`Subject`] stands still between two calls. It is made to run by [`Subject::resume`], which comes back
//! with the reason for the next [`Stop`]. Points belong to an [`Owner`]; those of the monitors are put by
//! [`Subject::instrument`] alone, which is told the events that are needed now, and so no others cost
//! anything.

use invigil_monitor::event::{Batch, Catalog, EventSet, SymbolId};
use invigil_monitor::inside::{Inmate, Unseen};
use invigil_monitor::mac::{Call, Plan, Remembered};
use invigil_monitor::slices::{Gone, Slices};
use std::fmt;
use std::path::PathBuf;

/// Whom a point belongs to. When several are due at one place, the developer's come first, then the
/// scenario's, then the monitors'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// The person at the prompt.
    Developer,
    /// The scenario.
    Scenario,
    /// The monitors: the point makes an event.
    Monitors,
}

/// Why something could not be done, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// What was asked for makes no sense here: an unknown name, an expression that cannot be read.
    Request(String),
    /// The program is gone, and how it ended is known.
    Ended(Ending),
    /// The subject could not be run or controlled.
    Subject(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Request(words) | Trouble::Subject(words) => f.write_str(words),
            Trouble::Ended(ending) => write!(f, "the program has ended: {ending}"),
        }
    }
}

impl std::error::Error for Trouble {}

/// What most operations give.
pub type Done<T = ()> = Result<T, Trouble>;

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this status.
    Exited(i32),
    /// A signal killed it.
    Killed {
        /// The signal's name, such as `SIGSEGV`.
        signal: String,
        /// Whether it dumped core.
        core: bool,
    },
    /// It was let go and runs on without us.
    Detached,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Exited(status) => write!(f, "it exited with status {status}"),
            Ending::Killed { signal, core: false } => write!(f, "it was killed by {signal}"),
            Ending::Killed { signal, core: true } => write!(f, "it was killed by {signal} (core dumped)"),
            Ending::Detached => f.write_str("it was detached"),
        }
    }
}

/// How far to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    /// Until something happens.
    Continue,
    /// One machine instruction of the selected thread.
    Instruction,
    /// To the next source line, going into functions.
    Line,
    /// To the next source line, passing over calls.
    NextLine,
    /// Until the selected frame returns.
    Finish,
    /// To a place given as in [`What::Reach`], or until the selected frame returns.
    Until(String),
}

/// Why the program stands still.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// Events that monitors asked for: see [`Subject::events`].
    Events,
    /// Points of the developer or the scenario, all of one owner.
    Points {
        /// Whose they are.
        owner: Owner,
        /// Which of them.
        points: Vec<PointId>,
    },
    /// What was asked for with [`Resume`] is done; for [`Resume::Finish`], with the value returned.
    Stepped {
        /// The value that the frame returned, in words.
        returned: Option<String>,
    },
    /// [`Interrupter::interrupt`] was called.
    Interrupted,
    /// A signal that would do harm is about to be delivered.
    Signal {
        /// Its name.
        name: String,
        /// What it is about, such as the address of a bad access.
        detail: String,
    },
    /// The program is no more.
    Ended(Ending),
}

/// Stops a running subject from another thread or a signal handler.
pub trait Interrupter: Send + Sync {
    /// Makes [`Subject::resume`] come back soon with [`Stop::Interrupted`].
    fn interrupt(&self);
}

/// A point of the developer or the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PointId(pub u32);

/// What a point waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The program is about to execute what is at this place: a function (`queue_push`), a line
    /// (`faulty.c:32`, `32`), or an address (`*0x401000`).
    Reach(String),
    /// The program is about to return from this function.
    Leave(String),
    /// The program reads or writes what this expression names.
    Access {
        /// The expression, in the program's language.
        of: String,
        /// Whether reading counts.
        read: bool,
        /// Whether writing counts.
        write: bool,
    },
}

/// What to set a point for, and under which conditions it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointSpec {
    /// What it waits for.
    pub what: What,
    /// An expression of the program's language that must be true.
    pub condition: Option<String>,
    /// How many times it is passed over first.
    pub ignore: u64,
    /// Whether it is removed when it is hit.
    pub once: bool,
}

impl PointSpec {
    /// A point without conditions.
    pub fn new(what: What) -> PointSpec {
        PointSpec { what, condition: None, ignore: 0, once: false }
    }
}

/// A point as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Its number.
    pub id: PointId,
    /// Whose it is.
    pub owner: Owner,
    /// What it is for.
    pub spec: PointSpec,
    /// Where it is, in words: addresses and lines; empty while no loaded code has such a place.
    pub places: Vec<String>,
    /// How often it was hit.
    pub hits: u64,
    /// Whether it is on.
    pub enabled: bool,
}

/// An event that the program cannot show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Which event.
    pub symbol: SymbolId,
    /// The position of the parameter that is the trouble, if it is not the event itself.
    pub param: Option<usize>,
    /// What is wrong.
    pub reason: String,
    /// The remedy, such as the nearest names.
    pub help: String,
    /// Whether it may come right later, as when a library is loaded that has the function.
    pub pending: bool,
}

/// A thread of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number, as the system counts.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Where it is, in words.
    pub at: String,
    /// Whether it is the one that commands are about.
    pub selected: bool,
}

/// A place in the sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The file, as it can be opened here.
    pub file: PathBuf,
    /// The line, counted from one.
    pub line: u32,
    /// The column, counted from one; zero if it is not known.
    pub column: u32,
}

/// A name with its value, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The value, or why there is none, as in `<optimized out>`.
    pub value: String,
}

/// A frame of the selected thread's stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The address at which it stands.
    pub address: u64,
    /// The function, as the user would write it.
    pub function: String,
    /// Whether the compiler put this function's code into its caller's.
    pub inlined: bool,
    /// The arguments.
    pub arguments: Vec<Variable>,
    /// Where in the sources.
    pub line: Option<Line>,
    /// The file that the code is from, when there are no sources.
    pub object: Option<PathBuf>,
}

/// How an event is noticed at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The event, as a property names it.
    pub event: String,
    /// Where, in words.
    pub place: String,
    /// By what, in words, and why by nothing quicker.
    pub how: String,
}

/// A checkpoint of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CheckpointId(pub u32);

/// What is known of a checkpoint of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number.
    pub id: CheckpointId,
    /// The memory that is kept for it alone, in bytes, at this moment; when it has just been taken, the most
    /// that it can come to be.
    pub memory: u64,
    /// What a restore will not bring back, each in words: files open for writing, sockets. May be left out
    /// when it has just been taken.
    pub limits: Vec<String>,
}

/// Where scripts make events of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptsStep {
    /// In the session.
    Outside,
    /// Wherever the monitors step: they go inside with these, and come out with them.
    WithMonitors,
    /// Inside the program, for good: it tells what they find, and not what they are told.
    Inside,
}

/// What monitors that step inside the program have done while it ran.
#[derive(Clone, Debug)]
pub struct CaughtUp {
    /// How many events there were that are not told, with those that scripts found.
    pub unseen_events: u64,
    /// What those did, per property.
    pub unseen: Vec<Unseen>,
    /// Where each property stood then.
    pub before: Vec<Slices>,
    /// What each pair of scripts remembered then, if they went inside with the monitors.
    pub scripts: Vec<Remembered>,
    /// The events since, without those that such scripts found.
    pub events: Batch,
    /// The thread of each.
    pub threads: Vec<u32>,
}

/// A live program.
pub trait Subject {
    /// Whether the program still exists.
    fn is_alive(&self) -> bool;

    /// Says what will be asked for with [`Subject::instrument`]; gives the events and parameters that the
    /// program cannot show.
    fn prepare(&mut self, catalog: &Catalog) -> Done<Vec<Unknown>>;

    /// Puts points for these events, and for no others.
    fn instrument(&mut self, needs: &EventSet) -> Done;

    /// Runs the program until something happens. What is still due at the place where it stands comes
    /// first.
    ///
    /// After [`Stop::Events`], and after [`Stop::Points`] of the scenario, a step that was asked for is still
    /// under way: the same `how`, or [`Resume::Continue`], goes on with it. Any other stop ends it, and so does
    /// [`Subject::hold`]. A step that comes to a point of the developer's ends with that point; one that comes to
    /// an event is told the event first and then ends, if it ends there.
    fn resume(&mut self, how: &Resume) -> Done<Stop>;

    /// Makes the whole program stand still. Events are told as soon as the thread that they happen in stops;
    /// other threads may run on until someone needs them to stop, too. A step that is under way is given up.
    ///
    /// # Errors
    /// If the program cannot be controlled.
    fn hold(&mut self) -> Done {
        Ok(())
    }

    /// After [`Stop::Events`]: the events at this place, in the order of the catalog.
    fn events(&self) -> &Batch;

    // ---- monitors inside the program -------------------------------------------------------------------

    /// Whether monitors can step inside the program. Then, after [`Subject::put_inside`], [`Subject::resume`] comes back
    /// with [`Stop::Events`] only for events to which someone is to react.
    fn steps_inside(&self) -> bool {
        false
    }

    /// Lets the properties step inside the program from where they stand, until it stops, and with them the scripts that
    /// step [with monitors](ScriptsStep::WithMonitors), from what each remembers. Called before each [`Subject::resume`], as
    /// what they are may have been changed since the last.
    ///
    /// # Errors
    /// If the program cannot be reached.
    fn put_inside(&mut self, monitors: &[Inmate], scripts: &[Remembered]) -> Done {
        let _ = (monitors, scripts);
        Ok(())
    }

    /// Is told of scripts that make events of events, before the session starts, and says where they are to do so.
    fn take_scripts(&mut self, scripts: &[Plan]) -> ScriptsStep {
        let _ = scripts;
        ScriptsStep::Outside
    }

    /// Says which methods of the program will be called with [`Subject::invoke`], by the event that makes it happen; gives
    /// those that it does not have.
    ///
    /// # Errors
    /// If the program cannot be reached.
    fn prepare_calls(&mut self, calls: &[(SymbolId, Call)]) -> Done<Vec<Unknown>> {
        let unknown = |(symbol, call): &(SymbolId, Call)| Unknown {
            symbol: *symbol,
            param: None,
            reason: format!(
                "`{call}` cannot be called: only a Java program has methods that an action can call"
            ),
            help: "leave the method out, and let a scenario react: `on entering state invoked of …`"
                .to_owned(),
            pending: false,
        };
        Ok(calls.iter().map(unknown).collect())
    }

    /// Has the thread in which the last event happened call a method, by its position among those, when it goes on.
    ///
    /// # Errors
    /// If the program cannot be reached.
    fn invoke(&mut self, call: usize) -> Done {
        let _ = call;
        Ok(())
    }

    /// When it has ended: what could not be watched, each in words.
    fn complaints(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// After a stop, what the monitors inside have done since they were put there, [`Subject::events`] not included.
    ///
    /// # Errors
    /// If what the program tells makes no sense.
    fn catch_up(&mut self) -> Done<Option<CaughtUp>> {
        Ok(None)
    }

    /// Objects that are no more, and that nobody was told of: what properties know of them may be forgotten.
    fn take_gone(&mut self) -> Gone {
        Gone::default()
    }

    /// The thread that stopped, or that was selected since.
    fn current_thread(&self) -> u32;

    /// Something that can stop a running program.
    fn interrupter(&self) -> Box<dyn Interrupter>;

    /// Ends the program, and every process kept for it.
    fn kill(&mut self) -> Done;

    /// Lets the program run on without us.
    fn detach(&mut self) -> Done;

    // ---- points ----------------------------------------------------------------------------------------

    /// Sets a point for the developer or the scenario.
    fn set_point(&mut self, owner: Owner, spec: &PointSpec) -> Done<PointId>;

    /// Removes a point.
    fn remove_point(&mut self, id: PointId) -> Done;

    /// Turns a point on or off.
    fn enable_point(&mut self, id: PointId, enabled: bool) -> Done;

    /// All points of the developer and the scenario.
    fn points(&mut self) -> Vec<Point>;

    // ---- looking and changing --------------------------------------------------------------------------

    /// The threads.
    fn threads(&mut self) -> Vec<Thread>;

    /// Makes commands be about this thread.
    fn select_thread(&mut self, id: u32) -> Done;

    /// The frames of the selected thread, innermost first, `limit` at most.
    fn frames(&mut self, limit: usize) -> Done<Vec<Frame>>;

    /// Where the selected thread stands, in words: `queue_push (faulty.c:29)`. A subject may know without
    /// looking at values.
    fn place(&mut self) -> String {
        let Some(frame) = self.frames(1).ok().and_then(|frames| frames.into_iter().next()) else {
            return String::new();
        };
        match frame.line {
            Some(line) => {
                let file = line.file.file_name().unwrap_or_default().to_string_lossy();
                format!("{} ({file}:{})", frame.function, line.line)
            }
            None => frame.function,
        }
    }

    /// Makes expressions be about this frame, counted from the innermost, which is zero.
    fn select_frame(&mut self, depth: usize) -> Done;

    /// The selected frame.
    fn selected_frame(&self) -> usize;

    /// The local variables of the selected frame.
    fn locals(&mut self) -> Done<Vec<Variable>>;

    /// The value of an expression of the program's language, in words.
    fn print(&mut self, expression: &str) -> Done<String>;

    /// The type of an expression, in words.
    fn type_of(&mut self, expression: &str) -> Done<String>;

    /// Assigns: `set("N", "3")`.
    fn assign(&mut self, place: &str, value: &str) -> Done;

    /// Memory, from the address that an expression gives, as the command `x/FMT` shows it.
    fn examine(&mut self, expression: &str, count: usize, format: char, size: usize) -> Done<Vec<String>>;

    /// The registers of the selected frame.
    fn registers(&mut self) -> Done<Vec<Variable>>;

    /// Where the selected frame stands, or the place that is given, in the sources.
    fn line(&mut self, place: Option<&str>) -> Done<Option<Line>>;

    /// The functions whose names begin like this, for completion.
    fn functions(&mut self, prefix: &str) -> Vec<String>;

    /// How the events of the properties are noticed, place by place.
    fn probes(&mut self) -> Vec<Probe> {
        Vec::new()
    }

    /// Facts about the program for `info`: its path, process, images, signals.
    fn facts(&mut self) -> Vec<(String, String)>;

    // ---- checkpoints -----------------------------------------------------------------------------------

    /// Why the program cannot be kept as it is, and brought back, if that is so.
    fn no_checkpoints(&self) -> Option<&'static str> {
        None
    }

    /// Keeps the program as it is now.
    fn checkpoint(&mut self) -> Done<Checkpoint>;

    /// Brings it back, with the monitors' points as they were. The checkpoint remains.
    fn restore(&mut self, id: CheckpointId) -> Done;

    /// Drops a checkpoint.
    fn forget(&mut self, id: CheckpointId) -> Done;

    /// The checkpoints there are.
    fn checkpoints(&mut self) -> Vec<Checkpoint>;
}
