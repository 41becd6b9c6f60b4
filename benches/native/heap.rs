//! A property over all allocations and deallocations of programs of the distribution, compared with valgrind on the same
//! runs.

use super::programs::{Programs, alone};
use super::requirements::Requirements;
use super::{Outcome, Size, ours};
use crate::{best_of, print_table};
use invigil_native::ProbeMode;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The property of the example.
const HEAP: &str = include_str!("../../examples/heap/heap.prop");

/// A table is filled, indexed, read and modified: blocks of all sizes, many of them reallocated.
const QUERIES: &str = "
create table people(id integer primary key, name text, town text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < COUNT)
    insert into people select i, hex(i * 7919 % 100003), 'town ' || i from n;
create index names on people(name);
select count(*), sum(length(town)) from people where name like '3%';
select substr(name, 1, 4), count(*), length(group_concat(town)) from people group by 1 order by 2 desc limit 3;
update people set town = town || replace(name, '3', 'three') where id % 3 = 0;
select count(*) from people a join people b on a.name = b.name;
delete from people where id % 7 = 0;
";

/// A table of lists and texts.
const HASHES: &str = r#"
my (%all, $sum); for my $round (1..2) { for my $i (1..COUNT) { $all{"k$i"} = [$i, "v$i", $round] } }
$sum += length(join ",", @{$all{$_}}) for sort keys %all; %all = (); print "$sum\n";
"#;

struct Whole {
    name: &'static str,
    count: u64,
    args: fn(&Programs, &str) -> Outcome<Vec<String>>,
    text: &'static str,
}

const WHOLE: [Whole; 2] = [
    Whole { name: "sqlite3", count: 240_000, args: queries, text: QUERIES },
    Whole { name: "perl", count: 200_000, args: |_, text| Ok(vec!["-e".into(), text.into()]), text: HASHES },
];

fn queries(programs: &Programs, text: &str) -> Outcome<Vec<String>> {
    let file = programs.path("queries.sql");
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(vec![":memory:".into(), format!(".read {}", file.display())])
}

pub(crate) fn run(programs: &Programs, size: Size, requirements: &mut Requirements) -> Outcome {
    println!(
        "memory allocated and freed: whole runs under examples/heap/heap.prop, the best of the runs; valgrind's \
         memcheck looks at every access to memory besides"
    );
    let valgrind = found("valgrind");
    if valgrind.is_none() {
        println!("  the package `valgrind` is not installed: its columns are skipped");
    }
    let (runs, part) = if size == Size::Quick { (2, 10) } else { (3, 1) };
    let head = ["program", "events", "ns each", "alone s", "invigil s", "slower", "valgrind s", "slower"];
    let left = ["left at the end", "by valgrind"];
    let mut rows = vec![head.into_iter().chain(left).map(str::to_owned).collect::<Vec<_>>()];
    for whole in &WHOLE {
        let what = format!("{} under the property over its memory, faster than under valgrind", whole.name);
        let Some(program) = found(whole.name) else {
            requirements.unknown(&format!("{what}: it is not installed"));
            continue;
        };
        let text = whole.text.replace("COUNT", &(whole.count / part).to_string());
        let args = (whole.args)(programs, &text)?;
        let (bare, done) = best_of(runs, || alone(&program, &args));
        done?;
        let (ours, watched) = best_of(runs, || ours::watch(&program, &args, HEAP, ProbeMode::Inline));
        let watched = watched?;
        let (bare, ours) = (bare.wall.as_secs_f64(), ours.wall.as_secs_f64());
        let mut row = vec![
            whole.name.to_owned(),
            watched.events.to_string(),
            format!("{:.0}", (ours - bare) * 1e9 / watched.events.max(1) as f64),
            format!("{bare:.3}"),
            format!("{ours:.3}"),
            format!("{:.1}x", ours / bare),
        ];
        match &valgrind {
            Some(valgrind) => {
                let (theirs, said) =
                    best_of(if size == Size::Quick { 1 } else { 2 }, || memcheck(valgrind, &program, &args));
                let theirs = theirs.wall.as_secs_f64();
                row.extend([format!("{theirs:.3}"), format!("{:.1}x", theirs / bare)]);
                row.extend([watched.violations.to_string(), said?]);
                requirements.at_least(&what, theirs / ours, 1.0, "x");
            }
            None => {
                row.extend(["-".to_owned(), "-".to_owned(), watched.violations.to_string(), "-".to_owned()]);
                requirements.unknown(&format!("{what}: valgrind is not installed"));
            }
        }
        rows.push(row);
    }
    print_table(&rows);
    println!();
    Ok(())
}

/// Path of a program.
fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Runs a program under valgrind and returns the number of blocks that were not freed.
fn memcheck(valgrind: &Path, program: &Path, args: &[String]) -> Outcome<String> {
    let output = Command::new(valgrind)
        .args(["--tool=memcheck", "--run-libc-freeres=no"])
        .arg(program)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("valgrind failed: {said}"));
    }
    let left = said.lines().find_map(|line| line.split_once("in use at exit: ")?.1.split_once(" bytes in "));
    left.and_then(|(_, blocks)| Some(blocks.split_once(' ')?.0.to_owned()))
        .ok_or_else(|| format!("unexpected output of valgrind: {said}"))
}
