//! The APIs by key.

use crate::messages::Message;
use crate::messages::every_api::every_api;

macro_rules! api_keys {
    ($($name:ident = $key:literal, $module:ident: $request:ident => $response:ident;)*) => {
        /// Every API of Kafka 4.4, those between brokers and controllers included, and `Quorum`, which is Barnabas's own.
        #[allow(missing_docs)] // The names are Kafka's own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i16)]
        pub enum ApiKey {
            $( $name = $key, )*
        }

        impl ApiKey {
            /// Every API, in the order of the keys.
            pub const ALL: &'static [ApiKey] = &[$(ApiKey::$name),*];

            /// The number that stands for it in request headers.
            pub const fn key(self) -> i16 {
                match self { $( ApiKey::$name => $key, )* }
            }

            /// The API of this number, if Kafka 4.4 has it.
            pub const fn from_key(key: i16) -> Option<ApiKey> {
                match key { $( $key => Some(ApiKey::$name), )* _ => None }
            }

            /// Kafka's name, as its tools print it.
            pub const fn name(self) -> &'static str {
                match self { $( ApiKey::$name => stringify!($name), )* }
            }

            /// The first and the last version that Kafka 4.4 has messages for.
            pub const fn versions(self) -> (i16, i16) {
                match self { $( ApiKey::$name => {
                    type Request = crate::messages::$request;
                    (Request::MIN_VERSION, Request::MAX_VERSION)
                } )* }
            }

            /// The first flexible version (KIP-482); beyond the last one if there is none.
            pub const fn first_flexible(self) -> i16 {
                match self { $( ApiKey::$name => crate::messages::$request::FIRST_FLEXIBLE, )* }
            }
        }
    };
}

/// Kafka's APIs, and what only nodes of Barnabas say to each other.
macro_rules! with_our_own {
    ($($kafka:tt)*) => {
        api_keys! {
            $($kafka)*
            Quorum = 20595, quorum: QuorumRequest => QuorumResponse;
        }
    };
}

every_api!(with_our_own);

impl ApiKey {
    /// The version of the header in front of a request: 2 if the request is flexible, else 1.
    /// It is known for versions that are not supported, too.
    pub const fn request_header_version(self, version: i16) -> i16 {
        if version >= self.first_flexible() { 2 } else { 1 }
    }

    /// The version of the header in front of a response: 1 if the response is flexible, else 0. ApiVersions
    /// always answers with 0, because the client does not know yet what the broker speaks (KIP-511).
    pub const fn response_header_version(self, version: i16) -> i16 {
        match self {
            ApiKey::ApiVersions => 0,
            _ if version >= self.first_flexible() => 1,
            _ => 0,
        }
    }
}

impl std::fmt::Display for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_convert_both_ways() {
        for api in ApiKey::ALL {
            assert_eq!(ApiKey::from_key(api.key()), Some(*api));
        }
        assert_eq!(ApiKey::ListOffsets.key(), 2);
        assert_eq!(ApiKey::ListOffsets.name(), "ListOffsets");
        assert_eq!(ApiKey::from_key(-1), None);
        assert_eq!(ApiKey::from_key(4), None, "LeaderAndIsr is gone in Kafka 4");
    }

    #[test]
    fn header_versions_follow_flexibility() {
        assert_eq!(ApiKey::Produce.request_header_version(8), 1);
        assert_eq!(ApiKey::Produce.request_header_version(9), 2);
        assert_eq!(ApiKey::Produce.response_header_version(9), 1);
        assert_eq!(ApiKey::SaslHandshake.request_header_version(1), 1);
        assert_eq!(ApiKey::ApiVersions.request_header_version(3), 2);
        assert_eq!(ApiKey::ApiVersions.response_header_version(3), 0);
    }
}
