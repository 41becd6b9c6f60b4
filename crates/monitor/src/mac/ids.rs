//! Numbers of definitions.

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(pub u32);

        impl $name {
            pub(super) fn at(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

numbers! {
    /// A monitored variable of the subject.
    VariableId,
    /// A monitored method of the subject.
    MethodId,
    /// An auxiliary variable of a requirement script.
    AuxiliaryId,
    /// A named event, defined or imported.
    ScriptEventId,
    /// A named condition, defined or imported.
    ConditionId,
    /// An action that a requirement script can invoke.
    ActionId,
    /// A guard of a requirement script.
    GuardId,
    /// An expression.
    ExprId,
    /// An event expression.
    OccurrenceId,
}
