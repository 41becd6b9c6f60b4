//! Limits of the communication with a remote subject.

use std::time::Duration;

/// Limits and time-outs of the communication.
///
/// ```
/// use invigil_remote::RemoteOptions;
/// use std::time::Duration;
/// let patient = RemoteOptions { timeout: Duration::from_secs(600), ..RemoteOptions::default() };
/// assert_eq!(patient.max_batch, 256);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteOptions {
    /// Time-out of a reply; 60 seconds by default.
    pub timeout: Duration,
    /// Maximum number of bytes of a reply; 64 MiB by default.
    pub max_line: usize,
    /// Maximum number of numbered configurations, after which both sides clear the numbering; 100 000 by default.
    pub max_cached: u64,
    /// Maximum number of configurations in one request; 256 by default.
    pub max_batch: usize,
    /// Whether a TCP address may be on another machine. Off by default, because replies are not encrypted.
    pub allow_other_hosts: bool,
}

impl Default for RemoteOptions {
    fn default() -> RemoteOptions {
        RemoteOptions {
            timeout: Duration::from_secs(60),
            max_line: 64 << 20,
            max_cached: 100_000,
            max_batch: 256,
            allow_other_hosts: false,
        }
    }
}
