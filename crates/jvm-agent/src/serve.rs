//! Answering the tool.

use crate::agent::{Agent, locked};
use crate::evaluate::Evaluator;
use crate::expression::Expression;
use crate::look::scope::Frame;
use crate::look::show::{Style, words};
use crate::look::{change, stack, threads};
use crate::names::{self, Name};
use crate::protocol::{self, Answer, Key, Moment, Request};
use crate::vm::{Jni, Ref};
use crate::want::Wanted;
use crate::{hook, invoke, lines, prepare, steps, sweep, table, ticks};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The thread that answers, seen from others.
#[derive(Default)]
pub(crate) struct Service {
    stream: Mutex<Option<UnixStream>>,
    ended: Condvar,
    /// Whether the machine is about to end.
    dying: AtomicBool,
}

impl Service {
    fn begin(&self, stream: &UnixStream) {
        *locked(&self.stream) = stream.try_clone().ok();
    }

    /// Whether there was a tool, and it has been left for good.
    pub(crate) fn is_over(&self) -> bool {
        let stream = locked(&self.stream);
        let waited = self.ended.wait_timeout_while(stream, LEAVING, |stream| stream.is_some());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_none()
    }

    fn end(&self) {
        *locked(&self.stream) = None;
        self.ended.notify_all();
    }

    /// The machine is about to end: it waits for threads that run code of their own, as this one does, so it is ended first.
    pub(crate) fn stop(&self) {
        self.dying.store(true, Ordering::SeqCst);
        ticks::stop();
        let stream = locked(&self.stream);
        if let Some(stream) = stream.as_ref() {
            // One that is closed already is as good.
            let _ = stream.shutdown(Shutdown::Both);
        }
        let _ = self.ended.wait_timeout_while(stream, ENDING, |stream| stream.is_some());
    }
}

/// So long the end of the machine waits for the thread that answers.
const ENDING: Duration = Duration::from_millis(100);
/// So long the next tool waits until the last has left.
const LEAVING: Duration = Duration::from_secs(5);

/// Answers until the tool is gone, or leaves.
pub(crate) fn serve(agent: &Agent, jni: Jni, mut stream: UnixStream) {
    agent.service.begin(&stream);
    while let Ok(request) = protocol::receive::<Request>(&mut stream) {
        let leaves = request == Request::Leave;
        let answered = catch_unwind(AssertUnwindSafe(|| jni.framed(|| answer(agent, jni, request))));
        let answer = match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(reason)) => Answer::Refused { reason },
            Err(_) => {
                Answer::Refused { reason: "the agent failed at this, which is a mistake in it".to_owned() }
            }
        };
        if protocol::send(&mut stream, &answer).is_err() || leaves {
            break;
        }
    }
    if !agent.service.dying.load(Ordering::SeqCst) {
        leave(agent, jni);
    }
    agent.service.end();
}

/// The program is on its own from now on.
fn leave(agent: &Agent, jni: Jni) {
    agent.line.lose();
    agent.room.clear();
    let wants = agent.wants();
    for wanted in wants.iter() {
        wanted.active.store(false, Ordering::SeqCst);
    }
    agent.set_wants(Vec::new());
    table::refresh();
    let stepping = steps::thread().and_then(|number| threads::find(agent, jni, number).ok());
    steps::end(agent, stepping);
    lines::remove_all(agent);
    threads::release(agent, jni);
    // Classes become what they were; a probe that is left costs nothing much.
    let _ = jni.framed(|| hook::weave_loaded(agent, jni, &wants));
}

