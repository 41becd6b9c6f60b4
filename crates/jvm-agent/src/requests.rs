//! Handling of the debugger's requests.

use crate::agent::{Agent, locked};
use crate::evaluate::Evaluator;
use crate::expression::Expression;
use crate::inspect::render::{Style, render};
use crate::inspect::scope::Frame;
use crate::inspect::{assign, stack, threads};
use crate::names::{self, Name};
use crate::protocol::{self, Answer, Request, SubscriptionId, Trigger};
use crate::subscription::ResolvedSubscription;
use crate::vm::{Jni, Ref};
use crate::{invoke, line_breakpoints, prepare, probe_table, reaper, steps, ticks, weaving};
use invigil_monitor::embedded::HostRequest;
use invigil_monitor::event::EventId;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The thread that handles requests, as other threads see it.
#[derive(Default)]
pub(crate) struct Service {
    stream: Mutex<Option<UnixStream>>,
    ended: Condvar,
    /// Whether the virtual machine is about to end.
    vm_is_ending: AtomicBool,
}

impl Service {
    fn begin(&self, stream: &UnixStream) {
        *locked(&self.stream) = stream.try_clone().ok();
    }

    /// Whether no debugger is attached. Waits for one that is leaving.
    pub(crate) fn is_detached(&self) -> bool {
        let stream = locked(&self.stream);
        let waited = self.ended.wait_timeout_while(stream, LEAVING, |stream| stream.is_some());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_none()
    }

    fn end(&self) {
        *locked(&self.stream) = None;
        self.ended.notify_all();
    }

    /// Ends the thread, because the virtual machine waits for threads that run native code when it ends.
    pub(crate) fn stop(&self) {
        self.vm_is_ending.store(true, Ordering::SeqCst);
        ticks::stop();
        let stream = locked(&self.stream);
        if let Some(stream) = stream.as_ref() {
            // It may be closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
        let _ = self.ended.wait_timeout_while(stream, ENDING, |stream| stream.is_some());
    }
}

/// Maximum time that the end of the virtual machine waits for this thread.
const ENDING: Duration = Duration::from_millis(100);
/// Maximum time that the next debugger waits until the previous one has left.
const LEAVING: Duration = Duration::from_secs(5);

/// Handles requests until the debugger leaves or its connection is closed.
pub(crate) fn serve(agent: &Agent, jni: Jni, mut stream: UnixStream) {
    agent.service.begin(&stream);
    while let Ok(request) = protocol::receive::<Request>(&mut stream) {
        let leaves = request == Request::Detach;
        let answered = catch_unwind(AssertUnwindSafe(|| jni.framed(|| handle(agent, jni, request))));
        let answer = match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(reason)) => Answer::Refused { reason },
            Err(_) => Answer::Refused {
                reason: "internal error in the agent (it panicked); please report this".to_owned(),
            },
        };
        if protocol::send(&mut stream, &answer).is_err() || leaves {
            break;
        }
    }
    if !agent.service.vm_is_ending.load(Ordering::SeqCst) {
        release_program(agent, jni);
    }
    agent.service.end();
}

/// Restores the program, which runs without a debugger from now on.
fn release_program(agent: &Agent, jni: Jni) {
    agent.channel.close();
    agent.host.remove_monitors();
    let subscriptions = agent.subscriptions();
    for resolved in subscriptions.iter() {
        resolved.active.store(false, Ordering::SeqCst);
    }
    agent.set_subscriptions(Vec::new());
    probe_table::refresh();
    let stepping = steps::thread().and_then(|number| threads::find(agent, jni, number).ok());
    steps::cancel(agent, stepping);
    line_breakpoints::remove_all(agent);
    threads::resume_all(agent, jni);
    // Classes are restored; a probe that remains costs next to nothing.
    let _ = jni.framed(|| weaving::weave_loaded(agent, jni, &subscriptions));
}

