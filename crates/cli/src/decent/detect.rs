//! `invigil decent detect`.

use super::subject::{Subject, What};
use crate::terminal::Terminal;
use crate::{Trouble, files};
use clap::Args as Options;
use invigil_decent::encoding::States;
use invigil_decent::simulate::Conditions;
use invigil_decent::spec::Specification;
use invigil_decent::system::{Instant, MonitorId, PropositionId};
use invigil_lab::detect::{Diary, Found, Tally, Watched, detect};
use invigil_lab::periphery::{Clock, Millis, Polled, listed, moment};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Say how well monitors find out what people do, by their sensors
///
/// Every monitor that an activity is called like says for every instant whether
/// it goes on. Precision is the share of what it found that was so, recall the
/// share of what was so that it found, F1 the harmonic mean of both.
#[derive(Options)]
#[command(verbatim_doc_comment, after_help = DETECT)]
pub(crate) struct Args {
    /// A specification: FILE.dec, or FILE.xml of THEMIS
    #[arg(value_name = "SPEC")]
    spec: PathBuf,

    /// The folder of sensors: its `sensors.csv` has lines as `door,314.csv,switch` and `oven,36.csv,above 20`
    #[arg(long, value_name = "FOLDER")]
    sensors: PathBuf,

    /// What was done when: lines as `2017-01-31 08:10:00,2017-01-31 08:20:00,napping` [default: activities.csv of the
    /// folder]
    #[arg(long, value_name = "FILE")]
    activities: Option<PathBuf>,

    /// Another formula for a monitor: 'napping = F<=3 @bed'; may be given several times
    #[arg(long, value_name = "NAME = FORMULA")]
    instead: Vec<String>,

    /// Another formula for a monitor, beside what it is, to compare them; may be given several times
    #[arg(long, value_name = "NAME = FORMULA")]
    variant: Vec<String>,

    /// Also say how often this monitor holds, or all; may be given several times
    #[arg(long, value_name = "MONITOR")]
    watch: Vec<String>,

    /// Only these activities; may be given several times [default: all that were written down]
    #[arg(long, value_name = "ACTIVITY")]
    only: Vec<String>,

    /// When sensors are asked for the first time [default: the first moment of any file]
    #[arg(long, value_name = "MOMENT", value_parser = when)]
    from: Option<Millis>,

    /// When they are not asked any more [default: the last moment of any file]
    #[arg(long, value_name = "MOMENT", value_parser = when)]
    to: Option<Millis>,

