use proptest::prelude::*;

use super::every_api::every_api;
use super::*;
use crate::codec::DECODED_SIZE_LIMIT;

/// A check that is run for a message in each of its versions.
trait Check {
    fn check<M: Message>(&mut self, version: i16);
}

macro_rules! each_message {
    ($($name:ident = $key:literal, $module:ident: $request:ident => $response:ident;)*) => {
        fn every_message(check: &mut impl Check) {
            $( every_version::<$request>(check); every_version::<$response>(check); )*
        }
    };
}

every_api!(each_message);

fn every_version<M: Message>(check: &mut impl Check) {
    for version in M::MIN_VERSION..=M::MAX_VERSION {
        check.check::<M>(version);
    }
}

struct RoundTrip;

impl Check for RoundTrip {
    fn check<M: Message>(&mut self, version: i16) {
        let bytes = M::default().to_bytes(version);
        let mut r = Reader::new(&bytes, version);
        let back = M::decode(&mut r).unwrap_or_else(|error| panic!("{} {version}: {error}", M::NAME));
        assert!(r.rest().is_empty(), "{} {version} leaves bytes", M::NAME);
        assert_eq!(back.to_bytes(version), bytes, "{} {version}", M::NAME);
    }
}

#[test]
fn the_default_of_every_message_survives_in_every_version() {
    every_message(&mut RoundTrip);
}

/// Decodes the bytes as every message; what decodes must survive a second round.
struct Hostile<'a>(&'a [u8]);

impl Check for Hostile<'_> {
    fn check<M: Message>(&mut self, version: i16) {
        let mut r = Reader::new(self.0, version);
        if let Ok(message) = M::decode(&mut r) {
            assert!(r.budget() <= DECODED_SIZE_LIMIT);
            let bytes = message.to_bytes(version);
            let again =
                M::from_bytes(&bytes, version).unwrap_or_else(|e| panic!("{} {version}: {e}", M::NAME));
            // Compared as bytes: a NaN is not equal to itself.
            assert_eq!(again.to_bytes(version), bytes, "{} {version}", M::NAME);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_bytes_stop_any_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        every_message(&mut Hostile(&bytes));
    }

    #[test]
    fn small_bytes_get_deep_into_the_decoders(bytes in proptest::collection::vec(0_u8..4, 0..300)) {
        every_message(&mut Hostile(&bytes));
    }
}
