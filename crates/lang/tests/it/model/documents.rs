//! The examples in the documentation are valid models, and their claims hold.

use crate::model::common::{explore, loaded};

#[test]
fn documented_examples_load() {
    let text = include_str!("../../../../../docs/models.md");
    let examples: Vec<&str> =
        text.split("```model\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 6);
    let expected = [(4, 0), (81, 27), (0, 0), (0, 0), (0, 0), (4, 0)];
    for (example, (states, deadlocks)) in examples.into_iter().zip(expected) {
        loaded(example);
        let found = explore(example);
        assert_eq!((found.bad, found.faults, found.deadlocks), (0, 0, deadlocks), "{example}\n{found:?}");
        assert!(states == 0 || found.states == states, "{example}\n{}", found.states);
    }
}
