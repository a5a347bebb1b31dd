use bytes::Bytes;

use super::{DecodeError, Reader, Writer};
use crate::Uuid;

/// A type that can be a field of a message.
pub trait Wire: Sized + Default {
    /// The fewest bytes a value takes, in any version.
    const MIN_SIZE: usize;

    /// Reads a value at the reader's version.
    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError>;

    /// Writes the value at the writer's version.
    fn write(&self, w: &mut Writer<'_>);

    /// Bytes of memory that the value holds outside of itself.
    fn heap_bytes(&self) -> usize {
        0
    }

    /// Reads the value of a tagged field.
    fn read_tagged(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::read(r)
    }

    /// Writes the value of a tagged field.
    fn write_tagged(&self, w: &mut Writer<'_>) {
        self.write(w);
    }
}

/// A type that can be null on the wire. What is given here is how structs do it: one byte, negative for null.
pub trait Nullable: Wire {
    /// Whether it is a struct, whose null looks different in a tagged field: a varint, zero for null.
    const IS_STRUCT: bool = true;

    /// The fewest bytes that a value or null takes.
    const MIN_NULLABLE_SIZE: usize = 1;

    /// Reads a value or null.
    fn read_or_null(r: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        if i8::read(r)? < 0 { Ok(None) } else { Self::read(r).map(Some) }
    }

    /// Writes a value or null.
    fn write_or_null(value: Option<&Self>, w: &mut Writer<'_>) {
        match value {
            None => (-1_i8).write(w),
            Some(value) => {
                1_i8.write(w);
                value.write(w);
            }
        }
    }
}

impl<T: Nullable> Wire for Option<T> {
    const MIN_SIZE: usize = T::MIN_NULLABLE_SIZE;

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        T::read_or_null(r)
    }

    fn write(&self, w: &mut Writer<'_>) {
        T::write_or_null(self.as_ref(), w);
    }

    fn heap_bytes(&self) -> usize {
        self.as_ref().map_or(0, Wire::heap_bytes)
    }

    fn read_tagged(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if !T::IS_STRUCT {
            return Self::read(r);
        }
        if r.unsigned_varint()?.cast_signed() <= 0 { Ok(None) } else { T::read(r).map(Some) }
    }

    fn write_tagged(&self, w: &mut Writer<'_>) {
        if !T::IS_STRUCT {
            return self.write(w);
        }
        w.unsigned_varint(u32::from(self.is_some()));
        if let Some(value) = self {
            value.write(w);
        }
    }
}

/// Reads a field that is nullable in some versions only.
pub fn read_nullable<T: Nullable>(r: &mut Reader<'_>, may_be_null: bool) -> Result<Option<T>, DecodeError> {
    if may_be_null { T::read_or_null(r) } else { T::read(r).map(Some) }
}

/// Writes a field that is nullable in some versions only. Null becomes the empty value where it must not be.
pub fn write_nullable<T: Nullable>(value: &Option<T>, w: &mut Writer<'_>, may_be_null: bool) {
    match value {
        Some(value) if !may_be_null => value.write(w),
        None if !may_be_null => T::default().write(w),
        value => T::write_or_null(value.as_ref(), w),
    }
}

/// Whether a tagged field has to be written, that is differs from its default.
pub fn differs<T: PartialEq>(value: &T, default: &T) -> bool {
    value != default
}

macro_rules! wire_numbers {
    ($($number:ident)*) => { $(
        impl Wire for $number {
            const MIN_SIZE: usize = size_of::<$number>();

            fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok($number::from_be_bytes(r.array()?))
            }

            fn write(&self, w: &mut Writer<'_>) {
                w.put(&self.to_be_bytes());
            }
        }
    )* };
}

wire_numbers!(i8 i16 i32 i64 u16 u32 f64);

impl Wire for bool {
    const MIN_SIZE: usize = 1;

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(i8::read(r)? != 0)
    }

    fn write(&self, w: &mut Writer<'_>) {
        i8::from(*self).write(w);
    }
}

impl Wire for Uuid {
    const MIN_SIZE: usize = 16;

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        r.array().map(Uuid)
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.put(&self.0);
    }
}

impl Wire for String {
    const MIN_SIZE: usize = 1;

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::read_or_null(r)?.ok_or(DecodeError::NullNotAllowed)
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.string(Some(self));
    }

    fn heap_bytes(&self) -> usize {
        self.len()
    }
}

impl Nullable for String {
    const IS_STRUCT: bool = false;

    fn read_or_null(r: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        let Some(length) = r.string_length()? else { return Ok(None) };
        let text = r.text(length)?;
        r.charge(text.len())?;
        Ok(Some(text.into_owned()))
    }

    fn write_or_null(value: Option<&Self>, w: &mut Writer<'_>) {
        w.string(value.map(String::as_str));
    }
}

impl Wire for Bytes {
    const MIN_SIZE: usize = 1;

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::read_or_null(r)?.ok_or(DecodeError::NullNotAllowed)
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.length(Some(self.len()));
        w.put(self);
    }

    fn heap_bytes(&self) -> usize {
        self.len()
    }
}

impl Nullable for Bytes {
    const IS_STRUCT: bool = false;

    fn read_or_null(r: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        let Some(length) = r.bytes_length()? else { return Ok(None) };
        let bytes = r.take(length)?;
        r.charge(bytes.len())?;
        Ok(Some(Bytes::copy_from_slice(bytes)))
    }

    fn write_or_null(value: Option<&Self>, w: &mut Writer<'_>) {
        match value {
            Some(bytes) => bytes.write(w),
            None => w.length(None),
        }
    }
}

impl<T: Wire> Wire for Vec<T> {
    const MIN_SIZE: usize = 1;

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::read_or_null(r)?.ok_or(DecodeError::NullNotAllowed)
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.length(Some(self.len()));
        for item in self {
            item.write(w);
        }
    }

    fn heap_bytes(&self) -> usize {
        self.iter()
            .map(|item| size_of::<T>().saturating_add(item.heap_bytes()))
            .fold(0, usize::saturating_add)
    }
}

impl<T: Wire> Nullable for Vec<T> {
    const IS_STRUCT: bool = false;

    fn read_or_null(r: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        let Some(count) = r.count(T::MIN_SIZE, size_of::<T>())? else { return Ok(None) };
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(T::read(r)?);
        }
        Ok(Some(items))
    }

    fn write_or_null(value: Option<&Self>, w: &mut Writer<'_>) {
        match value {
            Some(items) => items.write(w),
            None => w.length(None),
        }
    }
}
