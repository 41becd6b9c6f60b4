//! What the agent holds.

use crate::identity::Identities;
use crate::inside::Room;
use crate::news::Line;
use crate::protocol::{Facts, Gone, Key};
use crate::serve::Service;
use crate::vm::{Field, Global, Jni, Ref, Ti};
use crate::want::Wanted;
use jvmti_bindings::sys::jvmti::jvmtiCapabilities;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Instant;

/// The helper class that probes call.
pub(crate) const HELPER: &str = "java/lang/Invigil";

pub(crate) struct Agent {
    pub(crate) ti: Ti,
    pub(crate) began: Instant,
    /// The tool's socket.
    socket: Mutex<String>,
    /// Counts the visits of tools.
    visits: AtomicU32,
    /// Whether the tool started the program.
    pub(crate) launched: bool,
    /// Whether another debugger was asked for when the program was started.
    pub(crate) debugger: bool,
    /// What the machine allows.
    pub(crate) powers: jvmtiCapabilities,
    /// What is to be told. Whoever reads takes a copy: nothing is called with the lock held.
    wants: RwLock<Arc<[Arc<Wanted>]>>,
    /// Where news go.
    pub(crate) line: Line,
    /// Where monitors step.
    pub(crate) room: Room,
    pub(crate) identities: Identities,
    pub(crate) helper: OnceLock<Global>,
    /// The field of a thread that has its number.
    pub(crate) thread_number: OnceLock<Option<Field>>,
    /// Whether the program has begun to run.
    pub(crate) running: AtomicBool,
    /// Whether a class was loaded that is not the machine's own.
    pub(crate) has_classes: AtomicBool,
    /// The thread that answers the tool.
    pub(crate) service: Service,
    /// How many classes were woven.
    pub(crate) woven: AtomicU32,
    /// What could not be done since, in words.
    complaints: Mutex<Vec<String>>,
}

static AGENT: OnceLock<Agent> = OnceLock::new();

thread_local! {
    /// Whether this thread works for the agent: what it does is no event.
    static WORKS: Cell<bool> = const { Cell::new(false) };
}

/// The agent, once it is there.
pub(crate) fn agent() -> Option<&'static Agent> {
    AGENT.get()
}

/// Makes it the agent of this machine; there can be one.
pub(crate) fn install(agent: Agent) -> Option<&'static Agent> {
    AGENT.set(agent).ok()?;
    AGENT.get()
}

/// What this thread does from now on is no event.
pub(crate) fn works_for_agent() {
    WORKS.set(true);
}

/// Does something that counts as the program's, whoever does it.
pub(crate) fn as_program<R>(work: impl FnOnce() -> R) -> R {
    let ours = WORKS.replace(false);
    let result = work();
    WORKS.set(ours);
    result
}

pub(crate) fn is_ours() -> bool {
    WORKS.get()
}

/// A lock that a panic elsewhere does not spoil.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Agent {
    pub(crate) fn new(ti: Ti, options: &str, powers: jvmtiCapabilities) -> Agent {
        let (flags, socket) = options.split_once(':').unwrap_or(("", options));
        Agent {
            ti,
            began: Instant::now(),
            socket: Mutex::new(socket.to_owned()),
            visits: AtomicU32::new(0),
            launched: flags.contains('l'),
            debugger: flags.contains('d'),
            powers,
            wants: RwLock::new(Arc::new([])),
            line: Line::default(),
            room: Room::default(),
            identities: Identities::default(),
            helper: OnceLock::new(),
            thread_number: OnceLock::new(),
            running: AtomicBool::new(false),
            service: Service::default(),
            has_classes: AtomicBool::new(false),
            woven: AtomicU32::new(0),
            complaints: Mutex::default(),
        }
    }

    /// Another tool comes, after the last has left: all begins again, but objects keep their numbers.
    pub(crate) fn visit(&self, options: &str) -> Result<(), String> {
        if !self.line.is_lost() || !self.service.is_over() {
            return Err("another tool watches this program already".to_owned());
        }
        let (_, socket) = options.split_once(':').unwrap_or(("", options));
        socket.clone_into(&mut locked(&self.socket));
        self.visits.fetch_add(1, Ordering::SeqCst);
        self.room.vacate();
        locked(&self.complaints).clear();
        Ok(())
    }

    /// Which visit this is.
    pub(crate) fn visits(&self) -> u32 {
        self.visits.load(Ordering::SeqCst)
    }

    pub(crate) fn socket(&self) -> String {
        locked(&self.socket).clone()
    }

    /// What is to be told.
    pub(crate) fn wants(&self) -> Arc<[Arc<Wanted>]> {
        Arc::clone(&self.wants.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_wants(&self, wants: Vec<Arc<Wanted>>) {
        *self.wants.write().unwrap_or_else(PoisonError::into_inner) = wants.into();
    }

    /// Objects that are no more, with the values of events that may be other numbers.
    pub(crate) fn gone(&self, numbers: Vec<i64>) -> Gone {
        let mut plain = Vec::new();
        let wants = if numbers.is_empty() { Arc::default() } else { self.wants() };
        for wanted in wants.iter() {
            let Key::Event { number } = wanted.want.key else { continue };
            let all = (0..).zip(&wanted.plain).filter(|(_, plain)| plain.load(Ordering::Relaxed));
            plain.extend(all.map(|(ask, _)| (number, ask)));
        }
        Gone { numbers, plain }
    }

    /// Notes something that the user should know.
    pub(crate) fn complain(&self, words: String) {
        let mut all = locked(&self.complaints);
        if all.len() < 100 && !all.contains(&words) {
            all.push(words);
        }
    }

    pub(crate) fn complaints(&self) -> Vec<String> {
        locked(&self.complaints).clone()
    }

    /// The number of a thread, as Java counts.
    pub(crate) fn thread_number(&self, jni: Jni, thread: Ref) -> u32 {
        use crate::vm::{FieldKind, Primitive};
        let field = self.thread_number.get_or_init(|| {
            let class = jni.find_class(c"java/lang/Thread")?;
            jni.field(class, c"tid", c"J")
        });
        match field.map(|field| jni.get(FieldKind::Of(thread), field, "J")) {
            Some(Primitive::Long(number)) => number as u32,
            _ => 0,
        }
    }

    pub(crate) fn facts(&self) -> Facts {
        let property = |name| self.ti.system_property(name).unwrap_or_default();
        Facts {
            machine: format!("{} {}", property(c"java.vm.name"), property(c"java.vm.version")),
            class_path: property(c"java.class.path"),
            directory: property(c"user.dir"),
            locals: self.powers.can_access_local_variables(),
            breakpoints: self.powers.can_generate_breakpoint_events(),
            steps: self.powers.can_generate_single_step_events(),
            debugger: self.debugger,
        }
    }
}
