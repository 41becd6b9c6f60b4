//! Network conditions of a simulation.

/// How messages travel, and when a run is given up.
///
/// ```
/// use invigil_decent::simulate::Conditions;
///
/// let bad = Conditions { latency: 2, jitter: 3, duplication: 0.2, shuffle: true, ..Conditions::default() };
/// assert_eq!((bad.loss, bad.grace), (0.0, 5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// Rounds that a message takes. With 0 it arrives in the same round if the receiver's turn is still to come.
    pub latency: u16,
    /// Maximum number of additional rounds. If positive, messages can overtake each other.
    pub jitter: u16,
    /// Share of messages that are lost.
    pub loss: f64,
    /// Share of messages that are duplicated.
    pub duplication: f64,
    /// Whether messages that arrive in the same round are shuffled.
    pub shuffle: bool,
    /// Whether components relay messages where the sender has no link to the receiver. Each link takes its time.
    pub relay: bool,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Rounds to continue after the last observation.
    pub grace: u32,
}

impl Default for Conditions {
    /// The conditions of [EH18 §8.2.3]: a message takes one round, and a run is given up five rounds after its trace.
    fn default() -> Conditions {
        Conditions {
            latency: 1,
            jitter: 0,
            loss: 0.0,
            duplication: 0.0,
            shuffle: false,
            relay: false,
            seed: 0,
            grace: 5,
        }
    }
}
