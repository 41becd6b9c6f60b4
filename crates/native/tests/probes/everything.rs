//! A probe at every function at once, of real programs and of all their libraries: they do what they do unwatched.

use invigil_expr::diag::{SourceId, Span};
use invigil_monitor::automaton::{AtEnd, Automaton, End, Parts, State, Transition};
use invigil_monitor::event::{Catalog, Kind};
use invigil_monitor::verdict::Verdict;
use invigil_native::{Launch, Probes, Stream, Target};
use invigil_session::subject::Resume;
use invigil_session::{Options, Outcome, Session};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A property with one state, which stays in it at each of some addresses.
fn counts(addresses: &[u64], catalog: &mut Catalog) -> Automaton {
    let span = Span { source: SourceId(0), start: 0, end: 0 };
    let stay = End { target: Some(0), ..End::default() };
    let transitions = addresses.iter().map(|address| Transition {
        from: 0,
        symbol: catalog.symbol(&format!("*{address:#x}"), Kind::Before),
        guard: None,
        success: Some(stay.clone()),
        failure: None,
        reads: Vec::new(),
        condition: None,
        span,
    });
    Automaton::new(Parts {
        name: "every".to_owned(),
        transitions: transitions.collect(),
        states: vec![State {
            name: "all".to_owned(),
            verdict: Verdict::Accepting,
            is_final: false,
            action: None,
            at_end: AtEnd::Nothing,
            span,
        }],
        ..Parts::default()
    })
}

/// What is seen of a program from outside.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    stdout: String,
    stderr: String,
    ending: String,
}

/// A program with its arguments, run in a directory.
struct Work<'a> {
    program: &'a str,
    args: &'a [&'a str],
    dir: &'a Path,
}

/// What came of watching all functions.
struct Watched {
    seen: Seen,
    calls: u64,
    /// How functions were noticed: how many by what, in words.
    how: BTreeMap<String, usize>,
    /// The same of the functions that were asked for by name.
    named: Vec<(String, String)>,
    /// How long it took to put the probes there.
    setting_up: Duration,
}

impl Work<'_> {
    fn unwatched(&self) -> Seen {
        let done = Command::new(self.program).args(self.args).current_dir(self.dir).output().unwrap();
        Seen {
            stdout: String::from_utf8_lossy(&done.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
            ending: format!("it exited with status {}", done.status.code().unwrap()),
        }
    }

    fn watched(&self, probes: Probes, chosen: impl Fn(usize) -> bool) -> Watched {
        let written = tempfile::tempdir().unwrap();
        let file = |name: &str| written.path().join(name);
        let stream = |name: &str| Stream::File(File::create(file(name)).unwrap().into());
        let mut launch = Launch::new(self.program).args(self.args.iter().copied()).dir(self.dir);
        (launch.stdin, launch.stdout, launch.stderr) = (Stream::Null, stream("out"), stream("err"));
        launch.probes = probes;
        let target = Target::launch(&launch).unwrap();
        let begun = Instant::now();
        let addresses: Vec<u64> = target.code_starts();
        let mut numbers = 0..addresses.len();
        let addresses: Vec<u64> =
            addresses.into_iter().filter(|_| numbers.next().is_some_and(&chosen)).collect();
        let names = NAMES.iter().filter_map(|name| {
            Some((name.to_string(), format!("*{:#x}", target.address_of(name)?)))
        });
        let names: Vec<(String, String)> = names.collect();
        let mut catalog = Catalog::default();
        let automaton = Arc::new(counts(&addresses, &mut catalog));
        let mut session =
            Session::new(Box::new(target), vec![automaton], catalog, Vec::new(), Options::default());
        // A function that begins with something that cannot be executed elsewhere can carry no point at all.
        session.start().unwrap();
        eprintln!("prepared {:?}", begun.elapsed());
        let setting_up = begun.elapsed();
        let outcome = session.run(&Resume::Continue).unwrap();
        eprintln!("ran {:?}", begun.elapsed());
        let Outcome::Ended(ending) = outcome else {
            let frames = session.subject().frames(20);
            panic!("{outcome:?} {} {frames:#?}", session.subject().place())
        };
        assert!(!session.is_blind());
        let listed = session.subject().probes();
        if std::env::var("SHOW").is_ok() {
            for probe in listed.iter().filter(|probe| probe.how != "probe") {
                eprintln!("{probe:?}");
            }
        }
        let mut how = BTreeMap::new();
        for probe in &listed {
            *how.entry(probe.how.clone()).or_insert(0) += 1;
        }
        let by_event: BTreeMap<&str, &str> =
            listed.iter().map(|probe| (probe.event.as_str(), probe.how.as_str())).collect();
        let named = names.iter().filter_map(|(name, event)| {
            Some((name.clone(), by_event.get(event.as_str())?.to_string()))
        });
        let read = |name| String::from_utf8_lossy(&std::fs::read(file(name)).unwrap()).into_owned();
        Watched {
            seen: Seen { stdout: read("out"), stderr: read("err"), ending: ending.to_string() },
            calls: session.report().properties[0].steps,
            how: how.clone(),
            named: named.collect(),
            setting_up,
        }
    }

    /// Runs it unwatched and watched: nobody can tell the difference. Gives how many calls there were.
    fn is_the_same_watched(&self, probes: Probes) -> u64 {
        let unwatched = self.unwatched();
        let watched = self.watched(probes, |_| true);
        eprintln!("{}: {} calls, {:?}, {:?}", self.program, watched.calls, watched.how, watched.named);
        eprintln!("{:?}", watched.setting_up);
        assert_eq!(watched.seen, unwatched);
        watched.calls
    }
}

