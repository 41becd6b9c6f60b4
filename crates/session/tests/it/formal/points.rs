//! Points and events (definitions 3.2.2.1 to 3.2.3.2, figure 3.2).

use crate::formal::program::{Access, Addr, Mem, Param, Program, Sym, Val};
use invigil_target::Owner;

/// A breakpoint or a watchpoint with its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Point {
    Break { addr: Addr, owner: Owner },
    Watch { addr: Addr, read: bool, write: bool, owner: Owner },
}

impl Point {
    pub(crate) fn owner(&self) -> Owner {
        match self {
            Point::Break { owner, .. } | Point::Watch { owner, .. } => *owner,
        }
    }

    pub(crate) fn is_break(&self) -> bool {
        matches!(self, Point::Break { .. })
    }

    /// Whether it is a breakpoint at this address.
    pub(crate) fn breaks_at(&self, pc: Addr) -> bool {
        matches!(self, Point::Break { addr, .. } if *addr == pc)
    }

    /// `match(a, w)`: whether it is a watchpoint for this access.
    pub(crate) fn matches(&self, access: &Access) -> bool {
        match self {
            Point::Break { .. } => false,
            Point::Watch { addr, read, write, .. } => {
                *addr == access.addr && if access.write { *write } else { *read }
            }
        }
    }
}

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EventType {
    Reach,
    ValueRead,
    ValueWrite,
    ValueAccess,
}

/// Definition 3.2.2.1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SymbolicEvent {
    pub(crate) kind: EventType,
    pub(crate) name: Sym,
    pub(crate) params: Vec<Param>,
}

/// Definition 3.2.2.2, and the end of the program, which is an event without parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Event {
    At(SymbolicEvent, Vec<Val>),
    Stop,
}

/// `evt2pts` (figure 3.2): here always one point.
pub(crate) fn evt2pts(program: &Program, m: &Mem, event: &SymbolicEvent) -> Point {
    let addr = program.sym_t(m, Param::Symbol(event.name));
    let owner = Owner::Monitors;
    match event.kind {
        EventType::Reach => Point::Break { addr, owner },
        EventType::ValueRead => Point::Watch { addr, read: true, write: false, owner },
        EventType::ValueWrite => Point::Watch { addr, read: false, write: true, owner },
        EventType::ValueAccess => Point::Watch { addr, read: true, write: true, owner },
    }
}

/// `instantiate`: the event with the values of its parameters.
pub(crate) fn instantiate(program: &Program, event: &SymbolicEvent, m: &Mem) -> Event {
    let value = |param: &Param| m[usize::from(program.sym_t(m, *param))];
    Event::At(event.clone(), event.params.iter().map(value).collect())
}