fn handle(agent: &Agent, jni: Jni, request: Request) -> Result<Answer, String> {
    match request {
        Request::Prepare { subscriptions } => {
            let problems = prepare::prepare(agent, jni, subscriptions)?;
            line_breakpoints::reinstall(agent);
            Ok(Answer::Errors { errors: problems })
        }
        Request::Activate { events } => {
            for resolved in agent.subscriptions().iter() {
                if let SubscriptionId::Event { number } = resolved.subscription.id {
                    resolved.active.store(events.contains(&number), Ordering::SeqCst);
                }
            }
            probe_table::refresh();
            Ok(Answer::Done)
        }
        Request::SetBreakpoint { subscription: want } if want.trigger == Trigger::Line => {
            line_breakpoints::set(agent, want)
        }
        Request::SetBreakpoint { subscription: want } => {
            let problems = prepare::add(agent, jni, want)?;
            line_breakpoints::reinstall(agent);
            Ok(Answer::Errors { errors: problems })
        }
        Request::RemoveBreakpoint { number } => {
            if !line_breakpoints::remove(agent, number) {
                let (dead_objects, left): (Vec<Arc<ResolvedSubscription>>, Vec<_>) =
                    agent.subscriptions().iter().cloned().partition(|resolved| {
                        resolved.subscription.id == SubscriptionId::Breakpoint { number }
                    });
                dead_objects.iter().for_each(|resolved| resolved.active.store(false, Ordering::SeqCst));
                agent.set_subscriptions(left);
                probe_table::refresh();
            }
            Ok(Answer::Done)
        }
        Request::EnableBreakpoint { number, enabled } => {
            if !line_breakpoints::enable(agent, number, enabled) {
                for resolved in agent
                    .subscriptions()
                    .iter()
                    .filter(|resolved| resolved.subscription.id == SubscriptionId::Breakpoint { number })
                {
                    resolved.active.store(enabled, Ordering::SeqCst);
                }
                probe_table::refresh();
            }
            Ok(Answer::Done)
        }
        Request::SuspendAll => {
            threads::suspend_all(agent, jni);
            Ok(Answer::Done)
        }
        Request::ResumeAll => {
            threads::resume_all(agent, jni);
            Ok(Answer::Done)
        }
        Request::Threads => Ok(Answer::Threads { threads: threads::list(agent, jni) }),
        Request::Frames { thread, limit } => frames(agent, jni, thread, limit),
        Request::Locals { thread, depth } => {
            let frame = Frame::of(agent, jni, threads::find(agent, jni, thread)?, depth)?;
            Ok(Answer::Pairs { pairs: variables(agent, jni, &frame, frame.variables()) })
        }
        Request::Evaluate { thread, depth, text } => {
            let shown = evaluated(agent, jni, thread, depth, &text, |found| {
                render(agent, jni, found.value, Style::WHOLE)
            })?;
            Ok(Answer::Text { text: shown })
        }
        Request::TypeOf { thread, depth, text } => {
            let shown = evaluated(agent, jni, thread, depth, &text, |found| {
                // The object's own class is more specific than the type of the variable.
                let actual = match found.value {
                    crate::vm::Primitive::Object(Some(object)) => {
                        agent.ti.signature(jni.class_of(object)).unwrap_or(found.signature)
                    }
                    _ => found.signature,
                };
                names::type_name(&actual)
            })?;
            Ok(Answer::Text { text: shown })
        }
        Request::Assign { thread, depth, place, value } => {
            let frame = Frame::of(agent, jni, threads::find(agent, jni, thread)?, depth)?;
            assign::assign(agent, jni, &frame, &place, &value)?;
            Ok(Answer::Done)
        }
        Request::FindLocation { name } => find(agent, &name),
        Request::CompleteMethod { prefix } => Ok(Answer::Names { names: methods(agent, &prefix) }),
        Request::Info => Ok(Answer::Info { info: agent.vm_info() }),
        Request::Statistics => Ok(Answer::Pairs { pairs: statistics(agent) }),
        Request::Host { request } => {
            let request: HostRequest = postcard::from_bytes(&request).map_err(|error| error.to_string())?;
            if let HostRequest::LoadAutomata(properties) = &request
                && properties.iter().any(|property| !property.slice_on.is_empty())
            {
                reaper::start(agent, jni)?;
            }
            let (reply, dead) = agent.host.answer(agent, request);
            let reply = postcard::to_allocvec(&reply).map_err(|error| error.to_string())?;
            Ok(Answer::Host { reply, dead })
        }
        Request::StartTicks { event, milliseconds } => {
            ticks::start(agent, jni, EventId(event), milliseconds)?;
            Ok(Answer::Done)
        }
        Request::PrepareCalls { calls } => {
            invoke::prepare(calls);
            Ok(Answer::Done)
        }
        Request::Step { thread, depth, kind } => {
            steps::start(agent, jni, threads::find(agent, jni, thread)?, depth, kind)?;
            Ok(Answer::Done)
        }
        Request::CancelStep => {
            let thread = steps::thread().and_then(|number| threads::find(agent, jni, number).ok());
            steps::cancel(agent, thread);
            Ok(Answer::Done)
        }
        // The rest is done after the answer has been sent.
        Request::Detach => Ok(Answer::Done),
    }
}