/// Functions that must be among the probed.
const NAMES: [&str; 6] = ["malloc", "free", "memcpy", "pthread_mutex_lock", "read", "write"];

#[test]
fn a_shell() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"
        fib() { if [ $1 -lt 2 ]; then echo $1; else echo $(( $(fib $(($1 - 1))) + $(fib $(($1 - 2))) )); fi; }
        fib 4
        for i in $(seq 1 200); do x=$((x + i * i)); s="$s${i: -1}"; done
        echo $x ${#s} "${s//1/one}"
        printf '%s\n' b c a | sort | while read line; do echo "<$line>"; done
        declare -A all; for w in one two three; do all[$w]=${#w}; done; echo "${!all[@]}" "${all[@]}" | wc -c
        case $x in *7*) echo seven;; *) echo none;; esac
        trap 'echo trapped' USR1; kill -USR1 $$
        (exit 3); echo $?
        cat <<< "here $(( 1 << 20 ))" | tr a-z A-Z
        exit 7"#;
    let work = Work { program: "bash", args: &["-c", script], dir: dir.path() };
    assert!(work.is_the_same_watched(Probes::Inline) > 10_000);
}

#[test]
fn a_database() {
    let dir = tempfile::tempdir().unwrap();
    let script = "
        create table t(id integer primary key, name text, value real);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
            insert into t select i, printf('name %d', i * 7919 % 3000), i * 1.5 from n;
        create index by_name on t(name);
        select count(*), sum(value), min(name), max(name) from t where name like '%9%';
        select a.id, b.name from t a join t b on a.id = b.id + 1 order by b.name desc limit 5;
        begin; update t set value = value * 2 where id % 3 = 0; delete from t where id % 7 = 0; commit;
        select group_concat(id), upper(substr(name, 1, 3)) from (select * from t order by value limit 9);
        pragma integrity_check;";
    let work = Work { program: "sqlite3", args: &["test.db", script], dir: dir.path() };
    let unwatched = work.unwatched();
    std::fs::remove_file(dir.path().join("test.db")).unwrap();
    let watched = work.watched(Probes::Inline, |_| true);
    eprintln!("{}: {} calls, {:?}, {:?}", work.program, watched.calls, watched.how, watched.named);
    assert_eq!(watched.seen, unwatched);
}

#[test]
fn a_compiler() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("work.c"), "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) { for (int i = 0; i < argc; i++) puts(argv[i]); return atoi(argv[0]); }").unwrap();
    let work = Work { program: "tcc", args: &["-c", "work.c", "-o", "work.o"], dir: dir.path() };
    work.is_the_same_watched(Probes::Inline);
}

#[test]
fn a_large_compiler() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("work.c"), "int printf(const char *, ...);\nint main(int argc, char **argv) { for (int i = 0; i < argc; i++) printf(\"%s\", argv[i]); return argc; }").unwrap();
    let path = Command::new("gcc").arg("-print-prog-name=cc1").output().unwrap();
    let path = String::from_utf8(path.stdout).unwrap();
    let work = Work { program: path.trim(), args: &["-quiet", "-O2", "work.c", "-o", "work.s"], dir: dir.path() };
    work.is_the_same_watched(Probes::Inline);
}

#[test]
fn a_program_in_cpp() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("build.ninja"), "rule cp\n  command = cp $in $out\nbuild b: cp a\nbuild c: cp b\nbuild d: cp b\nbuild e: cp d\n").unwrap();
    std::fs::write(dir.path().join("a"), "a").unwrap();
    let work = Work { program: "ninja", args: &["-n", "-v"], dir: dir.path() };
    work.is_the_same_watched(Probes::Inline);
}

#[test]
fn a_program_in_rust() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..40 {
        let text: String = (0..200).map(|i| format!("line {i} of {n}: {}\n", i * n % 97)).collect();
        std::fs::write(dir.path().join(format!("file{n}.txt")), text).unwrap();
    }
    let work = Work { program: "rg", args: &["--sort", "path", "-n", r"(\d)\1|: 9[0-4]$|of 3[^ ]: (4|5).", "-P"], dir: dir.path() };
    work.is_the_same_watched(Probes::Inline);
    let work = Work { program: "rg", args: &["-c", "-j4", ": 9[0-4]$"], dir: dir.path() };
    work.is_the_same_watched(Probes::Inline);
}
