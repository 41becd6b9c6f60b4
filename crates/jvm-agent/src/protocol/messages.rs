//! The messages between the debugger and the agent.

use super::wire::message;

/// Version of the protocol, which must be equal on both sides.
pub const VERSION: u32 = 5;

/// First value of a greeting, which identifies the agent.
pub const MAGIC: u32 = u32::from_le_bytes(*b"IVGL");

message! {
    /// The two connections that the agent opens.
    pub enum Channel {
        /// Requests of the debugger and answers of the agent.
        0 = Control,
        /// Events of the agent, and commands for the threads that they are about.
        1 = Events,
    }
}

message! {
    /// The first message on each connection, from the agent.
    pub struct Greeting {
        /// [`MAGIC`].
        pub magic: u32,
        /// [`VERSION`].
        pub version: u32,
        /// Which connection this is.
        pub channel: Channel,
        /// The process id.
        pub process: u32,
    }
}

message! {
    /// When something is reported.
    pub enum Trigger {
        /// A method is entered.
        0 = Enter,
        /// A method is about to return.
        1 = Return,
        /// A field was written.
        2 = Write,
        /// A line is reached.
        3 = Line,
    }
}

message! {
    /// Identifies a subscription by its requester.
    pub enum SubscriptionId {
        /// The monitors: an event by its id.
        0 = Event { number: u32 },
        /// The user or a scenario: a breakpoint by its number.
        1 = Breakpoint { number: u32 },
    }
}

message! {
    /// Required type of a value.
    pub enum ValueType {
        /// An integer.
        0 = Int,
        /// Any number.
        1 = Float,
        /// A Boolean.
        2 = Bool,
        /// Text.
        3 = Text,
    }
}

message! {
    /// Where a value comes from.
    pub enum ValueSource {
        /// An expression, such as the name of a parameter, `this.size` or `items[0].name`.
        0 = Expression { text: String },
        /// An argument by its position, counted from one.
        1 = Argument { number: u32 },
        /// The returned or written value.
        2 = Result,
        /// The number of the thread.
        3 = Thread,
        /// The process id.
        4 = Process,
        /// The time of the event, in seconds.
        5 = Time,
    }
}

message! {
    /// A value that is to be reported with an event.
    pub struct ValueRequest {
        /// Where it comes from.
        pub source: ValueSource,
        /// Its type, if one is required.
        pub ty: Option<ValueType>,
    }
}

message! {
    /// Something that is to be reported.
    pub struct Subscription {
        /// Its identity.
        pub id: SubscriptionId,
        /// When it is reported.
        pub trigger: Trigger,
        /// The method, field or line as the user wrote it: `Queue.push`, `app.Queue.push(int)`, `Queue.size`,
        /// `Queue.java:12`.
        pub name: String,
        /// Classes on the class path that the name may mean, as in `app/Queue`.
        pub candidates: Vec<String>,
        /// The values to report with it.
        pub value_requests: Vec<ValueRequest>,
        /// The path to the variable, if it is reached through other objects.
        pub variable_path: Option<VariablePath>,
    }
}

message! {
    /// The path to a variable, from a root through fields of objects.
    pub struct VariablePath {
        /// Where it starts.
        pub root: PathRoot,
        /// The fields along the path; the last one is the variable.
        pub fields: Vec<FieldRef>,
    }
}

message! {
    /// Where a path starts.
    pub enum PathRoot {
        /// The object in a static field.
        0 = Static { field: FieldRef },
        /// The object in a local variable.
        1 = Local { class: String, method: String, descriptor: String, name: String },
        /// Every instance of the class of the first field.
        2 = Instances,
    }
}

message! {
    /// A field of a class.
    pub struct FieldRef {
        /// The class that declares it, as in `app/Queue`.
        pub class: String,
        /// Its name.
        pub field: String,
        /// Its type, as in `I` or `Lapp/Item;`.
        pub descriptor: String,
    }
}

message! {
    /// Why a subscription, or one of its values, cannot be reported.
    pub struct SubscriptionError {
        /// The subscription.
        pub id: SubscriptionId,
        /// The position of the value, if the error is about one.
        pub value_request: Option<u32>,
        /// What is wrong.
        pub reason: String,
        /// The remedy, if one is known.
        pub help: String,
        /// Whether it may be resolved when a class is loaded.
        pub pending: bool,
    }
}

