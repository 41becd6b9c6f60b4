//! What the tool and the agent say to each other.

use super::wire::message;

/// Both sides must speak the same version.
pub const VERSION: u32 = 3;

/// What the agent's greeting begins with, so that a stranger is known as one.
pub const MAGIC: u32 = u32::from_le_bytes(*b"IVGL");

message! {
    /// Which of its two connections the agent opens.
    pub enum Channel {
        /// The tool asks, the agent answers.
        0 = Control,
        /// The agent tells news, and the thread that they are about waits for an order.
        1 = News,
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
        /// The process.
        pub process: u32,
    }
}

message! {
    /// When something is told.
    pub enum Moment {
        /// A method begins.
        0 = Enter,
        /// A method is about to return.
        1 = Leave,
        /// A field was written.
        2 = Write,
        /// A line is reached.
        3 = Line,
    }
}

message! {
    /// Who waits for something.
    pub enum Key {
        /// Monitors: an event by its number.
        0 = Event { number: u32 },
        /// The developer or the scenario: a point by its number.
        1 = Point { number: u32 },
    }
}

message! {
    /// What a value must be.
    pub enum Type {
        /// A whole number.
        0 = Int,
        /// Any number.
        1 = Float,
        /// True or false.
        2 = Bool,
        /// Text.
        3 = Text,
    }
}

message! {
    /// Where a value comes from.
    pub enum Source {
        /// An expression, such as the name of a parameter, `this.size` or `items[0].name`.
        0 = Expression { text: String },
        /// An argument, counted from one.
        1 = Argument { number: u32 },
        /// What is returned, or what is written.
        2 = Result,
        /// The number of the thread.
        3 = Thread,
        /// The number of the process.
        4 = Process,
        /// When it happens, in seconds.
        5 = Time,
    }
}

message! {
    /// A value that is asked for.
    pub struct Ask {
        /// Where it comes from.
        pub source: Source,
        /// What it must be, if that matters.
        pub ty: Option<Type>,
    }
}

message! {
    /// Something to be told.
    pub struct Want {
        /// To whom.
        pub key: Key,
        /// When.
        pub moment: Moment,
        /// Of what, as the user wrote it: `Queue.push`, `app.Queue.push(int)`, `Queue.size`, `Queue.java:12`.
        pub name: String,
        /// Classes on the class path that the name may mean, as in `app/Queue`.
        pub candidates: Vec<String>,
        /// What is to be told with it.
        pub asks: Vec<Ask>,
        /// How the variable is reached, if other objects lie between its class and it.
        pub route: Option<Route>,
    }
}

message! {
    /// How a variable is reached: from something that is there by itself, over fields of objects.
    pub struct Route {
        /// Where it begins.
        pub root: Root,
        /// The fields on the way; the last one is the variable.
        pub links: Vec<Link>,
    }
}

message! {
    /// Where a route begins.
    pub enum Root {
        /// At an object that is in a static field.
        0 = Static { field: Link },
        /// At an object that is in a local variable.
        1 = Local { class: String, method: String, descriptor: String, name: String },
        /// At every object of the class of the first field.
        2 = Instances,
    }
}

message! {
    /// A field of a class.
    pub struct Link {
        /// The class that declares it, as in `app/Queue`.
        pub class: String,
        /// Its name.
        pub field: String,
        /// Its type, as in `I` or `Lapp/Item;`.
        pub descriptor: String,
    }
}

message! {
    /// Something that cannot be told.
    pub struct Problem {
        /// Which want.
        pub key: Key,
        /// Which of its values, if it is one of those.
        pub ask: Option<u32>,
        /// What is wrong.
        pub reason: String,
        /// The remedy, if one is known.
        pub help: String,
        /// Whether it may come right when a class is loaded.
        pub pending: bool,
    }
}

message! {
    /// A value that is told.
    pub enum Datum {
        /// There is none.
        0 = Unset,
        /// `null`.
        1 = Null,
        /// True or false.
        2 = Bool { value: bool },
        /// A whole number.
        3 = Int { value: i64 },
        /// Another number.
        4 = Float { value: f64 },
        /// Text.
        5 = Text { value: String },
        /// An object, by a number that is its own as long as it lives, and no other's ever.
        6 = Object { number: i64 },
    }
}