fn answer(agent: &Agent, jni: Jni, request: Request) -> Result<Answer, String> {
    match request {
        Request::Prepare { wants } => {
            let problems = prepare::prepare(agent, jni, wants)?;
            lines::renew(agent);
            Ok(Answer::Problems { problems })
        }
        Request::Activate { events } => {
            for wanted in agent.wants().iter() {
                if let Key::Event { number } = wanted.want.key {
                    wanted.active.store(events.contains(&number), Ordering::SeqCst);
                }
            }
            table::refresh();
            Ok(Answer::Done)
        }
        Request::SetPoint { want } if want.moment == Moment::Line => lines::set(agent, want),
        Request::SetPoint { want } => {
            let problems = prepare::add(agent, jni, want)?;
            lines::renew(agent);
            Ok(Answer::Problems { problems })
        }
        Request::RemovePoint { number } => {
            if !lines::remove(agent, number) {
                let (gone, left): (Vec<Arc<Wanted>>, Vec<_>) = agent
                    .wants()
                    .iter()
                    .cloned()
                    .partition(|wanted| wanted.want.key == Key::Point { number });
                gone.iter().for_each(|wanted| wanted.active.store(false, Ordering::SeqCst));
                agent.set_wants(left);
                table::refresh();
            }
            Ok(Answer::Done)
        }
        Request::EnablePoint { number, enabled } => {
            if !lines::enable(agent, number, enabled) {
                for wanted in agent.wants().iter().filter(|wanted| wanted.want.key == Key::Point { number }) {
                    wanted.active.store(enabled, Ordering::SeqCst);
                }
                table::refresh();
            }
            Ok(Answer::Done)
        }
        Request::Hold => {
            threads::hold(agent, jni);
            Ok(Answer::Done)
        }
        Request::Release => {
            threads::release(agent, jni);
            Ok(Answer::Done)
        }
        Request::Threads => Ok(Answer::Threads { threads: threads::list(agent, jni) }),
        Request::Frames { thread, limit } => frames(agent, jni, thread, limit),
        Request::Locals { thread, depth } => {
            let frame = Frame::of(agent, jni, threads::find(agent, jni, thread)?, depth)?;
            Ok(Answer::Pairs { pairs: variables(agent, jni, &frame, frame.variables()) })
        }
        Request::Print { thread, depth, text } => {
            let shown = evaluated(agent, jni, thread, depth, &text, |found| {
                words(agent, jni, found.value, Style::WHOLE)
            })?;
            Ok(Answer::Words { words: shown })
        }
        Request::TypeOf { thread, depth, text } => {
            let shown = evaluated(agent, jni, thread, depth, &text, |found| {
                // An object's own class tells more than the type of the variable that holds it.
                let actual = match found.value {
                    crate::vm::Primitive::Object(Some(object)) => {
                        agent.ti.signature(jni.class_of(object)).unwrap_or(found.signature)
                    }
                    _ => found.signature,
                };
                names::type_words(&actual)
            })?;
            Ok(Answer::Words { words: shown })
        }
        Request::Assign { thread, depth, place, value } => {
            let frame = Frame::of(agent, jni, threads::find(agent, jni, thread)?, depth)?;
            change::assign(agent, jni, &frame, &place, &value)?;
            Ok(Answer::Done)
        }
        Request::Find { name } => find(agent, &name),
        Request::Methods { prefix } => Ok(Answer::Names { names: methods(agent, &prefix) }),
        Request::Facts => Ok(Answer::Facts { facts: agent.facts() }),
        Request::Tally => Ok(Answer::Pairs { pairs: tally(agent) }),
        Request::Properties { properties } => {
            if agent.room.furnish(&properties)? {
                sweep::start(agent, jni)?;
            }
            Ok(Answer::Done)
        }
        Request::Scripts { plans } => {
            for (symbol, milliseconds) in agent.room.install(&plans)? {
                ticks::start(agent, jni, symbol, milliseconds)?;
            }
            Ok(Answer::Done)
        }
        Request::PutInside { states, concerns } => {
            agent.room.put(&states, &concerns, agent.began.elapsed()).map(|()| Answer::Done)
        }
        Request::Outside => {
            agent.room.clear();
            Ok(Answer::Done)
        }
        Request::CatchUp => Ok(Answer::Past { past: agent.room.take(agent) }),
        Request::Calls { calls } => {
            invoke::prepare(calls);
            Ok(Answer::Done)
        }
        Request::Step { thread, depth, how } => {
            steps::begin(agent, jni, threads::find(agent, jni, thread)?, depth, how)?;
            Ok(Answer::Done)
        }
        Request::Unstep => {
            let thread = steps::thread().and_then(|number| threads::find(agent, jni, number).ok());
            steps::end(agent, thread);
            Ok(Answer::Done)
        }
        // The rest is done when the answer is on its way.
        Request::Leave => Ok(Answer::Done),
    }
}

