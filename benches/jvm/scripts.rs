//! The monitored properties and scripts.

/// The automaton of the peers (`Step.java`): no `value` is below -10; with a counter. `event` has a parameter `value`.
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

/// The same after an event that never occurs: entry of another program's `main`.
pub(crate) fn dormant(property: &str) -> String {
    let awake = property.replace("} init failure", "} awake failure");
    awake.replace(
        "state init",
        "state init accepting { transition { event Empty.main() success awake } } state awake",
    )
}

/// The same with a slice per object.
pub(crate) fn sliced(event: &str) -> String {
    format!("slice on item\n{}", step(event))
}

/// Options of a monitoring script.
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

/// A monitoring script with a condition of `operators` operators on a variable, as in figures 7.11 and 7.12. With value
/// abstraction, these are comparisons with constants, because other conditions are not abstracted (definition 16).
pub(crate) fn condition(variable: &str, operators: usize, reduction: Reduction) -> String {
    let inner = operators.saturating_sub(1);
    let term = match reduction {
        Reduction::Value => {
            let comparisons: Vec<String> = (0..operators).map(|at| format!("{variable} > -{at}")).collect();
            comparisons.join(" && ")
        }
        _ => {
            let term = (0..inner).map(|at| if at % 2 == 0 { "+1)" } else { "*1)" });
            format!("{}{variable}{} > 0", "(".repeat(inner), term.collect::<String>())
        }
    };
    let option = reduction.option();
    format!("MonScr export condition c; {option} monobj int {variable}; condition c = {term}; end")
}

/// A requirement that is decided whenever the condition changes.
pub(crate) const REQUIREMENT: &str = "ReqSpec Sweep import condition c; property decided = c || !c; End";
