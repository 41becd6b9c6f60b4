//! Probes in Java class files.
//!
//! [`weave`] puts calls of a helper class into the methods of a class, wherever a [`Plan`] wants to hear
//! something: at entries and exits, at writes of fields and locals, around calls. Nothing else changes: every byte
//! that need not move is copied, constants are only added at the end of the pool, and probes leave the stack as they find
//! it. [`compare`] checks just that of two class files. [`helper_class`] makes the class that the probes call.
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
pub use plan::{Capture, Kind, Plan, Probe, Site, Wants, When};
pub use problem::Problem;
pub use weaver::{Left, Woven, weave};
