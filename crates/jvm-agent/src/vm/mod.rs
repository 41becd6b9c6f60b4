//! The virtual machine's two interfaces, as far as they are used here: JNI, which is for a thread, and JVMTI, which is
//! for the whole machine.
//!
//! Everything in the agent goes through these wrappers, and nothing else calls the machine. They are sound for the same
//! reasons throughout: the tables of functions are the machine's own and stay for as long as it runs; a [`Ref`] is a
//! handle that the machine gave to this thread, or a global one, and is used before the call from the machine
//! returns; names passed in are C strings that outlive the call; memory that the machine allocated is copied and given
//! back at once.

mod jni;
mod ti;

pub(crate) use jni::{FieldKind, Jni, Primitive, c_string};
use jvmti_bindings::sys::jni::{jfieldID, jmethodID, jobject};
use jvmti_bindings::sys::jvmti::jvmtiError;
pub(crate) use ti::{Local, Ti, Variable};

/// A handle of an object, a class or a thread. Null is `None` where that can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ref(jobject);

impl Ref {
    /// A handle that the machine gave; null is none.
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

/// A global handle: it is valid in all threads, until it is dropped through [`Jni::forget`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Global(jobject);

// SAFETY: global handles are for all threads; the machine synchronises what is done with them.
unsafe impl Send for Global {}
// SAFETY: as above.
unsafe impl Sync for Global {}

impl Global {
    pub(crate) fn get(&self) -> Ref {
        Ref(self.0)
    }
}

/// A handle that does not keep its object alive, for all threads, until it is dropped through [`Jni::forget_weak`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Weak(jobject);

// SAFETY: as for global handles.
unsafe impl Send for Weak {}
// SAFETY: as above.
unsafe impl Sync for Weak {}

/// A method of a class that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Method(jmethodID);

// SAFETY: these are numbers to the machine, the same in all threads.
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

/// What the machine refuses, by its number.
pub(crate) type Got<T = ()> = Result<T, jvmtiError>;

/// Why the machine refused, in words.
pub(crate) fn words(error: jvmtiError) -> String {
    match error {
        jvmtiError::NO_MORE_FRAMES => "there is no such frame".to_owned(),
        jvmtiError::OPAQUE_FRAME => "this frame cannot be changed".to_owned(),
        jvmtiError::THREAD_NOT_SUSPENDED => {
            "the thread runs: another debugger has the right to hold threads".to_owned()
        }
        jvmtiError::THREAD_NOT_ALIVE => "the thread has ended".to_owned(),
        jvmtiError::MUST_POSSESS_CAPABILITY => {
            "the virtual machine allows this only if the program was started with `invigil run`, and no other \
             debugger has claimed it"
                .to_owned()
        }
        error => format!("the virtual machine refuses, with error {}", error.raw()),
    }
}
