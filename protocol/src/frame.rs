//! The frame around every request and response: a four-byte length, then that many bytes.

/// What the bytes received so far are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// More bytes must come before anything can be said or done.
    Incomplete {
        /// How many are missing at least (bytes).
        missing: usize,
    },
    /// A frame is there.
    Complete {
        /// The length of what follows the four bytes of length (bytes).
        length: usize,
    },
    /// The length is negative or zero: this is no Kafka client.
    Invalid {
        /// The length claimed.
        claimed: i32,
    },
    /// The length is more than allowed.
    TooLarge {
        /// The length claimed (bytes).
        claimed: usize,
    },
}

/// The size of a frame's length (bytes).
pub const LENGTH_SIZE: usize = 4;

/// Looks at the beginning of what was received. A frame may have `max` bytes behind its length; more, or no
/// bytes at all, is known from the length alone.
pub fn check(received: &[u8], max: usize) -> Frame {
    let Some((length, body)) = received.split_first_chunk::<LENGTH_SIZE>() else {
        return Frame::Incomplete { missing: LENGTH_SIZE.saturating_sub(received.len()) };
    };
    let claimed = i32::from_be_bytes(*length);
    match usize::try_from(claimed) {
        Err(_) | Ok(0) => Frame::Invalid { claimed },
        Ok(length) if length > max => Frame::TooLarge { claimed: length },
        Ok(length) if length > body.len() => Frame::Incomplete { missing: length.saturating_sub(body.len()) },
        Ok(length) => Frame::Complete { length },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_invalid_and_too_large_are_different() {
        assert_eq!(check(&[], 100), Frame::Incomplete { missing: 4 });
        assert_eq!(check(&[0, 0, 0], 100), Frame::Incomplete { missing: 1 });
        assert_eq!(check(&[0, 0, 0, 5, 1, 2], 100), Frame::Incomplete { missing: 3 });
        assert_eq!(check(&[0, 0, 0, 2, 1, 2], 100), Frame::Complete { length: 2 });
        assert_eq!(check(&[0, 0, 0, 2, 1, 2, 9], 2), Frame::Complete { length: 2 });
        assert_eq!(check(&[0, 0, 0, 3, 1], 2), Frame::TooLarge { claimed: 3 });
        assert_eq!(check(&[0, 0, 0, 0], 2), Frame::Invalid { claimed: 0 });
        assert_eq!(check(&[0xff, 0xff, 0xff, 0xff], 2), Frame::Invalid { claimed: -1 });
        assert_eq!(check(&[0x7f, 0xff, 0xff, 0xff], 2), Frame::TooLarge { claimed: 0x7fff_ffff });
        assert_eq!(check(b"GET / HTTP/1.1", 100 << 20), Frame::TooLarge { claimed: 0x4745_5420 });
    }
}
