//! Operators lift expressions, acceptance and descriptions of subjects.

use std::collections::HashSet;
use std::hash::Hash;

use invigil_semantics::{
    Accepting, Breakpoint, Compose, Describe, Either, Evaluate, Independent, Keep, RoundRobin, Semantics,
    Step,
};
use invigil_test_support::cases;
use proptest::prelude::*;

use crate::table::{Expr, NoValue, Table, explore, expr, rules, steps, table};

/// Checks that the expression lifted by `lift` has on each step of `whole` the value that the table has on the
/// projection of the step by `config` and `action`.
fn lifts_expressions<S, E>(
    whole: &S,
    expr: Expr,
    lift: impl Fn(Expr) -> S::Expr,
    config: impl Fn(&S::Config) -> u8,
    action: impl Fn(&S::Action) -> Option<u8>,
) -> Result<(), TestCaseError>
where
    S: Semantics + Evaluate<Error = E>,
    E: PartialEq + Into<Lifted>,
{
    for step in steps(&explore(whole)) {
        let source = step.source.as_ref().map(&config);
        let expected = expr.value(source, step.action.as_ref().and_then(&action), config(&step.target));
        let found = whole.evaluate(&lift(expr), step.as_ref()).map_err(|error| error.into().0);
        prop_assert_eq!(found, expected);
    }
    Ok(())
}

/// The innermost error of a composition.
struct Lifted(NoValue);

impl From<NoValue> for Lifted {
    fn from(error: NoValue) -> Self {
        Lifted(error)
    }
}

impl<L: Into<Lifted>, R: Into<Lifted>> From<Either<L, R>> for Lifted {
    fn from(error: Either<L, R>) -> Self {
        match error {
            Either::Left(error) => error.into(),
            Either::Right(error) => error.into(),
        }
    }
}

/// Checks that the names of the parts of a configuration are unique and equal in all configurations.
fn names_its_parts<S: Semantics + Describe>(whole: &S) -> Result<(), TestCaseError>
where
    S::Config: Hash,
{
    let names =
        |config| whole.describe_config(config).into_iter().map(|field| field.name).collect::<Vec<_>>();
    let configs = explore(whole).configs;
    let shapes: HashSet<_> = configs.iter().map(names).collect();
    prop_assert!(shapes.len() <= 1);
    for names in shapes {
        prop_assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(8192)))]

    #[test]
    fn a_filtered_subject_evaluates_its_own_expressions(subject in table(4), expr in expr()) {
        let filtered = subject.scheduled(RoundRobin::new(|action: &u8| *action));
        lifts_expressions(&filtered, expr, |e| e, |(config, _)| *config, |(action, _)| Some(*action))?;
    }

    #[test]
    fn a_stuttering_subject_sees_idle_steps(subject in table(4), expr in expr()) {
        lifts_expressions(&subject.stuttering(), expr, |e| e, |config| *config, |action| *action)?;
    }

    #[test]
    fn a_pre_initialised_subject_evaluates_its_own_expressions(subject in table(4), expr in expr()) {
        let moved = subject.starting_in([0]);
        lifts_expressions(&moved, expr, |e| e, |config| *config, |action| Some(*action))?;
    }

    #[test]
    fn interleaved_side_idles_when_the_other_moves(
        a in table(3),
        b in table(3),
        expr in expr(),
    ) {
        let both = a.interleaved(b);
        lifts_expressions(&both, expr, Either::Left, |(left, _)| *left, |action| action.left().copied())?;
        lifts_expressions(&both, expr, Either::Right, |(_, right)| *right, |action| action.right().copied())?;
    }

    #[test]
    fn a_product_evaluates_expressions_of_both(subject in table(4), property in rules(), expr in expr()) {
        let product = subject.product(property);
        lifts_expressions(&product, expr, Either::Left, |(subject, _)| *subject, |both| Some(both.action))?;
        for step in steps(&explore(&product)) {
            let expected = Ok(step.target.1 == 1);
            prop_assert_eq!(product.evaluate(&Either::Right(1), step.as_ref()), expected);
        }
    }

    #[test]
    fn nested_composition_evaluates_innermost_expressions(a in table(3), b in table(3), expr in expr()) {
        let setup = a
            .scheduled(RoundRobin::new(|action: &u8| *action))
            .interleaved(b)
            .filtered(Keep(|_: &_, _: &_| true))
            .stuttering();
        lifts_expressions(
            &setup,
            expr,
            Either::Left,
            |(((heart, _), _), ())| *heart,
            |action| action.as_ref()?.0.left().map(|(action, _)| *action),
        )?;
    }

    #[test]
    fn acceptance_is_lifted(subject in table(3), other in table(3), property in rules()) {
        let scheduled = (&subject).scheduled(RoundRobin::new(|action: &u8| *action));
        for config in explore(&scheduled).configs {
            prop_assert_eq!(scheduled.is_accepting(&config), subject.is_accepting(&config.0));
        }
        let (forever, moved) = ((&subject).stuttering(), (&subject).starting_in([0]));
        for config in explore(&subject).configs {
            prop_assert_eq!(forever.is_accepting(&config), subject.is_accepting(&config));
            prop_assert_eq!(moved.is_accepting(&config), subject.is_accepting(&config));
        }
        let both = (&subject).interleaved(&other);
        for config in explore(&both).configs {
            let expected = subject.is_accepting(&config.0) && other.is_accepting(&config.1);
            prop_assert_eq!(both.is_accepting(&config), expected);
        }
        let product = (&subject).product(&property);
        for config in explore(&product).configs {
            prop_assert_eq!(product.is_accepting(&config), property.is_accepting(&config.1));
        }
    }

    #[test]
    fn descriptions_name_each_part_once(subject in table(3), other in table(3), property in rules()) {
        let round_robin = || RoundRobin::new(|action: &u8| *action);
        let setup = (&subject).scheduled(round_robin()).interleaved((&other).scheduled(round_robin()));
        names_its_parts(&setup)?;
        // Two policies, and two properties, on one subject.
        let reordered = (&subject)
            .scheduled(round_robin())
            .scheduled(RoundRobin::new(|(action, _): &(u8, Option<u8>)| *action))
            .stuttering();
        names_its_parts(&reordered)?;
        let other_property = Breakpoint { condition: Either::Left(Expr::Target(0)) };
        names_its_parts(&(&subject).product(&property).product(other_property))?;
    }
}

