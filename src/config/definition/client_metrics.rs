//! The keys of a client metrics subscription.

use super::rule::Emptiness::MayBeEmpty;
use super::rule::Rule::{Any, Items};
use super::{Effect, Key, Kind, Preset, Update, keys};

pub(super) static KEYS: &[Key] = keys! { of_broker:
    "metrics": List = "", Items(&[], MayBeEmpty), None, NotBuilt,
        "Prefixes of the metrics clients shall push; * means all.";
    "interval.ms": Int = "300000", Any, None, NotBuilt,
        "How often clients push.";
    "match": List = "", Items(&[], MayBeEmpty), None, NotBuilt,
        "Which clients push, as attribute=pattern.";
};