message! {
    /// A value as it is sent.
    pub enum WireValue {
        /// There is none.
        0 = Unset,
        /// `null`.
        1 = Null,
        /// A Boolean.
        2 = Bool { value: bool },
        /// An integer.
        3 = Int { value: i64 },
        /// Another number.
        4 = Float { value: f64 },
        /// Text.
        5 = Text { value: String },
        /// An object by its id, which is unique and never reused.
        6 = Object { number: i64 },
    }
}

message! {
    /// One occurrence of what a subscription asked for.
    pub struct Notification {
        /// The subscription.
        pub id: SubscriptionId,
        /// The requested values.
        pub values: Vec<WireValue>,
    }
}

message! {
    /// Replay log of the embedded monitors.
    pub struct WireReplayLog {
        /// An [`EncodedReplayLog`](invigil_monitor::embedded::EncodedReplayLog), encoded by `postcard`.
        pub log: Vec<u8>,
        /// Collected objects that had slices.
        pub dead: DeadObjectIds,
    }
}

message! {
    /// Collected objects.
    #[derive(Default)]
    pub struct DeadObjectIds {
        /// Their ids.
        pub ids: Vec<i64>,
        /// Parameters, by event id and position, that may hold integers: a value equal to an id is not that object.
        pub integer_params: Vec<(u32, u32)>,
    }
}

message! {
    /// An event of the agent. The thread that it is about waits for [`ThreadCommand::Continue`].
    pub enum AgentEvent {
        /// The virtual machine is ready, and the program is about to start.
        0 = Ready,
        /// Subscriptions apply, all at one site.
        1 = Notified {
            /// The thread.
            thread: u32,
            /// The time, in seconds since the agent started.
            time: f64,
            /// Which ones.
            notifications: Vec<Notification>,
            /// Collected objects, for monitors that step in the session.
            dead: DeadObjectIds,
        },
        /// A step is complete.
        2 = Stepped {
            /// The thread.
            thread: u32,
            /// The returned value as text.
            returned: Option<String>,
        },
        /// The program exits. No thread waits for a command.
        3 = Exits {
            /// The exit status.
            status: i32,
            /// What the embedded monitors have done until the end. The events to which a reaction is due are those that could
            /// no longer be sent.
            replay_log: Option<WireReplayLog>,
            /// What could not be observed, as messages.
            warnings: Vec<String>,
        },
    }
}

message! {
    /// A command for a thread that waits.
    pub enum ThreadCommand {
        /// Continue.
        0 = Continue,
        /// Show the violation of a property to other debuggers that wait for it.
        1 = ShowViolation { message: String },
        /// Call a method of the program before continuing, by its position among [`Request::PrepareCalls`].
        2 = Invoke { call: u32 },
    }
}

message! {
    /// Properties of the virtual machine.
    pub struct VmInfo {
        /// Its name and version.
        pub machine: String,
        /// Its class path.
        pub class_path: String,
        /// Its working directory.
        pub directory: String,
        /// Whether local variables can be read.
        pub locals: bool,
        /// Whether lines can have breakpoints.
        pub breakpoints: bool,
        /// Whether threads can be stepped.
        pub steps: bool,
        /// Whether another debugger is attached.
        pub debugger: bool,
    }
}

message! {
    /// A call of a method of the program.
    pub struct MethodCall {
        /// The call as the script has it.
        pub name: String,
        /// The class that the path to the object starts at, or that has the static method, as in `app/Gate`.
        pub class: String,
        /// The fields along the path to the object, the first of which is static; none if the method is static.
        pub fields: Vec<String>,
        /// The name of the method.
        pub method: String,
        /// Its descriptor.
        pub descriptor: String,
        /// The arguments.
        pub arguments: Vec<WireValue>,
    }
}

message! {
    /// How far to step.
    pub enum StepKind {
        /// To the next line, stepping into methods.
        0 = Line,
        /// To the next line, stepping over calls.
        1 = NextLine,
        /// Until the frame returns.
        2 = Finish,
        /// One bytecode.
        3 = Instruction,
    }
}

