//! Which searches leave out orders of independent actions, and what is said about those that do not.

use invigil_check::report::Style;
use invigil_explore::fair::Strength;
use invigil_expr::diag::SourceId;
use invigil_lang::model::{What, load};
use invigil_monitor::event::Catalog;
use invigil_verify::{Answer, Claim, Claimed, Outcome, Report, Task, answer};
use std::time::Duration;

/// Two who mind their own business until they meet.
const WALKERS: &str = "
x, y: 0..3
done: bool
process A { state a { -> b { x = 1 } } state b { -> c { x = 2 } } state c { stop: -> d { done = true } } state d }
process B { state a { -> b { y = 1 } } state b { -> c { y = 2 } } state c { stop: when done -> d; } state d }
";

fn ask(claims: &str, change: impl FnOnce(&mut Task<'_>)) -> (Answer, String) {
    let (loaded, problems) = load(SourceId(0), &format!("{WALKERS}{claims}"));
    let loaded = loaded.unwrap_or_else(|| panic!("{problems:?}"));
    let catalog = Catalog::default();
    let claims = loaded.claims.iter().map(|claim| Claim {
        name: claim.name.clone(),
        what: match &claim.what {
            What::Never(omega) => Claimed::Never(omega),
            What::Always(expression) => Claimed::Always(expression),
        },
    });
    let mut task = Task {
        claims: claims.collect(),
        deadlocks: false,
        reduces: true,
        ..Task::new(&loaded.model, &catalog)
    };
    change(&mut task);
    let found = answer(&task, &());
    let report = Report { answer: &found, file: "walkers", elapsed: Duration::ZERO };
    let text = report.text(&Style::default());
    (found, text)
}

#[test]
fn formulae_that_count_no_steps_are_reduced() {
    let claims = "ltl ends: F done\nltl soon: X X X done\nltl tells: G(stop -> X done)";
    let (found, text) = ask(claims, |_| {});
    let (whole, plain) = ask(claims, |task| task.reduces = false);
    assert!(found.totals.states < whole.totals.states, "{text}");
    assert!(found.verdicts[0].totals.states < whole.verdicts[0].totals.states, "{text}");
    for (one, other) in found.verdicts.iter().zip(&whole.verdicts) {
        assert_eq!(matches!(one.result, Outcome::Holds), matches!(other.result, Outcome::Holds));
    }
    assert_eq!(found.verdicts[0].reduction, Some(Ok(())));
    assert!(text.contains("note: orders of independent actions are left out, so"), "{text}");
    for name in ["soon", "tells"] {
        let note = format!("note: all orders are looked at for {name}: it counts steps, or looks at them");
        assert!(text.contains(&note), "{text}");
    }
    assert!(!text.contains("for ends"), "{text}");
    assert!(!plain.contains("orders"), "nobody asked: {plain}");
}

#[test]
fn fairness_needs_all_orders() {
    let (found, text) = ask("ltl ends: F done", |task| task.fairness = Some(Strength::Weak));
    assert!(matches!(found.verdicts[0].result, Outcome::Holds));
    assert!(text.contains("all orders are looked at for ends: fairness looks at every step"), "{text}");
}

/// A step that changes nothing which the claim reads can break it: one that waits until the other is through would not
/// be seen.
#[test]
fn claims_about_steps_need_all_orders() {
    let claim = "invariant moves: x == 0 or x == 2 or x' != x";
    let (found, text) = ask(claim, |_| {});
    assert!(matches!(found.verdicts[0].result, Outcome::Violated(_)), "{text}");
    let (open, text) = ask("invariant small: x' - x <= 1", |_| {});
    assert!(matches!(open.verdicts[0].result, Outcome::Holds), "{text}");
    assert!(text.contains("note: all orders are looked at: a claim is about steps"), "{text}");
}
