//! How well messages travel.

/// What happens to messages, and when a run is given up.
///
/// ```
/// use invigil_decent::simulate::Conditions;
///
/// let bad = Conditions { latency: 2, jitter: 3, duplication: 0.2, shuffle: true, ..Conditions::default() };
/// assert_eq!((bad.loss, bad.grace), (0.0, 5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditions {
    /// How many rounds a message takes. With none it comes in the same round, if the receiver's turn is still to come.
    pub latency: u16,
    /// How many rounds longer it may take. If there are any, messages overtake each other.
    pub jitter: u16,
    /// The share of messages that never come.
    pub loss: f64,
    /// The share of messages that come twice.
    pub duplication: f64,
    /// Whether messages that come in the same round are in any order.
    pub shuffle: bool,
    /// Whether components pass on what is for others that the sender has no link to. Each link takes its time.
    pub relay: bool,
    /// Where chance comes from.
    pub seed: u64,
    /// How many rounds it goes on after the last observation.
    pub grace: u32,
}

impl Default for Conditions {
    /// Those of the document: a message takes one round, and a run is given up five rounds after its trace.
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
