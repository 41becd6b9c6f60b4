//! JNI: the interface of one thread.

use super::{Field, Global, Method, Ref, Weak};
use jvmti_bindings::sys::jni::{self as raw, JNIEnv, jint, jobject, jvalue};
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::ptr::null_mut;

/// The interface of the current thread.
#[derive(Clone, Copy)]
pub(crate) struct Jni(*mut JNIEnv, PhantomData<*mut ()>);

/// A Java value: a primitive, or a reference to an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Primitive {
    Bool(bool),
    Byte(i8),
    Char(u16),
    Short(i16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Object(Option<Ref>),
}

/// The receiver of a call or of an access to a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Receiver {
    /// An instance.
    Of(Ref),
    /// A class, for static members.
    Static(Ref),
}

/// Calls a function of the virtual machine.
macro_rules! call {
    ($self:expr, $function:ident $(, $argument:expr)*) => {{
        // SAFETY: see the documentation of the module `vm`.
        unsafe { ((**$self.0).$function)($self.0 $(, $argument)*) }
    }};
}

fn reference(object: jobject) -> Option<Ref> {
    (!object.is_null()).then_some(Ref(object))
}

fn handle(object: Option<Ref>) -> jobject {
    object.map_or(null_mut(), Ref::raw)
}

impl Jni {
    /// # Safety
    /// `env` must be the current thread's `JNIEnv`.
    pub(crate) unsafe fn new(env: *mut JNIEnv) -> Jni {
        Jni(env, PhantomData)
    }

    /// Clears the pending exception. Returns whether there was one.
    pub(crate) fn clear_exception(self) -> bool {
        let failed = call!(self, ExceptionCheck) != 0;
        if failed {
            call!(self, ExceptionClear);
        }
        failed
    }

    /// A number for the current thread that no other thread has at the same time.
    #[inline]
    pub(crate) fn thread(self) -> usize {
        self.0.addr()
    }

    /// Runs a function, and then deletes the local handles that it created.
    pub(crate) fn framed<R>(self, work: impl FnOnce() -> R) -> R {
        let pushed = call!(self, PushLocalFrame, 256) == 0;
        if !pushed {
            self.clear_exception();
        }
        let result = work();
        if pushed {
            call!(self, PopLocalFrame, null_mut());
        }
        result
    }

    pub(crate) fn global(self, object: Ref) -> Option<Global> {
        let global = call!(self, NewGlobalRef, object.raw());
        (!global.is_null()).then_some(Global(global))
    }

    pub(crate) fn delete_global(self, global: Global) {
        call!(self, DeleteGlobalRef, global.0);
    }

    /// A handle that does not keep the object alive.
    pub(crate) fn weak(self, object: Ref) -> Option<Weak> {
        let weak = call!(self, NewWeakGlobalRef, object.raw());
        if self.clear_exception() || weak.is_null() { None } else { Some(Weak(weak)) }
    }

    /// The object of a weak handle, if it has not been collected.
    pub(crate) fn strong(self, weak: &Weak) -> Option<Ref> {
        reference(call!(self, NewLocalRef, weak.0))
    }

    pub(crate) fn delete_weak(self, weak: Weak) {
        call!(self, DeleteWeakGlobalRef, weak.0);
    }

    /// A local handle of this thread.
    pub(crate) fn local(self, object: Ref) -> Option<Ref> {
        reference(call!(self, NewLocalRef, object.raw()))
    }

    pub(crate) fn delete_local(self, object: Ref) {
        call!(self, DeleteLocalRef, object.raw());
    }

    pub(crate) fn is_same(self, one: Ref, other: Ref) -> bool {
        call!(self, IsSameObject, one.raw(), other.raw()) != 0
    }

    // ---- classes and calls -------------------------------------------------------------------------------

    /// Defines a class of the bootstrap loader.
    pub(crate) fn define_class(self, name: &CStr, bytes: &[u8]) -> Option<Ref> {
        let class =
            call!(self, DefineClass, name.as_ptr(), null_mut(), bytes.as_ptr().cast(), bytes.len() as jint);
        if self.clear_exception() { None } else { reference(class) }
    }

