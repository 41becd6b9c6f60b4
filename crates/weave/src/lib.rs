//! Probes in Java class files.
//!
//! [`weave`] puts calls of a helper class into the methods of a class, wherever a [`Plan`] wants to hear
//! something: at entries and exits, at writes of fields and locals, around calls. Nothing else changes: every byte
//! that need not move is copied, constants are only added at the end of the pool, and probes leave the stack as they find
//! it. [`compare()`] checks just that of two class files. [`helper_class`] makes the class that the probes call.
//! [`Class`] reads what names a class file knows.
//!
//! This crate knows no virtual machine and no monitors. Class files are untrusted: a damaged one gives a [`Problem`],
//! never a panic.
//!
//! # What the probes look like
//!
//! A [`Probe`] is one call of a static method of the helper. Its name is `p` and one letter for each
//! capture: `J` for a number, passed as `long` (`float` and `double` as the raw bits of the `double`), `L` for an
//! object; the identity comes last, as `int`: `pLJ(Object, long, int)`, `p(int)`. More than four captures are passed in
//! groups of four: all groups but the last go to methods named `h` ("hold") with the same letters.
//!
//! ```
//! use invigil_weave::{Capture, Kind, Plan, Probe, Site};
//!
//! /// Reports each write of `Account.balance`: the account and what was written.
//! struct Balance;
//!
//! impl Plan for Balance {
//!     fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
//!         match site.kind {
//!             Kind::Field { owner: "bank/Account", name: "balance", .. } => {
//!                 vec![Probe::new(7, [Capture::Owner, Capture::Value])]
//!             }
//!             _ => Vec::new(),
//!         }
//!     }
//! }
//!
//! // A damaged class file is a problem with words, not a panic.
//! let problem = invigil_weave::weave(b"\xca\xfe\xba", "java/lang/Invigil", &mut Balance).unwrap_err();
//! assert!(problem.to_string().contains("cut short"));
//! ```

//!
//! # What it cannot see
//!
//! Probes are in the code of a class, so writes of fields by reflection, `VarHandle`s, `Unsafe` or native code are not seen, nor is
//! the code of native methods; calls of these are. An `invokedynamic` is no call of a method with a name, but what
//! it leads to is a method and can be watched. The virtual machine replaces some methods of the platform by machine code of
//! its own, without asking what is in them.
//!
//! A method of Java has at most 65,535 bytes of code. One that would grow beyond is left alone, and said to be in
//! [`Woven::left`].
//!
//! Objects that a probe passes on live no longer than they would, with two exceptions: an argument whose parameter is assigned
//! and that a later probe wants, and what was passed to a call that ended by an exception, live until the method ends.

mod bytes;
mod class;
mod code;
mod compare;
mod descriptor;
mod emit;
mod exits;
mod frames;
mod helper;
mod keep;
mod layout;
mod method;
mod opcode;
mod pieces;
mod plan;
mod pool;
mod problem;
mod raw;
mod sites;
mod tables;
mod weaver;

pub use class::{Class, Constant, Field, Line, Local, Method};
pub use compare::{Difference, Growth, compare};
pub use helper::{HOOK, LOCK, helper_class};
pub use plan::{Capture, Kind, Plan, Probe, Site, Stored, Wants, When};
pub use problem::Problem;
pub use weaver::{Left, Woven, weave};
