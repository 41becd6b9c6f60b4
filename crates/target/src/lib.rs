#![forbid(unsafe_code)]
//! What a live target must offer: the interface between a session and a running program of any kind.
//!
//! A [`Target`] is stopped between two calls. [`RunControl::resume`] lets it run until the next [`StopReason`].
//! [`EventSource::instrument`] sets the instrumentation for the monitors, from the events that are needed now, so that
//! other events cost nothing. Breakpoints belong to an [`Owner`].
//!
//! The interface consists of roles. Every target has the first four; a kind of target that lacks one of the others says
//! why ([`Unsupported`]), in one place.
//!
//! | module | role |
//! | --- | --- |
//! | `run_control` | [`RunControl`]: running, stopping and ending the target; why it stopped |
//! | `event_source` | [`EventSource`]: the events that properties mention, and their instrumentation |
//! | `breakpoints` | [`Breakpoints`]: breakpoints and watchpoints of the user and the scenarios |
//! | `inspection` | [`Inspection`]: threads, frames, variables, sources; [`NativeInspection`] (optional): memory, registers |
//! | `checkpoints` | [`Checkpoints`] (optional) |
//! | `embedded_host` | [`EmbeddedHost`] (optional): monitors and scripts that step inside the target |
//! | `host_proxy` | [`HostProxy`]: what a host inside a target has loaded |
//! | `method_calls` | [`MethodCalls`] (optional): methods of the target that scripts call |
//! | `error` | errors, and how a target ends |
//! | [`pending_owners`] | which owners are still to be notified at the current location |
//! | [`stream`], [`library`] | for targets: standard streams of a started program; replacements for the agent libraries |
//!
//! The crate knows the events and the state of monitors (`invigil-monitor`), but no property language, session or report.

mod breakpoints;
mod checkpoints;
mod embedded_host;
mod error;
mod event_source;
mod host_proxy;
mod inspection;
pub mod library;
mod method_calls;
pub mod pending_owners;
mod run_control;
pub mod stream;

pub use breakpoints::{Breakpoint, BreakpointId, BreakpointKind, BreakpointSpec, Breakpoints};
pub use checkpoints::{Checkpoint, CheckpointId, Checkpoints};
pub use embedded_host::EmbeddedHost;
pub use error::{TargetError, TargetResult, Termination, Unsupported};
pub use event_source::{EventSource, ProbeInfo, UnresolvedEvent};
pub use host_proxy::HostProxy;
pub use inspection::{Frame, Inspection, NativeInspection, SourceLine, Thread, Variable};
pub use method_calls::MethodCalls;
pub use run_control::{Interrupter, Owner, ResumeMode, RunControl, StopReason};

/// All roles, for callers that know the type of their target: `use invigil_target::prelude::*`. The methods of a
/// `dyn Target` need no import.
pub mod prelude {
    pub use crate::{
        Breakpoints as _, Checkpoints as _, EmbeddedHost as _, EventSource as _, Inspection as _,
        MethodCalls as _, NativeInspection as _, RunControl as _, Target as _,
    };
}

/// A running program under the control of a session.
pub trait Target: RunControl + EventSource + Breakpoints + Inspection {
    /// Memory and registers.
    ///
    /// # Errors
    /// If this kind of target has none.
    fn native_inspection(&mut self) -> Result<&mut dyn NativeInspection, Unsupported>;

    /// Checkpoints of the target.
    ///
    /// # Errors
    /// If this kind of target has none.
    fn checkpoints(&mut self) -> Result<&mut dyn Checkpoints, Unsupported>;

    /// Monitors that step inside the target.
    ///
    /// # Errors
    /// If they cannot in this kind of target.
    fn embedded_host(&mut self) -> Result<&mut dyn EmbeddedHost, Unsupported>;

    /// Methods that the actions of scripts can call.
    ///
    /// # Errors
    /// If this kind of target has none.
    fn method_calls(&mut self) -> Result<&mut dyn MethodCalls, Unsupported>;
}
