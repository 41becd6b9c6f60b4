//! Random models with all features, and random configurations of them.

use invigil_model::{
    Action, Binary, Domain, Expression, LValue, Location, Model, ModelParts, Move, OmegaAutomaton, OmegaEdge,
    Process, Side, Statement, Unary, Variable,
};
use invigil_test_support::Rng;

const OPERATORS: [Binary; 19] = [
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::Remainder,
    Binary::BitAnd,
    Binary::BitOr,
    Binary::BitXor,
    Binary::ShiftLeft,
    Binary::ShiftRight,
    Binary::Equal,
    Binary::NotEqual,
    Binary::Less,
    Binary::LessOrEqual,
    Binary::Greater,
    Binary::GreaterOrEqual,
    Binary::And,
    Binary::Or,
    Binary::Implies,
];

/// Generates the parts of a model.
pub(crate) struct ModelGenerator<'r> {
    pub(crate) random: &'r Rng,
    pub(crate) variables: Vec<Variable>,
    /// The number of actions to which expressions may refer.
    pub(crate) actions: u32,
    pub(crate) is_predicate: bool,
}

impl ModelGenerator<'_> {
    fn variable(&mut self, name: String) -> Variable {
        let random = self.random;
        let kind = match random.below(12) {
            0 | 1 => Domain::Boolean,
            2 => Domain::Names((0..random.between(1, 5)).map(|at| format!("n{at}")).collect()),
            3 => Domain::Integer { low: -(1 << 62), high: (1 << 62) - 1 },
            4 => Domain::Integer { low: i64::MIN, high: -1 },
            5 => Domain::Integer { low: 0, high: random.pick(&[255, 7, 3, i64::MAX]) },
            6 => Domain::Integer { low: -128, high: 127 },
            7 => Domain::Integer { low: 5, high: 5 },
            8 => Domain::Integer { low: -7, high: random.between(-7, 70_000) },
            _ => {
                let low = random.between(-4, 2);
                Domain::Integer { low, high: low + random.between(0, 9) }
            }
        };
        let (low, high) = kind.range();
        if random.one_in(3) {
            let length = random.pick(&[1, 2, 3, 5, 9, 17, 40]);
            let initial = (0..length).map(|_| random.between(low, high)).collect();
            return Variable::array(name, kind, initial);
        }
        let initial = random.between(low, high);
        Variable::scalar(name, kind, initial)
    }

    fn place(&mut self, depth: u32) -> LValue {
        let variable = self.random.below(self.variables.len() as u64) as u32;
        let Some(length) = self.variables[variable as usize].length else { return LValue::scalar(variable) };
        let length = i64::from(length);
        let index = match self.random.below(8) {
            0..=2 => Expression::Constant(self.random.between(0, length - 1)),
            3 => Expression::Constant(self.random.between(-1, length)),
            4 => self.expression(depth.saturating_sub(1)),
            _ => {
                let inside = self.expression(depth.saturating_sub(1));
                let bits = Expression::binary(Binary::BitAnd, inside, Expression::Constant(0xffff));
                Expression::binary(Binary::Remainder, bits, Expression::Constant(length))
            }
        };
        LValue { variable, index: Some(Box::new(index)) }
    }

    fn constant(&mut self) -> Expression {
        let random = self.random;
        Expression::Constant(match random.below(10) {
            0 => random.pick(&[i64::MIN, i64::MAX, -1, 63, 64, 1 << 40, u32::MAX.into()]),
            _ => random.between(-3, 9),
        })
    }

    pub(crate) fn expression(&mut self, depth: u32) -> Expression {
        if depth == 0 || self.random.one_in(5) {
            return if self.random.one_in(3) { self.constant() } else { Expression::Read(self.place(depth)) };
        }
        match self.random.below(if self.is_predicate { 16 } else { 12 }) {
            0 | 1 => {
                let operator = self.random.pick(&[Unary::Not, Unary::Negate, Unary::Complement]);
                Expression::unary(operator, self.expression(depth - 1))
            }
            2 => {
                let parts = [(); 3].map(|()| self.expression(depth - 1));
                let [a, b, c] = parts;
                Expression::If(Box::new((a, b, c)))
            }
            3 | 4 => {
                let place = Expression::Read(self.place(depth));
                let operator = self.random.pick(&[Binary::Equal, Binary::NotEqual, Binary::Less]);
                Expression::binary(operator, place, self.constant())
            }
            12 | 13 => Expression::Before(Box::new(self.expression(depth - 1))),
            14 => Expression::Happens(self.some_actions()),
            15 if self.random.one_in(3) => Expression::Enabled(self.some_actions()),
            _ => {
                let operator = self.random.pick(&OPERATORS);
                let right = match operator {
                    Binary::Divide | Binary::Remainder | Binary::ShiftLeft | Binary::ShiftRight
                        if !self.random.one_in(4) =>
                    {
                        Expression::Constant(self.random.between(-2, 9))
                    }
                    _ => self.expression(depth - 1),
                };
                Expression::binary(operator, self.expression(depth - 1), right)
            }
        }
    }

    fn some_actions(&mut self) -> Vec<u32> {
        let n = self.random.below(3) + 2;
        (0..self.actions).filter(|_| self.random.below(n) == 0).collect()
    }

    /// A condition that is sometimes true.
    fn condition(&mut self) -> Expression {
        match self.random.below(5) {
            0 | 1 => Expression::Constant(1),
            2 => {
                let depth = 1;
                let left = self.expression(depth);
                Expression::binary(
                    self.random.pick(&[Binary::LessOrEqual, Binary::NotEqual]),
                    left,
                    self.constant(),
                )
            }
            _ => self.expression(3),
        }
    }

    /// A value that is usually in the domain of a variable.
    fn fitting(&mut self, variable: u32) -> Expression {
        let (low, high) = self.variables[variable as usize].domain.range();
        match self.random.below(6) {
            0 => self.expression(3),
            1 => Expression::Constant(self.random.between(low, high)),
            2 | 3 => {
                let span = high.wrapping_sub(low).saturating_add(1).clamp(1, 1000);
                let bits =
                    Expression::binary(Binary::BitAnd, self.expression(2), Expression::Constant(i64::MAX));
                let rest = Expression::binary(Binary::Remainder, bits, Expression::Constant(span));
                Expression::binary(Binary::Add, rest, Expression::Constant(low))
            }
            _ => {
                let step = self.random.pick(&[Binary::Add, Binary::Subtract]);
                Expression::binary(step, Expression::Read(self.place(1)), Expression::Constant(1))
            }
        }
    }

    fn statement(&mut self, depth: u32, may_choose: bool) -> Statement {
        match self.random.below(12) {
            0 => Statement::Require(self.condition()),
            1 => Statement::Assert { condition: self.condition(), message: "no".to_owned() },
            2 | 3 if depth > 0 => Statement::If {
                condition: self.condition(),
                then: (0..self.random.below(4)).map(|_| self.statement(depth - 1, false)).collect(),
                otherwise: (0..self.random.below(3)).map(|_| self.statement(depth - 1, false)).collect(),
            },
            4 if may_choose => {
                let place = self.place(2);
                let (low, high) = self.variables[place.variable as usize].domain.range();
                let first = if self.random.one_in(8) {
                    low.saturating_sub(1)
                } else {
                    self.random.between(low, high)
                };
                let most = if self.random.one_in(8) { i64::MAX } else { high };
                let high = first.saturating_add(self.random.between(0, 3)).min(most).max(first);
                Statement::Choose { place, low: first, high }
            }
            _ => {
                let place = self.place(2);
                let (low, high) = self.variables[place.variable as usize].domain.range();
                let span = high.wrapping_sub(low) as u64;
                // Array elements occupy a power of two of bits, and only ranges that fill them may wrap.
                let bits = u64::BITS - span.leading_zeros();
                let fills = self.variables[place.variable as usize].length.is_none()
                    || bits == 0
                    || bits.is_power_of_two();
                let wraps = fills && span & span.wrapping_add(1) == 0 && self.random.one_in(2);
                let value = if wraps { self.expression(3) } else { self.fitting(place.variable) };
                Statement::Assign { place, value, wraps }
            }
        }
    }

    fn action(&mut self, at: u64, processes: &[Process], has_priorities: bool) -> Action {
        let mut moves: Vec<Move> = Vec::new();
        for _ in 0..self.random.pick(&[0, 1, 1, 1, 1, 2, 3]) {
            let process = self.random.below(processes.len() as u64) as u32;
            let locations = processes[process as usize].locations.len() as u64;
            let (from, to) = (self.random.below(locations) as u32, self.random.below(locations) as u32);
            if moves.iter().all(|by| by.process != process) {
                moves.push(Move { process, from, to });
            }
        }
        let length = self.random.pick(&[0, 1, 1, 2, 3, 5, 9]);
        Action {
            moves,
            guard: self.condition(),
            effect: (0..length).map(|_| self.statement(2, true)).collect(),
            priority: if has_priorities { self.random.between(-1, 1) as i32 } else { 0 },
            ..Action::named(format!("a{at}"))
        }
    }
}

