//! Decentralized specifications that expand or nest without bound: rejected in reasonable time.

use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_lang::decent;
use invigil_ltl::Budget;

/// The diagnostics of a file: from loading it, or else from building its network.
fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let (loaded, diagnostics) = decent::load(SourceId(0), text);
    match loaded {
        Some(loaded) => loaded.network(Budget::default()).err().unwrap_or_default(),
        None => diagnostics,
    }
}

#[test]
fn hostile_texts_terminate_quickly() {
    let doubling: String = (0..40)
        .map(|at| format!("template t{at}(x)\n  use t{}({{x}}a), t{}({{x}}b)\n", at + 1, at + 1))
        .collect();
    let chain: String = (0..3000).map(|at| format!("m{at} = @m{}\n", at + 1)).collect();
    let circle = format!("component a: p\n{chain}m3000 = p | @m0\nroot m0\n");
    let deep = format!("component a: p\nm = {}p{}\n", "(".repeat(100_000), ")".repeat(100_000));
    let nots = format!("component a: p\nm = {}p\n", "! X ".repeat(20_000));
    for text in [
        format!("{doubling}template t40(x)\n  m{{x}} = p\nuse t0(1)\n"),
        "template t(x)\n  m{x} = p\nuse t(0..18446744073709551615)\n".to_owned(),
        "use t(".repeat(10_000),
        "component a: p\n".repeat(20_000),
        format!("component a: {}\n", "p, ".repeat(100_000)),
        "m = x\n".repeat(50_000),
        circle,
        deep,
        nots,
        "\u{feff}component a: p\nm = p".to_owned(),
        "component a: p\nm = F<=99999999 p\n".to_owned(),
    ] {
        let (loaded, diagnostics) = decent::load(SourceId(0), &text);
        assert!(diagnostics.len() <= 100);
        if let Some(loaded) = loaded {
            let small = Budget { states: 1 << 8, edges: 1 << 10, nodes: 1 << 14, ..Budget::default() };
            let _ = loaded.network(small);
        }
    }
    let many = diagnostics(&"component\n".repeat(1000));
    assert!(many.len() <= 100);
}
