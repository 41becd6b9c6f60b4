//! How messages become bytes: numbers little-endian, texts and lists behind their lengths, a variant behind its number.

use std::fmt;

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Garbled;

impl fmt::Display for Garbled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the other side sent something that is no message")
    }
}

impl std::error::Error for Garbled {}

/// What can be sent.
pub trait Wire: Sized {
    /// Appends the bytes.
    fn put(&self, out: &mut Vec<u8>);

    /// Takes them off the front of `bytes`.
    ///
    /// # Errors
    /// If they are none of this kind.
    fn take(bytes: &mut &[u8]) -> Result<Self, Garbled>;
}

/// A message as bytes.
pub fn encode(message: &impl Wire) -> Vec<u8> {
    let mut out = Vec::new();
    message.put(&mut out);
    out
}

/// Bytes as a message; nothing may be left over.
///
/// # Errors
/// If they are none.
///
/// ```
/// use invigil_jvm_agent::protocol::{decode, encode};
/// let bytes = encode(&vec![String::from("Queue.push"), String::new()]);
/// assert_eq!(decode::<Vec<String>>(&bytes).map(|names| names.len()), Ok(2));
/// assert!(decode::<Vec<String>>(&bytes[1..]).is_err());
/// ```
pub fn decode<T: Wire>(mut bytes: &[u8]) -> Result<T, Garbled> {
    let message = T::take(&mut bytes)?;
    if bytes.is_empty() { Ok(message) } else { Err(Garbled) }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Wire for $number {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn take(bytes: &mut &[u8]) -> Result<Self, Garbled> {
                let (head, rest) = bytes.split_first_chunk().ok_or(Garbled)?;
                *bytes = rest;
                Ok(<$number>::from_le_bytes(*head))
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, i32, i64, f64);

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Garbled> {
        match u8::take(bytes)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Garbled),
        }
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Garbled> {
        let length = u32::take(bytes)? as usize;
        let (head, rest) = bytes.split_at_checked(length).ok_or(Garbled)?;
        *bytes = rest;
        String::from_utf8(head.to_vec()).map_err(|_| Garbled)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(some) = self {
            some.put(out);
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Garbled> {
        Ok(if bool::take(bytes)? { Some(T::take(bytes)?) } else { None })
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        self.iter().for_each(|each| each.put(out));
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Garbled> {
        let length = u32::take(bytes)? as usize;
        // Every element has a byte at least: a length that lies reserves nothing.
        let mut all = Vec::with_capacity(length.min(bytes.len()));
        for _ in 0..length {
            all.push(T::take(bytes)?);
        }
        Ok(all)
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, Garbled> {
        Ok((A::take(bytes)?, B::take(bytes)?))
    }
}

/// Declares what can be sent: a structure, or an enumeration whose variants have numbers.
macro_rules! message {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$field_meta:meta])* pub $field:ident: $ty:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $($(#[$field_meta])* pub $field: $ty,)* }

        impl $crate::protocol::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::protocol::wire::Wire::put(&self.$field, out);)*
            }

            fn take(bytes: &mut &[u8]) -> Result<Self, $crate::protocol::wire::Garbled> {
                $(let $field = $crate::protocol::wire::Wire::take(bytes)?;)*
                Ok($name { $($field),* })
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $number:literal = $variant:ident
                $({ $($(#[$field_meta:meta])* $field:ident: $ty:ty),* $(,)? })?,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "what a variant says is enough for fields of its own name")]
        pub enum $name {
            $($(#[$variant_meta])* $variant $({ $($(#[$field_meta])* $field: $ty),* })?,)*
        }

        impl $crate::protocol::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $($name::$variant $({ $($field),* })? => {
                        out.push($number);
                        $($($crate::protocol::wire::Wire::put($field, out);)*)?
                    })*
                }
            }

            fn take(bytes: &mut &[u8]) -> Result<Self, $crate::protocol::wire::Garbled> {
                match <u8 as $crate::protocol::wire::Wire>::take(bytes)? {
                    $($number => {
                        $($(let $field = $crate::protocol::wire::Wire::take(bytes)?;)*)?
                        Ok($name::$variant $({ $($field),* })?)
                    })*
                    _ => Err($crate::protocol::wire::Garbled),
                }
            }
        }
    };
}

pub(crate) use message;