fn frames(agent: &Agent, jni: Jni, thread: u32, limit: u32) -> Result<Answer, String> {
    let thread = threads::find(agent, jni, thread)?;
    let hidden = stack::hidden(agent, jni, Some(thread)) as usize;
    let all =
        agent.ti.stack(Some(thread), hidden.saturating_add(limit as usize)).map_err(crate::vm::words)?;
    let told = all.into_iter().enumerate().skip(hidden).map(|(depth, (method, location))| {
        let frame = Frame { agent, thread: Some(thread), depth: depth as i32, method, location };
        let mut arguments = frame.arguments();
        arguments.retain(|variable| variable.name != "this");
        protocol::Frame {
            spot: stack::spot(agent, method, location),
            arguments: variables(agent, jni, &frame, arguments),
        }
    });
    Ok(Answer::Frames { frames: told.collect() })
}

fn variables(
    agent: &Agent,
    jni: Jni,
    frame: &Frame<'_>,
    all: Vec<crate::vm::Variable>,
) -> Vec<(String, String)> {
    let shown = all.into_iter().map(|variable| {
        let value = match frame.read(&variable) {
            Ok(value) => words(agent, jni, value, Style::BRIEF),
            Err(reason) => format!("<{reason}>"),
        };
        (variable.name, value)
    });
    shown.collect()
}

fn evaluated<R>(
    agent: &Agent,
    jni: Jni,
    thread: u32,
    depth: u32,
    text: &str,
    then: impl FnOnce(crate::evaluate::Found) -> R,
) -> Result<R, String> {
    let expression = Expression::parse(text)?;
    let frame = Frame::of(agent, jni, threads::find(agent, jni, thread)?, depth)?;
    let evaluator = Evaluator { ti: agent.ti, jni, scope: &frame };
    evaluator.evaluate(&expression).map(then)
}

/// The classes that are loaded, with their names as in `app/Queue`.
fn classes(agent: &Agent) -> Vec<(Ref, String)> {
    let all = agent.ti.loaded_classes().unwrap_or_default().into_iter();
    let named = all.filter_map(|class| {
        let signature = agent.ti.signature(class).ok()?;
        Some((class, signature.strip_prefix('L')?.strip_suffix(';')?.to_owned()))
    });
    named.collect()
}

fn find(agent: &Agent, name: &str) -> Result<Answer, String> {
    let found = match lines::parse(name) {
        Some((file, line)) => lines::find(agent, file, line),
        None => {
            let wanted = Name::parse(name)?;
            let mut found = Vec::new();
            for (class, known) in classes(agent) {
                if !wanted.means_class(&known) {
                    continue;
                }
                for method in agent.ti.methods(class).unwrap_or_default() {
                    let (name, descriptor) = agent.ti.method_name(method).unwrap_or_default();
                    if wanted.means_method(&known, &name) && wanted.means_types(&descriptor) {
                        found.push((method, 0));
                    }
                }
            }
            found
        }
    };
    if found.is_empty() {
        return Err(format!("no class that is loaded has `{name}`"));
    }
    let spots = found.into_iter().map(|(method, location)| stack::spot(agent, method, location));
    Ok(Answer::Spots { spots: spots.collect() })
}

/// Methods of the program's own classes, for completion.
fn methods(agent: &Agent, prefix: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (class, name) in classes(agent) {
        let dotted = names::dotted(&name);
        let simple = names::simple(&name).unwrap_or_default();
        if names::is_platform(&dotted) && !prefix.starts_with("java") {
            continue;
        }
        for method in agent.ti.methods(class).unwrap_or_default() {
            let Ok((method, _)) = agent.ti.method_name(method) else { continue };
            if method.starts_with('<') || method.contains('$') {
                continue;
            }
            let names = [format!("{dotted}.{method}"), format!("{simple}.{method}")];
            all.extend(names.into_iter().filter(|name| name.starts_with(prefix)));
        }
        if all.len() > 500 {
            break;
        }
    }
    all.sort_unstable();
    all.dedup();
    all.truncate(200);
    all
}

fn tally(agent: &Agent) -> Vec<(String, String)> {
    let (objects, gone) = agent.identities.counts();
    let mut all = vec![
        ("classes woven".to_owned(), agent.woven.load(Ordering::Relaxed).to_string()),
        ("probes".to_owned(), table::count().to_string()),
        ("objects known".to_owned(), format!("{objects}, of which {gone} are no more")),
    ];
    for wanted in agent.wants().iter().filter(|wanted| !wanted.seen.load(Ordering::Relaxed)) {
        all.push(("not loaded so far".to_owned(), wanted.entity.name.class.clone()));
    }
    let wrong = agent.complaints().into_iter();
    all.extend(wrong.map(|words| ("trouble".to_owned(), words)));
    all
}
