//! `invigil decent detect`: scores monitors that detect activities from sensor data.

use super::loaded_spec::{LoadedSpec, SpecKind};
use crate::terminal::Terminal;
use crate::{CliError, files};
use clap::Args as Options;
use invigil_decent::encoding::States;
use invigil_decent::simulate::Conditions;
use invigil_decent::spec::Specification;
use invigil_decent::system::{Instant, MonitorId, PropositionId};
use invigil_lab::detect::{AnnotatedMonitor, Annotations, Detection, Tally, detect};
use invigil_lab::inputs::{Clock, Millis, PolledSensors, parse_timestamp, read_sensor_list};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Measure how well monitors detect activities from sensor data
///
/// For each instant, the monitor with the name of an activity states whether the
/// activity is going on. Precision is the fraction of detected instants that are
/// correct, recall the fraction of annotated instants that are detected, and F1
/// the harmonic mean of both.
#[derive(Options)]
#[command(verbatim_doc_comment, after_help = DETECT)]
pub(crate) struct Args {
    /// Specification: FILE.dec, or FILE.xml of THEMIS
    #[arg(value_name = "SPEC")]
    spec: PathBuf,

    /// Directory of sensors; its `sensors.csv` has lines such as `door,314.csv,switch` and `oven,36.csv,above 20`
    #[arg(long, value_name = "DIR")]
    sensors: PathBuf,

    /// Annotated activities: lines such as `2017-01-31 08:10:00,2017-01-31 08:20:00,napping` [default: activities.csv in
    /// the directory of sensors]
    #[arg(long, value_name = "FILE")]
    activities: Option<PathBuf>,

    /// Replace the formula of a monitor: 'napping = F<=3 @bed'; repeatable
    #[arg(long, value_name = "NAME = FORMULA")]
    instead: Vec<String>,

    /// Add a variant of a monitor with another formula, for comparison; repeatable
    #[arg(long, value_name = "NAME = FORMULA")]
    variant: Vec<String>,

    /// Also report how often this monitor holds, or `all`; repeatable
    #[arg(long, value_name = "MONITOR")]
    watch: Vec<String>,

    /// Only these activities, and the variants of all; repeatable [default: all annotated ones]
    #[arg(long, value_name = "ACTIVITY")]
    only: Vec<String>,

    /// Time of the first poll [default: the earliest time in the files]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    from: Option<Millis>,

    /// End of polling [default: the latest time in the files]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    to: Option<Millis>,

