//! The methods that probes call: the native methods of the helper class, found by their names.
//!
//! The letters say what is passed: `J` a number, `L` an object; the number of the probe comes last. `p` reports, `h`
//! passes the first values of a report that has more than four.

use crate::fire::{Raw, fire, fire_at_once, hold};
use crate::vm::{Jni, Ref};
use jvmti_bindings::sys::jni::{JNIEnv, jclass, jint, jlong, jobject};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Nothing that goes wrong here may unwind into the machine.
fn guarded(work: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(work));
}

fn number(value: jlong) -> Raw {
    Raw::Number(value)
}

/// Whether a probe that passes nothing but numbers was dealt with in the shortest way.
macro_rules! at_once {
    ($jni:expr, $id:expr, $($value:ident: jlong)*) => {
        fire_at_once($jni, $id as u32, &[$($value),*])
    };
    ($($other:tt)*) => {
        false
    };
}

fn object(value: jobject) -> Raw {
    // SAFETY: the machine passes handles that are valid until the probe returns.
    Raw::Object(unsafe { Ref::from_raw(value) })
}

macro_rules! probes {
    ($($report:ident $hold:ident ($($value:ident: $ty:tt = $read:ident),*);)*) => {$(
        #[unsafe(no_mangle)]
        extern "system" fn $report(env: *mut JNIEnv, _: jclass, $($value: $ty,)* id: jint) {
            /// Apart, so that the shortest way need not make ready for it.
            #[inline(never)]
            fn at_length(env: *mut JNIEnv, $($value: $ty,)* id: jint) {
                // SAFETY: as below.
                guarded(move || fire(unsafe { Jni::new(env) }, id as u32, &[$($read($value)),*]));
            }
            // SAFETY: the machine passes the current thread's environment.
            if !at_once!(unsafe { Jni::new(env) }, id, $($value: $ty)*) {
                at_length(env, $($value,)* id);
            }
        }

        #[unsafe(no_mangle)]
        extern "system" fn $hold(env: *mut JNIEnv, _: jclass, $($value: $ty,)* id: jint) {
            // SAFETY: as above.
            guarded(|| hold(unsafe { Jni::new(env) }, id as u32, &[$($read($value)),*]));
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