message! {
    /// A want that came true.
    pub struct Hit {
        /// Whose.
        pub key: Key,
        /// The values that were asked for.
        pub values: Vec<Datum>,
    }
}

message! {
    /// An event that monitors inside have dealt with.
    pub struct Occurred {
        /// Which event.
        pub symbol: u32,
        /// When, in seconds since the agent began; not a number if nobody asked.
        pub time: f64,
        /// The thread.
        pub thread: u32,
        /// Its parameters.
        pub values: Vec<Datum>,
    }
}

message! {
    /// What monitors inside have done since they were put there.
    pub struct Past {
        /// How many events there were before those that are told.
        pub unseen_events: u64,
        /// For each property, the transitions that it took on those.
        pub steps: Vec<u64>,
        /// For each property, the slices that came into being on those.
        pub created: Vec<u64>,
        /// Where each property stood then.
        pub before: Vec<Vec<u8>>,
        /// The events since.
        pub events: Vec<Occurred>,
        /// Objects that slices were for, and that are no more since.
        pub gone: Gone,
    }
}

message! {
    /// Objects that are no more.
    #[derive(Default)]
    pub struct Gone {
        /// Their numbers.
        pub numbers: Vec<i64>,
        /// Values of events, by the number of the event and their position, that may be numbers and no objects.
        pub plain: Vec<(u32, u32)>,
    }
}

message! {
    /// What the agent tells. The thread that it is about waits for [`Order::Go`].
    pub enum News {
        /// The virtual machine is ready, and the program is yet to begin.
        0 = Ready,
        /// Wants came true, all at one place.
        1 = Hits {
            /// The thread.
            thread: u32,
            /// When, in seconds since the agent began.
            time: f64,
            /// Which.
            hits: Vec<Hit>,
            /// What monitors outside may forget.
            gone: Gone,
        },
        /// A step is done.
        2 = Stepped {
            /// The thread.
            thread: u32,
            /// What was returned, in words.
            returned: Option<String>,
        },
        /// The program exits with this status. No order is waited for.
        3 = Exits {
            /// The status.
            status: i32,
            /// What monitors inside have done to the end.
            past: Option<Past>,
            /// What happened after that, to which someone was to react, and which could not be told any more.
            due: Vec<Occurred>,
            /// What could not be watched, in words.
            complaints: Vec<String>,
        },
    }
}

message! {
    /// What a thread that waits is told.
    pub enum Order {
        /// To go on.
        0 = Go,
        /// That a property is violated here, for debuggers that wait for it.
        1 = Violated { property: String },
        /// To call a method of the program, by its position among [`Request::Calls`], before it goes on.
        2 = Invoke { call: u32 },
    }
}

message! {
    /// What is known of the virtual machine when it is ready.
    pub struct Facts {
        /// Its name and version.
        pub machine: String,
        /// Where classes come from.
        pub class_path: String,
        /// Where it was started.
        pub directory: String,
        /// Whether local variables can be seen.
        pub locals: bool,
        /// Whether lines can carry points.
        pub breakpoints: bool,
        /// Whether threads can be stepped.
        pub steps: bool,
        /// Whether another debugger is there.
        pub debugger: bool,
    }
}

message! {
    /// A method of the program, with what it is given.
    pub struct Call {
        /// As the script has it.
        pub name: String,
        /// The class that the way to the object begins at, or that has the method, as in `app/Gate`.
        pub class: String,
        /// The fields on the way to the object, the first of which is static; none if the method is static.
        pub fields: Vec<String>,
        /// The name of the method.
        pub method: String,
        /// Its descriptor.
        pub descriptor: String,
        /// What it is given.
        pub arguments: Vec<Datum>,
    }
}

message! {
    /// How far to step.
    pub enum Step {
        /// To the next line, going into methods.
        0 = Line,
        /// To the next line, passing over calls.
        1 = NextLine,
        /// Until the frame returns.
        2 = Finish,
        /// One bytecode.
        3 = Instruction,
    }
}

