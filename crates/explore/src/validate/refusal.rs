//! Why the model cannot do what a record says.

use invigil_semantics::Fields;

/// A record that the model cannot do, with what it could have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The record, as people read it.
    pub record: String,
    /// Whether it tells of a state only.
    pub is_state: bool,
    /// In how many configurations the model could be.
    pub count: usize,
    /// Some of them, those first in which the least is missing.
    pub configurations: Vec<Fields>,
    /// What keeps each action from being the event, the nearest first.
    pub misses: Vec<Miss>,
    /// What the model can do in those configurations, with the parameters.
    pub able: Vec<String>,
}

/// What keeps an action from being the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The action; none if the model is not to move.
    pub action: Option<String>,
    /// What is wrong, one thing after the other, in words.
    pub reasons: Vec<String>,
    /// In which configurations, by their positions in [`Refusal::configurations`].
    pub configurations: Vec<usize>,
    /// In how many configurations in all.
    pub count: usize,
    /// How far away it is: less is nearer.
    pub cost: u32,
}

impl core::fmt::Display for Miss {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if let Some(action) = &self.action {
            write!(f, "{action}: ")?;
        }
        f.write_str(&self.reasons.join("; "))
    }
}
