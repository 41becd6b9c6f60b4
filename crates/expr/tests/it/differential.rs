//! Random programs against reference implementations: integer expressions against a tree walk in 128 bits, and
//! containers against the standard library.

use invigil_expr::compile::{Block, BlockRole, Compiler, Snippet};
use invigil_expr::diag::SourceId;
use invigil_expr::fault::{EvalResult, FaultKind};
use invigil_expr::heap::Heap;
use invigil_expr::machine::{Frame, Host, Machine};
use invigil_expr::value::Value;
use invigil_test_support::cases;
use proptest::prelude::*;

#[derive(Default)]
struct Lines(Vec<String>);

impl Host for Lines {
    fn wants_output(&self) -> bool {
        true
    }
    fn print(&mut self, line: &str) {
        self.0.push(line.into());
    }
    fn call(
        &mut self,
        _: usize,
        _: &[Value],
        _: invigil_expr::compare::ValueReader<'_>,
    ) -> EvalResult<Value> {
        Ok(Value::NONE)
    }
}

/// Runs a block; returns its output or the kind of its fault.
fn run(text: &str, names: &[&str], env: &mut [Value]) -> Result<Vec<String>, FaultKind> {
    let mut diagnostics = Vec::new();
    let block = Block::parse(Snippet::file(SourceId(0), text), &mut diagnostics).expect(text);
    let mut compiler = Compiler::new(names.iter().map(|name| (*name).into()).collect(), &[]);
    let compiled = compiler.block(&block, &[], BlockRole::Update { states: &[] });
    let (program, diagnostics) = compiler.finish();
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:?}");
    let mut heap = Heap::default();
    let mut lines = Lines::default();
    let frame = Frame { env, params: &[], text: "", heap: &mut heap };
    let result = Machine::default().run(&program, compiled.expect("compiles").code, frame, &mut lines);
    heap.sweep();
    for value in env.iter() {
        heap.release(*value);
    }
    heap.sweep();
    assert_eq!(heap.live_objects(), 0, "{text}");
    result.map(|_| lines.0).map_err(|fault| fault.kind)
}

// ---- expressions -----------------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Tree {
    Int(i64),
    Variable(usize),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    Choice(Box<Tree>, Box<Tree>, Box<Tree>),
}

const NAMES: [&str; 3] = ["a", "b", "c"];
const OPS: [&str; 14] = ["+", "-", "*", "//", "%", "&", "|", "^", "<", "<=", "==", "!=", "and", "or"];

impl Tree {
    fn text(&self) -> String {
        match self {
            Tree::Int(i) if *i < 0 => format!("({i})"),
            Tree::Int(i) => i.to_string(),
            Tree::Variable(at) => NAMES[*at].into(),
            Tree::Binary(op, a, b) => format!("({} {op} {})", a.text(), b.text()),
            Tree::Not(a) => format!("int(not {})", a.text()),
            Tree::Choice(c, a, b) => format!("({} if {} else {})", a.text(), c.text(), b.text()),
        }
    }

    /// The value, in 128 bits but checked to fit 64 at every step.
    fn value(&self, env: &[i64]) -> Result<i128, FaultKind> {
        let fit = |n: i128| i64::try_from(n).map(i128::from).map_err(|_| FaultKind::Overflow);
        Ok(match self {
            Tree::Int(i) => i128::from(*i),
            Tree::Variable(at) => i128::from(env[*at]),
            Tree::Not(a) => i128::from(a.value(env)? == 0),
            Tree::Choice(c, a, b) => {
                if c.value(env)? != 0 {
                    a.value(env)?
                } else {
                    b.value(env)?
                }
            }
            Tree::Binary(op, a, b) => {
                let a = a.value(env)?;
                match (*op, a) {
                    ("and", 0) => return Ok(0),
                    ("or", a) if a != 0 => return Ok(a),
                    ("and" | "or", _) => return b.value(env),
                    _ => {}
                }
                let b = b.value(env)?;
                let divided = |result: fn(i128, i128) -> i128| match b {
                    0 => Err(FaultKind::ZeroDivision),
                    b => fit(result(a, b)),
                };
                match *op {
                    "+" => fit(a + b)?,
                    "-" => fit(a - b)?,
                    "*" => fit(a * b)?,
                    "//" => divided(|a, b| a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0))?,
                    "%" => divided(|a, b| ((a % b) + b) % b)?,
                    "&" => a & b,
                    "|" => a | b,
                    "^" => a ^ b,
                    "<" => i128::from(a < b),
                    "<=" => i128::from(a <= b),
                    "==" => i128::from(a == b),
                    _ => i128::from(a != b),
                }
            }
        })
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let int = prop_oneof![
        4 => -9i64..10,
        1 => Just(i64::MAX),
        1 => Just(i64::MIN + 1),
        1 => any::<i64>().prop_filter("has a literal", |i| *i != i64::MIN),
    ];
    let leaf = prop_oneof![int.prop_map(Tree::Int), (0usize..3).prop_map(Tree::Variable)];
    leaf.prop_recursive(5, 40, 3, |inner| {
        prop_oneof![
            6 => (proptest::sample::select(&OPS[..]), inner.clone(), inner.clone())
                .prop_map(|(op, a, b)| Tree::Binary(op, Box::new(a), Box::new(b))),
            1 => inner.clone().prop_map(|a| Tree::Not(Box::new(a))),
            1 => (inner.clone(), inner.clone(), inner)
                .prop_map(|(c, a, b)| Tree::Choice(Box::new(c), Box::new(a), Box::new(b))),
        ]
    })
}

