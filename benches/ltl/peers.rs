//! Installable translators: `lbt` and `spin -f`. Missing ones are skipped and listed.

use invigil_ltl::formula::{Formulae, Node};
use invigil_ltl::{Atom, Formula};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit of a peer for one formula.
const TIME_LIMIT: Duration = Duration::from_secs(3);

/// Whether a program is installed.
pub(crate) fn is_installed(program: &str) -> bool {
    Command::new(program)
        .arg("-V")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok_and(|mut child| {
            // `lbt` would read.
            let _ = child.wait();
            true
        })
}

/// Number of states of `lbt` (generalised Büchi, marks on states); none without a result.
pub(crate) fn lbt(formulae: &Formulae, formula: Formula) -> Option<usize> {
    let text = run(Command::new("lbt"), &format!("{}\n", prefix(formulae, formula)))?;
    text.split_whitespace().next()?.parse().ok()
}

/// Number of states of the never claim of `spin`.
pub(crate) fn spin(formulae: &Formulae, formula: Formula) -> Option<usize> {
    let mut command = Command::new("spin");
    command.arg("-f").arg(infix(formulae, formula));
    let text = run(command, "")?;
    let states = text.lines().filter(|line| line.trim_end().ends_with(':')).count();
    (states > 0).then_some(states)
}

fn run(mut command: Command, input: &str) -> Option<String> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    child.stdin.take()?.write_all(input.as_bytes()).ok()?;
    let mut out = child.stdout.take()?;
    let reader = thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).ok().map(|_| text)
    });
    let until = Instant::now() + TIME_LIMIT;
    loop {
        match child.try_wait().ok()? {
            Some(status) if status.success() => return reader.join().ok()?,
            Some(_) => return None,
            None if Instant::now() > until => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            None => thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn atom(atom: Atom) -> String {
    format!("p{}", atom.0)
}

/// A formula in the syntax of `lbt`. Operators that it lacks are rewritten.
fn prefix(formulae: &Formulae, formula: Formula) -> String {
    let of = |part: &Formula| prefix(formulae, *part);
    let many = |sign: &str, parts: &[Formula]| {
        parts.iter().map(of).reduce(|all, next| format!("{sign} {all} {next}")).unwrap_or_default()
    };
    match formulae.node(formula) {
        Node::True => "t".into(),
        Node::Atom(name) => atom(*name),
        Node::Not(a) => format!("! {}", of(a)),
        Node::And(all) => many("&", all),
        Node::Or(all) => many("|", all),
        Node::Next(a) => format!("X {}", of(a)),
        Node::Finally(a) => format!("F {}", of(a)),
        Node::Globally(a) => format!("G {}", of(a)),
        Node::Until([a, b]) => format!("U {} {}", of(a), of(b)),
        Node::Release([a, b]) => format!("V {} {}", of(a), of(b)),
        Node::WeakUntil([a, b]) => format!("V {} | {} {}", of(b), of(a), of(b)),
        Node::StrongRelease([a, b]) => format!("U {} & {} {}", of(b), of(a), of(b)),
        _ => "f".into(),
    }
}

/// A formula in the syntax of `spin`.
fn infix(formulae: &Formulae, formula: Formula) -> String {
    let of = |part: &Formula| infix(formulae, *part);
    let many = |sign: &str, parts: &[Formula]| {
        format!("({})", parts.iter().map(of).collect::<Vec<String>>().join(sign))
    };
    match formulae.node(formula) {
        Node::True => "true".into(),
        Node::Atom(name) => atom(*name),
        Node::Not(a) => format!("!{}", of(a)),
        Node::And(all) => many(" && ", all),
        Node::Or(all) => many(" || ", all),
        Node::Next(a) => format!("X({})", of(a)),
        Node::Finally(a) => format!("<>({})", of(a)),
        Node::Globally(a) => format!("[]({})", of(a)),
        Node::Until([a, b]) => format!("({} U {})", of(a), of(b)),
        Node::Release([a, b]) => format!("({} V {})", of(a), of(b)),
        Node::WeakUntil([a, b]) => format!("({1} V ({0} || {1}))", of(a), of(b)),
        Node::StrongRelease([a, b]) => format!("({1} U ({0} && {1}))", of(a), of(b)),
        _ => "false".into(),
    }
}
