//! Helpers that the integration tests of several crates share.
//!
//! The crate is a `dev-dependency` only: no product crate and no unit test uses it, since a crate that it depends on
//! would then be compiled twice. Helpers panic on errors, with a detailed message.
//!
//! | module | purpose |
//! | --- | --- |
//! | [`rng`] | the one generator of random cases, and their number |
//! | [`program`] | temporary folders; C, C++ and Rust programs compiled there |
//! | [`java`] | Java programs, compiled once per set of sources |
//! | [`snapshot`] | expected outputs in files, rewritten by `UPDATE_EXAMPLES=1` |
//! | [`tools`] | external tools and data; tests that need missing ones are skipped |
//! | `language` | automata and catalogs from texts (feature `languages`) |
//!
//! ```
//! use invigil_test_support::{Program, Rng};
//!
//! let program = Program::c("int main(void) { return 3; }", &[]);
//! let status = std::process::Command::new(&program.path).status().unwrap();
//! assert_eq!(status.code(), Some(3));
//! assert_eq!(Rng::new(7).below(100), Rng::new(7).below(100));
//! ```

pub mod java;
#[cfg(feature = "languages")]
pub mod language;
pub mod program;
pub mod rng;
pub mod snapshot;
pub mod tools;

pub use program::{Folder, Program};
pub use rng::{Rng, at_least, cases};