fn variables() -> impl Strategy<Value = [i64; 3]> {
    (any::<i64>(), -9i64..10, 0i64..2).prop_map(|(a, b, c)| [a, b, c])
}

// ---- containers ------------------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Change {
    Set(i64, i64),
    Delete(i64),
    Add(i64),
    Discard(i64),
    Push(i64),
    Pop,
    Insert(i64, i64),
    Share,
}

fn change() -> impl Strategy<Value = Change> {
    let key = -20i64..20;
    prop_oneof![
        3 => (key.clone(), 0i64..100).prop_map(|(k, v)| Change::Set(k, v)),
        2 => key.clone().prop_map(Change::Delete),
        3 => key.clone().prop_map(Change::Add),
        2 => key.clone().prop_map(Change::Discard),
        3 => key.clone().prop_map(Change::Push),
        1 => Just(Change::Pop),
        1 => (0i64..5, key).prop_map(|(at, v)| Change::Insert(at, v)),
        1 => Just(Change::Share),
    ]
}

fn shown<T: ToString>(open: char, items: impl IntoIterator<Item = T>, close: char) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("{open}{}{close}", items.join(", "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn compiled_expressions_equal_tree_evaluation(tree in tree(), env in variables()) {
        let text = format!("print(0 + ({}))", tree.text());
        let mut values = env.map(Value::int);
        let expected = tree.value(&env).map(|n| vec![n.to_string()]);
        prop_assert_eq!(run(&text, &NAMES, &mut values), expected, "{}", text);
    }

    /// The same as guards and updates, which may use the fast path.
    #[test]
    fn fast_path_and_machine_agree_on_guards_and_updates(a in tree(), env in variables()) {
        let text = format!("a = {}\nb = a + 1\nc = a - b\nprint(a, b, c)", a.text());
        let mut values = env.map(Value::int);
        let expected = a.value(&env).and_then(|a| {
            let b = a + 1;
            i64::try_from(b).map_err(|_| FaultKind::Overflow)?;
            Ok(vec![format!("{a} {b} {}", a - b)])
        });
        // A comparison is a bool in the language and a number in the reference.
        let given = run(&text, &NAMES, &mut values).map(|lines| {
            lines.iter().map(|line| line.replace("True", "1").replace("False", "0")).collect::<Vec<_>>()
        });
        prop_assert_eq!(given, expected, "{}", text);
    }

    #[test]
    fn containers_agree_with_std_collections(changes in proptest::collection::vec(change(), 0..120)) {
        let mut text = String::from("d = {}\ns = set()\nl = []\nshared = []\n");
        let (mut dict, mut set, mut list) = (Vec::<(i64, i64)>::new(), Vec::<i64>::new(), Vec::<i64>::new());
        let mut shared = Vec::new();
        for change in &changes {
            match *change {
                Change::Set(k, v) => {
                    text += &format!("d[{k}] = {v}\n");
                    match dict.iter_mut().find(|(known, _)| *known == k) {
                        Some(entry) => entry.1 = v,
                        None => dict.push((k, v)),
                    }
                }
                Change::Delete(k) => {
                    text += &format!("if {k} in d:\n    del d[{k}]\n");
                    dict.retain(|(known, _)| *known != k);
                }
                Change::Add(k) => {
                    text += &format!("s.add({k})\n");
                    if !set.contains(&k) {
                        set.push(k);
                    }
                }
                Change::Discard(k) => {
                    text += &format!("s.discard({k})\n");
                    set.retain(|known| *known != k);
                }
                Change::Push(v) => {
                    text += &format!("l.append({v})\n");
                    list.push(v);
                }
                Change::Pop => {
                    text += "if l:\n    l.pop()\n";
                    list.pop();
                }
                Change::Insert(at, v) => {
                    text += &format!("l.insert({at}, {v})\n");
                    list.insert((at as usize).min(list.len()), v);
                }
                // Both variables share one object until one of them changes.
                Change::Share => {
                    text += "shared = l\n";
                    shared.clone_from(&list);
                }
            }
        }
        text += "print(d)\nprint(len(s), list(s))\nprint(l)\nprint(shared)\n";
        let mut env = [Value::UNSET; 4];
        let expected = vec![
            shown('{', dict.iter().map(|(k, v)| format!("{k}: {v}")), '}'),
            format!("{} {}", set.len(), shown('[', &set, ']')),
            shown('[', &list, ']'),
            shown('[', &shared, ']'),
        ];
        prop_assert_eq!(run(&text, &["d", "s", "l", "shared"], &mut env), Ok(expected), "{}", text);
    }
}
