//! Why the model cannot match a record.

use invigil_semantics::Fields;

/// A record that the model cannot match, and what it could do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The record for display.
    pub record: String,
    /// Whether the record only describes a state.
    pub is_state_only: bool,
    /// The number of possible configurations before the record.
    pub count: usize,
    /// Some of them, starting with those nearest to a match.
    pub configurations: Vec<Fields>,
    /// Why each action does not match the record, nearest first.
    pub near_misses: Vec<NearMiss>,
    /// Steps that are possible in those configurations, with parameters.
    pub possible_steps: Vec<String>,
}

/// An action that does not match a record, with the reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearMiss {
    /// The action; none if the model is to stay unchanged.
    pub action: Option<String>,
    /// The reasons for display.
    pub reasons: Vec<String>,
    /// Indices of the configurations concerned in [`Rejection::configurations`].
    pub configurations: Vec<usize>,
    /// The total number of configurations concerned.
    pub count: usize,
    /// The distance from a match.
    pub cost: u32,
}

impl core::fmt::Display for NearMiss {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if let Some(action) = &self.action {
            write!(f, "{action}: ")?;
        }
        f.write_str(&self.reasons.join("; "))
    }
}
