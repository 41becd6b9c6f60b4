//! Which searches use partial-order reduction, and the notes about those that do not.

use invigil_check::report::Style;
use invigil_explore::fairness::Strength;
use invigil_expr::diag::SourceId;
use invigil_lang::model::{ClaimBody, load};
use invigil_monitor::event::EventCatalog;
use invigil_verify::{Claim, ClaimKind, ClaimResult, VerifyReport, VerifyResult, VerifyTask, verify};
use std::time::Duration;

/// Two processes with local actions until they synchronize.
const WALKERS: &str = "
x, y: 0..3
done: bool
process A { state a { -> b { x = 1 } } state b { -> c { x = 2 } } state c { stop: -> d { done = true } } state d }
process B { state a { -> b { y = 1 } } state b { -> c { y = 2 } } state c { stop: when done -> d; } state d }
";

fn ask(claims: &str, change: impl FnOnce(&mut VerifyTask<'_>)) -> (VerifyResult, String) {
    let (loaded, diagnostics) = load(SourceId(0), &format!("{WALKERS}{claims}"));
    let loaded = loaded.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let catalog = EventCatalog::default();
    let claims = loaded.claims.iter().map(|claim| Claim {
        name: claim.name.clone(),
        kind: match &claim.body {
            ClaimBody::Never(omega) => ClaimKind::Never(omega),
            ClaimBody::Always(expression) => ClaimKind::Always(expression),
        },
    });
    let mut task = VerifyTask {
        claims: claims.collect(),
        deadlocks: false,
        reduce: true,
        ..VerifyTask::new(&loaded.model, &catalog)
    };
    change(&mut task);
    let found = verify(&task, &());
    let report = VerifyReport { result: &found, file: "walkers", elapsed: Duration::ZERO };
    let text = report.text(&Style::default());
    (found, text)
}

#[test]
fn stutter_invariant_formulae_are_checked_with_reduction() {
    let claims = "ltl ends: F done\nltl soon: X X X done\nltl tells: G(stop -> X done)";
    let (found, text) = ask(claims, |_| {});
    let (whole, plain) = ask(claims, |task| task.reduce = false);
    assert!(found.totals.states < whole.totals.states, "{text}");
    assert!(found.verdicts[0].totals.states < whole.verdicts[0].totals.states, "{text}");
    for (one, other) in found.verdicts.iter().zip(&whole.verdicts) {
        assert_eq!(matches!(one.result, ClaimResult::Holds), matches!(other.result, ClaimResult::Holds));
    }
    assert_eq!(found.verdicts[0].reduction, Some(Ok(())));
    assert!(text.contains("note: partial-order reduction: equivalent orders"), "{text}");
    for name in ["soon", "tells"] {
        let note =
            format!("note: no partial-order reduction for {name}: the property is not stutter-invariant");
        assert!(text.contains(&note), "{text}");
    }
    assert!(!text.contains("for ends"), "{text}");
    assert!(!plain.contains("orders"), "nobody asked: {plain}");
}

#[test]
fn fairness_disables_reduction() {
    let (found, text) = ask("ltl ends: F done", |task| task.fairness = Some(Strength::Weak));
    assert!(matches!(found.verdicts[0].result, ClaimResult::Holds));
    assert!(text.contains("no partial-order reduction for ends: fairness depends on every step"), "{text}");
}

/// A step that changes nothing the claim reads can still violate it: with reduction, a postponed step would be missed.
#[test]
fn claims_about_steps_disable_reduction() {
    let claim = "invariant moves: x == 0 or x == 2 or x' != x";
    let (found, text) = ask(claim, |_| {});
    assert!(matches!(found.verdicts[0].result, ClaimResult::Violated(_)), "{text}");
    let (open, text) = ask("invariant small: x' - x <= 1", |_| {});
    assert!(matches!(open.verdicts[0].result, ClaimResult::Holds), "{text}");
    assert!(text.contains("note: no partial-order reduction: a claim is about steps"), "{text}");
}
