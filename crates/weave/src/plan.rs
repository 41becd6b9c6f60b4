//! What is asked of the user of the weaver, and what it answers.

/// Decides where probes go.
pub trait Plan {
    /// Which kinds of sites of a class (as in `java/util/List`) are worth asking for. The others are passed over,
    /// which saves time when whole libraries are loaded.
    fn wants(&mut self, class: &str) -> Wants {
        let _ = class;
        Wants::ALL
    }

    /// The probes at a site, in the order in which they are to report.
    ///
    /// Every site of a method is asked for before any code is written, in the order of the code.
    fn probes(&mut self, site: &Site<'_>) -> Vec<Probe>;
}

/// Kinds of sites that a plan wants to be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wants {
    /// Entries and exits, ordinary and exceptional.
    pub methods: bool,
    /// Writes of fields.
    pub fields: bool,
    /// Writes of local variables.
    pub locals: bool,
    /// Calls.
    pub calls: bool,
}

impl Wants {
    /// Every kind.
    pub const ALL: Wants = Wants { methods: true, fields: true, locals: true, calls: true };
    /// No kind: the class is left as it is.
    pub const NOTHING: Wants = Wants { methods: false, fields: false, locals: false, calls: false };
}

/// A place where a probe can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site<'a> {
    /// The class that is woven, as in `java/util/List`.
    pub class: &'a str,
    /// The method that the site is in.
    pub method: &'a str,
    /// The descriptor of that method, as in `(IJ)V`.
    pub descriptor: &'a str,
    /// Whether that method is static.
    pub is_static: bool,
    /// The line in the source, where the class file tells it.
    pub line: Option<u16>,
    /// What happens there.
    pub kind: Kind<'a>,
}

/// What happens at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'a> {
    /// The method begins. In a constructor this is before the call of `super(…)`, so that there is no `this` yet.
    Enter,
    /// The method is about to return. There is one such site for each `return`.
    Return,
    /// An exception leaves the method. A constructor is only watched from the end of its `super(…)` on.
    Throw,
    /// A field was written, successfully.
    Field {
        /// The class that the write names: the field may be inherited from further up.
        owner: &'a str,
        /// The field.
        name: &'a str,
        /// Its type.
        descriptor: &'a str,
        /// Whether it is static.
        is_static: bool,
    },
    /// A local variable or a parameter was written.
    Local {
        /// Its slot.
        slot: u16,
        /// Its name. Locals have names only in classes compiled with `-g`; others are not asked for. A parameter whose name is
        /// not known has an empty one.
        name: &'a str,
        /// Its type. For a parameter whose type is not stated by the debug information, that of the method's descriptor.
        descriptor: &'a str,
    },
    /// A method is called.
    Call {
        /// The class that the call names: the method may be inherited from further up, or overridden further down.
        owner: &'a str,
        /// The method that is called.
        name: &'a str,
        /// Its descriptor.
        descriptor: &'a str,
        /// Whether it is static.
        is_static: bool,
        /// Before the call, or after it has returned.
        when: When,
        /// Of a constructor: where the new object is put right away.
        stored: Option<Stored<'a>>,
    },
}

/// Where a new object is put by the instruction that follows its constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored<'a> {
    /// Into a field.
    Field {
        /// The class that the write names.
        owner: &'a str,
        /// The field.
        name: &'a str,
        /// Its type.
        descriptor: &'a str,
        /// Whether it is static.
        is_static: bool,
        /// Whether it is a field of the object whose code this is.
        of_this: bool,
    },
    /// Into a local variable that has a name.
    Local {
        /// The variable.
        name: &'a str,
        /// Its type.
        descriptor: &'a str,
    },
}

/// A side of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// The arguments are there, the call has not begun.
    Before,
    /// The call has returned. After an exception there is no report.
    After,
}

/// One report at a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Passed to the helper. Negative ones of the helper's `int` are those above `i32::MAX`.
    pub id: u32,
    /// What is passed, in order.
    pub captures: Vec<Capture>,
    /// At writes of fields and locals: hold the helper's lock from before the write to after the report, so that
    /// reports of several threads are in the order of the writes. Has no meaning at other sites.
    pub locked: bool,
}

impl Probe {
    /// A probe without a lock.
    pub fn new(id: u32, captures: impl Into<Vec<Capture>>) -> Probe {
        Probe { id, captures: captures.into(), locked: false }
    }

    /// The same, with the lock held.
    pub fn locked(self) -> Probe {
        Probe { locked: true, ..self }
    }
}

/// A value that a probe passes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capture {
    /// `this` of the method that the site is in. Null in a static method, and in a constructor before `super(…)`.
    This,
    /// An argument, from 0. At a call it is one of the called method, elsewhere one of the method that
    /// the site is in, with the value it had at the beginning, even where the parameter was assigned since.
    Argument(u16),
    /// What is returned, at [`Kind::Return`] and after a call.
    Result,
    /// What was written, at writes of fields and locals.
    Value,
    /// The object whose field is written (null in a constructor before `super(…)`), or whose method is called (null
    /// before the call of a constructor, the new object after it). Null where the field or method is static.
    Owner,
    /// The exception, at [`Kind::Throw`].
    Thrown,
}
