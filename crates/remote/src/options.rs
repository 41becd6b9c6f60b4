//! What is asked of a remote semantics at most, and waited for.

use std::time::Duration;

/// The bounds of the conversation with a remote semantics.
///
/// ```
/// use invigil_remote::Options;
/// use std::time::Duration;
/// let patient = Options { timeout: Duration::from_secs(600), ..Options::default() };
/// assert_eq!(patient.batch, 256);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long an answer may take; 60 seconds by default.
    pub timeout: Duration,
    /// The most bytes of one answer; 64 MiB by default.
    pub line: usize,
    /// After this many numbered configurations both sides forget them and begin anew; 100 000 by default.
    pub cache: u64,
    /// The most configurations of one request; 256 by default.
    pub batch: usize,
    /// Whether a TCP address may be another machine's. What it answers travels in the clear, so it is off by default.
    pub anywhere: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            timeout: Duration::from_secs(60),
            line: 64 << 20,
            cache: 100_000,
            batch: 256,
            anywhere: false,
        }
    }
}