message! {
    /// A request of the debugger. The agent sends one [`Answer`] to each.
    pub enum Request {
        /// Replace all events by these. They are reported once they are activated.
        0 = Prepare { subscriptions: Vec<Subscription> },
        /// Report these events and no others.
        1 = Activate { events: Vec<u32> },
        /// Set a breakpoint.
        2 = SetBreakpoint { subscription: Subscription },
        /// Remove a breakpoint.
        3 = RemoveBreakpoint { number: u32 },
        /// Enable or disable a breakpoint.
        4 = EnableBreakpoint { number: u32, enabled: bool },
        /// Suspend all threads.
        5 = SuspendAll,
        /// Resume them, except for those that wait for a command.
        6 = ResumeAll,
        /// List the threads.
        7 = Threads,
        /// List the frames of a thread, innermost first.
        8 = Frames { thread: u32, limit: u32 },
        /// List the variables of a frame.
        9 = Locals { thread: u32, depth: u32 },
        /// Evaluate an expression.
        10 = Evaluate { thread: u32, depth: u32, text: String },
        /// Determine the type of an expression.
        11 = TypeOf { thread: u32, depth: u32, text: String },
        /// Assign to a variable, a field or an element.
        12 = Assign { thread: u32, depth: u32, place: String, value: String },
        /// Find a method or a line.
        13 = FindLocation { name: String },
        /// List methods that start with a prefix.
        14 = CompleteMethod { prefix: String },
        /// Describe the virtual machine.
        15 = Info,
        /// Step a thread when it is resumed.
        16 = Step { thread: u32, depth: u32, kind: StepKind },
        /// Cancel the step.
        17 = CancelStep,
        /// Report nothing any more, and let the program run.
        18 = Detach,
        /// Describe the agent's work, as text.
        19 = Statistics,
        /// For the host of the embedded monitors.
        20 = Host {
            /// A [`HostRequest`](invigil_monitor::embedded::HostRequest), encoded by `postcard`.
            request: Vec<u8>,
        },
        /// Report this event periodically once the program runs.
        21 = StartTicks { event: u32, milliseconds: u32 },
        /// Announce the methods of the program that will be called.
        22 = PrepareCalls { calls: Vec<MethodCall> },
    }
}

message! {
    /// A thread.
    pub struct Thread {
        /// Its number, as Java counts.
        pub id: u32,
        /// Its name.
        pub name: String,
        /// What it does, as text: `waits for a lock`.
        pub state: String,
        /// Its location.
        pub location: Option<CodeLocation>,
    }
}

message! {
    /// A location in the code.
    pub struct CodeLocation {
        /// The class, as in `app.Queue`.
        pub class: String,
        /// The method.
        pub method: String,
        /// The file that the class was compiled from, without its directory.
        pub file: String,
        /// The line, or zero if it is unknown.
        pub line: u32,
        /// The index of the bytecode.
        pub bytecode_index: u64,
    }
}

message! {
    /// A frame.
    pub struct Frame {
        /// Its location.
        pub location: CodeLocation,
        /// Its arguments, with their values as text.
        pub arguments: Vec<(String, String)>,
    }
}

message! {
    /// An answer of the agent.
    pub enum Answer {
        /// Done.
        0 = Done,
        /// Refused, for this reason.
        1 = Refused { reason: String },
        /// Done, except for these subscriptions.
        2 = Errors { errors: Vec<SubscriptionError> },
        /// See [`Request::Threads`].
        3 = Threads { threads: Vec<Thread> },
        /// See [`Request::Frames`].
        4 = Frames { frames: Vec<Frame> },
        /// Names with their values as text.
        5 = Pairs { pairs: Vec<(String, String)> },
        /// A value as text.
        6 = Text { text: String },
        /// Names.
        7 = Names { names: Vec<String> },
        /// Locations.
        8 = Locations { locations: Vec<CodeLocation> },
        /// See [`Request::Info`].
        9 = Info { info: VmInfo },
        /// Reply of the host of the embedded monitors.
        10 = Host {
            /// A [`HostReply`](invigil_monitor::embedded::HostReply), encoded by `postcard`.
            reply: Vec<u8>,
            /// Collected objects that had slices.
            dead: DeadObjectIds,
        },
    }
}
