//! JVMTI, the native interface for agents of the virtual machine, for all threads.

use super::{Field, Method, Ref, TiResult};
use jvmti_bindings::sys::jni::{jint, jlong, jobject};
use jvmti_bindings::sys::jvmti::{self as raw, jvmtiCapabilities, jvmtiEnv, jvmtiError, jvmtiEvent};
use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

/// The machine's tool interface, which is for all threads.
#[derive(Clone, Copy)]
pub(crate) struct Ti(*mut jvmtiEnv);

// SAFETY: JVMTI environments may be used by all threads.
unsafe impl Send for Ti {}
// SAFETY: as above.
unsafe impl Sync for Ti {}

/// A local variable of a method: its slot, and the range of code in which it is live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) signature: String,
    pub(crate) slot: i32,
    pub(crate) start: i64,
    pub(crate) length: i64,
}

/// The value of a local variable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Local {
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Object(Option<Ref>),
}

fn check(error: jvmtiError) -> TiResult {
    if error == jvmtiError::NONE { Ok(()) } else { Err(error) }
}

/// Calls a function of the virtual machine.
macro_rules! call {
    ($self:expr, $function:ident $(, $argument:expr)*) => {{
        // SAFETY: see the head of the module `vm`.
        let function = unsafe { (*(*$self.0).functions).$function };
        match function {
            // SAFETY: as above; the arguments are of the types that the function has.
            Some(function) => check(unsafe { function($self.0 $(, $argument)*) }),
            None => Err(jvmtiError::NOT_AVAILABLE),
        }
    }};
}

/// A thread argument; null is the current thread.
fn thread(of: Option<Ref>) -> jobject {
    of.map_or(null_mut(), Ref::raw)
}

impl Ti {
    /// # Safety
    /// It must be an environment that the virtual machine gave.
    pub(crate) unsafe fn new(env: *mut jvmtiEnv) -> Ti {
        Ti(env)
    }

    // ---- memory ------------------------------------------------------------------------------------------

    fn deallocate<T>(self, memory: *mut T) {
        if !memory.is_null() {
            // Nothing can be done if that fails.
            let _ = call!(self, Deallocate, memory.cast());
        }
    }

    /// Copies a text of the virtual machine and deallocates it.
    fn text(self, text: *mut c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: the virtual machine gave a C string, which is ours until it is deallocated.
        let copy = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        self.deallocate(text);
        copy
    }

    /// Copies a list of the virtual machine and deallocates it.
    fn list<T: Copy>(self, count: jint, list: *mut T) -> Vec<T> {
        if list.is_null() {
            return Vec::new();
        }
        // SAFETY: the virtual machine gave an array of that length, which is ours until it is deallocated.
        let copy = unsafe { std::slice::from_raw_parts(list, count.max(0) as usize) }.to_vec();
        self.deallocate(list);
        copy
    }

    fn refs(self, count: jint, list: *mut jobject) -> Vec<Ref> {
        self.list(count, list).into_iter().map(Ref).collect()
    }

    /// Copies `bytes` to memory of the virtual machine, which the virtual machine deallocates.
    pub(crate) fn copy_to_vm(self, bytes: &[u8]) -> TiResult<*mut u8> {
        let mut memory = null_mut();
        call!(self, Allocate, bytes.len() as jlong, &mut memory)?;
        // SAFETY: the virtual machine gave that many bytes, and only the agent uses them.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
        Ok(memory)
    }

    // ---- the virtual machine -------------------------------------------------------------------------------------

    pub(crate) fn add_capabilities(self, capabilities: &jvmtiCapabilities) -> TiResult {
        call!(self, AddCapabilities, capabilities)
    }

    pub(crate) fn relinquish_capabilities(self, capabilities: &jvmtiCapabilities) -> TiResult {
        call!(self, RelinquishCapabilities, capabilities)
    }

    pub(crate) fn potential_capabilities(self) -> TiResult<jvmtiCapabilities> {
        let mut all = jvmtiCapabilities::default();
        call!(self, GetPotentialCapabilities, &mut all)?;
        Ok(all)
    }

    pub(crate) fn capabilities(self) -> TiResult<jvmtiCapabilities> {
        let mut all = jvmtiCapabilities::default();
        call!(self, GetCapabilities, &mut all)?;
        Ok(all)
    }