/// A random model.
pub(crate) fn model(random: &Rng, actions: u64) -> Model {
    let count = random.between(1, 7);
    let has_long_arrays = random.one_in(4);
    let mut maker = ModelGenerator { random, variables: Vec::new(), actions: 0, is_predicate: false };
    for at in 0..count {
        let variable = match at {
            // Many writes to few elements in several words.
            0 | 1 if has_long_arrays => {
                let high = maker.random.pick(&[127, 200, 100_000]);
                let length = maker.random.between(9, 12);
                let initial = (0..length).map(|_| maker.random.between(0, high)).collect();
                Variable::array(format!("v{at}"), Domain::Integer { low: 0, high }, initial)
            }
            2.. if has_long_arrays => break,
            _ => maker.variable(format!("v{at}")),
        };
        maker.variables.push(variable);
    }
    let has_committed = maker.random.one_in(2);
    let mut processes = Vec::new();
    for at in 0..maker.random.between(1, 4) {
        let locations: Vec<Location> = (0..maker.random.between(1, 6))
            .map(|at| Location {
                name: format!("l{at}"),
                is_committed: has_committed && maker.random.one_in(4),
            })
            .collect();
        let names = Domain::Names(locations.iter().map(|location| location.name.clone()).collect());
        let location = maker.variables.len() as u32;
        maker.variables.push(Variable::scalar(format!("p{at}"), names, 0));
        processes.push(Process { name: format!("p{at}"), locations, location, side: Side::System });
    }
    let has_priorities = maker.random.one_in(3);
    let mut of: Vec<Action> = (0..actions).map(|at| maker.action(at, &processes, has_priorities)).collect();
    if maker.random.one_in(2) {
        // In the order of front ends: process by process.
        of.sort_by_key(|action| action.moves.first().map(|by| by.process));
    }
    let start = (0..maker.random.below(3)).map(|_| maker.statement(1, true)).collect();
    let variables = maker.variables;
    Model::new(ModelParts { variables, processes, actions: of, start, ..ModelParts::default() }).unwrap()
}

