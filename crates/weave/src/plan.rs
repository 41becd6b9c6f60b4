//! Interface between the weaver and its client: sites, probes, captures.

/// Decides where probes are added.
pub trait ProbePlan {
    /// The kinds of sites in a class (as in `java/util/List`) for which [`probes`](Self::probes) is called. Restricting
    /// them saves time when whole libraries are loaded.
    fn site_kinds(&mut self, class: &str) -> SiteKinds {
        let _ = class;
        SiteKinds::ALL
    }

    /// The probes at a site, in the order of their reports.
    ///
    /// Called for all sites of a method in the order of the code, before any code is emitted.
    fn probes(&mut self, site: &Site<'_>) -> Vec<Probe>;
}

/// Set of site kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiteKinds {
    /// Entries of methods, returns, and exceptions that leave them.
    pub methods: bool,
    /// Writes of fields.
    pub fields: bool,
    /// Writes of local variables.
    pub locals: bool,
    /// Calls.
    pub calls: bool,
}

impl SiteKinds {
    /// Every kind.
    pub const ALL: SiteKinds = SiteKinds { methods: true, fields: true, locals: true, calls: true };
    /// No kind: the class is not changed.
    pub const NOTHING: SiteKinds = SiteKinds { methods: false, fields: false, locals: false, calls: false };
}

/// A position in the code where a probe can be added (AspectJ: join point shadow).
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
    /// The source line, if the class file has line numbers.
    pub line: Option<u16>,
    /// The kind of event at the site.
    pub kind: SiteKind<'a>,
}

/// Kind of a site, with the names involved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteKind<'a> {
    /// Entry of the method. In a constructor this is before the call of `super(…)`, so `this` is not available.
    Enter,
    /// Before a `return`; each `return` is a site of its own.
    Return,
    /// An exception leaves the method. In a constructor, only the code after `super(…)` is covered. The Java agent does
    /// not use these sites: its events are entries, normal returns, calls and writes.
    ExceptionalExit,
    /// After a successful write of a field.
    Field {
        /// The class named in the instruction; the field may be inherited by it.
        owner: &'a str,
        /// The field.
        name: &'a str,
        /// Its type.
        descriptor: &'a str,
        /// Whether it is static.
        is_static: bool,
    },
    /// After a write of a local variable or parameter.
    Local {
        /// Its slot.
        slot: u16,
        /// Its name. Locals have names only in classes compiled with `-g`; unnamed ones are not visited. The name of a
        /// parameter is empty if unknown.
        name: &'a str,
        /// Its type. If the debug information lacks the type of a parameter, it is taken from the method's descriptor.
        descriptor: &'a str,
    },
    /// A call of a method.
    Call {
        /// The class named in the instruction; the method may be inherited by it or overridden in a subclass.
        owner: &'a str,
        /// The method that is called.
        name: &'a str,
        /// Its descriptor.
        descriptor: &'a str,
        /// Whether it is static.
        is_static: bool,
        /// Before the call, or after its normal return.
        when: CallSide,
        /// For a constructor call: the variable to which the next instruction stores the new object.
        stored: Option<StoreTarget<'a>>,
    },
}

/// Variable to which a new object is stored directly after its construction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreTarget<'a> {
    /// Into a field.
    Field {
        /// The class named in the instruction.
        owner: &'a str,
        /// The field.
        name: &'a str,
        /// Its type.
        descriptor: &'a str,
        /// Whether it is static.
        is_static: bool,
        /// Whether it is a field of the object whose method contains the site.
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

/// Side of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallSide {
    /// Before the call, with its arguments.
    Before,
    /// After the call has returned normally. An exception is not reported.
    After,
}

/// One report at a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Identity passed to the helper. Values above `i32::MAX` are negative in the helper's `int`.
    pub id: u32,
    /// The captured values, in order.
    pub captures: Vec<Capture>,
    /// For writes of fields and locals: holds the helper's lock from before the write until after the report, so that
    /// reports of several threads are in the order of the writes. Ignored at other sites.
    pub locked: bool,
}

impl Probe {
    /// A probe without a lock.
    pub fn new(id: u32, captures: impl Into<Vec<Capture>>) -> Probe {
        Probe { id, captures: captures.into(), locked: false }
    }

    /// The same probe with the lock.
    pub fn locked(self) -> Probe {
        Probe { locked: true, ..self }
    }
}

/// A value that a probe passes to the helper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capture {
    /// `this` of the method that contains the site. Null in a static method, and in a constructor before `super(…)`.
    This,
    /// An argument, counted from 0. At a call it is an argument of the called method; elsewhere it is one of the method
    /// that contains the site, with its value at entry even if the parameter was assigned later.
    Argument(u16),
    /// The returned value, at [`SiteKind::Return`] and after a call.
    Result,
    /// The written value, at writes of fields and locals.
    Value,
    /// The object whose field is written (null in a constructor before `super(…)`) or whose method is called (null
    /// before a constructor call, the new object after it). Null if the field or method is static.
    Owner,
    /// The exception, at [`SiteKind::ExceptionalExit`].
    Thrown,
}
