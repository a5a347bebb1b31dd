use std::collections::BTreeMap;
use std::sync::Arc;

/// Names and values that were configured for one resource.
pub type Overrides = BTreeMap<String, String>;

static NONE: Overrides = Overrides::new();

/// No overrides.
pub(super) fn none() -> &'static Overrides {
    &NONE
}

/// What kinds of things can be configured. The numbers are those of the records and requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i8)]
pub enum ResourceKind {
    /// A topic, by name.
    Topic = 2,
    /// A broker, by id; the empty name stands for all brokers.
    Broker = 4,
    /// Log levels of a broker; never in the metadata log.
    BrokerLogger = 8,
    /// A subscription to client metrics.
    ClientMetrics = 16,
    /// A consumer, share or streams group.
    Group = 32,
}

impl ResourceKind {
    /// The kind that a record or request means.
    pub fn from_code(code: i8) -> Option<ResourceKind> {
        match code {
            2 => Some(ResourceKind::Topic),
            4 => Some(ResourceKind::Broker),
            8 => Some(ResourceKind::BrokerLogger),
            16 => Some(ResourceKind::ClientMetrics),
            32 => Some(ResourceKind::Group),
            _ => None,
        }
    }

    /// Its number in records and requests.
    pub fn code(self) -> i8 {
        self as i8
    }
}

/// One thing that can be configured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigResource {
    /// What kind of thing.
    pub kind: ResourceKind,
    /// Which one.
    pub name: Arc<str>,
}

impl ConfigResource {
    /// A kind and a name.
    pub fn new(kind: ResourceKind, name: &str) -> ConfigResource {
        ConfigResource { kind, name: name.into() }
    }

    /// A topic's configuration.
    pub fn topic(name: &str) -> ConfigResource {
        ConfigResource::new(ResourceKind::Topic, name)
    }
}