fn predicates(random: &Rng, model: &Model) -> impl FnMut() -> Expression + use<> {
    let (random, variables) = (Rng::new(random.next_u64()), model.parts().variables.clone());
    let actions = model.parts().actions.len() as u32;
    move || {
        let mut maker =
            ModelGenerator { random: &random, variables: variables.clone(), actions, is_predicate: true };
        maker.expression(3)
    }
}

/// Random predicates over its steps.
pub(crate) fn bad(random: &Rng, model: &Model) -> Vec<Expression> {
    let mut predicate = predicates(random, model);
    (0..random.below(4)).map(|_| predicate()).collect()
}

/// A random automaton.
pub(crate) fn omega(random: &Rng, model: &Model) -> OmegaAutomaton {
    let states = random.between(1, 4);
    let mut predicate = predicates(random, model);
    let mut edges = Vec::new();
    for _ in 0..states {
        let count = random.pick(&[0, 1, 2, 3, 40]);
        let edge = |_| OmegaEdge {
            label: predicate(),
            marks: random.below(4),
            target: random.below(states as u64) as u32,
        };
        edges.push((0..count).map(edge).collect());
    }
    OmegaAutomaton { name: "random".to_owned(), initial: 0, edges, sets: 2, is_stutter_invariant: false }
}

/// A configuration of the model, reachable or not.
pub(crate) fn state(random: &Rng, model: &Model) -> Vec<u64> {
    let mut words = vec![0; model.layout().words];
    for (variable, slot) in model.parts().variables.iter().zip(&model.layout().slots) {
        let (low, high) = variable.domain.range();
        for index in 0..variable.elements() {
            let value = match random.below(6) {
                0 => low,
                1 => high,
                2 => 0_i64.clamp(low, high),
                _ => random.between(low, high),
            };
            slot.write(&mut words, index, value);
        }
    }
    words
}
