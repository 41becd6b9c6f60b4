//! A Java program with the agent inside.

use crate::attach;
use crate::classpath::ClassPath;
use crate::events::Plan;
use crate::inside::Rooms;
use crate::launch::Launch;
use crate::link::{Bell, Door, Link, Unanswered};
use crate::points::Points;
use crate::sources::Sources;
use invigil_jvm_agent::protocol::{Answer, Facts, Gone, Hit, Lost, News, Request};
use invigil_monitor::event::{Batch, SymbolId};
use invigil_monitor::slices;
use invigil_session::due::Owners;
use invigil_session::subject::{Done, Ending, Interrupter, Trouble};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// So long may a process take to end once it has hung up.
const DYING: Duration = Duration::from_secs(20);
/// So long an answer may take where another debugger may hold the agent.
const PATIENCE: Duration = Duration::from_secs(2);
const NAP: Duration = Duration::from_millis(2);

/// The process: one that we started, or another's.
pub(crate) enum Process {
    Ours(Child),
    Other(i32),
}

/// What is still to be told of the place at which a thread waits.
pub(crate) struct Waiting {
    pub(crate) hits: Vec<Hit>,
    pub(crate) time: f64,
    /// Who has been told.
    pub(crate) handled: Owners,
}

/// A Java program, as [`invigil_session::subject::Subject`].
pub struct Target {
    pub(crate) link: Option<Link>,
    pub(crate) process: Process,
    pub(crate) facts: Facts,
    pub(crate) bell: Bell,
    pub(crate) ended: Option<Ending>,
    /// The status with which the program said that it exits.
    pub(crate) status: Option<i32>,
    /// Whether the end is yet to be told as an event.
    pub(crate) end_is_news: bool,
    pub(crate) plans: Vec<Plan>,
    pub(crate) batch: Batch,
    /// Whether all threads stand still.
    pub(crate) held: bool,
    /// The thread that waits to go on, with what is due.
    pub(crate) waiting: Option<Waiting>,
    /// Whether a step is under way.
    pub(crate) stepping: bool,
    /// The selected thread; zero before any was.
    pub(crate) current: u32,
    pub(crate) frame: usize,
    pub(crate) points: Points,
    pub(crate) sources: Sources,
    /// The classes on the class path, once somebody asked.
    pub(crate) classes: Option<ClassPath>,
    /// Whether it is to be held when it has been prepared.
    pub(crate) holds_first: bool,
    /// Whether classes may come that are not on the class path, though one of much the same name is.
    pub(crate) expects_classes: bool,
    /// The monitors that step inside.
    pub(crate) rooms: Rooms,
    /// Objects that are no more, and that nobody was told of.
    pub(crate) gone: slices::Gone,
    /// What could not be watched, as the agent told at the end.
    pub(crate) complaints: Vec<String>,
}

impl Target {
    /// Starts a program. It stands still before its first line.
    ///
    /// # Errors
    /// If the program, the agent or the virtual machine does not start.
    pub fn launch(launch: &Launch) -> Done<Target> {
        let door = Door::open()?;
        let mut child = launch.start(&door)?;
        let link = door.wait(|| {
            let status = child.try_wait().ok()??;
            let how = ending(status);
            Some(format!("Java ended before the program began: {how}; what it printed says why"))
        });
        let link = match link {
            Ok(link) => link,
            Err(trouble) => {
                // It may be gone already.
                let _ = child.kill().and_then(|()| child.wait());
                return Err(trouble);
            }
        };
        let mut target = Target::new(link, Process::Ours(child))?;
        // The first news is that it is ready; it waits to be told to go on.
        match target.link.as_mut().map(|link| link.wait(&target.bell)) {
            Some(crate::link::Came::News(News::Ready)) => {}
            Some(crate::link::Came::Lost(lost)) => return Err(target.lost(&lost)),
            _ => return Err(Trouble::Subject("the agent does not begin as it should".to_owned())),
        }
        target.waiting = Some(Waiting { hits: Vec::new(), time: 0.0, handled: Owners::default() });
        target.ask_facts()?;
        Ok(target)
    }

