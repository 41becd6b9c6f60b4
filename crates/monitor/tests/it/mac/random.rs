//! Random scripts and histories.

use crate::mac::reference::World;
use crate::mac::script::{Def, E, Guard, Reaction, Script, Val, X};
use invigil_monitor::mac::{Binary, Truth, Type, Unary};
use invigil_test_support::Rng;

/// Random types and values.
pub(crate) trait RandomValues {
    fn ty(&self) -> Type;
    /// A numeric type.
    fn number(&self) -> Type;
    fn val(&self, ty: Type) -> Val;
}

impl RandomValues for Rng {
    fn ty(&self) -> Type {
        self.pick(&Type::ALL)
    }

    fn number(&self) -> Type {
        self.pick(&Type::ALL[1..8])
    }

    fn val(&self, ty: Type) -> Val {
        let small = self.below(7) as i64 - 3;
        let n = match self.below(12) {
            0 => {
                self.pick(&[i64::MIN, i64::MAX, i32::MIN.into(), i32::MAX.into(), 1 << 40, -129, 200, 70_000])
            }
            _ => small,
        };
        match ty {
            Type::Boolean => Val::Bool(n > 0),
            Type::Byte => Val::Byte(n as i8),
            Type::Char => Val::Char(n as u16),
            Type::Short => Val::Short(n as i16),
            Type::Int => Val::Int(n as i32),
            Type::Long => Val::Long(n),
            Type::Float => Val::Float(n as f32 / 2.0),
            Type::Double => Val::Double(n as f64 / 4.0),
            Type::String => Val::Text(self.pick(&["", "a", "b", "ECtoSC", "é"]).into()),
        }
    }
}

/// The names that may be used while a script is generated.
struct Maker<'r> {
    random: &'r Rng,
    script: Script,
    events: usize,
    conditions: usize,
    /// Whether primed variables may be used.
    primes: bool,
}

/// A monitoring script.
pub(crate) fn monitoring(random: &Rng) -> Script {
    let variables = (0..1 + random.below(4)).map(|_| random.ty()).collect();
    let mut script = Script { variables, ..Script::default() };
    for _ in 0..random.below(3) {
        let parameters = (0..random.below(3)).map(|_| random.ty()).collect();
        let result = if random.one_in(2) { Some(random.ty()) } else { None };
        script.methods.push((parameters, result));
    }
    let mut maker = Maker { random, script, events: 0, conditions: 0, primes: false };
    maker.definitions(5);
    maker.script
}

/// A requirement script.
pub(crate) fn requirement(random: &Rng) -> Script {
    let mut script = Script::default();
    for _ in 0..1 + random.below(3) {
        script.imported_events.push((0..random.below(3)).map(|_| random.ty()).collect());
    }
    script.imported_conditions = 1 + random.below(2);
    for _ in 0..random.below(4) {
        let ty = random.ty();
        let initial = if random.one_in(3) { None } else { Some(random.val(ty)) };
        script.auxiliaries.push((ty, initial));
    }
    let (events, conditions) = (script.imported_events.len(), script.imported_conditions);
    let primes = random.one_in(2);
    let mut maker = Maker { random, script, events, conditions, primes };
    maker.definitions(4);
    for _ in 0..1 + maker.random.below(2) {
        let property = maker.expr(Type::Boolean, 3);
        maker.script.properties.push(property);
        let alarm = maker.event(3);
        maker.script.alarms.push(alarm);
    }
    for _ in 0..maker.random.below(4) {
        let event = maker.random.below(maker.events);
        let mut guard = Guard { event, actions: Vec::new() };
        for _ in 0..1 + maker.random.below(2) {
            if maker.script.auxiliaries.is_empty() || maker.random.one_in(4) {
                let ty = maker.random.pick(&[Type::Int, Type::String, Type::Boolean]);
                guard.actions.push(Reaction::Print(maker.expr(ty, 2)));
            } else {
                let to = maker.random.below(maker.script.auxiliaries.len());
                let ty = maker.script.auxiliaries[to].0;
                let ty = if ty.is_number() { maker.random.number() } else { ty };
                guard.actions.push(Reaction::Assign(to, maker.expr(ty, 2)));
            }
        }
        maker.script.guards.push(guard);
    }
    maker.script
}