    /// Polling interval in milliseconds
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

fn parse_time(text: &str) -> Result<Millis, String> {
    parse_timestamp(text)
        .ok_or_else(|| "expected milliseconds, or a date and time such as '2017-01-31 08:00:08'".to_owned())
}

/// A row of the report.
struct Row {
    /// Name of the activity, of its variant, or of the monitor.
    name: String,
    /// Whether it is compared with annotations, as every activity and variant is.
    is_activity: bool,
    annotated_monitor: AnnotatedMonitor,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<ExitCode, CliError> {
    let is_xml = args.spec.extension().is_some_and(|ending| ending == "xml");
    let mut spec = LoadedSpec::file(&args.spec, is_xml, None, terminal)?;
    for text in &args.instead {
        spec.replace_formula(text, terminal)?;
    }
    let variants = args.variant.iter().map(|text| spec.add_variant(text, terminal));
    let variants = variants.collect::<Result<Vec<_>, _>>()?;
    let SpecKind::Specification(loaded) = &spec.kind else {
        return Err(CliError::new("a formula has no named monitors; give a specification"));
    };
    let specification = &loaded.specification;
    let path = args.activities.clone().unwrap_or_else(|| args.sensors.join("activities.csv"));
    let annotations = annotations(&path, specification)?;
    let sensors = sensors(&args.sensors, specification)?;
    let clock = clock(args, &sensors, &annotations)?;
    let rows = rows(args, specification, &variants, &annotations, clock)?;
    check_sensors(specification, &rows, &sensors, &args.sensors)?;
    let network = spec.network(loaded, terminal)?;
    let mut polled = PolledSensors::new(&specification.system, &sensors, clock);
    let monitors: Vec<AnnotatedMonitor> = rows.iter().map(|row| row.annotated_monitor.clone()).collect();
    let detection =
        detect::<States>(&specification.system, &network, &monitors, &mut polled, Conditions::default());
    let detection = detection.map_err(CliError::new)?;
    terminal.print(&if args.json { as_json(&rows, &detection) } else { as_text(&rows, &detection) })?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the annotations. Each activity must have the name of a monitor.
fn annotations(path: &Path, specification: &Specification) -> Result<Annotations, CliError> {
    let annotations =
        Annotations::read(&files::read(path, "table of activities")?, &path.display().to_string());
    let annotations = annotations.map_err(CliError::new)?;
    match annotations.entries.iter().find(|entry| specification.find(&entry.activity).is_none()) {
        Some(entry) => Err(CliError::new(format_args!(
            "{}:{}: no monitor is named `{}`; an activity needs a monitor of the same name",
            path.display(),
            entry.line,
            entry.activity
        ))),
        None => Ok(annotations),
    }
}

/// A sensor's proposition and its changes over time.
type Sensor = (PropositionId, Vec<(Millis, bool)>);

/// Loads the sensors that the specification uses; the directory may have more.
fn sensors(folder: &Path, specification: &Specification) -> Result<Vec<Sensor>, CliError> {
    let mut sensors = Vec::new();
    for sensor in read_sensor_list(folder).map_err(CliError::new)? {
        if let Some(proposition) = specification.system.find_proposition(&sensor.name) {
            sensors.push((proposition, sensor.changes().map_err(CliError::new)?));
        }
    }
    Ok(sensors)
}

fn clock(args: &Args, sensors: &[Sensor], annotations: &Annotations) -> Result<Clock, CliError> {
    let changes = sensors.iter().flat_map(|(_, changes)| changes).map(|(time, _)| *time);
    let bounds = annotations.entries.iter().flat_map(|entry| [entry.begin, entry.end]);
    let times: Vec<Millis> = changes.chain(bounds).collect();
    let start = args.from.or(times.iter().min().copied()).unwrap_or(0);
    let end = args.to.or(times.iter().max().copied()).unwrap_or(0);
    let clock = Clock { start, step: Millis::from(args.step.get()), end };
    let polls = end.checked_sub(start).map(|span| span / clock.step);
    match polls {
        Some(polls) if end > start && polls < Millis::from(Instant::MAX / 2) => Ok(clock),
        Some(_) if end > start => Err(CliError::new("more than 2^31 polls; give a larger --step")),
        _ => Err(CliError::new("no polls: the end is not after the start; give --from and --to")),
    }
}

fn rows(
    args: &Args,
    specification: &Specification,
    variants: &[(MonitorId, MonitorId)],
    annotations: &Annotations,
    clock: Clock,
) -> Result<Vec<Row>, CliError> {
    let activities = annotations.activities();
    if let Some(unknown) = args.only.iter().find(|name| !activities.contains(&name.as_str())) {
        return Err(CliError::new(format_args!(
            "`{unknown}` is not an annotated activity; expected one of {}",
            activities.join(", ")
        )));
    }
    let is_selected = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let mut rows = Vec::new();
    // In the order of the specification, which keeps related monitors together.
    for id in specification.monitors() {
        let name = specification.name(id);
        if activities.contains(&name) && is_selected(name) {
            rows.push(Row::new(name, true, id, annotations.intervals(name, clock)));
        }
        for (of, variant) in variants.iter().filter(|(of, _)| *of == id) {
            let intervals = annotations.intervals(specification.name(*of), clock);
            rows.push(Row::new(specification.name(*variant), true, *variant, intervals));
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
            CliError::new(format_args!(
                "no monitor is named `{name}`; `invigil decent check-spec` lists the monitors"
            ))
        })?;
        rows.push(Row::new(name, false, id, Vec::new()));
    }
    Ok(rows)
}

impl Row {
    fn new(
        name: &str,
        is_activity: bool,
        monitor: MonitorId,
        intervals: Vec<std::ops::Range<Instant>>,
    ) -> Row {
        Row { name: name.to_owned(), is_activity, annotated_monitor: AnnotatedMonitor { monitor, intervals } }
    }
}

/// Checks that every sensor that a monitor needs exists; otherwise the monitor would wait forever.
fn check_sensors(
    specification: &Specification,
    rows: &[Row],
    sensors: &[Sensor],
    folder: &Path,
) -> Result<(), CliError> {
    for row in rows {
        for proposition in specification.observed(row.annotated_monitor.monitor) {
            if !sensors.iter().any(|(id, _)| *id == proposition) {
                let name = specification.system.proposition_name(proposition);
                return Err(CliError::new(format_args!(
                    "`{}` needs the sensor `{name}`, which is not in {}: add a line `{name},FILE.csv,switch`",
                    row.name,
                    folder.join("sensors.csv").display()
                )));
            }
        }
    }
    Ok(())
}

fn as_text(rows: &[Row], detection: &Detection) -> String {
    let mut out = String::new();
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(8);
    let of = |is_activity: bool| {
        rows.iter().zip(&detection.tallies).filter(move |(row, _)| row.is_activity == is_activity)
    };
    let share = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.2}"));
    // Writing to a string does not fail.
    if of(true).next().is_some() {
        let _ = writeln!(
            out,
            "{:width$}  {:>8}  {:>8}  precision  recall    F1",
            "activity", "actual", "detected"
        );
    }
    for (row, tally) in of(true) {
        let [precision, recall, f1] = [tally.precision(), tally.recall(), tally.f1()].map(share);
        let _ = writeln!(
            out,
            "{:width$}  {:>8}  {:>8}  {precision:>9}  {recall:>6}  {f1:>4}",
            row.name, tally.annotated, tally.detected
        );
    }
    if of(false).next().is_some() {
        let blank = if out.is_empty() { "" } else { "\n" };
        let _ =
            writeln!(out, "{blank}{:width$}  {:>8}  {:>8}  {:>9}", "monitor", "true", "false", "undecided");
    }
    for (row, tally) in of(false) {
        let unknown = detection.instants.saturating_sub(tally.decided);
        let _ = writeln!(
            out,
            "{:width$}  {:>8}  {:>8}  {unknown:>9}",
            row.name,
            tally.detected,
            tally.decided - tally.detected
        );
    }
    let _ = writeln!(
        out,
        "{} instants, {:.2} messages per instant",
        detection.instants,
        detection.messages_per_instant()
    );
    out
}

fn as_json(rows: &[Row], detection: &Detection) -> String {
    let row = |(row, tally): (&Row, &Tally)| {
        let mut object = json!({ "name": row.name, "said": tally.decided, "found": tally.detected });
        if row.is_activity {
            object["annotated"] = json!(tally.annotated);
            object["right"] = json!(tally.correct);
            object["precision"] = json!(tally.precision());
            object["recall"] = json!(tally.recall());
            object["f1"] = json!(tally.f1());
        }
        object
    };
    let all = |is_activity: bool| -> Vec<Value> {
        let rows = rows.iter().zip(&detection.tallies).filter(|(row, _)| row.is_activity == is_activity);
        rows.map(row).collect()
    };
    let report = json!({
        "instants": detection.instants,
        "messages": detection.messages,
        "messages_per_instant": detection.messages_per_instant(),
        "activities": all(true),
        "monitors": all(false),
    });
    format!("{report:#}\n")
}
