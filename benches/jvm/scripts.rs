//! The properties and scripts that programs are watched for.

/// The automaton of the peers (`Step.java`): no value is below -10; and a counter. `event` has a parameter `value`.
pub(crate) fn step(event: &str) -> String {
    format!(
        "initialization {{ N = 0 }}
         state init accepting {{
             transition {{
                 event {event} {{ return value >= -10 }} success {{ N = N + 1 }} init failure low
             }}
         }}
         state low non-accepting"
    )
}

/// The same for each of the objects.
pub(crate) fn sliced(event: &str) -> String {
    format!("slice on item\n{}", step(event))
}

/// What a monitoring script has besides its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    None,
    Delta,
    Value,
    Ticks,
    Lock,
}

impl Reduction {
    fn option(self) -> &'static str {
        match self {
            Reduction::None => "",
            Reduction::Delta => "deltavalue;",
            Reduction::Value => "valueabstract;",
            Reduction::Ticks => "timestamp 20;",
            Reduction::Lock => "multithread;",
        }
    }
}

/// A monitoring script with a condition of so many operators on a variable, as in figures 7.11 and 7.12.
pub(crate) fn condition(variable: &str, operators: usize, reduction: Reduction) -> String {
    let inner = operators.saturating_sub(1);
    let mut term = "(".repeat(inner) + variable;
    for at in 0..inner {
        term.push_str(if at % 2 == 0 { "+1)" } else { "*1)" });
    }
    let option = reduction.option();
    format!("MonScr export condition c; {option} monobj int {variable}; condition c = {term} > 0; end")
}

/// A requirement that is decided whenever the condition changes.
pub(crate) const REQUIREMENT: &str = "ReqSpec Sweep import condition c; property decided = c || !c; End";
