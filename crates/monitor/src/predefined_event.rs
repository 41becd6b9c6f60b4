//! The predefined events.

/// An event that Invigil defines: a notification of the kernel or the tracer, or an event of traces.
///
/// A target that matches on these variants must decide about each of them. (`#state` and `#any`, which formulae over
/// traces use, and the derived events of scripts are not among them: users do not write them.)
///
/// ```
/// use invigil_monitor::predefined_event::PredefinedEvent;
///
/// assert_eq!(PredefinedEvent::from_name("#thread_exit"), Some(PredefinedEvent::ThreadExit));
/// assert_eq!(PredefinedEvent::from_name("#RRC"), None);
/// assert!(PredefinedEvent::ALL.iter().all(|event| PredefinedEvent::from_name(&format!("#{}", event.word())) == Some(*event)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PredefinedEvent {
    /// A component joins (traces only).
    Join,
    /// A component leaves (traces only).
    Leave,
    /// Time passes (traces and scripts).
    Tick,
    /// A signal is about to be delivered.
    Signal,
    /// The program has created a process.
    Fork,
    /// The process has executed another program.
    Exec,
    /// The program has exited.
    Exit,
    /// A thread has started.
    Thread,
    /// A thread is about to exit.
    ThreadExit,
}

impl PredefinedEvent {
    /// All of them, in the order of the variants.
    pub const ALL: [PredefinedEvent; 9] = [
        PredefinedEvent::Join,
        PredefinedEvent::Leave,
        PredefinedEvent::Tick,
        PredefinedEvent::Signal,
        PredefinedEvent::Fork,
        PredefinedEvent::Exec,
        PredefinedEvent::Exit,
        PredefinedEvent::Thread,
        PredefinedEvent::ThreadExit,
    ];

    /// Their names without `#`, in the order of the variants.
    pub const WORDS: [&'static str; 9] =
        ["join", "leave", "tick", "signal", "fork", "exec", "exit", "thread", "thread_exit"];

    /// The name without `#`.
    pub fn word(self) -> &'static str {
        PredefinedEvent::WORDS[self as usize]
    }

    /// The event with a name such as `#signal`.
    pub fn from_name(name: &str) -> Option<PredefinedEvent> {
        let word = name.strip_prefix('#')?;
        let at = PredefinedEvent::WORDS.iter().position(|known| *known == word)?;
        Some(PredefinedEvent::ALL[at])
    }

    /// The parameters that a target supplies; several may be synonyms. `None` if the event comes from traces only, with
    /// any parameters.
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