impl Maker<'_> {
    fn definitions(&mut self, most: usize) {
        for _ in 0..1 + self.random.below(most) {
            if self.random.one_in(2) {
                let event = self.event(3);
                self.script.defs.push(Def::Event(event));
                self.events += 1;
            } else {
                let condition = self.expr(Type::Boolean, 3);
                self.script.defs.push(Def::Condition(condition));
                self.conditions += 1;
            }
        }
    }

    fn boxed(&mut self, ty: Type, depth: usize) -> Box<X> {
        Box::new(self.expr(ty, depth))
    }

    fn expr(&mut self, ty: Type, depth: usize) -> X {
        if depth == 0 || self.random.one_in(5) {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        if self.random.one_in(12) {
            return X::Choose(self.boxed(Type::Boolean, depth), self.boxed(ty, depth), self.boxed(ty, depth));
        }
        match ty {
            Type::Boolean => self.condition(depth),
            Type::String => {
                let other = self.random.pick(&[Type::String, Type::Int, Type::Boolean, Type::Long]);
                let (a, b) = (self.boxed(Type::String, depth), self.boxed(other, depth));
                if self.random.one_in(2) { X::Join(a, b) } else { X::Join(b, a) }
            }
            Type::Int | Type::Long | Type::Float | Type::Double => self.arithmetic(ty, depth),
            small => X::Cast(small, {
                let from = self.random.number();
                self.boxed(from, depth)
            }),
        }
    }

    fn arithmetic(&mut self, ty: Type, depth: usize) -> X {
        use Binary::*;
        let whole = ty.is_whole();
        match self.random.below(8) {
            0 => {
                let from = self.random.number();
                X::Cast(ty, self.boxed(from, depth))
            }
            1 => {
                let all = [Unary::Plus, Unary::Minus, Unary::Complement];
                let operator = self.random.pick(if whole { &all } else { &all[..2] });
                X::Un(operator, self.boxed(ty, depth))
            }
            2 if whole => {
                let operator = self.random.pick(&[ShiftLeft, ShiftRight, ShiftRightUnsigned]);
                let by = self.random.pick(&[Type::Byte, Type::Int, Type::Long]);
                X::Bin(operator, self.boxed(ty, depth), self.boxed(by, depth))
            }
            _ => {
                let all = [Add, Subtract, Multiply, Divide, Remainder, BitAnd, BitOr, BitXor];
                let operator = self.random.pick(if whole { &all } else { &all[..5] });
                // The other operand has the same type or a narrower one.
                let narrower: Vec<Type> = Type::ALL.into_iter().filter(|other| other.widens_to(ty)).collect();
                let other = self.random.pick(&narrower);
                let (a, b) = (self.boxed(ty, depth), self.boxed(other, depth));
                if self.random.one_in(2) { X::Bin(operator, a, b) } else { X::Bin(operator, b, a) }
            }
        }
    }

    fn condition(&mut self, depth: usize) -> X {
        use Binary::*;
        match self.random.below(12) {
            0 => X::Un(Unary::Not, self.boxed(Type::Boolean, depth)),
            1..=3 => {
                let operator = self.random.pick(&[And, Or, Implies, BitAnd, BitOr, BitXor, Equal, NotEqual]);
                X::Bin(operator, self.boxed(Type::Boolean, depth), self.boxed(Type::Boolean, depth))
            }
            4 => {
                let ty = self.random.ty();
                X::Defined(self.boxed(ty, depth))
            }
            5 if self.script.variables.is_empty() => {
                X::Interval(Box::new(self.event(depth)), Box::new(self.event(depth)))
            }
            6 => {
                let operator = self.random.pick(&[Equal, NotEqual]);
                X::Bin(operator, self.boxed(Type::String, depth), self.boxed(Type::String, depth))
            }
            _ => {
                let operator = self.random.pick(&[Less, AtMost, Greater, AtLeast, Equal, NotEqual]);
                let (a, b) = (self.random.number(), self.random.number());
                X::Bin(operator, self.boxed(a, depth), self.boxed(b, depth))
            }
        }
    }

    fn leaf(&mut self, ty: Type) -> X {
        for _ in 0..4 {
            match self.random.below(8) {
                0..=2 => {
                    let fitting: Vec<X> = self.fitting(ty);
                    if !fitting.is_empty() {
                        return fitting[self.random.below(fitting.len())].clone();
                    }
                }
                3 if ty == Type::Boolean && self.conditions > 0 => {
                    return X::Cond(self.random.below(self.conditions));
                }
                4 if ty == Type::Long => return X::Time(Box::new(self.event(1))),
                4 if ty == Type::Boolean && !self.script.methods.is_empty() => {
                    return X::Inside(self.random.below(self.script.methods.len()));
                }
                5 if ty == Type::Long && self.script.variables.is_empty() => return X::Now,
                6 => {
                    if let Some(value) = self.carried(ty) {
                        return value;
                    }
                }
                7 if ty == Type::Boolean && self.random.one_in(4) => return X::Undefined,
                _ => {}
            }
        }
        X::Const(self.random.val(ty))
    }

    /// Variables of this type.
    fn fitting(&mut self, ty: Type) -> Vec<X> {
        let of_type = |types: Vec<Type>| {
            types.into_iter().enumerate().filter(move |(_, other)| *other == ty).map(|(at, _)| at)
        };
        let variables = of_type(self.script.variables.clone()).map(X::Var);
        let types = self.script.auxiliaries.iter().map(|(ty, _)| *ty).collect();
        let primed = self.primes && self.random.one_in(3);
        let auxiliaries = of_type(types).map(|variable| X::Aux { variable, primed });
        variables.chain(auxiliaries).collect()
    }

    /// A value of this type that some event carries.
    fn carried(&mut self, ty: Type) -> Option<X> {
        let mut found = Vec::new();
        for (at, other) in self.script.variables.iter().enumerate() {
            if *other == ty {
                found.push((E::Update(at), 0));
            }
        }
        for (at, (parameters, result)) in self.script.methods.iter().enumerate() {
            for (index, other) in parameters.iter().enumerate() {
                if *other == ty {
                    found.push((E::StartM(at), index));
                    found.push((E::EndM(at), index));
                }
            }
            if *result == Some(ty) {
                found.push((E::EndM(at), parameters.len()));
            }
        }
        for (at, types) in self.script.imported_events.iter().enumerate() {
            for (index, other) in types.iter().enumerate() {
                if *other == ty {
                    found.push((E::Named(at), index));
                }
            }
        }
        if found.is_empty() {
            return None;
        }
        let (event, index) = found[self.random.below(found.len())].clone();
        let event = if self.random.one_in(2) {
            E::When(Box::new(event), self.boxed(Type::Boolean, 1))
        } else {
            event
        };
        Some(X::Value(Box::new(event), index as u32))
    }

    fn event(&mut self, depth: usize) -> E {
        let below = depth.saturating_sub(1);
        match self.random.below(if depth == 0 { 4 } else { 9 }) {
            0 if self.events > 0 => E::Named(self.random.below(self.events)),
            1 if !self.script.methods.is_empty() => {
                let method = self.random.below(self.script.methods.len());
                self.random.pick(&[E::StartM as fn(usize) -> E, E::EndM, E::Boundary])(method)
            }
            0..=3 if !self.script.variables.is_empty() => {
                E::Update(self.random.below(self.script.variables.len()))
            }
            0..=3 => E::Named(self.random.below(self.events)),
            4 => E::Start(self.boxed(Type::Boolean, below)),
            5 => E::End(self.boxed(Type::Boolean, below)),
            6 => E::Both(Box::new(self.event(below)), Box::new(self.event(below))),
            7 => E::Either(Box::new(self.event(below)), Box::new(self.event(below))),
            _ => E::When(Box::new(self.event(below)), self.boxed(Type::Boolean, below)),
        }
    }
}

