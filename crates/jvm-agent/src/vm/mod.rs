//! Safe wrappers of the virtual machine's interfaces, as far as they are used here: JNI, which belongs to a thread, and
//! JVMTI, which belongs to the whole machine.
//!
//! Hand-written because `jni` has no JVMTI, and only a small part of both interfaces is used.
//!
//! Everything in the agent goes through these wrappers, and nothing else calls the virtual machine. They are sound for
//! the same reasons throughout: the tables of functions belong to the virtual machine and exist as long as it runs; a
//! [`Ref`] is a handle that was given to this thread, or a global one, and is used before the call from the virtual
//! machine returns; names are passed as C strings that outlive the call; memory that the virtual machine allocated is
//! copied and deallocated immediately.

mod jni;
mod ti;

pub(crate) use jni::{Jni, Primitive, Receiver, c_string};
use jvmti_bindings::sys::jni::{jfieldID, jmethodID, jobject};
use jvmti_bindings::sys::jvmti::jvmtiError;
pub(crate) use ti::{Local, Ti, Variable};

/// A handle of an object, a class or a thread. Null is represented by `None` in an `Option`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ref(jobject);

impl Ref {
    /// A handle from the virtual machine; `None` for null.
    ///
    /// # Safety
    /// It must be valid in this thread for as long as it is used.
    pub(crate) unsafe fn from_raw(raw: jobject) -> Option<Ref> {
        (!raw.is_null()).then_some(Ref(raw))
    }

    pub(crate) fn raw(self) -> jobject {
        self.0
    }
}

/// A global handle: it is valid in all threads, until it is dropped through [`Jni::delete_global`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Global(jobject);

// SAFETY: global handles are for all threads; the virtual machine synchronises their use.
unsafe impl Send for Global {}
// SAFETY: as above.
unsafe impl Sync for Global {}

impl Global {
    pub(crate) fn get(&self) -> Ref {
        Ref(self.0)
    }
}

/// A handle that does not keep its object alive, for all threads, until it is dropped through [`Jni::delete_weak`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Weak(jobject);

// SAFETY: as for global handles.
unsafe impl Send for Weak {}
// SAFETY: as above.
unsafe impl Sync for Weak {}

/// A method of a class that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Method(jmethodID);

// SAFETY: these are numbers to the virtual machine, the same in all threads.
unsafe impl Send for Method {}
// SAFETY: as above.
unsafe impl Sync for Method {}

impl Method {
    pub(crate) fn from_raw(raw: jmethodID) -> Method {
        Method(raw)
    }
}

/// A field of a class that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field(jfieldID);

// SAFETY: as for methods.
unsafe impl Send for Field {}
// SAFETY: as above.
unsafe impl Sync for Field {}

/// Result of a function of the virtual machine.
pub(crate) type TiResult<T = ()> = Result<T, jvmtiError>;

/// Message for an error of the virtual machine.
pub(crate) fn error_text(error: jvmtiError) -> String {
    match error {
        jvmtiError::NO_MORE_FRAMES => "there is no such frame".to_owned(),
        jvmtiError::OPAQUE_FRAME => "this frame cannot be changed".to_owned(),
        jvmtiError::THREAD_NOT_SUSPENDED => {
            "the thread is running: another debugger has the right to suspend threads".to_owned()
        }
        jvmtiError::THREAD_NOT_ALIVE => "the thread has ended".to_owned(),
        jvmtiError::MUST_POSSESS_CAPABILITY => {
            "the virtual machine allows this only if the program was started with `invigil run`, and no other \
             debugger has claimed it"
                .to_owned()
        }
        error => format!("error {} of the virtual machine", error.raw()),
    }
}
