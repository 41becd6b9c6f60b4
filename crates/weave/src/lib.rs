//! Adds probes to Java class files.
//!
//! Hand-written because no crate writes class files back byte for byte (`noak`, `ristretto_classfile`, `cafebabe`).
//!
//! [`weave`] adds calls of a helper class to the methods of a class at the sites that a [`ProbePlan`] selects: entries
//! and returns of methods, exceptions that leave them, writes of fields and locals, calls. Nothing else changes: every
//! byte that need not move is copied, constants are only added at the end of the pool, and probes leave the stack
//! unchanged. [`compare()`] verifies this for two class files. [`helper_class`] creates the class that the probes call.
//! [`Class`] reads the declarations in a class file.
//!
//! | module | contents |
//! | --- | --- |
//! | `raw`, `pool`, `code`, `frames`, `tables` | parts of a class file |
//! | `class`, `descriptor` | declarations |
//! | `plan`, `sites` | which probes are added where |
//! | `saved_locals`, `probe_code`, `unlock_handlers`, `emit` | the code of probes |
//! | `layout`, `method`, `weaver` | assembly of methods and classes |
//! | `compare` | verification, independent of the weaver |
//!
//! This crate depends neither on a virtual machine nor on monitors. Class files are untrusted: a malformed one gives a
//! [`ClassFileError`], never a panic.
//!
//! # Form of the probes
//!
//! A [`Probe`] is one call of a static method of the helper. Its name is `p` followed by one letter for each capture:
//! `J` for a number, passed as `long` (`float` and `double` as the raw bits of the `double`), and `L` for an object.
//! The identity is the last argument, an `int`: `pLJ(Object, long, int)`, `p(int)`. More than four captures are passed
//! in groups of four; all groups except the last one go to methods named `h` ("hold") with the same letters.
//!
//! ```
//! use invigil_weave::{Capture, Probe, ProbePlan, Site, SiteKind};
//!
//! /// Reports each write of `Account.balance`: the account and the written value.
//! struct Balance;
//!
//! impl ProbePlan for Balance {
//!     fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
//!         match site.kind {
//!             SiteKind::Field { owner: "bank/Account", name: "balance", .. } => {
//!                 vec![Probe::new(7, [Capture::Owner, Capture::Value])]
//!             }
//!             _ => Vec::new(),
//!         }
//!     }
//! }
//!
//! // A malformed class file is an error, not a panic.
//! let error = invigil_weave::weave(b"\xca\xfe\xba", "java/lang/Invigil", &mut Balance).unwrap_err();
//! assert!(error.to_string().contains("truncated"));
//! ```
//!
//! # Users
//!
//! `invigil-jvm-agent` weaves classes as they load and, for `invigil instrument`, on disk. It reports entries, normal
//! returns, calls and writes. It adds no probes at [`SiteKind::ExceptionalExit`] sites: only the tests of this crate
//! and other clients of the library use them. So `after` events and `End` snapshots do not occur on an exception.
//!
//! # Limitations
//!
//! Probes are in the code of a class, so they do not observe writes of fields by reflection, `VarHandle`s, `Unsafe` or
//! native code, nor the code of native methods; calls of native methods are observed. An `invokedynamic` is not a call
//! of a named method, but its target is a method that can be instrumented. The virtual machine replaces some methods of
//! the platform by machine code (intrinsics), whatever code they contain.
//!
//! A Java method has at most 65,535 bytes of code. A method that would exceed this is not changed, and is listed in
//! [`Woven::skipped`].
//!
//! Objects passed to a probe do not live longer than without it, with two exceptions that live until the method ends:
//! an argument whose parameter is assigned and that a later probe captures, and the arguments of a call that ended with
//! an exception.

mod bytes;
mod class;
mod code;
mod compare;
mod descriptor;
mod emit;
mod error;
mod frames;
mod helper;
mod layout;
mod method;
mod opcode;
mod plan;
mod pool;
mod probe_code;
mod raw;
mod saved_locals;
mod sites;
mod tables;
mod unlock_handlers;
mod weaver;

pub use class::{Class, Constant, Field, Line, Local, Method};
pub use compare::{Difference, Growth, compare};
pub use error::ClassFileError;
pub use helper::{HOOK, LOCK, helper_class};
pub use plan::{CallSide, Capture, Probe, ProbePlan, Site, SiteKind, SiteKinds, StoreTarget};
pub use weaver::{SkippedMethod, Woven, weave};