    pub(crate) fn find_class(self, name: &CStr) -> Option<Ref> {
        let class = call!(self, FindClass, name.as_ptr());
        if self.clear_exception() { None } else { reference(class) }
    }

    pub(crate) fn class_of(self, object: Ref) -> Ref {
        Ref(call!(self, GetObjectClass, object.raw()))
    }

    pub(crate) fn superclass(self, class: Ref) -> Option<Ref> {
        reference(call!(self, GetSuperclass, class.raw()))
    }

    pub(crate) fn static_method(self, class: Ref, name: &CStr, descriptor: &CStr) -> Option<Method> {
        let method = call!(self, GetStaticMethodID, class.raw(), name.as_ptr(), descriptor.as_ptr());
        if self.clear_exception() || method.is_null() { None } else { Some(Method(method)) }
    }

    pub(crate) fn method(self, class: Ref, name: &CStr, descriptor: &CStr) -> Option<Method> {
        let method = call!(self, GetMethodID, class.raw(), name.as_ptr(), descriptor.as_ptr());
        if self.clear_exception() || method.is_null() { None } else { Some(Method(method)) }
    }

    fn arguments(arguments: &[Primitive]) -> Vec<jvalue> {
        let value = |value: &Primitive| match *value {
            Primitive::Bool(z) => jvalue { j: i64::from(z) },
            Primitive::Byte(b) => jvalue { j: b.into() },
            Primitive::Char(c) => jvalue { j: c.into() },
            Primitive::Short(s) => jvalue { j: s.into() },
            Primitive::Int(i) => jvalue { j: i.into() },
            Primitive::Long(j) => jvalue { j },
            Primitive::Float(f) => jvalue { f },
            Primitive::Double(d) => jvalue { d },
            Primitive::Object(object) => jvalue { l: handle(object) },
        };
        arguments.iter().map(value).collect()
    }

    /// Calls a static method without a result. Returns false if it threw an exception.
    pub(crate) fn call_static(self, class: Ref, method: Method, arguments: &[Primitive]) -> bool {
        let arguments = Jni::arguments(arguments);
        call!(self, CallStaticVoidMethodA, class.raw(), method.0, arguments.as_ptr());
        !self.clear_exception()
    }

    pub(crate) fn call_static_object(
        self,
        class: Ref,
        method: Method,
        arguments: &[Primitive],
    ) -> Option<Ref> {
        let arguments = Jni::arguments(arguments);
        let object = call!(self, CallStaticObjectMethodA, class.raw(), method.0, arguments.as_ptr());
        if self.clear_exception() { None } else { reference(object) }
    }

    pub(crate) fn call_object(self, object: Ref, method: Method, arguments: &[Primitive]) -> Option<Ref> {
        let arguments = Jni::arguments(arguments);
        let object = call!(self, CallObjectMethodA, object.raw(), method.0, arguments.as_ptr());
        if self.clear_exception() { None } else { reference(object) }
    }

    /// Calls a method of an object or class and ignores its result. The error is the thrown exception.
    pub(crate) fn call_any(
        self,
        of: Receiver,
        method: Method,
        return_type: &str,
        arguments: &[Primitive],
    ) -> Result<(), Ref> {
        let arguments = Jni::arguments(arguments);
        macro_rules! run {
            ($instance:ident, $static_:ident) => {
                match of {
                    Receiver::Of(object) => {
                        _ = call!(self, $instance, object.raw(), method.0, arguments.as_ptr())
                    }
                    Receiver::Static(class) => {
                        _ = call!(self, $static_, class.raw(), method.0, arguments.as_ptr())
                    }
                }
            };
        }
        match return_type.as_bytes().first() {
            Some(b'V') => run!(CallVoidMethodA, CallStaticVoidMethodA),
            Some(b'Z') => run!(CallBooleanMethodA, CallStaticBooleanMethodA),
            Some(b'B') => run!(CallByteMethodA, CallStaticByteMethodA),
            Some(b'C') => run!(CallCharMethodA, CallStaticCharMethodA),
            Some(b'S') => run!(CallShortMethodA, CallStaticShortMethodA),
            Some(b'I') => run!(CallIntMethodA, CallStaticIntMethodA),
            Some(b'J') => run!(CallLongMethodA, CallStaticLongMethodA),
            Some(b'F') => run!(CallFloatMethodA, CallStaticFloatMethodA),
            Some(b'D') => run!(CallDoubleMethodA, CallStaticDoubleMethodA),
            _ => run!(CallObjectMethodA, CallStaticObjectMethodA),
        }
        match reference(call!(self, ExceptionOccurred)) {
            Some(thrown) => {
                call!(self, ExceptionClear);
                Err(thrown)
            }
            None => Ok(()),
        }
    }