    /// Brings the agent into a program that runs. It stands still once it has been prepared.
    ///
    /// # Errors
    /// If there is no such program, or it refuses.
    pub fn attach(process: i32) -> Done<Target> {
        let door = Door::open()?;
        attach::load_agent(process, &door)?;
        let link = door.wait(|| {
            let alive = kill(Pid::from_raw(process), None).is_ok();
            (!alive).then(|| format!("process {process} ended while the agent was loaded"))
        })?;
        let mut target = Target::new(link, Process::Other(process))?;
        target.ask_facts()?;
        target.holds_first = true;
        Ok(target)
    }

    fn new(link: Link, process: Process) -> Done<Target> {
        let facts = Facts {
            machine: String::new(),
            class_path: String::new(),
            directory: String::new(),
            locals: false,
            breakpoints: false,
            steps: false,
            debugger: false,
        };
        Ok(Target {
            link: Some(link),
            process,
            facts,
            bell: Bell::new()?,
            ended: None,
            status: None,
            end_is_news: false,
            plans: Vec::new(),
            batch: Batch::default(),
            held: false,
            waiting: None,
            stepping: false,
            current: 0,
            frame: 0,
            points: Points::default(),
            sources: Sources::default(),
            classes: None,
            holds_first: false,
            expects_classes: true,
            rooms: Rooms::default(),
            gone: slices::Gone::default(),
            complaints: Vec::new(),
        })
    }

    /// Says whether the program may load classes that are not on its class path, though one of much the same name is; it may,
    /// if nothing is said. Otherwise such a name is a mistake.
    pub fn expect_classes(&mut self, expected: bool) {
        self.expects_classes = expected;
    }

    fn ask_facts(&mut self) -> Done {
        if let Answer::Facts { facts } = self.ask(&Request::Facts)? {
            self.sources = Sources::new(&facts.class_path, &PathBuf::from(&facts.directory));
            if let Some(link) = self.link.as_mut().filter(|_| facts.debugger) {
                link.patience = Some(PATIENCE);
            }
            self.facts = facts;
        }
        Ok(())
    }

    /// Asks the agent.
    pub(crate) fn ask(&mut self, request: &Request) -> Done<Answer> {
        let Some(link) = &mut self.link else { return Err(self.over()) };
        match link.ask(request) {
            Ok(answer) => Ok(answer),
            Err(Unanswered::Refused(reason)) => Err(Trouble::Request(reason)),
            Err(Unanswered::Lost(lost)) => Err(self.lost(&lost)),
            // All threads stand still anyway, and they are let go when the other debugger does.
            Err(Unanswered::Late) if matches!(request, Request::Hold | Request::Release) => Ok(Answer::Done),
            Err(Unanswered::Late) => Err(Trouble::Request(
                "another debugger holds the program: continue it there, as with `cont` in jdb".to_owned(),
            )),
        }
    }

    /// Objects are no more.
    pub(crate) fn note_gone(&mut self, gone: Gone) {
        let plain = gone.plain.iter().map(|(number, ask)| (SymbolId(*number), *ask as usize));
        self.gone.add(slices::Gone { plain: plain.collect(), numbers: gone.numbers });
    }

    pub(crate) fn over(&self) -> Trouble {
        Trouble::Ended(self.ended.clone().unwrap_or(Ending::Detached))
    }