fn maybe(random: &Rng, ty: Type) -> Option<Val> {
    if random.one_in(10) { None } else { Some(random.val(ty)) }
}

/// A history for a monitoring script.
pub(crate) fn snapshots(random: &Rng, script: &Script, length: usize) -> Vec<World> {
    let mut time = random.below(100) as i64;
    let mut worlds = Vec::new();
    for _ in 0..length {
        time += random.below(50) as i64;
        let mut world = World { time, ..World::default() };
        match random.below(10) {
            0 => world.gone = (0..script.variables.len()).filter(|_| random.one_in(2)).collect(),
            1 if random.one_in(2) => {}
            1 => {
                let variable = random.below(script.variables.len());
                world.changed = Some((variable, maybe(random, script.variables[variable])));
            }
            2..=4 if !script.methods.is_empty() => {
                let method = random.below(script.methods.len());
                let (parameters, result) = &script.methods[method];
                let given =
                    if random.one_in(5) { random.below(parameters.len() + 1) } else { parameters.len() };
                let values = parameters[..given].iter().map(|ty| maybe(random, *ty)).collect();
                if random.one_in(2) {
                    world.start = Some((method, values));
                } else {
                    world.end = Some((method, values, result.and_then(|ty| maybe(random, ty))));
                }
            }
            _ => {
                let variable = random.below(script.variables.len());
                world.update = Some((variable, maybe(random, script.variables[variable])));
            }
        }
        worlds.push(world);
    }
    worlds
}

/// A history for a requirement script.
pub(crate) fn instants(random: &Rng, script: &Script, length: usize) -> Vec<World> {
    let mut time = random.below(100) as i64;
    let mut worlds: Vec<World> = Vec::new();
    let mut conditions = vec![Truth::Undefined; script.imported_conditions];
    for _ in 0..length {
        time += random.below(50) as i64;
        for truth in &mut conditions {
            if random.one_in(3) {
                *truth = random.pick(&[Truth::False, Truth::True, Truth::True, Truth::Undefined]);
            }
        }
        let events = script.imported_events.iter().map(|types| {
            let happens = random.one_in(2);
            happens.then(|| types.iter().map(|ty| maybe(random, *ty)).collect())
        });
        let events = events.collect();
        worlds.push(World { time, events, conditions: conditions.clone(), ..World::default() });
    }
    worlds
}
