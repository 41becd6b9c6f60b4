//! The agent's state.

use crate::event_channel::EventChannel;
use crate::monitor_host::MonitorHost;
use crate::object_ids::ObjectIds;
use crate::protocol::{DeadObjectIds, SubscriptionId, VmInfo};
use crate::requests::Service;
use crate::subscription::ResolvedSubscription;
use crate::vm::{Field, Global, Jni, Ref, Ti};
use jvmti_bindings::sys::jvmti::jvmtiCapabilities;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Instant;

/// The helper class that probes call.
pub(crate) const HELPER: &str = "java/lang/Invigil";

/// The agent of this virtual machine. There is one per process.
pub(crate) struct Agent {
    pub(crate) ti: Ti,
    pub(crate) started_at: Instant,
    /// Path of the debugger's socket.
    socket: Mutex<String>,
    /// Counts the debuggers that have attached.
    attachments: AtomicU32,
    /// Whether the debugger started the program.
    pub(crate) launched: bool,
    /// Whether the program was started with another debugger's agent.
    pub(crate) has_other_debugger: bool,
    /// The JVMTI capabilities that were granted.
    pub(crate) capabilities: jvmtiCapabilities,
    /// What is to be reported. Readers take a copy, so that nothing is called with the lock held.
    subscriptions: RwLock<Arc<[Arc<ResolvedSubscription>]>>,
    /// The connection for events.
    pub(crate) channel: EventChannel,
    /// The embedded monitors.
    pub(crate) host: MonitorHost,
    pub(crate) object_ids: ObjectIds,
    pub(crate) helper: OnceLock<Global>,
    /// The field of a thread that has its number.
    pub(crate) thread_number: OnceLock<Option<Field>>,
    /// Whether the program has started to run.
    pub(crate) running: AtomicBool,
    /// Whether a class was loaded that does not belong to the virtual machine itself.
    pub(crate) has_classes: AtomicBool,
    /// The thread that answers requests.
    pub(crate) service: Service,
    /// Number of classes that were woven.
    pub(crate) woven: AtomicU32,
    /// Warnings for the user since the debugger attached.
    warnings: Mutex<Vec<String>>,
}

static AGENT: OnceLock<Agent> = OnceLock::new();

thread_local! {
    /// Whether this thread belongs to the agent: its actions cause no events.
    static IS_AGENT_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// The agent, once it is installed.
pub(crate) fn agent() -> Option<&'static Agent> {
    AGENT.get()
}

/// Installs the agent of this virtual machine; only the first call succeeds.
pub(crate) fn install(agent: Agent) -> Option<&'static Agent> {
    AGENT.set(agent).ok()?;
    AGENT.get()
}

/// Makes the calling thread an agent thread: its actions cause no events.
pub(crate) fn mark_agent_thread() {
    IS_AGENT_THREAD.set(true);
}

/// Runs a function whose events count as the program's, even on an agent thread.
pub(crate) fn as_program<R>(work: impl FnOnce() -> R) -> R {
    let was_agent_thread = IS_AGENT_THREAD.replace(false);
    let result = work();
    IS_AGENT_THREAD.set(was_agent_thread);
    result
}

pub(crate) fn is_agent_thread() -> bool {
    IS_AGENT_THREAD.get()
}

/// Locks a mutex even if another thread panicked while holding it.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Agent {
    pub(crate) fn new(ti: Ti, options: &str, capabilities: jvmtiCapabilities) -> Agent {
        let (flags, socket) = options.split_once(':').unwrap_or(("", options));
        Agent {
            ti,
            started_at: Instant::now(),
            socket: Mutex::new(socket.to_owned()),
            attachments: AtomicU32::new(0),
            launched: flags.contains('l'),
            has_other_debugger: flags.contains('d'),
            capabilities,
            subscriptions: RwLock::new(Arc::new([])),
            channel: EventChannel::default(),
            host: MonitorHost::default(),
            object_ids: ObjectIds::default(),
            helper: OnceLock::new(),
            thread_number: OnceLock::new(),
            running: AtomicBool::new(false),
            service: Service::default(),
            has_classes: AtomicBool::new(false),
            woven: AtomicU32::new(0),
            warnings: Mutex::default(),
        }
    }

    /// Accepts another debugger after the previous one has left. Everything is reset, except for the ids of objects.
    pub(crate) fn reattach(&self, options: &str) -> Result<(), String> {
        if !self.channel.is_closed() || !self.service.is_detached() {
            return Err("another debugger is attached to this program already".to_owned());
        }
        let (_, socket) = options.split_once(':').unwrap_or(("", options));
        socket.clone_into(&mut locked(&self.socket));
        self.attachments.fetch_add(1, Ordering::SeqCst);
        self.host.reset();
        locked(&self.warnings).clear();
        Ok(())
    }

    /// Number of the current attachment.
    pub(crate) fn attachments(&self) -> u32 {
        self.attachments.load(Ordering::SeqCst)
    }

    pub(crate) fn socket(&self) -> String {
        locked(&self.socket).clone()
    }

    /// What is to be reported.
    pub(crate) fn subscriptions(&self) -> Arc<[Arc<ResolvedSubscription>]> {
        Arc::clone(&self.subscriptions.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_subscriptions(&self, subscriptions: Vec<Arc<ResolvedSubscription>>) {
        *self.subscriptions.write().unwrap_or_else(PoisonError::into_inner) = subscriptions.into();
    }

    /// The ids of collected objects, with the parameters whose values may be integers that equal such an id.
    pub(crate) fn dead_object_ids(&self, ids: Vec<i64>) -> DeadObjectIds {
        let mut integer_params = Vec::new();
        let subscriptions = if ids.is_empty() { Arc::default() } else { self.subscriptions() };
        for resolved in subscriptions.iter() {
            let SubscriptionId::Event { number } = resolved.subscription.id else { continue };
            let all =
                (0..).zip(&resolved.is_integer).filter(|(_, is_integer)| is_integer.load(Ordering::Relaxed));
            integer_params.extend(all.map(|(request_index, _)| (number, request_index)));
        }
        DeadObjectIds { ids, integer_params }
    }

    /// Adds a message that the user should see.
    pub(crate) fn warn(&self, message: String) {
        let mut all = locked(&self.warnings);
        if all.len() < 100 && !all.contains(&message) {
            all.push(message);
        }
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        locked(&self.warnings).clone()
    }

    /// The number of a thread: the id that Java gives it.
    pub(crate) fn thread_number(&self, jni: Jni, thread: Ref) -> u32 {
        use crate::vm::{Primitive, Receiver};
        let field = self.thread_number.get_or_init(|| {
            let class = jni.find_class(c"java/lang/Thread")?;
            jni.field(class, c"tid", c"J")
        });
        match field.map(|field| jni.get(Receiver::Of(thread), field, "J")) {
            Some(Primitive::Long(number)) => number as u32,
            _ => 0,
        }
    }

    pub(crate) fn vm_info(&self) -> VmInfo {
        let property = |name| self.ti.system_property(name).unwrap_or_default();
        VmInfo {
            machine: format!("{} {}", property(c"java.vm.name"), property(c"java.vm.version")),
            class_path: property(c"java.class.path"),
            directory: property(c"user.dir"),
            locals: self.capabilities.can_access_local_variables(),
            breakpoints: self.capabilities.can_generate_breakpoint_events(),
            steps: self.capabilities.can_generate_single_step_events(),
            debugger: self.has_other_debugger,
        }
    }
}