    pub(crate) fn create(self, class: Ref, constructor: Method, arguments: &[Primitive]) -> Option<Ref> {
        let arguments = Jni::arguments(arguments);
        let object = call!(self, NewObjectA, class.raw(), constructor.0, arguments.as_ptr());
        if self.clear_exception() { None } else { reference(object) }
    }

    // ---- fields ------------------------------------------------------------------------------------------

    /// A field by its name and signature, in this class or one that it extends.
    pub(crate) fn field(self, class: Ref, name: &CStr, signature: &CStr) -> Option<Field> {
        let field = call!(self, GetFieldID, class.raw(), name.as_ptr(), signature.as_ptr());
        if self.clear_exception() || field.is_null() { None } else { Some(Field(field)) }
    }

    pub(crate) fn get(self, of: Receiver, field: Field, signature: &str) -> Primitive {
        macro_rules! read {
            ($instance:ident, $static_:ident) => {
                match of {
                    Receiver::Of(object) => call!(self, $instance, object.raw(), field.0),
                    Receiver::Static(class) => call!(self, $static_, class.raw(), field.0),
                }
            };
        }
        match signature.as_bytes().first() {
            Some(b'Z') => Primitive::Bool(read!(GetBooleanField, GetStaticBooleanField) != 0),
            Some(b'B') => Primitive::Byte(read!(GetByteField, GetStaticByteField)),
            Some(b'C') => Primitive::Char(read!(GetCharField, GetStaticCharField)),
            Some(b'S') => Primitive::Short(read!(GetShortField, GetStaticShortField)),
            Some(b'I') => Primitive::Int(read!(GetIntField, GetStaticIntField)),
            Some(b'J') => Primitive::Long(read!(GetLongField, GetStaticLongField)),
            Some(b'F') => Primitive::Float(read!(GetFloatField, GetStaticFloatField)),
            Some(b'D') => Primitive::Double(read!(GetDoubleField, GetStaticDoubleField)),
            _ => Primitive::Object(reference(read!(GetObjectField, GetStaticObjectField))),
        }
    }

    pub(crate) fn set(self, of: Receiver, field: Field, value: Primitive) {
        macro_rules! write {
            ($instance:ident, $static_:ident, $value:expr) => {
                match of {
                    Receiver::Of(object) => call!(self, $instance, object.raw(), field.0, $value),
                    Receiver::Static(class) => call!(self, $static_, class.raw(), field.0, $value),
                }
            };
        }
        match value {
            Primitive::Bool(value) => write!(SetBooleanField, SetStaticBooleanField, u8::from(value)),
            Primitive::Byte(value) => write!(SetByteField, SetStaticByteField, value),
            Primitive::Char(value) => write!(SetCharField, SetStaticCharField, value),
            Primitive::Short(value) => write!(SetShortField, SetStaticShortField, value),
            Primitive::Int(value) => write!(SetIntField, SetStaticIntField, value),
            Primitive::Long(value) => write!(SetLongField, SetStaticLongField, value),
            Primitive::Float(value) => write!(SetFloatField, SetStaticFloatField, value),
            Primitive::Double(value) => write!(SetDoubleField, SetStaticDoubleField, value),
            Primitive::Object(value) => write!(SetObjectField, SetStaticObjectField, handle(value)),
        }
    }