    pub(crate) fn set_callbacks(self, callbacks: &raw::jvmtiEventCallbacks) -> TiResult {
        call!(self, SetEventCallbacks, callbacks, size_of_val(callbacks) as jint)
    }

    /// Enables or disables an event, for one thread or for all.
    pub(crate) fn set_event_enabled(self, event: jvmtiEvent, on: bool, of: Option<Ref>) -> TiResult {
        let mode = if on { raw::JVMTI_ENABLE } else { raw::JVMTI_DISABLE };
        call!(self, SetEventNotificationMode, mode, event, thread(of))
    }

    pub(crate) fn system_property(self, name: &CStr) -> Option<String> {
        let mut value = null_mut();
        call!(self, GetSystemProperty, name.as_ptr(), &mut value).ok()?;
        Some(self.text(value))
    }

    /// Runs `start` in an agent thread, which the program does not see.
    pub(crate) fn run_agent_thread(self, of: Ref, start: raw::jvmtiStartFunction) -> TiResult {
        call!(self, RunAgentThread, of.raw(), Some(start), null(), raw::JVMTI_THREAD_NORM_PRIORITY)
    }

    // ---- threads -----------------------------------------------------------------------------------------

    pub(crate) fn current_thread(self) -> TiResult<Ref> {
        let mut current = null_mut();
        call!(self, GetCurrentThread, &mut current)?;
        if current.is_null() { Err(jvmtiError::INVALID_THREAD) } else { Ok(Ref(current)) }
    }

    pub(crate) fn threads(self) -> TiResult<Vec<Ref>> {
        let (mut count, mut list) = (0, null_mut());
        call!(self, GetAllThreads, &mut count, &mut list)?;
        Ok(self.refs(count, list))
    }

    /// A thread's name and its group.
    pub(crate) fn thread_info(self, of: Ref) -> TiResult<(String, Option<Ref>)> {
        let mut info = raw::jvmtiThreadInfo::default();
        call!(self, GetThreadInfo, of.raw(), &mut info)?;
        let group = (!info.thread_group.is_null()).then_some(Ref(info.thread_group));
        Ok((self.text(info.name), group))
    }

    pub(crate) fn group_name(self, group: Ref) -> TiResult<String> {
        let mut info = raw::jvmtiThreadGroupInfo::default();
        call!(self, GetThreadGroupInfo, group.raw(), &mut info)?;
        Ok(self.text(info.name))
    }

    pub(crate) fn top_groups(self) -> TiResult<Vec<Ref>> {
        let (mut count, mut list) = (0, null_mut());
        call!(self, GetTopThreadGroups, &mut count, &mut list)?;
        Ok(self.refs(count, list))
    }

    pub(crate) fn thread_state(self, of: Ref) -> TiResult<i32> {
        let mut state = 0;
        call!(self, GetThreadState, of.raw(), &mut state)?;
        Ok(state)
    }

    pub(crate) fn suspend(self, of: Ref) -> TiResult {
        call!(self, SuspendThread, of.raw())
    }

    pub(crate) fn resume(self, of: Ref) -> TiResult {
        call!(self, ResumeThread, of.raw())
    }

    /// Suspends all virtual threads, if there are any.
    pub(crate) fn suspend_virtual(self) -> TiResult {
        call!(self, SuspendAllVirtualThreads, 0, null())
    }

    pub(crate) fn resume_virtual(self) -> TiResult {
        call!(self, ResumeAllVirtualThreads, 0, null())
    }

    // ---- frames ------------------------------------------------------------------------------------------

    pub(crate) fn frame_count(self, of: Option<Ref>) -> TiResult<i32> {
        let mut count = 0;
        call!(self, GetFrameCount, thread(of), &mut count)?;
        Ok(count)
    }

    /// The methods and locations of a thread's frames, innermost first.
    pub(crate) fn stack(self, of: Option<Ref>, limit: usize) -> TiResult<Vec<(Method, i64)>> {
        let mut frames = vec![raw::jvmtiFrameInfo::default(); limit.min(1 << 16)];
        let mut count = 0;
        call!(self, GetStackTrace, thread(of), 0, frames.len() as jint, frames.as_mut_ptr(), &mut count)?;
        frames.truncate(count.max(0) as usize);
        Ok(frames.into_iter().map(|frame| (Method(frame.method), frame.location)).collect())
    }