#[test]
fn descriptions_show_every_part_under_its_name() {
    let cell = || Table { initial: vec![0], moves: vec![vec![(1, vec![0])]], accepting: [].into() };
    let setup = cell()
        .scheduled(RoundRobin::new(|action: &u8| *action))
        .interleaved_sharing(cell(), Independent)
        .stuttering()
        .product(Breakpoint { condition: Either::Left(Expr::Target(9)) });
    let start = setup.initial().into_iter().next().unwrap();
    assert_eq!(
        setup.describe_config(&start).to_string(),
        "left.state = 0, left.policy.last served = none, right.state = 0, property.breakpoint = waiting"
    );
    let actions: Vec<_> =
        setup.actions(&start).into_iter().map(|action| setup.describe_action(&action)).collect();
    assert_eq!(actions, ["left: a1 / waiting", "right: a1 / waiting"]);
}

#[test]
fn a_stuttering_step_is_shown_as_idle() {
    let stone = Table { initial: vec![0], moves: vec![vec![]], accepting: [].into() }.stuttering();
    assert_eq!(stone.describe_action(&None), "idle");
    assert_eq!(stone.evaluate(&Expr::Idles, Step::by_action(&0, &None, &0)), Ok(true));
}

#[test]
fn initial_condition_is_visible_through_every_operator() {
    let cell = || Table { initial: vec![0], moves: vec![vec![(1, vec![0])]], accepting: [].into() };
    let setup = cell()
        .interleaved(cell())
        .filtered(Keep(|_: &_, _: &_| true))
        .starting_in([((0, 0), ())])
        .stuttering()
        .product(Breakpoint { condition: Either::Right(Expr::Starts) });
    assert!(setup.initial().into_iter().all(|start| setup.is_accepting(&start)));
    assert_eq!(setup.initial().into_iter().count(), 1);
}
