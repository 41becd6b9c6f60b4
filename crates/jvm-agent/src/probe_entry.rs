//! The native methods of the helper class that probes call, found by their names.
//!
//! The letters of a name are the types of the arguments: `J` an integer, `L` an object. The number of the probe comes
//! last. `p` reports; `h` stages the first values of a report with more than four.

use crate::on_probe::{ProbeValue, on_probe, on_probe_unlocked, stage_values};
use crate::vm::{Jni, Ref};
use jvmti_bindings::sys::jni::{JNIEnv, jclass, jint, jlong, jobject};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Keeps a panic from unwinding into the virtual machine.
fn guarded(work: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(work));
}

fn number(value: jlong) -> ProbeValue {
    ProbeValue::Number(value)
}

/// Whether a probe that passes only integers was handled by the fastest tier.
macro_rules! unlocked {
    ($jni:expr, $id:expr, $($value:ident: jlong)*) => {
        on_probe_unlocked($jni, $id as u32, &[$($value),*])
    };
    ($($other:tt)*) => {
        false
    };
}

fn object(value: jobject) -> ProbeValue {
    // SAFETY: the virtual machine passes handles that are valid until the probe returns.
    ProbeValue::Object(unsafe { Ref::from_raw(value) })
}

macro_rules! probes {
    ($($report:ident $hold:ident ($($value:ident: $ty:tt = $read:ident),*);)*) => {$(
        #[unsafe(no_mangle)]
        extern "system" fn $report(env: *mut JNIEnv, _: jclass, $($value: $ty,)* id: jint) {
            /// A function of its own, so that the fastest tier need not set up its stack frame.
            #[inline(never)]
            fn slow_path(env: *mut JNIEnv, $($value: $ty,)* id: jint) {
                // SAFETY: as below.
                guarded(move || on_probe(unsafe { Jni::new(env) }, id as u32, &[$($read($value)),*]));
            }
            // SAFETY: the virtual machine passes the current thread's environment.
            if !unlocked!(unsafe { Jni::new(env) }, id, $($value: $ty)*) {
                slow_path(env, $($value,)* id);
            }
        }

        #[unsafe(no_mangle)]
        extern "system" fn $hold(env: *mut JNIEnv, _: jclass, $($value: $ty,)* id: jint) {
            // SAFETY: as above.
            guarded(|| stage_values(unsafe { Jni::new(env) }, id as u32, &[$($read($value)),*]));
        }
    )*};
}

#[rustfmt::skip]
mod exported {
    use super::*;

    probes! {
        Java_java_lang_Invigil_p Java_java_lang_Invigil_h ();
        Java_java_lang_Invigil_pJ Java_java_lang_Invigil_hJ (a: jlong = number);
        Java_java_lang_Invigil_pL Java_java_lang_Invigil_hL (a: jobject = object);
        Java_java_lang_Invigil_pJJ Java_java_lang_Invigil_hJJ (a: jlong = number, b: jlong = number);
        Java_java_lang_Invigil_pJL Java_java_lang_Invigil_hJL (a: jlong = number, b: jobject = object);
        Java_java_lang_Invigil_pLJ Java_java_lang_Invigil_hLJ (a: jobject = object, b: jlong = number);
        Java_java_lang_Invigil_pLL Java_java_lang_Invigil_hLL (a: jobject = object, b: jobject = object);
        Java_java_lang_Invigil_pJJJ Java_java_lang_Invigil_hJJJ (a: jlong = number, b: jlong = number, c: jlong = number);
        Java_java_lang_Invigil_pJJL Java_java_lang_Invigil_hJJL (a: jlong = number, b: jlong = number, c: jobject = object);
        Java_java_lang_Invigil_pJLJ Java_java_lang_Invigil_hJLJ (a: jlong = number, b: jobject = object, c: jlong = number);
        Java_java_lang_Invigil_pJLL Java_java_lang_Invigil_hJLL (a: jlong = number, b: jobject = object, c: jobject = object);
        Java_java_lang_Invigil_pLJJ Java_java_lang_Invigil_hLJJ (a: jobject = object, b: jlong = number, c: jlong = number);
        Java_java_lang_Invigil_pLJL Java_java_lang_Invigil_hLJL (a: jobject = object, b: jlong = number, c: jobject = object);
        Java_java_lang_Invigil_pLLJ Java_java_lang_Invigil_hLLJ (a: jobject = object, b: jobject = object, c: jlong = number);
        Java_java_lang_Invigil_pLLL Java_java_lang_Invigil_hLLL (a: jobject = object, b: jobject = object, c: jobject = object);
        Java_java_lang_Invigil_pJJJJ Java_java_lang_Invigil_hJJJJ (a: jlong = number, b: jlong = number, c: jlong = number, d: jlong = number);
        Java_java_lang_Invigil_pJJJL Java_java_lang_Invigil_hJJJL (a: jlong = number, b: jlong = number, c: jlong = number, d: jobject = object);
        Java_java_lang_Invigil_pJJLJ Java_java_lang_Invigil_hJJLJ (a: jlong = number, b: jlong = number, c: jobject = object, d: jlong = number);
        Java_java_lang_Invigil_pJJLL Java_java_lang_Invigil_hJJLL (a: jlong = number, b: jlong = number, c: jobject = object, d: jobject = object);
        Java_java_lang_Invigil_pJLJJ Java_java_lang_Invigil_hJLJJ (a: jlong = number, b: jobject = object, c: jlong = number, d: jlong = number);
        Java_java_lang_Invigil_pJLJL Java_java_lang_Invigil_hJLJL (a: jlong = number, b: jobject = object, c: jlong = number, d: jobject = object);
        Java_java_lang_Invigil_pJLLJ Java_java_lang_Invigil_hJLLJ (a: jlong = number, b: jobject = object, c: jobject = object, d: jlong = number);
        Java_java_lang_Invigil_pJLLL Java_java_lang_Invigil_hJLLL (a: jlong = number, b: jobject = object, c: jobject = object, d: jobject = object);
        Java_java_lang_Invigil_pLJJJ Java_java_lang_Invigil_hLJJJ (a: jobject = object, b: jlong = number, c: jlong = number, d: jlong = number);
        Java_java_lang_Invigil_pLJJL Java_java_lang_Invigil_hLJJL (a: jobject = object, b: jlong = number, c: jlong = number, d: jobject = object);
        Java_java_lang_Invigil_pLJLJ Java_java_lang_Invigil_hLJLJ (a: jobject = object, b: jlong = number, c: jobject = object, d: jlong = number);
        Java_java_lang_Invigil_pLJLL Java_java_lang_Invigil_hLJLL (a: jobject = object, b: jlong = number, c: jobject = object, d: jobject = object);
        Java_java_lang_Invigil_pLLJJ Java_java_lang_Invigil_hLLJJ (a: jobject = object, b: jobject = object, c: jlong = number, d: jlong = number);
        Java_java_lang_Invigil_pLLJL Java_java_lang_Invigil_hLLJL (a: jobject = object, b: jobject = object, c: jlong = number, d: jobject = object);
        Java_java_lang_Invigil_pLLLJ Java_java_lang_Invigil_hLLLJ (a: jobject = object, b: jobject = object, c: jobject = object, d: jlong = number);
        Java_java_lang_Invigil_pLLLL Java_java_lang_Invigil_hLLLL (a: jobject = object, b: jobject = object, c: jobject = object, d: jobject = object);
    }
}