    /// Milliseconds from one time to the next
    #[arg(long, value_name = "MS", default_value = "1000")]
    step: NonZeroU32,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

const DETECT: &str = "\
Examples:
  invigil decent gen-day apartment.home day/
  invigil decent detect apartment.dec --sensors day/
  invigil decent detect apartment.dec --sensors day/ --only napping \\
      --variant 'napping = G<=3(!@m_bedroom_light & @m_bedroom_bed_pressure)'";

fn when(text: &str) -> Result<Millis, String> {
    moment(text)
        .ok_or_else(|| "write milliseconds, or a date and a time as in '2017-01-31 08:00:08'".to_owned())
}

/// A line of a table.
struct Row {
    /// What it is about: an activity, a formula for it, or a monitor.
    name: String,
    /// Whether somebody has written down when it was so.
    is_activity: bool,
    watched: Watched,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    let is_xml = args.spec.extension().is_some_and(|ending| ending == "xml");
    let mut subject = Subject::file(&args.spec, is_xml, None, terminal)?;
    for text in &args.instead {
        subject.instead(text, terminal)?;
    }
    let variants = args.variant.iter().map(|text| subject.variant(text, terminal));
    let variants = variants.collect::<Result<Vec<_>, _>>()?;
    let What::Specification(loaded) = &subject.what else {
        return Err(Trouble::new("a formula has no monitors with names: give a specification"));
    };
    let specification = &loaded.specification;
    let path = args.activities.clone().unwrap_or_else(|| args.sensors.join("activities.csv"));
    let diary = diary(&path, specification)?;
    let sensors = sensors(&args.sensors, specification)?;
    let clock = clock(args, &sensors, &diary)?;
    let rows = rows(args, specification, &variants, &diary, clock)?;
    needs(specification, &rows, &sensors, &args.sensors)?;
    let network = subject.network(loaded, terminal)?;
    let mut polled = Polled::new(&specification.system, &sensors, clock);
    let watched: Vec<Watched> = rows.iter().map(|row| row.watched.clone()).collect();
    let found =
        detect::<States>(&specification.system, &network, &watched, &mut polled, Conditions::default());
    let found = found.map_err(Trouble::new)?;
    terminal.print(&if args.json { as_json(&rows, &found) } else { as_text(&rows, &found) })?;
    Ok(ExitCode::SUCCESS)
}

/// What was written down; each activity is called like a monitor.
fn diary(path: &Path, specification: &Specification) -> Result<Diary, Trouble> {
    let diary = Diary::read(&files::read(path, "table of activities")?, &path.display().to_string());
    let diary = diary.map_err(Trouble::new)?;
    match diary.entries.iter().find(|entry| specification.find(&entry.activity).is_none()) {
        Some(entry) => Err(Trouble::new(format_args!(
            "{}:{}: there is no monitor `{}`: an activity is called like the monitor that finds it",
            path.display(),
            entry.line,
            entry.activity
        ))),
        None => Ok(diary),
    }
}

/// A sensor: what it tells, and when it changed.
type Sensor = (PropositionId, Vec<(Millis, bool)>);

/// The sensors that somebody observes. A home may have many more.
fn sensors(folder: &Path, specification: &Specification) -> Result<Vec<Sensor>, Trouble> {
    let mut sensors = Vec::new();
    for sensor in listed(folder).map_err(Trouble::new)? {
        if let Some(proposition) = specification.system.find(&sensor.name) {
            sensors.push((proposition, sensor.changes().map_err(Trouble::new)?));
        }
    }
    Ok(sensors)
}

fn clock(args: &Args, sensors: &[Sensor], diary: &Diary) -> Result<Clock, Trouble> {
    let changes = sensors.iter().flat_map(|(_, changes)| changes).map(|(moment, _)| *moment);
    let noted = diary.entries.iter().flat_map(|entry| [entry.begin, entry.end]);
    let moments: Vec<Millis> = changes.chain(noted).collect();
    let start = args.from.or(moments.iter().min().copied()).unwrap_or(0);
    let end = args.to.or(moments.iter().max().copied()).unwrap_or(0);
    let clock = Clock { start, step: Millis::from(args.step.get()), end };
    let asked = end.checked_sub(start).map(|span| span / clock.step);
    match asked {
        Some(asked) if end > start && asked < Millis::from(Instant::MAX / 2) => Ok(clock),
        Some(_) if end > start => Err(Trouble::new(
            "sensors would be asked more than two thousand million times: give a larger --step",
        )),
        _ => Err(Trouble::new(
            "the sensors are never asked: the end is not after the beginning; give --from and --to",
        )),
    }
}

fn rows(
    args: &Args,
    specification: &Specification,
    variants: &[(MonitorId, MonitorId)],
    diary: &Diary,
    clock: Clock,
) -> Result<Vec<Row>, Trouble> {
    let noted = diary.activities();
    if let Some(unknown) = args.only.iter().find(|name| !noted.contains(&name.as_str())) {
        return Err(Trouble::new(format_args!(
            "`{unknown}` was not written down: there are {}",
            noted.join(", ")
        )));
    }
    let is_wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let mut rows = Vec::new();
    // In the order of the specification, in which what belongs together stands together.
    for id in specification.monitors() {
        let name = specification.name(id);
        if noted.contains(&name) && is_wanted(name) {
            rows.push(Row::new(name, true, id, diary.stays(name, clock)));
        }
        for (of, variant) in variants.iter().filter(|(of, _)| *of == id) {
            let stays = diary.stays(specification.name(*of), clock);
            rows.push(Row::new(specification.name(*variant), true, *variant, stays));
        }
    }
    for name in &args.watch {
        if name == "all" {
            let variants: Vec<MonitorId> = variants.iter().map(|(_, variant)| *variant).collect();
            let all = specification.monitors().filter(|id| !variants.contains(id));
            rows.extend(all.map(|id| Row::new(specification.name(id), false, id, Vec::new())));
            continue;
        }
        let id = specification.find(name).ok_or_else(|| {
            Trouble::new(format_args!(
                "there is no monitor `{name}` to watch: `invigil decent check-spec` names them"
            ))
        })?;
        rows.push(Row::new(name, false, id, Vec::new()));
    }
    Ok(rows)
}

impl Row {
    fn new(name: &str, is_activity: bool, monitor: MonitorId, stays: Vec<std::ops::Range<Instant>>) -> Row {
        Row { name: name.to_owned(), is_activity, watched: Watched { monitor, stays } }
    }
}

/// A monitor that waits for a sensor that is not there would wait for ever.
fn needs(
    specification: &Specification,
    rows: &[Row],
    sensors: &[Sensor],
    folder: &Path,
) -> Result<(), Trouble> {
    for row in rows {
        for proposition in specification.observed(row.watched.monitor) {
            if !sensors.iter().any(|(known, _)| *known == proposition) {
                let name = specification.system.name(proposition);
                return Err(Trouble::new(format_args!(
                    "`{}` needs the sensor `{name}`, which is not in {}: add a line `{name},FILE.csv,switch`",
                    row.name,
                    folder.join("sensors.csv").display()
                )));
            }
        }
    }
    Ok(())
}

fn as_text(rows: &[Row], found: &Found) -> String {
    let mut out = String::new();
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(8);
    let of = |is_activity: bool| {
        rows.iter().zip(&found.tallies).filter(move |(row, _)| row.is_activity == is_activity)
    };
    let share = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.2}"));
    // Writing to a string does not fail.
    if of(true).next().is_some() {
        let _ =
            writeln!(out, "{:width$}  {:>8}  {:>8}  precision  recall    F1", "activity", "went on", "found");
    }
    for (row, tally) in of(true) {
        let [precision, recall, f1] = [tally.precision(), tally.recall(), tally.f1()].map(share);
        let _ = writeln!(
            out,
            "{:width$}  {:>8}  {:>8}  {precision:>9}  {recall:>6}  {f1:>4}",
            row.name, tally.annotated, tally.held
        );
    }
    if of(false).next().is_some() {
        let blank = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(
            out,
            "{blank}{:width$}  {:>8}  {:>8}  {:>9}",
            "monitor", "holds", "does not", "not known"
        );
    }
    for (row, tally) in of(false) {
        let unknown = found.instants.saturating_sub(tally.said);
        let _ = writeln!(
            out,
            "{:width$}  {:>8}  {:>8}  {unknown:>9}",
            row.name,
            tally.held,
            tally.said - tally.held
        );
    }
    let _ =
        writeln!(out, "{} instants, {:.2} messages for each", found.instants, found.messages_per_instant());
    out
}

fn as_json(rows: &[Row], found: &Found) -> String {
    let row = |(row, tally): (&Row, &Tally)| {
        let mut told = json!({ "name": row.name, "said": tally.said, "found": tally.held });
        if row.is_activity {
            told["annotated"] = json!(tally.annotated);
            told["right"] = json!(tally.right);
            told["precision"] = json!(tally.precision());
            told["recall"] = json!(tally.recall());
            told["f1"] = json!(tally.f1());
        }
        told
    };
    let all = |is_activity: bool| -> Vec<Value> {
        let rows = rows.iter().zip(&found.tallies).filter(|(row, _)| row.is_activity == is_activity);
        rows.map(row).collect()
    };
    let report = json!({
        "instants": found.instants,
        "messages": found.messages,
        "messages_per_instant": found.messages_per_instant(),
        "activities": all(true),
        "monitors": all(false),
    });
    format!("{report:#}\n")
}