message! {
    /// What the tool asks; the agent answers each with one [`Answer`].
    pub enum Request {
        /// Forget all events, and tell these if they are activated.
        0 = Prepare { wants: Vec<Want> },
        /// Tell these events from now on, and no others.
        1 = Activate { events: Vec<u32> },
        /// Tell this from now on.
        2 = SetPoint { want: Want },
        /// No longer.
        3 = RemovePoint { number: u32 },
        /// Turn a point on or off.
        4 = EnablePoint { number: u32, enabled: bool },
        /// Make all threads stand still.
        5 = Hold,
        /// Let them go on, but those that wait for an order.
        6 = Release,
        /// The threads.
        7 = Threads,
        /// The frames of a thread, innermost first.
        8 = Frames { thread: u32, limit: u32 },
        /// The variables of a frame.
        9 = Locals { thread: u32, depth: u32 },
        /// The value of an expression.
        10 = Print { thread: u32, depth: u32, text: String },
        /// Its type.
        11 = TypeOf { thread: u32, depth: u32, text: String },
        /// Change a variable, a field or an element.
        12 = Assign { thread: u32, depth: u32, place: String, value: String },
        /// Where a method or a line is.
        13 = Find { name: String },
        /// Methods that begin like this.
        14 = Methods { prefix: String },
        /// What is to be known of the machine.
        15 = Facts,
        /// Step this thread when it goes on.
        16 = Step { thread: u32, depth: u32, how: Step },
        /// Give up the step.
        17 = Unstep,
        /// Tell nothing any more, and let the program run.
        18 = Leave,
        /// What is to be known of the agent's work, in words.
        19 = Tally,
        /// The properties that will step inside, each as its parts.
        20 = Properties { properties: Vec<Vec<u8>> },
        /// Scripts that step inside for good, each as its plan.
        21 = Scripts { plans: Vec<Vec<u8>> },
        /// The properties step inside when the program goes on.
        22 = PutInside {
            /// Where each stands.
            states: Vec<Vec<u8>>,
            /// For each, the states that someone reacts to.
            concerns: Vec<Vec<u8>>,
        },
        /// They no longer do.
        23 = Outside,
        /// What they have done since.
        24 = CatchUp,
        /// The methods of the program that will be called.
        25 = Calls { calls: Vec<Call> },
    }
}

message! {
    /// A thread.
    pub struct Thread {
        /// Its number, as Java counts.
        pub id: u32,
        /// Its name.
        pub name: String,
        /// What it does: `waits for a lock`.
        pub state: String,
        /// Where it is.
        pub at: Option<Spot>,
    }
}

message! {
    /// A place in the code.
    pub struct Spot {
        /// The class, as in `app.Queue`.
        pub class: String,
        /// The method.
        pub method: String,
        /// The file that the class was compiled from, without its folder.
        pub file: String,
        /// The line, or zero if that is not known.
        pub line: u32,
        /// The bytecode.
        pub location: u64,
    }
}

message! {
    /// A frame.
    pub struct Frame {
        /// Where it stands.
        pub spot: Spot,
        /// Its arguments, with their values in words.
        pub arguments: Vec<(String, String)>,
    }
}

message! {
    /// What the agent answers.
    pub enum Answer {
        /// It is done.
        0 = Done,
        /// It cannot be done, and this is why.
        1 = Refused { reason: String },
        /// It is done, except for these.
        2 = Problems { problems: Vec<Problem> },
        /// See [`Request::Threads`].
        3 = Threads { threads: Vec<Thread> },
        /// See [`Request::Frames`].
        4 = Frames { frames: Vec<Frame> },
        /// Names with their values in words.
        5 = Pairs { pairs: Vec<(String, String)> },
        /// A value in words.
        6 = Words { words: String },
        /// Names.
        7 = Names { names: Vec<String> },
        /// Places.
        8 = Spots { spots: Vec<Spot> },
        /// See [`Request::Facts`].
        9 = Facts { facts: Facts },
        /// See [`Request::CatchUp`]; nothing if no monitors are inside.
        10 = Past { past: Option<Past> },
    }
}
