use std::sync::Arc;

use crate::ids::Uuid;

/// Where a node can be reached: one advertised listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The listener's name.
    pub listener: Arc<str>,
    /// The advertised host.
    pub host: Arc<str>,
    /// The advertised port.
    pub port: u16,
    /// 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL.
    pub security_protocol: i16,
}

/// Which levels of a feature a node supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureRange {
    /// The feature's name.
    pub name: Arc<str>,
    /// The lowest level it supports.
    pub min: i16,
    /// The highest.
    pub max: i16,
}

/// A broker that registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerImage {
    /// Its node id.
    pub id: i32,
    /// Names this run of the process: drawn at its start.
    pub incarnation: Uuid,
    /// The offset of its registration.
    pub epoch: i64,
    /// Its advertised listeners, in the order of registration.
    pub endpoints: Vec<Endpoint>,
    /// What it supports.
    pub features: Vec<FeatureRange>,
    /// `broker.rack`.
    pub rack: Option<Arc<str>>,
    /// A fenced broker leads nothing and is not shown to clients.
    pub fenced: bool,
    /// It is about to stop: it gets no new leaderships.
    pub in_controlled_shutdown: bool,
    /// Its log directories that work.
    pub directories: Vec<Uuid>,
    /// Directories that take no new replicas; none before the broker has said so.
    pub cordoned: Option<Vec<Uuid>>,
}

impl BrokerImage {
    /// Where it can be reached through the listener of that name.
    pub fn endpoint(&self, listener: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| &*endpoint.listener == listener)
    }

    /// Alive for clients and for new replicas.
    pub fn is_active(&self) -> bool {
        !self.fenced && !self.in_controlled_shutdown
    }
}

/// A controller that registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerImage {
    /// Its node id.
    pub id: i32,
    /// Names this run of the process.
    pub incarnation: Uuid,
    /// A flag of the way from ZooKeeper, kept as it was written.
    pub zk_migration_ready: bool,
    /// Its controller listeners.
    pub endpoints: Vec<Endpoint>,
    /// What it supports.
    pub features: Vec<FeatureRange>,
}