    /// The method and location of one frame.
    pub(crate) fn frame(self, of: Option<Ref>, depth: i32) -> TiResult<(Method, i64)> {
        let (mut method, mut location) = (null_mut(), 0);
        call!(self, GetFrameLocation, thread(of), depth, &mut method, &mut location)?;
        Ok((Method(method), location))
    }

    pub(crate) fn notify_frame_pop(self, of: Ref, depth: i32) -> TiResult {
        call!(self, NotifyFramePop, of.raw(), depth)
    }

    /// Reads a variable of the type that `signature` describes.
    pub(crate) fn local(self, of: Option<Ref>, depth: i32, slot: i32, signature: &str) -> TiResult<Local> {
        let of = thread(of);
        Ok(match signature.as_bytes().first() {
            Some(b'J') => {
                let mut value = 0;
                call!(self, GetLocalLong, of, depth, slot, &mut value)?;
                Local::Long(value)
            }
            Some(b'F') => {
                let mut value = 0.0;
                call!(self, GetLocalFloat, of, depth, slot, &mut value)?;
                Local::Float(value)
            }
            Some(b'D') => {
                let mut value = 0.0;
                call!(self, GetLocalDouble, of, depth, slot, &mut value)?;
                Local::Double(value)
            }
            Some(b'L' | b'[') => {
                let mut value = null_mut();
                call!(self, GetLocalObject, of, depth, slot, &mut value)?;
                Local::Object((!value.is_null()).then_some(Ref(value)))
            }
            _ => {
                let mut value = 0;
                call!(self, GetLocalInt, of, depth, slot, &mut value)?;
                Local::Int(value)
            }
        })
    }

    pub(crate) fn set_local(self, of: Option<Ref>, depth: i32, slot: i32, value: Local) -> TiResult {
        let of = thread(of);
        match value {
            Local::Int(value) => call!(self, SetLocalInt, of, depth, slot, value),
            Local::Long(value) => call!(self, SetLocalLong, of, depth, slot, value),
            Local::Float(value) => call!(self, SetLocalFloat, of, depth, slot, value),
            Local::Double(value) => call!(self, SetLocalDouble, of, depth, slot, value),
            Local::Object(value) => call!(self, SetLocalObject, of, depth, slot, thread(value)),
        }
    }

    // ---- classes -----------------------------------------------------------------------------------------

    pub(crate) fn loaded_classes(self) -> TiResult<Vec<Ref>> {
        let (mut count, mut list) = (0, null_mut());
        call!(self, GetLoadedClasses, &mut count, &mut list)?;
        Ok(self.refs(count, list))
    }

    /// A class's signature, as in `Lapp/Queue;`.
    pub(crate) fn signature(self, class: Ref) -> TiResult<String> {
        let mut signature = null_mut();
        call!(self, GetClassSignature, class.raw(), &mut signature, null_mut())?;
        Ok(self.text(signature))
    }

    pub(crate) fn source_file(self, class: Ref) -> Option<String> {
        let mut name = null_mut();
        call!(self, GetSourceFileName, class.raw(), &mut name).ok()?;
        Some(self.text(name))
    }

    pub(crate) fn is_modifiable(self, class: Ref) -> bool {
        let mut answer = 0;
        call!(self, IsModifiableClass, class.raw(), &mut answer).is_ok() && answer != 0
    }

    pub(crate) fn interfaces(self, class: Ref) -> TiResult<Vec<Ref>> {
        let (mut count, mut list) = (0, null_mut());
        call!(self, GetImplementedInterfaces, class.raw(), &mut count, &mut list)?;
        Ok(self.refs(count, list))
    }

    pub(crate) fn retransform(self, classes: &[Ref]) -> TiResult {
        let classes: Vec<jobject> = classes.iter().map(|class| class.raw()).collect();
        call!(self, RetransformClasses, classes.len() as jint, classes.as_ptr())
    }

