//! The predefined events.

/// Defines the enum, the list of its variants and their names from one table, so that none can be forgotten.
macro_rules! predefined_events {
    ($(#[$enum_doc:meta])* pub enum PredefinedEvent { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum PredefinedEvent {
            $($(#[$doc])* $variant,)*
        }

        impl PredefinedEvent {
            /// All of them.
            pub const ALL: &'static [PredefinedEvent] = &[$(PredefinedEvent::$variant),*];

            /// Their names without `#`, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The name without `#`.
            pub fn word(self) -> &'static str {
                match self {
                    $(PredefinedEvent::$variant => $word,)*
                }
            }
        }
    };
}

predefined_events! {
    /// An event that Invigil defines: a notification of the kernel or the tracer, or an event of traces.
    ///
    /// A target that matches on these variants must decide about each of them. `#state` and `#any`, which formulae over
    /// traces use, and the derived events of scripts are not among them: users do not write them in properties.
    ///
    /// ```
    /// use invigil_monitor::predefined_event::PredefinedEvent;
    ///
    /// assert_eq!(PredefinedEvent::from_name("#thread_exit"), Some(PredefinedEvent::ThreadExit));
    /// assert_eq!(PredefinedEvent::from_name("#RRC"), None);
    /// ```
    pub enum PredefinedEvent {
        /// A program joins the session (traces only).
        Join = "join",
        /// A program leaves the session (traces only).
        Leave = "leave",
        /// Time passes (traces and scripts).
        Tick = "tick",
        /// A signal is about to be delivered.
        Signal = "signal",
        /// The program has created a process.
        Fork = "fork",
        /// The process has executed another program.
        Exec = "exec",
        /// The program has exited.
        Exit = "exit",
        /// A thread has started.
        Thread = "thread",
        /// A thread is about to exit.
        ThreadExit = "thread_exit",
    }
}

impl PredefinedEvent {
    /// The event with a name such as `#signal`.
    pub fn from_name(name: &str) -> Option<PredefinedEvent> {
        let word = name.strip_prefix('#')?;
        PredefinedEvent::ALL.iter().find(|event| event.word() == word).copied()
    }

    /// The parameters that a target supplies; several may be synonyms. `None` if no target supplies the event;
    /// in a trace it can have any parameters.
    pub fn params(self) -> Option<&'static [&'static str]> {
        match self {
            PredefinedEvent::Join | PredefinedEvent::Leave | PredefinedEvent::Tick => None,
            PredefinedEvent::Signal => Some(&["name", "number", "signal", "address", "sender"]),
            PredefinedEvent::Fork => Some(&["child"]),
            PredefinedEvent::Exec => Some(&["path"]),
            PredefinedEvent::Exit => Some(&["status"]),
            PredefinedEvent::Thread | PredefinedEvent::ThreadExit => Some(&["thread", "id", "tid"]),
        }
    }
}