fn frames(agent: &Agent, jni: Jni, thread: u32, limit: u32) -> Result<Answer, String> {
    let thread = threads::find(agent, jni, thread)?;
    let hidden = stack::hidden_frames(agent, jni, Some(thread)) as usize;
    let all =
        agent.ti.stack(Some(thread), hidden.saturating_add(limit as usize)).map_err(crate::vm::error_text)?;
    let reported = all.into_iter().enumerate().skip(hidden).map(|(depth, (method, location))| {
        let frame = Frame { agent, thread: Some(thread), depth: depth as i32, method, location };
        let mut arguments = frame.arguments();
        arguments.retain(|variable| variable.name != "this");
        protocol::Frame {
            location: stack::code_location(agent, method, location),
            arguments: variables(agent, jni, &frame, arguments),
        }
    });
    Ok(Answer::Frames { frames: reported.collect() })
}

fn variables(
    agent: &Agent,
    jni: Jni,
    frame: &Frame<'_>,
    all: Vec<crate::vm::Variable>,
) -> Vec<(String, String)> {
    let shown = all.into_iter().map(|variable| {
        let value = match frame.read(&variable) {
            Ok(value) => render(agent, jni, value, Style::BRIEF),
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
    then: impl FnOnce(crate::evaluate::TypedValue) -> R,
) -> Result<R, String> {
    let expression = Expression::parse(text)?;
    let frame = Frame::of(agent, jni, threads::find(agent, jni, thread)?, depth)?;
    let evaluator = Evaluator { ti: agent.ti, jni, scope: &frame };
    evaluator.evaluate(&expression).map(then)
}

/// The loaded classes, with their names as in `app/Queue`.
fn classes(agent: &Agent) -> Vec<(Ref, String)> {
    let all = agent.ti.loaded_classes().unwrap_or_default().into_iter();
    let named = all.filter_map(|class| {
        let signature = agent.ti.signature(class).ok()?;
        Some((class, signature.strip_prefix('L')?.strip_suffix(';')?.to_owned()))
    });
    named.collect()
}

fn find(agent: &Agent, name: &str) -> Result<Answer, String> {
    let found = match line_breakpoints::parse(name) {
        Some((file, line)) => line_breakpoints::find(agent, file, line),
        None => {
            let resolved = Name::parse(name)?;
            let mut found = Vec::new();
            for (class, known) in classes(agent) {
                if !resolved.matches_class(&known) {
                    continue;
                }
                for method in agent.ti.methods(class).unwrap_or_default() {
                    let (name, descriptor) = agent.ti.method_name(method).unwrap_or_default();
                    if resolved.matches_method(&known, &name) && resolved.matches_types(&descriptor) {
                        found.push((method, 0));
                    }
                }
            }
            found
        }
    };
    if found.is_empty() {
        return Err(format!("no loaded class has `{name}`"));
    }
    let spots = found.into_iter().map(|(method, location)| stack::code_location(agent, method, location));
    Ok(Answer::Locations { locations: spots.collect() })
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

fn statistics(agent: &Agent) -> Vec<(String, String)> {
    let (objects, dead_objects) = agent.object_ids.counts();
    let mut all = vec![
        ("classes woven".to_owned(), agent.woven.load(Ordering::Relaxed).to_string()),
        ("probes".to_owned(), probe_table::count().to_string()),
        ("objects known".to_owned(), format!("{objects}, of which {dead_objects} have been collected")),
    ];
    for resolved in agent.subscriptions().iter().filter(|resolved| !resolved.seen.load(Ordering::Relaxed)) {
        all.push(("not loaded yet".to_owned(), resolved.entity.name.class.clone()));
    }
    let wrong = agent.warnings().into_iter();
    all.extend(wrong.map(|message| ("warning".to_owned(), message)));
    all
}