    /// The agent is gone: finds out how the program ended.
    pub(crate) fn lost(&mut self, lost: &Lost) -> Trouble {
        // The last news may have been told, and not been heard.
        if let Some(mut link) = self.link.take() {
            while let Some(news) = link.left() {
                if let News::Exits { status, past, due, complaints } = news {
                    self.exits(status, past, due, complaints);
                }
            }
        }
        self.waiting = None;
        if !matches!(lost, Lost::Closed) {
            return Trouble::Subject(format!(
                "the agent in the virtual machine cannot be understood: {lost}"
            ));
        }
        match self.how_it_ended() {
            Some(ending) => {
                self.ended = Some(ending);
                self.end_is_news = true;
                self.over()
            }
            None => {
                let words = "the agent in the virtual machine hung up, though the program still runs";
                Trouble::Subject(words.to_owned())
            }
        }
    }

    fn how_it_ended(&mut self) -> Option<Ending> {
        let until = Instant::now() + DYING;
        loop {
            match &mut self.process {
                Process::Ours(child) => {
                    if let Ok(Some(status)) = child.try_wait() {
                        return Some(ending(status));
                    }
                }
                // Only its parent is told how another's process ended; the agent told of an exit.
                Process::Other(process) => {
                    if kill(Pid::from_raw(*process), None).is_err() || is_zombie(*process) {
                        let killed = Ending::Killed { signal: "a signal".to_owned(), core: false };
                        return Some(self.status.map_or(killed, Ending::Exited));
                    }
                }
            }
            if Instant::now() > until {
                return None;
            }
            thread::sleep(NAP);
        }
    }

    pub(crate) fn number(&self) -> i32 {
        match &self.process {
            Process::Ours(child) => child.id() as i32,
            Process::Other(process) => *process,
        }
    }

    /// Makes the whole program stand still.
    pub(crate) fn hold_all(&mut self) -> Done {
        if let Some(ending) = &self.ended {
            return Err(Trouble::Ended(ending.clone()));
        }
        if !self.held {
            self.ask(&Request::Hold)?;
            self.held = true;
        }
        Ok(())
    }

    pub(crate) fn release_all(&mut self) -> Done {
        if self.held {
            self.held = false;
            self.ask(&Request::Release)?;
        }
        Ok(())
    }

    pub(crate) fn kill_it(&mut self) -> Done {
        if self.ended.is_some() {
            return Ok(());
        }
        let killed = match &mut self.process {
            Process::Ours(child) => child.kill().and_then(|()| child.wait()).map(drop),
            Process::Other(process) => kill(Pid::from_raw(*process), Signal::SIGKILL).map_err(Into::into),
        };
        // Only now: a thread that waits for us goes on when nobody is there.
        self.link = None;
        self.waiting = None;
        self.ended = Some(Ending::Killed { signal: "SIGKILL".to_owned(), core: false });
        killed.map_err(|error| Trouble::Subject(format!("the program cannot be ended: {error}")))
    }

    pub(crate) fn let_go(&mut self) -> Done {
        if self.ended.is_some() {
            return Ok(());
        }
        // A program that is gone is let go, too.
        let left = self.ask(&Request::Leave);
        self.link = None;
        self.waiting = None;
        self.held = false;
        match left {
            Err(Trouble::Subject(words)) => Err(Trouble::Subject(words)),
            _ => {
                self.ended.get_or_insert(Ending::Detached);
                Ok(())
            }
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // Nothing is left behind that nobody knows of: ours ends, another's goes on.
        let _ = match self.process {
            Process::Ours(_) => self.kill_it(),
            Process::Other(_) => self.let_go(),
        };
    }
}

/// How a process ended.
pub(crate) fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, Some(number)) => {
            let signal =
                Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |name| name.to_string());
            Ending::Killed { signal, core: status.core_dumped() }
        }
        (None, None) => Ending::Exited(0),
    }
}

/// Whether a process has ended, though its parent has not asked how.
fn is_zombie(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

/// Makes a program that runs stand still.
#[derive(Clone)]
pub(crate) struct Interrupt(pub(crate) Bell);

impl Interrupter for Interrupt {
    fn interrupt(&self) {
        self.0.ring();
    }
}
