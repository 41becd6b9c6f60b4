//! The helper class whose methods the probes call.

use crate::bytes::Write;
use crate::pool::{Additions, PoolFullError};

/// Name of the helper's empty static method `(String, Object)`, a hook for debuggers. When a violation is found, it is
/// called with the property and the offending object.
pub const HOOK: &str = "onViolation";

/// Name of the helper's static field with the lock of locked probes.
pub const LOCK: &str = "lock";

/// The descriptor of the hook.
const HOOK_DESCRIPTOR: &str = "(Ljava/lang/String;Ljava/lang/Object;)V";

/// Maximum number of captures in one call.
pub(crate) const GROUP: usize = 4;

/// The descriptor of a helper method, given letters `J` and `L`.
pub(crate) fn descriptor(letters: &str) -> String {
    format!("({}I)V", letters.replace('L', "Ljava/lang/Object;"))
}

/// All words of up to four letters `J` and `L`, shortest first.
fn words() -> Vec<String> {
    let mut words = vec![String::new()];
    let mut shorter = 0;
    for _ in 0..GROUP {
        let end = words.len();
        for index in shorter..end {
            words.extend(["J", "L"].map(|letter| format!("{}{letter}", words[index])));
        }
        shorter = end;
    }
    words
}

/// Creates the class file of the helper, with a name such as `java/lang/Invigil`.
///
/// For each word of up to four letters `J` and `L`, it has two static native methods, `p…` and `h…`. It also has the
/// empty [`HOOK`] and the [`LOCK`].
///
/// The result is empty if the name is too long for a class file.
pub fn helper_class(name: &str) -> Vec<u8> {
    class(name).unwrap_or_default()
}

fn class(name: &str) -> Result<Vec<u8>, PoolFullError> {
    const PUBLIC: u16 = 1;
    const STATIC: u16 = 8;
    const FINAL: u16 = 16;
    const SUPER: u16 = 32;
    const NATIVE: u16 = 256;
    const SYNTHETIC: u16 = 4096;
    let mut pool = Additions::new(1);
    let (this, parent) = (pool.class(name)?, pool.class("java/lang/Object")?);
    let code = pool.text("Code")?;

    let mut fields = Vec::new();
    fields.put2(1);
    fields.put2(PUBLIC | STATIC | FINAL);
    fields.put2(pool.text(LOCK)?);
    fields.put2(pool.text("Ljava/lang/Object;")?);
    fields.put2(0);

    let mut methods = Vec::new();
    let words = words();
    methods.put2(u16::try_from(2 * words.len() + 2).map_err(|_| PoolFullError)?);
    for first in ["p", "h"] {
        for word in &words {
            methods.put2(PUBLIC | STATIC | NATIVE);
            methods.put2(pool.text(&format!("{first}{word}"))?);
            methods.put2(pool.text(&descriptor(word))?);
            methods.put2(0);
        }
    }
    let mut with_code = |access, name: u16, descriptor: u16, stack, locals, body: &[u8]| {
        let length = u32::try_from(body.len()).map_err(|_| PoolFullError)?;
        for word in [access, name, descriptor, 1, code] {
            methods.put2(word);
        }
        methods.put4(length + 12);
        methods.put2(stack);
        methods.put2(locals);
        methods.put4(length);
        methods.extend_from_slice(body);
        methods.put4(0);
        Ok(())
    };
    with_code(PUBLIC | STATIC, pool.text(HOOK)?, pool.text(HOOK_DESCRIPTOR)?, 0, 2, &[0xb1])?;
    // new Object; dup; invokespecial <init>; putstatic lock; return
    let mut initialisation = vec![0xbb];
    initialisation.put2(parent);
    initialisation.extend_from_slice(&[0x59, 0xb7]);
    initialisation.put2(pool.method("java/lang/Object", "<init>", "()V")?);
    initialisation.put1(0xb3);
    initialisation.put2(pool.field(name, LOCK, "Ljava/lang/Object;")?);
    initialisation.put1(0xb1);
    with_code(STATIC, pool.text("<clinit>")?, pool.text("()V")?, 2, 0, &initialisation)?;

    let mut class = Vec::new();
    class.put4(0xcafe_babe);
    // Version 49 needs no frames and is supported since Java 5.
    class.put4(49);
    class.put2(u16::try_from(pool.len()).map_err(|_| PoolFullError)?);
    class.extend_from_slice(pool.bytes());
    for word in [PUBLIC | FINAL | SUPER | SYNTHETIC, this, parent, 0] {
        class.put2(word);
    }
    class.extend_from_slice(&fields);
    class.extend_from_slice(&methods);
    class.put2(0);
    Ok(class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;

    #[test]
    fn helper_has_two_methods_per_word() {
        let words = words();
        assert_eq!(words.len(), 31);
        assert_eq!((words[0].as_str(), words[1].as_str(), words[30].as_str()), ("", "J", "LLLL"));
        let class = Class::read(&helper_class("a/B")).unwrap();
        assert_eq!(class.methods.len(), 64);
        assert_eq!(class.methods.iter().filter(|method| method.has_code).count(), 2);
        assert_eq!(class.fields[0].name, LOCK);
    }

    #[test]
    fn helper_with_too_long_name_is_empty() {
        assert_eq!(helper_class(&"x".repeat(70_000)), Vec::<u8>::new());
    }
}
