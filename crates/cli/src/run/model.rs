//! `invigil run MODEL`: one execution of a model, on the same semantics that `explore` looks at.

use super::args::Run;
use crate::explore::args::Mailboxes;
use crate::interrupt::Interrupt;
use crate::models::{self, Manner};
use crate::terminal::Terminal;
use crate::{INTERRUPTED, Trouble, VIOLATED, explore};
use invigil_check::report::{Paint, count};
use invigil_explore::{Pulse, Totals};
use invigil_verify::{Claim, Claimed, Ending, Scene, Story, Task, run};
use std::path::Path;
use std::process::ExitCode;

struct Stop<'a>(&'a Interrupt);

impl Pulse for Stop<'_> {
    fn beat(&self, _: &Totals) {}

    fn is_stopped(&self) -> bool {
        self.0.is_set()
    }
}

pub(super) fn run_model(args: &Run, path: &Path, terminal: &Terminal) -> Result<ExitCode, Trouble> {
    if args.program.len() > 1 {
        return Err(Trouble::new("a model takes no arguments; options come before its name"));
    }
    let colour = terminal.errors.colour;
    let mut given = models::load(
        path,
        Manner { mailboxes: args.model.setup.mailboxes.map(Mailboxes::kind), ..Manner::default() },
        colour,
    )?;
    let automata = given.claim(&args.watching.properties, &[], colour)?;
    let formulae = given.formulae(colour)?;
    let properties = crate::load::load(&automata, &args.watching.functions, colour)?;
    if !args.watching.quiet {
        explore::warn(&given, terminal);
    }
    let model = &given.loaded.model;
    let monitors = properties
        .automata
        .iter()
        .map(|automaton| Claim { name: automaton.name.clone(), what: Claimed::Monitor(automaton) });
    let task = Task {
        claims: explore::claims(&given).into_iter().chain(monitors).collect(),
        setup: explore::setup(model, &args.model.setup)?,
        ..Task::new(model, &properties.catalog)
    };
    let interrupt = Interrupt::listen();
    let (mut scenes, mut failed) = (Vec::new(), None);
    let keeps = args.watching.record.is_some();
    let ran =
        run(&task, &formulae, args.model.seed, args.model.steps, &Stop(&interrupt), &mut |number, scene| {
            if !args.watching.quiet && failed.is_none() {
                failed = terminal.print(&line(number, scene)).err();
            }
            if keeps {
                scenes.push(scene.clone());
            }
        });
    if let Some(trouble) = failed {
        return Err(trouble);
    }
    if let Some(file) = &args.watching.record {
        let story = Story { scenes, ending: ran.ending.clone() };
        crate::files::write(file, &story.trace(), terminal)?;
    }
    let style = &terminal.style;
    let words = match &ran.ending {
        _ if !ran.violated.is_empty() => {
            format!("{} {}", style.paint(Paint::Bad, "violation of"), ran.violated.join(", "))
        }
        Ending::Fault { action, reason } => format!("{action} goes wrong: {reason}"),
        Ending::Deadlock => "nothing can happen any more".to_owned(),
        _ => "no claim was violated so far".to_owned(),
    };
    if !args.watching.quiet {
        terminal.print(&format!("after {}: {words}\n", count(ran.steps, "step")))?;
    }
    Ok(ExitCode::from(match &ran.ending {
        _ if !ran.violated.is_empty() => VIOLATED,
        Ending::Fault { .. } => VIOLATED,
        _ if ran.is_stopped => INTERRUPTED,
        // That nothing can happen any more may be how it ends: who wants to know asks `explore`.
        _ => 0,
    }))
}

fn line(number: u64, scene: &Scene) -> String {
    let what = scene.action.as_deref().unwrap_or("start");
    let line = format!("{number:>6}  {what:<32}  {}", scene.told().join(", "));
    line.trim_end().to_owned() + "\n"
}
