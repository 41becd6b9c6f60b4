//! Entry points of the agent: it is loaded at the start of a virtual machine, or later.

use crate::agent::{self, Agent, HELPER, agent};
use crate::event_channel::{send_and_wait, send_exit};
use crate::protocol::{self, AgentEvent, Channel, Greeting, MAGIC, VERSION};
use crate::vm::{Jni, Primitive, Ref, Ti, c_string};
use crate::{line_breakpoints, requests, steps, weaving};
use invigil_weave::Class;
use jvmti_bindings::sys::jni::{
    JNI_OK, JNIEnv, JavaVM, jboolean, jclass, jint, jlong, jmethodID, jobject, jthread, jvalue,
};
use jvmti_bindings::sys::jvmti::{self as raw, jvmtiCapabilities, jvmtiEnv, jvmtiEventCallbacks};
use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::time::Duration;

unsafe extern "C" {
    /// A function of the C library: calls `function` with the status when the process exits.
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Called by a virtual machine that starts with the agent.
#[unsafe(no_mangle)]
extern "system" fn Agent_OnLoad(vm: *mut JavaVM, options: *mut c_char, _: *mut c_void) -> jint {
    initialize(vm, options, |agent| {
        let events = [raw::JVMTI_EVENT_VM_INIT, raw::JVMTI_EVENT_VM_DEATH, raw::JVMTI_EVENT_OBJECT_FREE];
        events
            .iter()
            .try_for_each(|event| agent.ti.set_event_enabled(*event, true, None))
            .map_err(crate::vm::error_text)
    })
}

/// Called by a running virtual machine that loads the agent.
#[unsafe(no_mangle)]
extern "system" fn Agent_OnAttach(vm: *mut JavaVM, options: *mut c_char, _: *mut c_void) -> jint {
    initialize(vm, options, |agent| {
        agent.running.store(true, Ordering::Relaxed);
        // Without it, collected objects are not reported, and their slices remain.
        let _ = agent.ti.set_event_enabled(raw::JVMTI_EVENT_OBJECT_FREE, true, None);
        let _ = agent.ti.set_event_enabled(raw::JVMTI_EVENT_VM_DEATH, true, None);
        let mut env = null_mut();
        // SAFETY: the virtual machine gave `vm`, and this thread is one of its own.
        let got = unsafe { ((**vm).GetEnv)(vm, &mut env, jvmti_bindings::sys::jni::JNI_VERSION_1_8) };
        if got != JNI_OK {
            return Err("the virtual machine has no JNI".to_owned());
        }
        // The virtual machine finds the native methods only after this function has returned, so the rest runs in a
        // thread. SAFETY: it is this thread's environment.
        start_thread(agent, unsafe { Jni::new(env.cast()) }, run_attached)
    })
}

fn initialize(
    vm: *mut JavaVM,
    options: *mut c_char,
    then: impl FnOnce(&'static Agent) -> Result<(), String>,
) -> jint {
    let work = || -> Result<(), String> {
        let options = match options.is_null() {
            true => String::new(),
            // SAFETY: the virtual machine gives a C string.
            false => unsafe { CStr::from_ptr(options) }.to_string_lossy().into_owned(),
        };
        if let Some(agent) = agent() {
            agent.reattach(&options)?;
            return then(agent);
        }
        let mut env: *mut jvmtiEnv = null_mut();
        // SAFETY: the virtual machine gave `vm`; it writes the environment to `env`.
        let got = unsafe { ((**vm).GetEnv)(vm, (&raw mut env).cast(), raw::JVMTI_VERSION_11) };
        if got != JNI_OK || env.is_null() {
            return Err("this virtual machine is older than Java 11".to_owned());
        }
        // SAFETY: it is the environment that the virtual machine has just given.
        let ti = unsafe { Ti::new(env) };
        let capabilities = capabilities(ti, options.split_once(':').map_or("", |(flags, _)| flags))?;
        let agent = Agent::new(ti, &options, capabilities);
        let agent = agent::install(agent).ok_or("the agent is in this virtual machine already")?;
        let mut callbacks = jvmtiEventCallbacks::default();
        callbacks.VMInit = Some(vm_init);
        callbacks.VMDeath = Some(vm_death);
        callbacks.ClassFileLoadHook = Some(class_file_load_hook);
        callbacks.ClassPrepare = Some(class_prepare);
        callbacks.ObjectFree = Some(object_free);
        callbacks.Breakpoint = Some(breakpoint);
        callbacks.SingleStep = Some(single_step);
        callbacks.FramePop = Some(frame_pop);
        callbacks.MethodExit = Some(method_exit);
        ti.set_callbacks(&callbacks).map_err(crate::vm::error_text)?;
        // SAFETY: the library with this function is never unloaded.
        unsafe { on_exit(on_process_exit, null_mut()) };
        then(agent)
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => JNI_OK,
        Ok(Err(error)) => {
            eprintln!("invigil: the agent cannot start: {error}");
            1
        }
        Err(_) => 1,
    }
}

/// Requests the available capabilities. Some are exclusive to one debugger. If threads may be stepped, the virtual
/// machine permanently returns to interpreting a method whenever it throws an exception.
fn capabilities(ti: Ti, flags: &str) -> Result<jvmtiCapabilities, String> {
    let (has_other_debugger, steps) = (flags.contains('d'), flags.contains('s'));
    let available = ti.potential_capabilities().map_err(crate::vm::error_text)?;
    let mut requested = jvmtiCapabilities::default();
    requested.set_can_retransform_classes(available.can_retransform_classes());
    requested.set_can_tag_objects(available.can_tag_objects());
    requested.set_can_generate_object_free_events(available.can_generate_object_free_events());
    requested.set_can_get_line_numbers(available.can_get_line_numbers());
    requested.set_can_get_source_file_name(available.can_get_source_file_name());
    requested.set_can_access_local_variables(available.can_access_local_variables());
    requested.set_can_generate_single_step_events(steps && available.can_generate_single_step_events());
    requested.set_can_generate_frame_pop_events(steps && available.can_generate_frame_pop_events());
    requested.set_can_generate_method_exit_events(steps && available.can_generate_method_exit_events());
    requested.set_can_generate_breakpoint_events(
        available.can_generate_breakpoint_events() && !has_other_debugger,
    );
    requested.set_can_support_virtual_threads(available.can_support_virtual_threads());
    ti.add_capabilities(&requested).map_err(crate::vm::error_text)?;
    ti.capabilities().map_err(crate::vm::error_text)
}

/// Defines the helper class and binds its methods to the native ones. Classes that call them may be woven only
/// afterwards.
fn make_helper(agent: &Agent, jni: Jni) -> Result<(), String> {
    let bytes = invigil_weave::helper_class(HELPER);
    let class = match jni.define_class(&c_string(HELPER), &bytes) {
        Some(class) => class,
        // It exists from an earlier attachment.
        None => jni.find_class(&c_string(HELPER)).ok_or("its helper class was rejected")?,
    };
    let shape = Class::read(&bytes).map_err(|error| error.to_string())?;
    for method in shape.methods.iter().filter(|method| !method.has_code) {
        let (name, descriptor) = (c_string(&method.name), c_string(&method.descriptor));
        let id =
            jni.static_method(class, &name, &descriptor).ok_or("its helper class has another version")?;
        let mut arguments: Vec<Primitive> = crate::names::parameters(&method.descriptor)
            .into_iter()
            .map(|ty| if ty == "J" { Primitive::Long(0) } else { Primitive::Object(None) })
            .collect();
        // This number belongs to no probe.
        arguments.pop();
        arguments.push(Primitive::Int(-1));
        if !jni.call_static(class, id, &arguments) {
            return Err("the virtual machine does not find its native methods".to_owned());
        }
    }
    if let Some(global) = jni.global(class) {
        let _ = agent.helper.set(global);
    }
    agent
        .ti
        .set_event_enabled(raw::JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, true, None)
        .map_err(crate::vm::error_text)
}

/// Opens one of the two connections.
fn connect(agent: &Agent, channel: Channel) -> Result<UnixStream, String> {
    let socket = agent.socket();
    let failed = |error: String| format!("no connection to the debugger at {socket}: {error}");
    let mut stream = UnixStream::connect(&socket).map_err(|error| failed(error.to_string()))?;
    let greeting = Greeting { magic: MAGIC, version: VERSION, channel, process: std::process::id() };
    protocol::send(&mut stream, &greeting).map_err(|lost| failed(lost.to_string()))?;
    Ok(stream)
}

/// Starts a thread that the program does not see.
pub(crate) fn start_thread(agent: &Agent, jni: Jni, start: raw::jvmtiStartFunction) -> Result<(), String> {
    jni.framed(|| {
        let class = jni.find_class(c"java/lang/Thread")?;
        let constructor = jni.method(class, c"<init>", c"(Ljava/lang/ThreadGroup;Ljava/lang/String;)V")?;
        let group = agent.ti.top_groups().ok()?.into_iter().next();
        let name = jni.string("Invigil")?;
        let arguments = [Primitive::Object(group), Primitive::Object(Some(name))];
        let thread = jni.create(class, constructor, &arguments)?;
        agent.ti.run_agent_thread(thread, start).ok()
    })
    .ok_or_else(|| "no thread can be started".to_owned())
}

/// The virtual machine is ready, and the program is about to start.
extern "system" fn vm_init(_: *mut jvmtiEnv, env: *mut JNIEnv, _: jthread) {
    callback(env, |agent, jni| {
        let started = make_helper(agent, jni).and_then(|()| {
            agent.channel.open(connect(agent, Channel::Events)?);
            start_thread(agent, jni, run_service)
        });
        if let Err(error) = started {
            eprintln!("invigil: the agent cannot start: {error}");
            give_up(agent);
            return;
        }
        if send_and_wait(agent, jni, &AgentEvent::Ready).is_err() {
            give_up(agent);
        }
        agent.running.store(true, Ordering::Relaxed);
    });
}

/// The virtual machine ends: none of its functions may be called any more.
extern "system" fn vm_death(_: *mut jvmtiEnv, env: *mut JNIEnv) {
    callback(env, |agent, _| {
        agent.channel.close();
        agent.service.stop();
    });
}

/// Gives up because the connection to the debugger is closed. A program that was to be monitored and has not started
/// must not run unmonitored.
fn give_up(agent: &Agent) {
    agent.channel.close();
    if agent.launched {
        // SAFETY: ends the process, in which no code of the program has run.
        unsafe { libc::_exit(1) };
    }
}

/// The agent's thread in a virtual machine that was started with it.
extern "system" fn run_service(_: *mut jvmtiEnv, env: *mut JNIEnv, _: *mut c_void) {
    callback(env, |agent, jni| {
        agent::mark_agent_thread();
        match connect(agent, Channel::Control) {
            Ok(stream) => requests::serve(agent, jni, stream),
            Err(_) => agent.channel.close(),
        }
    });
}

/// The agent's thread in a virtual machine that was running already.
extern "system" fn run_attached(_: *mut jvmtiEnv, env: *mut JNIEnv, _: *mut c_void) {
    callback(env, |agent, jni| {
        agent::mark_agent_thread();
        let mut made = Err(String::new());
        for _ in 0..200 {
            made = make_helper(agent, jni);
            if made.is_ok() {
                break;
            }
            // The virtual machine finds the native methods only after the loading function has returned.
            std::thread::sleep(Duration::from_millis(5));
        }
        let connected = made.and_then(|()| {
            agent.channel.open(connect(agent, Channel::Events)?);
            connect(agent, Channel::Control)
        });
        match connected {
            Ok(stream) => requests::serve(agent, jni, stream),
            Err(error) => {
                agent.channel.close();
                eprintln!("invigil: the agent cannot start: {error}");
            }
        }
    });
}

/// Runs a callback. A panic does not unwind into the virtual machine.
pub(crate) fn callback(env: *mut JNIEnv, work: impl FnOnce(&'static Agent, Jni)) {
    let Some(agent) = agent() else { return };
    // SAFETY: the virtual machine passes the current thread's environment.
    let jni = unsafe { Jni::new(env) };
    let _ = catch_unwind(AssertUnwindSafe(|| work(agent, jni)));
}

#[allow(clippy::too_many_arguments)]
extern "system" fn class_file_load_hook(
    _: *mut jvmtiEnv,
    env: *mut JNIEnv,
    _: jclass,
    loader: jobject,
    name: *const c_char,
    _: jobject,
    length: jint,
    data: *const c_uchar,
    new_length: *mut jint,
    new_data: *mut *mut c_uchar,
) {
    callback(env, |agent, _| {
        if !loader.is_null() {
            agent.has_classes.store(true, Ordering::Relaxed);
        }
        if agent.channel.is_closed() || name.is_null() || data.is_null() {
            return;
        }
        // SAFETY: the virtual machine gives a C string, and as many bytes as it says.
        let (name, bytes) = unsafe {
            (CStr::from_ptr(name).to_string_lossy(), std::slice::from_raw_parts(data, length.max(0) as usize))
        };
        if let Some(woven) = weaving::weave_class(agent, &name, bytes)
            && let Ok(memory) = agent.ti.copy_to_vm(&woven)
        {
            // SAFETY: the virtual machine expects the new class at these places, in memory that it allocated.
            unsafe {
                *new_length = woven.len() as jint;
                *new_data = memory;
            }
        }
    });
}

extern "system" fn class_prepare(_: *mut jvmtiEnv, env: *mut JNIEnv, _: jthread, class: jclass) {
    // SAFETY: the virtual machine passes a class.
    let class = unsafe { Ref::from_raw(class) };
    callback(env, |agent, _| {
        if let Some(class) = class {
            line_breakpoints::on_class_prepare(agent, class);
        }
    });
}

extern "system" fn object_free(_: *mut jvmtiEnv, tag: jlong) {
    if let Some(agent) = agent() {
        agent.object_ids.record_collected(tag);
    }
}

extern "system" fn breakpoint(
    _: *mut jvmtiEnv,
    env: *mut JNIEnv,
    thread: jthread,
    method: jmethodID,
    location: i64,
) {
    with_thread(env, thread, |agent, jni, thread| {
        line_breakpoints::on_breakpoint(agent, jni, thread, crate::vm::Method::from_raw(method), location);
    });
}

extern "system" fn single_step(
    _: *mut jvmtiEnv,
    env: *mut JNIEnv,
    thread: jthread,
    method: jmethodID,
    location: i64,
) {
    with_thread(env, thread, |agent, jni, thread| {
        steps::on_single_step(agent, jni, thread, crate::vm::Method::from_raw(method), location);
    });
}

extern "system" fn frame_pop(_: *mut jvmtiEnv, env: *mut JNIEnv, thread: jthread, _: jmethodID, _: jboolean) {
    with_thread(env, thread, steps::on_frame_pop);
}

extern "system" fn method_exit(
    _: *mut jvmtiEnv,
    env: *mut JNIEnv,
    thread: jthread,
    method: jmethodID,
    by_exception: jboolean,
    value: jvalue,
) {
    with_thread(env, thread, |agent, jni, thread| {
        if by_exception == 0 {
            // SAFETY: the signature is taken from the method's descriptor, so it is that of the value.
            let read = |signature: &str| unsafe { return_value(value, signature) };
            steps::on_method_exit(agent, jni, thread, crate::vm::Method::from_raw(method), &read);
        }
    });
}

/// # Safety
/// The signature must be that of the value.
unsafe fn return_value(value: jvalue, signature: &str) -> Primitive {
    // SAFETY: by the signature.
    unsafe {
        match signature.as_bytes().first() {
            Some(b'Z') => Primitive::Bool(value.z != 0),
            Some(b'B') => Primitive::Byte(value.b),
            Some(b'C') => Primitive::Char(value.c),
            Some(b'S') => Primitive::Short(value.s),
            Some(b'I') => Primitive::Int(value.i),
            Some(b'J') => Primitive::Long(value.j),
            Some(b'F') => Primitive::Float(value.f),
            Some(b'D') => Primitive::Double(value.d),
            _ => Primitive::Object(Ref::from_raw(value.l)),
        }
    }
}

fn with_thread(env: *mut JNIEnv, thread: jthread, work: impl FnOnce(&'static Agent, Jni, Ref)) {
    // SAFETY: the virtual machine passes the current thread.
    let thread = unsafe { Ref::from_raw(thread) };
    callback(env, |agent, jni| {
        if let Some(thread) = thread
            && !agent::is_agent_thread()
        {
            work(agent, jni, thread);
        }
    });
}

extern "C" fn on_process_exit(status: c_int, _: *mut c_void) {
    if let Some(agent) = agent() {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            if agent.launched && status != 0 && !agent.has_classes.load(Ordering::Relaxed) {
                agent.warn(protocol::NOT_BEGUN.to_owned());
            }
            send_exit(agent, status);
        }));
    }
}
