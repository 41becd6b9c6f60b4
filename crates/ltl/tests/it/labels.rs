//! Labels when there is hardly any room.

use invigil_ltl::label::{Label, Variable};
use invigil_ltl::{Budget, Logic};

#[test]
fn variables_are_the_same_after_there_was_no_room() {
    let mut logic = Logic::new(Budget { nodes: 1 << 9, ..Budget::default() });
    let labels = &mut logic.labels;
    let few: Vec<Label> = (0..20).map(|at| labels.variable(Variable::Helper(at)).unwrap()).collect();
    // All conjunctions of some of them, until there is no room.
    let mut kept: Vec<Label> = Vec::new();
    let mut all = 1_u32..1 << 20;
    let refused = all.find(|chosen| {
        let chosen = few.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
        let product =
            chosen.map(|(_, label)| label).try_fold(labels.top(), |all, label| labels.and(&all, label));
        product.map(|product| kept.push(product)).is_err()
    });
    assert!(refused.is_some());
    assert!((20..30).any(|at| labels.variable(Variable::Helper(at)).is_err()));
    drop(kept);
    for at in 0..40 {
        let label = labels.variable(Variable::Helper(at)).unwrap();
        assert_eq!(labels.decide(&label).map(|(variable, ..)| variable), Some(Variable::Helper(at)));
        assert_eq!(labels.cubes(&label).unwrap(), [[(Variable::Helper(at), true)]]);
    }
}
