//! How a message is declared.
//!
//! ```text
//! message! {
//!     /// What it is for. API key 2.
//!     request ListOffsetsRequest => ListOffsetsResponse, key ListOffsets, versions 1-11, flexible 6 {
//!         replica_id: i32;
//!         isolation_level: i8 [2..];                   // the versions that have it; none said: all
//!         topics: Vec<ListOffsetsTopic>;
//!         rack: Option<String> [5..], null [7..];      // null in part of them; an Option alone: in all
//!         cluster: Option<String> [12..], tag 0;       // tagged fields come last, in tag order
//!         epoch: i32 [4..] = -1;                       // Kafka's default, unless it is zero, empty or null
//!     }
//!     struct ListOffsetsTopic { … }
//! }
//! ```
//!
//! The kinds: `request`, `response`, `record` (keyed by a number of its log), `data` (no key). A field that
//! its version lacks keeps its default when read and is left out when written; a `None` where null is not
//! allowed is written as the empty value.

/// Declares a message and the structs it is made of. See the module's text.
macro_rules! message {
    (
        $(#[$meta:meta])*
        request $name:ident => $response:ident, key $key:ident,
        versions $min:literal - $max:literal $(, flexible $flexible:literal)? { $($fields:tt)* }
        $($structs:tt)*
    ) => {
        $crate::messages::dsl::wire_struct! { $(#[$meta])* $name { $($fields)* } }
        $crate::messages::dsl::versioned! { $name, $min, $max, $($flexible)? }
        impl $crate::messages::Request for $name {
            const KEY: $crate::ApiKey = $crate::ApiKey::$key;
            type Response = $response;
        }
        $crate::messages::dsl::wire_structs! { $($structs)* }
    };
    (
        $(#[$meta:meta])*
        response $name:ident, key $key:ident,
        versions $min:literal - $max:literal $(, flexible $flexible:literal)? { $($fields:tt)* }
        $($structs:tt)*
    ) => {
        $crate::messages::dsl::wire_struct! { $(#[$meta])* $name { $($fields)* } }
        $crate::messages::dsl::versioned! { $name, $min, $max, $($flexible)? }
        impl $crate::messages::Response for $name {
            const KEY: $crate::ApiKey = $crate::ApiKey::$key;
        }
        $crate::messages::dsl::wire_structs! { $($structs)* }
    };
    (
        $(#[$meta:meta])*
        record $name:ident, key $key:literal,
        versions $min:literal - $max:literal $(, flexible $flexible:literal)? { $($fields:tt)* }
        $($structs:tt)*
    ) => {
        $crate::messages::dsl::wire_struct! { $(#[$meta])* $name { $($fields)* } }
        $crate::messages::dsl::versioned! { $name, $min, $max, $($flexible)? }
        impl $crate::messages::Record for $name {
            const KEY: i16 = $key;
        }
        $crate::messages::dsl::wire_structs! { $($structs)* }
    };
    (
        $(#[$meta:meta])*
        data $name:ident,
        versions $min:literal - $max:literal $(, flexible $flexible:literal)? { $($fields:tt)* }
        $($structs:tt)*
    ) => {
        $crate::messages::dsl::wire_struct! { $(#[$meta])* $name { $($fields)* } }
        $crate::messages::dsl::versioned! { $name, $min, $max, $($flexible)? }
        $crate::messages::dsl::wire_structs! { $($structs)* }
    };
}

/// The version constants of a message.
macro_rules! versioned {
    ($name:ident, $min:literal, $max:literal, $($flexible:literal)?) => {
        impl $crate::messages::Message for $name {
            const NAME: &'static str = stringify!($name);
            const MIN_VERSION: i16 = $min;
            const MAX_VERSION: i16 = $max;
            $( const FIRST_FLEXIBLE: i16 = $flexible; )?
        }
    };
}

/// The nested structs of a message.
macro_rules! wire_structs {
    ($( struct $name:ident { $($fields:tt)* } )*) => { $(
        $crate::messages::dsl::wire_struct! { $name { $($fields)* } }
    )* };
}

/// One struct: its type, Kafka's defaults, its reading and writing.
macro_rules! wire_struct {
    (
        $(#[$meta:meta])*
        $name:ident { $(
            $field:ident : $type:ty $([$versions:expr])? $(, null [$nulls:expr])? $(, tag $tag:literal)?
            $(= $default:expr)? ;
        )* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $( pub $field: $type, )* }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $crate::messages::dsl::default_of!($($default)?), )* }
            }
        }

        impl $crate::codec::Nullable for $name {}

        #[allow(unused_mut, unused_variables)]
        impl $crate::codec::Wire for $name {
            const MIN_SIZE: usize = 0 $(
                + $crate::messages::dsl::min_size!($type [$($versions)?] [$($nulls)?] [$($tag)?])
            )*;

            fn read(r: &mut $crate::codec::Reader<'_>) -> Result<Self, $crate::codec::DecodeError> {
                let mut this = Self { $(
                    $field: $crate::messages::dsl::read_plain!(
                        r [$($versions)?] [$($nulls)?] [$($tag)?] [$($default)?]
                    ),
                )* };
                if r.flexible() {
                    r.tagged_fields(&mut |tag, r| {
                        $( $crate::messages::dsl::read_tagged!(
                            this.$field, r, tag [$($versions)?] [$($tag)?]
                        ); )*
                        Ok(false)
                    })?;
                }
                Ok(this)
            }

            fn heap_bytes(&self) -> usize {
                let mut bytes = 0_usize;
                $( bytes = bytes.saturating_add($crate::codec::Wire::heap_bytes(&self.$field)); )*
                bytes
            }

            fn write(&self, w: &mut $crate::codec::Writer<'_>) {
                $( $crate::messages::dsl::write_plain!(
                    self.$field, w [$($versions)?] [$($nulls)?] [$($tag)?]
                ); )*
                if w.flexible() {
                    w.unsigned_varint(0 $( + $crate::messages::dsl::count_tagged!(
                        self.$field, w [$($versions)?] [$($tag)?] [$($default)?]
                    ) )*);
                    $( $crate::messages::dsl::write_tagged!(
                        self.$field, w [$($versions)?] [$($tag)?] [$($default)?]
                    ); )*
                }
            }
        }
    };
}

macro_rules! default_of {
    () => {
        Default::default()
    };
    ($default:expr) => {
        $default
    };
}

/// Whether the version at hand has a field.
macro_rules! has {
    ($rw:ident) => {
        true
    };
    ($rw:ident $versions:expr) => {
        ($versions).contains(&$rw.version())
    };
}

/// A field that is not always there counts for nothing.
macro_rules! min_size {
    ($type:ty [] [] []) => {
        <$type as $crate::codec::Wire>::MIN_SIZE
    };
    ($type:ty [$($versions:expr)?] [$($nulls:expr)?] [$($tag:literal)?]) => {
        0
    };
}

macro_rules! read_value {
    ($r:ident) => {
        $crate::codec::Wire::read($r)?
    };
    ($r:ident $nulls:expr) => {{
        let may_be_null = ($nulls).contains(&$r.version());
        $crate::codec::read_nullable($r, may_be_null)?
    }};
}

/// A field that is not tagged, read in its turn.
macro_rules! read_plain {
    ($r:ident [$($versions:expr)?] [$($nulls:expr)?] [$tag:literal] [$($default:expr)?]) => {
        $crate::messages::dsl::default_of!($($default)?)
    };
    ($r:ident [] [$($nulls:expr)?] [] [$($default:expr)?]) => {
        $crate::messages::dsl::read_value!($r $($nulls)?)
    };
    ($r:ident [$versions:expr] [$($nulls:expr)?] [] [$($default:expr)?]) => {
        if ($versions).contains(&$r.version()) {
            $crate::messages::dsl::read_value!($r $($nulls)?)
        } else {
            $crate::messages::dsl::default_of!($($default)?)
        }
    };
}

macro_rules! write_value {
    ($this:ident . $field:ident, $w:ident) => {
        $crate::codec::Wire::write(&$this.$field, $w)
    };
    ($this:ident . $field:ident, $w:ident $nulls:expr) => {{
        let may_be_null = ($nulls).contains(&$w.version());
        $crate::codec::write_nullable(&$this.$field, $w, may_be_null)
    }};
}

/// A field that is not tagged, written in its turn.
macro_rules! write_plain {
    ($this:ident . $field:ident, $w:ident [$($versions:expr)?] [$($nulls:expr)?] [$tag:literal]) => {};
    ($this:ident . $field:ident, $w:ident [] [$($nulls:expr)?] []) => {
        $crate::messages::dsl::write_value!($this.$field, $w $($nulls)?)
    };
    ($this:ident . $field:ident, $w:ident [$versions:expr] [$($nulls:expr)?] []) => {
        if ($versions).contains(&$w.version()) {
            $crate::messages::dsl::write_value!($this.$field, $w $($nulls)?)
        }
    };
}

/// A tagged field, read when its tag comes.
macro_rules! read_tagged {
    ($this:ident . $field:ident, $r:ident, $at:ident [$($versions:expr)?] []) => {};
    ($this:ident . $field:ident, $r:ident, $at:ident [$($versions:expr)?] [$tag:literal]) => {
        if $at == $tag {
            if !$crate::messages::dsl::has!($r $($versions)?) {
                return Err($crate::codec::DecodeError::InvalidTag { tag: $tag, version: $r.version() });
            }
            $this.$field = $crate::codec::Wire::read_tagged($r)?;
            return Ok(true);
        }
    };
}

/// Whether a tagged field has to be written: not if it has its default.
macro_rules! is_set {
    ($this:ident . $field:ident, $w:ident [$($versions:expr)?] [$($default:expr)?]) => {
        ($crate::messages::dsl::has!($w $($versions)?)
            && $crate::codec::differs(&$this.$field, &$crate::messages::dsl::default_of!($($default)?)))
    };
}

macro_rules! count_tagged {
    ($this:ident . $field:ident, $w:ident [$($versions:expr)?] [] [$($default:expr)?]) => {
        0
    };
    ($this:ident . $field:ident, $w:ident [$($versions:expr)?] [$tag:literal] [$($default:expr)?]) => {
        u32::from($crate::messages::dsl::is_set!($this.$field, $w [$($versions)?] [$($default)?]))
    };
}

macro_rules! write_tagged {
    ($this:ident . $field:ident, $w:ident [$($versions:expr)?] [] [$($default:expr)?]) => {};
    ($this:ident . $field:ident, $w:ident [$($versions:expr)?] [$tag:literal] [$($default:expr)?]) => {
        if $crate::messages::dsl::is_set!($this.$field, $w [$($versions)?] [$($default)?]) {
            $w.tagged_field($tag, &mut |$w| {
                $crate::codec::Wire::write_tagged(&$this.$field, $w);
            });
        }
    };
}

pub(crate) use {
    count_tagged, default_of, has, is_set, message, min_size, read_plain, read_tagged, read_value, versioned,
    wire_struct, wire_structs, write_plain, write_tagged, write_value,
};