    // ---- arrays and strings ------------------------------------------------------------------------------

    /// The number of elements of an array.
    pub(crate) fn length(self, array: Ref) -> usize {
        call!(self, GetArrayLength, array.raw()).max(0) as usize
    }

    /// An element of an array; `signature` is that of the elements. The index must be in bounds.
    pub(crate) fn element(self, array: Ref, index: usize, signature: &str) -> Primitive {
        let index = index as jint;
        macro_rules! read {
            ($function:ident, $zero:expr) => {{
                let mut value = [$zero];
                call!(self, $function, array.raw(), index, 1, value.as_mut_ptr());
                value[0]
            }};
        }
        let value = match signature.as_bytes().first() {
            Some(b'Z') => Primitive::Bool(read!(GetBooleanArrayRegion, 0) != 0),
            Some(b'B') => Primitive::Byte(read!(GetByteArrayRegion, 0)),
            Some(b'C') => Primitive::Char(read!(GetCharArrayRegion, 0)),
            Some(b'S') => Primitive::Short(read!(GetShortArrayRegion, 0)),
            Some(b'I') => Primitive::Int(read!(GetIntArrayRegion, 0)),
            Some(b'J') => Primitive::Long(read!(GetLongArrayRegion, 0)),
            Some(b'F') => Primitive::Float(read!(GetFloatArrayRegion, 0.0)),
            Some(b'D') => Primitive::Double(read!(GetDoubleArrayRegion, 0.0)),
            _ => Primitive::Object(reference(call!(self, GetObjectArrayElement, array.raw(), index))),
        };
        // An index out of bounds would throw an exception; the caller has checked the length, which cannot change.
        self.clear_exception();
        value
    }

    /// Sets an element of an array. Returns whether the virtual machine accepted it.
    pub(crate) fn set_element(self, array: Ref, index: usize, value: Primitive) -> bool {
        let index = index as jint;
        macro_rules! write {
            ($function:ident, $value:expr) => {{
                let value = [$value];
                call!(self, $function, array.raw(), index, 1, value.as_ptr())
            }};
        }
        match value {
            Primitive::Bool(value) => write!(SetBooleanArrayRegion, u8::from(value)),
            Primitive::Byte(value) => write!(SetByteArrayRegion, value),
            Primitive::Char(value) => write!(SetCharArrayRegion, value),
            Primitive::Short(value) => write!(SetShortArrayRegion, value),
            Primitive::Int(value) => write!(SetIntArrayRegion, value),
            Primitive::Long(value) => write!(SetLongArrayRegion, value),
            Primitive::Float(value) => write!(SetFloatArrayRegion, value),
            Primitive::Double(value) => write!(SetDoubleArrayRegion, value),
            Primitive::Object(value) => {
                call!(self, SetObjectArrayElement, array.raw(), index, handle(value));
            }
        }
        !self.clear_exception()
    }

    /// The contents of a `byte[]`.
    pub(crate) fn bytes(self, array: Ref) -> Vec<u8> {
        let mut bytes = vec![0u8; self.length(array)];
        call!(self, GetByteArrayRegion, array.raw(), 0, bytes.len() as jint, bytes.as_mut_ptr().cast());
        self.clear_exception();
        bytes
    }

    /// At most `limit` UTF-16 units of a string, and whether it has more.
    pub(crate) fn text(self, string: Ref, limit: usize) -> (String, bool) {
        let length = call!(self, GetStringLength, string.raw()).max(0) as usize;
        let mut units = vec![0u16; length.min(limit)];
        call!(self, GetStringRegion, string.raw(), 0, units.len() as jint, units.as_mut_ptr());
        self.clear_exception();
        (String::from_utf16_lossy(&units), length > limit)
    }

    /// A new string.
    pub(crate) fn string(self, text: &str) -> Option<Ref> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let string = call!(self, NewString, units.as_ptr(), units.len() as raw::jsize);
        if self.clear_exception() { None } else { reference(string) }
    }
}

/// A name as a C string; empty if it contains a zero byte.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}
