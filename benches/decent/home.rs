//! The smart home: a day of sensors, 36,000 instants, through all 22 specifications.

use crate::Requirement;
use invigil_benches::{print_table, timed};
use invigil_decent::encoding::States;
use invigil_decent::simulate::Conditions;
use invigil_expr::diag::SourceId;
use invigil_lab::detect::{AnnotatedMonitor, Detection, detect};
use invigil_lab::generate::{Household, day};
use invigil_lab::inputs::{Clock, PolledSensors, read_sensor_list};
use invigil_lang::decent;
use invigil_lang::decent::LoadedSpecification;
use invigil_ltl::Budget;
use std::error::Error;
use std::fs;

/// The sets of monitors: those that EH18 calls ADL, H, 2 and M, and the switches.
const SETS: [(&str, &[&str]); 5] = [
    (
        "activities",
        &[
            "toilet",
            "sink_usage",
            "shower_usage",
            "napping",
            "dressing",
            "reading",
            "office_tv",
            "computing",
            "cooking",
            "washing_dishes",
            "kactivity",
            "preparing",
            "livingroom_tv",
            "eating",
        ],
    ),
    ("and floors, house", &["acthouse"]),
    ("and two people", &["notwopeople"]),
    ("and television, fire", &["restricttv", "firehazard"]),
    ("and switches: all 22", &["sc_ok"]),
];

pub(crate) fn run() -> Requirement {
    println!(
        "\nThe smart home: a day of its sensors, messages between all monitors (processor time, best of five)\n"
    );
    let (speed, rows) = measured().unwrap_or_else(|error| {
        println!("  not measured: {error}");
        (0.0, Vec::new())
    });
    print_table(&rows);
    println!("  [EH18, figure 9.4]: 24, 39, 41 and 46 messages for the first four sets; no times");
    Requirement {
        what: "smart home, all 22 specifications",
        required: "20,000 instants/s on one core",
        reached: format!("{speed:.0}"),
        is_met: speed >= 20_000.0,
    }
}

type Rows = Vec<Vec<String>>;

/// Instants per second with all monitors, and the table.
fn measured() -> Result<(f64, Rows), Box<dyn Error>> {
    let text = include_str!("../../examples/smart-home/apartment.dec");
    let loaded = decent::load(SourceId(0), text).0.ok_or("the specification has errors")?;
    let polled = polled(&loaded)?;
    let network = loaded.network(Budget::default()).map_err(|_| "the specification cannot run")?;
    let system = &loaded.specification.system;
    let mut rows =
        vec![["monitors", "instants", "messages per instant", "instants/s"].map(str::to_owned).to_vec()];
    let (mut watched, mut speed) = (Vec::new(), 0.0);
    for (name, monitors) in SETS {
        for monitor in monitors {
            let monitor = loaded.specification.find(monitor).ok_or("a monitor is missing")?;
            watched.push(AnnotatedMonitor { monitor, intervals: Vec::new() });
        }
        let mut best: Option<(f64, Detection)> = None;
        for _ in 0..5 {
            let mut polled = polled.clone();
            let (time, found) =
                timed(|| detect::<States>(system, &network, &watched, &mut polled, Conditions::default()));
            let seconds = time.cpu.as_secs_f64();
            if best.as_ref().is_none_or(|(least, _)| seconds < *least) {
                best = Some((seconds, found?));
            }
        }
        let (seconds, found) = best.ok_or("it did not run")?;
        speed = f64::from(found.instants) / seconds;
        let messages = format!("{:.2}", found.messages_per_instant());
        rows.push(vec![name.to_owned(), found.instants.to_string(), messages, format!("{speed:.0}")]);
    }
    Ok((speed, rows))
}

/// The sensors of one day, read from the files of the example.
fn polled(loaded: &LoadedSpecification) -> Result<PolledSensors, Box<dyn Error>> {
    let household =
        Household::read(include_str!("../../examples/smart-home/apartment.home"), "apartment.home")?;
    let (lived, folder) = (day(&household, 1), tempfile::tempdir()?);
    for (number, sensor) in household.sensors.iter().enumerate() {
        let lines: Vec<String> = lived.lines(number).collect();
        fs::write(folder.path().join(format!("{}.csv", sensor.name)), lines.join("\n"))?;
    }
    fs::write(folder.path().join("sensors.csv"), household.list())?;
    let mut sensors = Vec::new();
    for sensor in read_sensor_list(folder.path())? {
        let known = loaded
            .specification
            .system
            .find_proposition(&sensor.name)
            .ok_or("no component observes a sensor")?;
        sensors.push((known, sensor.changes()?));
    }
    let clock = Clock { start: household.hours.start, step: 1000, end: household.hours.end };
    Ok(PolledSensors::new(&loaded.specification.system, &sensors, clock))
}
