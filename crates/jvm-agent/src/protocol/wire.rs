//! Encoding of messages: little-endian integers; the length before a string or a list; the number of a variant before its
//! fields.
//!
//! Hand-written so that an impossible length from a broken peer cannot reserve much memory.

use std::fmt;

/// Error for bytes that are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedMessage;

impl fmt::Display for MalformedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the other side sent a malformed message")
    }
}

impl std::error::Error for MalformedMessage {}

/// A type that can be sent.
pub trait Wire: Sized {
    /// Appends the encoded value.
    fn put(&self, out: &mut Vec<u8>);

    /// Decodes a value from the front of `bytes`, and advances `bytes` past it.
    ///
    /// # Errors
    /// If the bytes do not start with such a value.
    fn take(bytes: &mut &[u8]) -> Result<Self, MalformedMessage>;
}

/// Encodes a message.
pub fn encode(message: &impl Wire) -> Vec<u8> {
    let mut out = Vec::new();
    message.put(&mut out);
    out
}

/// Decodes a message, which must take all of the bytes.
///
/// # Errors
/// If they are not a message of this type.
///
/// ```
/// use invigil_jvm_agent::protocol::{decode, encode};
/// let bytes = encode(&vec![String::from("Queue.push"), String::new()]);
/// assert_eq!(decode::<Vec<String>>(&bytes).map(|names| names.len()), Ok(2));
/// assert!(decode::<Vec<String>>(&bytes[1..]).is_err());
/// ```
pub fn decode<T: Wire>(mut bytes: &[u8]) -> Result<T, MalformedMessage> {
    let message = T::take(&mut bytes)?;
    if bytes.is_empty() { Ok(message) } else { Err(MalformedMessage) }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Wire for $number {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn take(bytes: &mut &[u8]) -> Result<Self, MalformedMessage> {
                let (head, rest) = bytes.split_first_chunk().ok_or(MalformedMessage)?;
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

    fn take(bytes: &mut &[u8]) -> Result<Self, MalformedMessage> {
        match u8::take(bytes)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(MalformedMessage),
        }
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, MalformedMessage> {
        let length = u32::take(bytes)? as usize;
        let (head, rest) = bytes.split_at_checked(length).ok_or(MalformedMessage)?;
        *bytes = rest;
        String::from_utf8(head.to_vec()).map_err(|_| MalformedMessage)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(some) = self {
            some.put(out);
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, MalformedMessage> {
        Ok(if bool::take(bytes)? { Some(T::take(bytes)?) } else { None })
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        self.iter().for_each(|each| each.put(out));
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, MalformedMessage> {
        let length = u32::take(bytes)? as usize;
        // Every element takes at least one byte, so a wrong length reserves no more elements than there are bytes.
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

    fn take(bytes: &mut &[u8]) -> Result<Self, MalformedMessage> {
        Ok((A::take(bytes)?, B::take(bytes)?))
    }
}

/// Declares a message type: a structure, or an enumeration whose variants have numbers.
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

            fn take(bytes: &mut &[u8]) -> Result<Self, $crate::protocol::wire::MalformedMessage> {
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
        #[allow(missing_docs, reason = "fields are named after what the variant's documentation describes")]
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

            fn take(bytes: &mut &[u8]) -> Result<Self, $crate::protocol::wire::MalformedMessage> {
                match <u8 as $crate::protocol::wire::Wire>::take(bytes)? {
                    $($number => {
                        $($(let $field = $crate::protocol::wire::Wire::take(bytes)?;)*)?
                        Ok($name::$variant $({ $($field),* })?)
                    })*
                    _ => Err($crate::protocol::wire::MalformedMessage),
                }
            }
        }
    };
}

pub(crate) use message;
