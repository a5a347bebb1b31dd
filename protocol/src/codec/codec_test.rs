use bytes::Bytes;

use super::*;
use crate::Uuid;

fn plain(bytes: &[u8]) -> Reader<'_> {
    Reader::new(bytes, 0)
}

fn flexible(bytes: &[u8]) -> Reader<'_> {
    let mut r = Reader::new(bytes, 0);
    r.set_flexible(true);
    r
}

fn written(write: impl Fn(&mut Writer<'_>), flexible: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut w = Writer::new(&mut out, 0);
    w.set_flexible(flexible);
    write(&mut w);
    out
}

#[test]
fn a_count_of_gigabytes_is_refused_before_memory_is_reserved() {
    let claimed = [0x7f, 0xff, 0xff, 0xff, 1, 2, 3, 4];
    let refused = DecodeError::CountTooLarge { count: 0x7fff_ffff, left: 4 };
    assert_eq!(Vec::<i8>::read(&mut plain(&claimed)), Err(refused));
    let compact = [0xff, 0xff, 0xff, 0xff, 0x07, 1, 2];
    assert!(matches!(Vec::<String>::read(&mut flexible(&compact)), Err(DecodeError::CountTooLarge { .. })));
    assert!(matches!(Bytes::read(&mut plain(&claimed)), Err(DecodeError::Truncated { .. })));
    assert!(matches!(Bytes::read(&mut flexible(&compact)), Err(DecodeError::Truncated { .. })));
}

#[test]
fn a_count_must_fit_with_its_elements() {
    // Two ids are claimed where the bytes of one and a half follow.
    let mut bytes = vec![0, 0, 0, 2];
    bytes.extend([7; 24]);
    assert_eq!(Vec::<Uuid>::read(&mut plain(&bytes)), Err(DecodeError::CountTooLarge { count: 2, left: 24 }));
}

#[test]
fn what_is_decoded_is_charged_to_the_budget() {
    // A thousand empty strings: a thousand bytes on the wire, 24 times that in memory.
    let mut bytes = written(|w| w.length(Some(1000)), true);
    bytes.extend([1; 1000]);
    let read = |budget| {
        let mut r = Reader::with_budget(&bytes, 0, budget);
        r.set_flexible(true);
        Vec::<String>::read(&mut r).map(|strings| (strings.len(), r.budget()))
    };
    assert_eq!(read(24_000), Ok((1000, 0)));
    assert_eq!(read(23_999), Err(DecodeError::OverBudget { limit: 23_999 }));
    // Strings and bytes count with their length.
    assert_eq!(
        String::read(&mut Reader::with_budget(&[0, 3, b'a', b'b', b'c'], 0, 2)),
        Err(DecodeError::OverBudget { limit: 2 })
    );
}

#[test]
fn negative_lengths_are_null() {
    for length in [-1_i32, -2, i32::MIN] {
        assert_eq!(Option::<Vec<i8>>::read(&mut plain(&length.to_be_bytes())), Ok(None));
        assert_eq!(Vec::<i8>::read(&mut plain(&length.to_be_bytes())), Err(DecodeError::NullNotAllowed));
        assert_eq!(Option::<Bytes>::read(&mut plain(&length.to_be_bytes())), Ok(None));
    }
    for length in [-1_i16, -2, i16::MIN] {
        assert_eq!(Option::<String>::read(&mut plain(&length.to_be_bytes())), Ok(None));
        assert_eq!(String::read(&mut plain(&length.to_be_bytes())), Err(DecodeError::NullNotAllowed));
    }
    assert_eq!(Option::<String>::read(&mut flexible(&[0])), Ok(None));
    assert_eq!(String::read(&mut flexible(&[0])), Err(DecodeError::NullNotAllowed));
}

#[test]
fn malformed_text_is_replaced_as_often_as_java_does() {
    for (bytes, text) in [
        (&[b'a', 0xff, b'b'][..], "a\u{fffd}b"),
        (&[0xc3], "\u{fffd}"),
        (&[0xe2, 0x82], "\u{fffd}"),
        (&[0xe2, 0x82, b'x'], "\u{fffd}x"),
        (&[0xed, 0xa0, 0x80], "\u{fffd}"),
        (&[0xed, 0xa0, b'x'], "\u{fffd}x"),
        (&[0xed, 0xa0], "\u{fffd}"),
        (&[0xed, 0xa0, 0x80, 0x80], "\u{fffd}\u{fffd}"),
        (&[0xf0, 0x80, 0x80], "\u{fffd}\u{fffd}\u{fffd}"),
    ] {
        assert_eq!(plain(bytes).text(bytes.len()).unwrap(), text, "{bytes:?}");
    }
}

#[test]
fn a_string_too_long_for_the_protocol_is_cut_at_a_character() {
    let long = "é".repeat(20_000);
    for flexible_ in [false, true] {
        let bytes = written(|w| long.write(w), flexible_);
        let mut r = if flexible_ { flexible(&bytes) } else { plain(&bytes) };
        assert_eq!(String::read(&mut r).unwrap(), "é".repeat(16_383));
    }
    let mut bytes = written(|w| w.length(Some(0x8000)), true);
    bytes.extend(vec![b'a'; 0x8000]);
    assert_eq!(String::read(&mut flexible(&bytes)), Err(DecodeError::StringTooLong(0x8000)));
}

#[test]
fn bool_is_any_byte_but_zero() {
    assert_eq!(bool::read(&mut plain(&[0])), Ok(false));
    assert_eq!(bool::read(&mut plain(&[2])), Ok(true));
    assert_eq!(bool::read(&mut plain(&[0xff])), Ok(true));
    assert_eq!(written(|w| true.write(w), false), [1]);
}

#[test]
fn unknown_tags_are_skipped_and_bad_sizes_refused() {
    let mut nothing = |_: u32, _: &mut Reader<'_>| Ok(false);
    let mut r = flexible(&[2, 5, 3, 1, 2, 3, 6, 0, 42]);
    assert_eq!(r.tagged_fields(&mut nothing), Ok(()));
    assert_eq!(r.rest(), [42]);
    assert!(matches!(
        flexible(&[1, 5, 3, 1]).tagged_fields(&mut nothing),
        Err(DecodeError::Truncated { .. })
    ));
    let negative = [0xff, 0xff, 0xff, 0xff, 0x0f];
    assert_eq!(flexible(&negative).tagged_fields(&mut nothing), Err(DecodeError::NegativeLength));
    let huge = [1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f];
    assert!(matches!(flexible(&huge).tagged_fields(&mut nothing), Err(DecodeError::Truncated { .. })));
}

#[test]
fn a_tagged_field_has_its_size_in_front() {
    let long = "x".repeat(200);
    let bytes = written(|w| w.tagged_field(9, &mut |w| long.write(w)), true);
    assert_eq!(bytes[..5], [9, 0xca, 0x01, 0xc9, 0x01]);
    assert_eq!(bytes.len(), 205);
}