    pub(crate) fn fields(self, class: Ref) -> TiResult<Vec<Field>> {
        let (mut count, mut list) = (0, null_mut());
        call!(self, GetClassFields, class.raw(), &mut count, &mut list)?;
        Ok(self.list(count, list).into_iter().map(Field).collect())
    }

    /// A field's name, its signature, and whether it is static.
    pub(crate) fn field(self, class: Ref, field: Field) -> TiResult<(String, String, bool)> {
        let (mut name, mut signature, mut modifiers) = (null_mut(), null_mut(), 0);
        call!(self, GetFieldName, class.raw(), field.0, &mut name, &mut signature, null_mut())?;
        let (name, signature) = (self.text(name), self.text(signature));
        call!(self, GetFieldModifiers, class.raw(), field.0, &mut modifiers)?;
        Ok((name, signature, modifiers & 0x0008 != 0))
    }

    pub(crate) fn methods(self, class: Ref) -> TiResult<Vec<Method>> {
        let (mut count, mut list) = (0, null_mut());
        call!(self, GetClassMethods, class.raw(), &mut count, &mut list)?;
        Ok(self.list(count, list).into_iter().map(Method).collect())
    }

    // ---- methods -----------------------------------------------------------------------------------------

    /// A method's name and descriptor.
    pub(crate) fn method_name(self, method: Method) -> TiResult<(String, String)> {
        let (mut name, mut signature) = (null_mut(), null_mut());
        call!(self, GetMethodName, method.0, &mut name, &mut signature, null_mut())?;
        Ok((self.text(name), self.text(signature)))
    }

    pub(crate) fn declaring_class(self, method: Method) -> TiResult<Ref> {
        let mut class = null_mut();
        call!(self, GetMethodDeclaringClass, method.0, &mut class)?;
        if class.is_null() { Err(jvmtiError::INVALID_CLASS) } else { Ok(Ref(class)) }
    }

    pub(crate) fn is_static(self, method: Method) -> bool {
        let mut modifiers = 0;
        call!(self, GetMethodModifiers, method.0, &mut modifiers).is_ok() && modifiers & 0x0008 != 0
    }

    pub(crate) fn is_native(self, method: Method) -> bool {
        let mut answer = 0;
        call!(self, IsMethodNative, method.0, &mut answer).is_ok() && answer != 0
    }

    /// The number of slots that a method's arguments take.
    pub(crate) fn arguments_size(self, method: Method) -> TiResult<i32> {
        let mut size = 0;
        call!(self, GetArgumentsSize, method.0, &mut size)?;
        Ok(size)
    }

    /// The first bytecode of each line of a method.
    pub(crate) fn lines(self, method: Method) -> TiResult<Vec<(i64, u32)>> {
        let (mut count, mut list) = (0, null_mut());
        call!(self, GetLineNumberTable, method.0, &mut count, &mut list)?;
        let all = self.list(count, list);
        Ok(all.into_iter().map(|entry| (entry.start_location, entry.line_number.max(0) as u32)).collect())
    }

    pub(crate) fn variables(self, method: Method) -> TiResult<Vec<Variable>> {
        let (mut count, mut list) = (0, null_mut());
        call!(self, GetLocalVariableTable, method.0, &mut count, &mut list)?;
        let all = self.list(count, list);
        let copied = all.into_iter().map(|entry| {
            self.deallocate(entry.generic_signature);
            Variable {
                name: self.text(entry.name),
                signature: self.text(entry.signature),
                slot: entry.slot,
                start: entry.start_location,
                length: entry.length.into(),
            }
        });
        Ok(copied.collect())
    }

    pub(crate) fn set_breakpoint(self, method: Method, location: i64) -> TiResult {
        call!(self, SetBreakpoint, method.0, location)
    }

    pub(crate) fn clear_breakpoint(self, method: Method, location: i64) -> TiResult {
        call!(self, ClearBreakpoint, method.0, location)
    }

    // ---- tags --------------------------------------------------------------------------------------------

    pub(crate) fn tag(self, object: Ref) -> TiResult<i64> {
        let mut tag = 0;
        call!(self, GetTag, object.raw(), &mut tag)?;
        Ok(tag)
    }

    pub(crate) fn set_tag(self, object: Ref, tag: i64) -> TiResult {
        call!(self, SetTag, object.raw(), tag)
    }
}
