//! Labels under a tight limit on nodes.

use invigil_ltl::label::{Label, Variable};
use invigil_ltl::{Budget, Logic};

#[test]
fn variables_stay_consistent_after_node_limit() {
    let mut logic = Logic::new(Budget { nodes: 1 << 9, ..Budget::default() });
    let labels = &mut logic.labels;
    let few: Vec<Label> = (0..20).map(|at| labels.variable(Variable::Helper(at)).unwrap()).collect();
    // Conjunctions of variables until the limit is exceeded.
    let mut kept: Vec<Label> = Vec::new();
    let mut all = 1_u32..1 << 20;
    let failed = all.find(|chosen| {
        let chosen = few.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
        let product =
            chosen.map(|(_, label)| label).try_fold(labels.top(), |all, label| labels.and(&all, label));
        product.map(|product| kept.push(product)).is_err()
    });
    assert!(failed.is_some());
    assert!((20..30).any(|at| labels.variable(Variable::Helper(at)).is_err()));
    drop(kept);
    for at in 0..40 {
        let label = labels.variable(Variable::Helper(at)).unwrap();
        assert_eq!(labels.cofactors(&label).map(|(variable, ..)| variable), Some(Variable::Helper(at)));
        assert_eq!(labels.cubes(&label).unwrap(), [[(Variable::Helper(at), true)]]);
    }
}
