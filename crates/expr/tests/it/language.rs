//! The block language, construct by construct, compared with Python if an interpreter is available.

use invigil_expr::compare::ValueReader;
use invigil_expr::compile::{Block, BlockRole, Compiler, HostFunction, Snippet};
use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_expr::fault::{EvalResult, Fault, FaultKind};
use invigil_expr::heap::Heap;
use invigil_expr::machine::{Frame, Host, Machine};
use invigil_expr::text::TextArenas;
use invigil_expr::value::Value;

#[derive(Default)]
struct Lines(Vec<String>);

impl Host for Lines {
    fn wants_output(&self) -> bool {
        true
    }
    fn print(&mut self, line: &str) {
        self.0.push(line.into());
    }
    fn call(&mut self, function: usize, args: &[Value], view: ValueReader<'_>) -> EvalResult<Value> {
        self.0.push(format!("host {function} {}", view.str(&args[0]).unwrap_or("?")));
        Ok(Value::NONE)
    }
}

const HOSTS: &[HostFunction] = &[HostFunction::new("debugger", 1)];

/// Runs a program of functions and statements; returns its output.
fn run(text: &str) -> Result<Vec<String>, Box<Fault>> {
    let mut diagnostics = Vec::new();
    let block = Block::parse(Snippet::file(SourceId(0), text), &mut diagnostics);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{text}\n{diagnostics:#?}");
    let block = block.expect("parses");
    let mut compiler = Compiler::new(block.assigns.to_vec(), HOSTS);
    compiler.declare(&block);
    compiler.functions(&block);
    let compiled = compiler.block(&block, &[], BlockRole::Initialization);
    let (program, diagnostics) = compiler.finish();
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{text}\n{diagnostics:#?}");
    let mut env = vec![Value::UNSET; block.assigns.len()];
    let mut heap = Heap::default();
    let mut lines = Lines::default();
    let code = compiled.expect("compiles").code;
    let frame = Frame { env: &mut env, params: &[], text: "", heap: &mut heap };
    let result = Machine::default().run(&program, code, frame, &mut lines);
    heap.sweep();
    for value in env {
        heap.release(value);
    }
    heap.sweep();
    assert_eq!(heap.live_objects(), 0, "every object is freed: {text}");
    result.map(|_| lines.0)
}

fn prints(text: &str) -> Vec<String> {
    run(text).unwrap_or_else(|fault| panic!("{text}\n{fault:?}"))
}

fn fault(text: &str) -> FaultKind {
    match run(text) {
        Ok(lines) => panic!("{text}\nprinted {lines:?}"),
        Err(fault) => {
            assert!(fault.span.is_some(), "{text}: {fault:?} has no place");
            fault.kind
        }
    }
}

fn errors(text: &str) -> Vec<String> {
    let mut diagnostics = Vec::new();
    if let Some(block) = Block::parse(Snippet::file(SourceId(0), text), &mut diagnostics) {
        let mut compiler = Compiler::new(block.assigns.to_vec(), HOSTS);
        compiler.declare(&block);
        compiler.functions(&block);
        compiler.block(&block, &[], BlockRole::Initialization);
        diagnostics.extend(compiler.finish().1);
    }
    diagnostics.into_iter().filter(Diagnostic::is_error).map(|d| d.message).collect()
}

/// Programs and their output. All of them are Python programs with the same output.
const SAME_AS_PYTHON: &[(&str, &str)] = &[
    ("print(1 + 2 * 3 - 4)", "3"),
    ("print(7 // 2, -7 // 2, 7 // -2, 7 % 3, -7 % 3, 7 % -3)", "3 -4 -4 1 2 -2"),
    ("print(7 / 2, 2 ** 10, 2 ** -1, 2.5 * 2, 10 // 2.5)", "3.5 1024 0.5 5.0 4.0"),
    ("print(1e16, 1e-7, 0.1, 1.0, 123456789.5, 1e22)", "1e+16 1e-07 0.1 1.0 123456789.5 1e+22"),
    ("print(6 & 3, 6 | 3, 6 ^ 3, 1 << 4, 256 >> 3, ~5)", "2 7 5 16 32 -6"),
    ("print(True + 1, True == 1, 1 == 1.0, None == 0, 'a' == 1)", "2 True True False False"),
    ("print(1 < 2 < 3, 1 < 3 < 2, 1 != 2, not 1, not '')", "True False True False True"),
    ("print(0 or 'x', 1 and 2, None or [] or 0, '' and 1)", "x 2 0 "),
    ("x = None\nprint(x is None, x is not None)", "True False"),
    ("print('a' + 'b' * 3, 'abc' < 'abd', 'ell' in 'hello')", "abbb True True"),
    ("print('hello'[1], 'hello'[-1], 'hello'[1:3], 'hello'[::-1], 'héllo'[1])", "e o el olleh é"),
    ("print(len('héllo'), len([1, 2]), len({1: 2}), len({1, 1, 2}))", "5 2 1 2"),
    ("print([1, 'two', 3.0, None, True, (1,), {'k': [1]}])", "[1, 'two', 3.0, None, True, (1,), {'k': [1]}]"),
    ("print(repr(\"it's\"), repr('say \"hi\"'), repr('a\\n\\t\\\\'))", "\"it's\" 'say \"hi\"' 'a\\n\\t\\\\'"),
    ("a, b = 1, 2\na, b = b, a\nprint(a, b)", "2 1"),
    ("x = [1, 2, 3]\nx[0] = 9\nx.append(4)\ndel x[1]\nprint(x, x[-1], x[1:])", "[9, 3, 4] 4 [3, 4]"),
    ("x = [3, 1, 2]\nx.sort()\ny = x.pop()\nx.insert(0, 7)\nx.reverse()\nprint(x, y)", "[2, 1, 7] 3"),
    ("x = [1]\nx.extend([2, 3])\nx.remove(2)\nprint(x, x.index(3), x.count(1), 3 in x)", "[1, 3] 1 1 True"),
    (
        "d = {}\nd['a'] = 1\nd['b'] = 2\nd['a'] += 5\nprint(d, d.get('z'), d.get('z', 0))",
        "{'a': 6, 'b': 2} None 0",
    ),
    (
        "d = {1: 'x', 2: 'y'}\ndel d[1]\nd[3] = 'z'\nprint(list(d.keys()), list(d.values()))",
        "[2, 3] ['y', 'z']",
    ),
    (
        "d = {'a': {'b': [1]}}\nd['a']['b'].append(2)\nd['a']['c'] = 3\nprint(d)",
        "{'a': {'b': [1, 2], 'c': 3}}",
    ),
    (
        "d = {1: 2}\nv = d.pop(1)\nw = d.pop(1, 'no')\ndv = d.setdefault(5, 6)\nprint(v, w, dv, d)",
        "2 no 6 {5: 6}",
    ),
    ("for k, v in {'a': 1, 'b': 2}.items():\n    print(k, v)", "a 1|b 2"),
    (
        "s = set()\ns.add(1)\ns.add(2)\ns.add(1)\ns.discard(9)\nprint(len(s), 1 in s, 3 not in s)",
        "2 True True",
    ),
    (
        "print({1, 2} == {2, 1}, {1, 2} - {2}, {1} | {2}, {1, 2} & {2, 3}, {1} <= {1, 2})",
        "True {1} {1, 2} {2} True",
    ),
    (
        "s = {1, 2}\ns.remove(1)\ns.update([5])\nprint(s, s.issubset({2, 5, 6}), s.isdisjoint({7}))",
        "{2, 5} True True",
    ),
    (
        "print(set(), {1: 2} == {1: 2.0}, [1, 2] == [1, 2], (1, 2) < (1, 3), [2] > [1, 9])",
        "set() True True True True",
    ),
    ("t = 0\nfor i in range(5):\n    if i == 3:\n        continue\n    t += i\nprint(t)", "7"),
    ("for i in range(10, 0, -3):\n    print(i)", "10|7|4|1"),
    ("i = 0\nwhile True:\n    i += 1\n    if i > 4:\n        break\nprint(i)", "5"),
    ("print([x * x for x in range(5) if x % 2], {x: y for x, y in [(1, 2)]})", "[1, 9] {1: 2}"),
    ("print([(x, y) for x in [1, 2] for y in 'ab'])", "[(1, 'a'), (1, 'b'), (2, 'a'), (2, 'b')]"),
    (
        "print(any(x > 2 for x in [1, 2, 3]), all([]), sum([1, 2.5]), sum([[1], [2]], []))",
        "True True 3.5 [1, 2]",
    ),
    (
        "print(min(3, 1, 2), max([4, 9, 2]), sorted([3, 1, 2]), abs(-3), round(2.5), round(2.567, 2))",
        "1 9 [1, 2, 3] 3 2 2.57",
    ),
    (
        "print(int('12'), int(' -7 '), int(3.9), int('ff', 16), float('1.5'), str(12) + '!', bool([]))",
        "12 -7 3 255 1.5 12! False",
    ),
    (
        "print(hex(255), list(enumerate(['a', 'b'])), list(zip([1, 2], 'xy')), list(reversed([1, 2])))",
        "0xff [(0, 'a'), (1, 'b')] [(1, 'x'), (2, 'y')] [2, 1]",
    ),
    ("print('%d made %s overflow! %5.2f %x %%' % (3, 'q', 2.5, 255))", "3 made q overflow!  2.50 ff %"),
    ("n = 7\nprint(f'n={n} {n * 2:4d}|{n:04d}|{n / 2:.1f}|{\"s\"!r}')", "n=7   14|0007|3.5|'s'"),
    (
        "print('a,b'.split(','), ' x '.strip(), 'ab'.upper(), '-'.join(['a', 'b']), 'abc'.replace('b', 'x'))",
        "['a', 'b'] x AB a-b axc",
    ),
    (
        "print('abc'.startswith('ab'), 'abc'.find('c'), 'abc'.find('z'), 'aXa'.lower(), '12'.isdigit())",
        "True 2 -1 axa True",
    ),
    ("def f(n):\n    if n < 2:\n        return 1\n    return n * f(n - 1)\nprint(f(10))", "3628800"),
    ("def f(a, b):\n    c = a + b\n    return c\ndef g(x):\n    return f(x, x) * 2\nprint(g(3))", "12"),
    ("def nothing():\n    pass\nprint(nothing())", "None"),
    ("try:\n    x = {}['k']\nexcept KeyError:\n    print('caught')", "caught"),
    (
        "try:\n    try:\n        x = 1 // 0\n    except KeyError:\n        print('no')\nexcept (ValueError, ZeroDivisionError):\n    print('outer')",
        "outer",
    ),
    (
        "def f(x):\n    return [1][x]\ntry:\n    print(f(5))\nexcept IndexError:\n    print('from the function')",
        "from the function",
    ),
    ("x = 'yes' if 1 > 0 else 'no'\nprint(x)", "yes"),
    ("x = 5\nif x > 9:\n    print('a')\nelif x > 3:\n    print('b')\nelse:\n    print('c')", "b"),
    ("x = y = [1]\nprint(x, y)", "[1] [1]"),
    ("x = 1\nx = y = x + 1\nprint(x, y)", "2 2"),
    ("x = 1\nl = [0]\nx = l[0] = x - 5\nprint(x, l)", "-4 [-4]"),
    ("print('abcdef'[1::9223372036854775807], [1, 2, 3][1::9223372036854775807])", "b [2]"),
    (
        "n = 0\nfor c in 'añ€😀' * 10:\n    n += 1\nprint(n, [c for c in 'a long string with é and 😀 in it'][19:23])",
        "40 ['é', ' ', 'a', 'n']",
    ),
    ("print([] * 9000000000, '' * 9)", "[] "),
    ("x: int = 3\nx -= 1\nx *= 5\nx //= 3\nprint(x)", "3"),
    ("print(2 ** 62 + (2 ** 62 - 1), -2 ** 62 * 2)", "9223372036854775807 -9223372036854775808"),
    (
        "s = 'a long string that does not fit into a value'\nd = {s: 1}\nprint(d[s], s in d, s[2:6])",
        "1 True long",
    ),
    ("print(9007199254740993 == 9007199254740992.0, 1.5 < 2, 3 > 2.9)", "False True True"),
    ("print((1, [2, (3, {4})]), ((),), [[]])", "(1, [2, (3, {4})]) ((),) [[]]"),
    (
        "d = {}\nfor i in range(100):\n    d[i] = i * i\nfor i in range(0, 100, 2):\n    del d[i]\nprint(len(d), d[99], 4 in d, sum(d.values()))",
        "50 9801 False 166650",
    ),
    ("s = set()\nfor i in range(1000):\n    s.add(i % 37)\nprint(len(s), sorted(s)[:3])", "37 [0, 1, 2]"),
];

#[test]
fn programs_return_expected_values() {
    for (program, expected) in SAME_AS_PYTHON {
        assert_eq!(prints(program).join("|"), *expected, "{program}");
    }
}

#[test]
fn output_equals_that_of_python() {
    let script: String = SAME_AS_PYTHON
        .iter()
        .map(|(program, _)| format!("import io, contextlib\nb = io.StringIO()\nwith contextlib.redirect_stdout(b):\n    exec({program:?}, {{}})\nprint('|'.join(b.getvalue().split('\\n')[:-1]))\n"))
        .collect();
    let output = match std::process::Command::new("python3").arg("-c").arg(script).output() {
        Ok(output) => output,
        Err(_) => {
            eprintln!("skipped: needs python3");
            return;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    for ((program, expected), line) in SAME_AS_PYTHON.iter().zip(text.lines()) {
        assert_eq!(line, *expected, "Python disagrees on {program}");
    }
}

#[test]
fn assignment_copies_values() {
    assert_eq!(prints("a = [1]\nb = a\nb.append(2)\nprint(a, b)"), ["[1] [1, 2]"]);
    assert_eq!(prints("a = [1]\nd = {'k': a}\na.append(2)\nprint(a, d)"), ["[1, 2] {'k': [1]}"]);
    assert_eq!(prints("a = [1]\na.append(a)\nprint(a)"), ["[1, [1]]"]);
    assert_eq!(prints("a = [1, 2, 3]\nfor x in a:\n    a.append(x)\nprint(a)"), ["[1, 2, 3, 1, 2, 3]"]);
    assert_eq!(
        prints("def f(x):\n    x.append(9)\n    return x\na = [1]\nb = f(a)\nprint(a, b)"),
        ["[1] [1, 9]"]
    );
    // A change that faults part-way has no effect, whether the object is shared or not.
    let failing = "try:\n    s.update([1, [2]])\nexcept TypeError:\n    pass\nprint(s)";
    assert_eq!(prints(&format!("s = set()\n{failing}")), ["set()"]);
    assert_eq!(prints(&format!("s = set()\nt = s\n{failing}")), ["set()"]);
    // Removed elements do not count towards the nesting limit.
    let turns = "a = []\nb = []\nfor i in range(100):\n    a.append(b)\n    x = a.pop()\n    b.append(a)\n    y = b.pop()\nprint(a, b)";
    assert_eq!(prints(turns), ["[] []"]);
    assert_eq!(prints("s = {1, 2, 3}\nfor x in s:\n    s.remove(x)\nprint(s)"), ["set()"]);
}

#[test]
fn faults_carry_kind_and_span() {
    for (program, kind) in [
        ("x = 1 / 0", FaultKind::ZeroDivision),
        ("x = 1 % 0", FaultKind::ZeroDivision),
        ("x = 9223372036854775807 + 1", FaultKind::Overflow),
        ("x = 2 ** 63", FaultKind::Overflow),
        ("x = 1 << 63", FaultKind::Overflow),
        ("x = 'a' + 1", FaultKind::Type),
        ("x = [] < 1", FaultKind::Type),
        ("x = {}['k']", FaultKind::Key),
        ("x = [1][3]", FaultKind::Index),
        ("x = int('z')", FaultKind::Value),
        ("if 1 > 2:\n    y = 1\nx = y", FaultKind::Unset),
        ("assert 1 > 2, 'no'", FaultKind::Assertion),
        ("while True:\n    pass", FaultKind::Limit),
        ("def f(n):\n    return f(n)\nx = f(1)", FaultKind::Limit),
        ("x = 'ab'\nwhile True:\n    x = x + x", FaultKind::Limit),
        ("x = [0]\nwhile True:\n    x = x + x", FaultKind::Limit),
        ("x = []\nwhile True:\n    x = [x]", FaultKind::Limit),
        ("x = [1]\nfor i in range(60):\n    x = [x, x]\nprint(x)", FaultKind::Limit),
        (
            "x = [1]\ny = [1]\nfor i in range(60):\n    x = [x, x]\n    y = [y, y]\nz = x == y",
            FaultKind::Limit,
        ),
        ("x = {[1]: 2}", FaultKind::Type),
        ("a, b = [1]", FaultKind::Value),
        ("for i in range(1, 2, 0):\n    pass", FaultKind::Value),
        ("for i in range('a'):\n    pass", FaultKind::Type),
        ("x = [1].get(1)", FaultKind::Type),
        ("try:\n    while True:\n        pass\nexcept:\n    pass", FaultKind::Limit),
        ("x = 'a' * 99999999999", FaultKind::Limit),
        ("x = range(99999999999)", FaultKind::Limit),
        ("x = {1: 2}[0:1]", FaultKind::Type),
        ("x = {1, 2}[::2]", FaultKind::Type),
        ("s = 'a' * 16000000\nt = s.replace('a', s)", FaultKind::Limit),
        ("s = 'a' * 1000000\nt = s.join([s] * 1000)", FaultKind::Limit),
        ("s = 'a' * 16000000\nwhile True:\n    if 'b' in s:\n        x = 1", FaultKind::Limit),
        ("s = 'a' * 800000\nt = 'a' * 800000\nwhile s == t:\n    pass", FaultKind::Limit),
        ("x = [0] * 400000\nwhile len(x) > 0:\n    del x[0]", FaultKind::Limit),
    ] {
        assert_eq!(fault(program), kind, "{program}");
    }
}

#[test]
fn unsupported_syntax_is_reported_at_load() {
    for (program, words) in [
        ("x = lambda y: y", "`lambda` is not part"),
        ("import os", "`import` is not allowed in blocks"),
        ("class A:\n    pass", "classes are not part"),
        ("x = undefined_name", "no variable `undefined_name`"),
        ("x = unknown_function(1)", "no function `unknown_function`"),
        ("x = len(1, 2)", "takes 1 argument, got 2"),
        ("x = [1]\ny = x.appendd(2)", "no method `appendd`"),
        ("x = [1]\ny = [x.pop()]", "`pop` changes its variable"),
        ("x = 1\ny = x is 3", "values have no identity"),
        ("x = 99999999999999999999", "numbers must fit 64 bits"),
        ("x = '%d' % (1, 2)", "1 placeholders but 2 values"),
        ("x = '%q' % 1", "unknown format"),
        ("break", "outside a loop"),
        ("def f(a=1):\n    pass", "default values are not part"),
        ("def f():\n    pass\ndef f():\n    pass", "defined twice"),
        ("x = (yield)", "not part of the block language"),
        ("x.y = 1", "cannot assign to this expression"),
        ("try:\n    pass\nexcept Oops:\n    pass", "no error `Oops`"),
        ("x = 1 +", "expected an expression"),
    ] {
        let errors = errors(program);
        assert!(errors.iter().any(|e| e.contains(words)), "{program}: {errors:?}");
    }
}

#[test]
fn all_errors_are_reported_together() {
    let errors = errors("x = a\ny = b\nz = foo()\n");
    assert_eq!(errors.len(), 3, "{errors:?}");
}

#[test]
fn unknown_name_suggests_similar_one() {
    let mut diagnostics = Vec::new();
    let text = "count = 1\nx = cuont";
    let block = Block::parse(Snippet::file(SourceId(0), text), &mut diagnostics).unwrap();
    let mut compiler = Compiler::new(vec!["count".into(), "x".into()], &[]);
    compiler.block(&block, &[], BlockRole::Initialization);
    let (_, diagnostics) = compiler.finish();
    assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `count`?"));
    assert_eq!((diagnostics[0].span.start, diagnostics[0].span.end), (14, 19));
}

#[test]
fn deep_nesting_is_rejected() {
    // Parentheses alone are not nesting.
    assert!(errors(&format!("x = {}1{}", "(".repeat(5_000), ")".repeat(5_000))).is_empty());
    for text in [
        format!("x = {}1", "not ".repeat(20_000)),
        format!("x = {}1", "-".repeat(50_000)),
        format!("x = {}", "[".repeat(50_000)),
        format!("x = 1{}", " if 1 else 1".repeat(10_000)),
        format!("x = 1{}", "**1".repeat(20_000)),
        (0..300).map(|i| format!("{}if 1:\n", " ".repeat(i))).collect::<String>()
            + &" ".repeat(300)
            + "x = 1",
    ] {
        let on_large_stack = std::thread::Builder::new().stack_size(256 << 20).spawn(move || errors(&text));
        let errors = on_large_stack.unwrap().join().expect("no crash");
        assert!(!errors.is_empty());
    }
}

#[test]
fn event_text_is_copied_only_when_stored() {
    let text = "kept = name";
    let mut diagnostics = Vec::new();
    let block = Block::parse(Snippet::file(SourceId(0), text), &mut diagnostics).unwrap();
    let mut compiler = Compiler::new(vec!["kept".into()], &[]);
    let code = compiler.block(&block, &[("name".into(), 0)], BlockRole::Guard).unwrap();
    assert_eq!(code.params.iter().copied().collect::<Vec<_>>(), [0]);
    let (program, _) = compiler.finish();
    let event = String::from("....a name longer than fourteen bytes");
    let (mut heap, mut env) = (Heap::default(), [Value::UNSET]);
    let params = [Value::text(4, event.len() as u32 - 4)];
    let frame = Frame { env: &mut env, params: &params, text: &event, heap: &mut heap };
    Machine::default().run(&program, code.code, frame, &mut Lines::default()).unwrap();
    drop(event);
    heap.sweep();
    assert_eq!(TextArenas::NONE.str(&heap, &env[0]), Some("a name longer than fourteen bytes"));
}

#[test]
fn the_debugger_of_published_properties_is_a_host_function() {
    let mut diagnostics = Vec::new();
    let block = Block::parse(Snippet::file(SourceId(0), "import gdb"), &mut diagnostics).unwrap();
    let mut compiler = Compiler::new(Vec::new(), HOSTS);
    assert!(compiler.block(&block, &[], BlockRole::Initialization).is_some());
    assert_eq!(prints("gdb.execute('backtrace')"), ["host 0 backtrace"]);
}
