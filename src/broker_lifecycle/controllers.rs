//! A controller's place among the others: the active one is told where it listens and what it supports (KIP-919).

use barnabas_protocol::messages::ControllerRegistrationRequest;
use barnabas_protocol::messages::controller_registration::{Feature, Listener};
use tracing::warn;

use crate::clock::Clock;
use crate::controller::image::{Endpoint, FeatureRange};
use crate::controller::{Channel, Metadata};
use crate::ids::Uuid;
use crate::shutdown::Shutdown;

/// How long the active controller has to answer, and the pause before it is asked again, in ms.
const TELL_WITHIN_MS: u64 = 1_000;

/// What a controller says of itself.
pub struct ControllerIdentity {
    /// `node.id`.
    pub node_id: i32,
    /// Drawn for this run of the process.
    pub incarnation: Uuid,
    /// Its controller listeners.
    pub endpoints: Vec<Endpoint>,
    /// What it supports.
    pub features: Vec<FeatureRange>,
}

impl ControllerIdentity {
    fn request(&self) -> ControllerRegistrationRequest {
        let listener = |endpoint: &Endpoint| Listener {
            name: endpoint.listener.to_string(),
            host: endpoint.host.to_string(),
            port: endpoint.port,
            security_protocol: endpoint.security_protocol,
        };
        let feature = |feature: &FeatureRange| Feature {
            name: feature.name.to_string(),
            min_supported_version: feature.min,
            max_supported_version: feature.max,
        };
        ControllerRegistrationRequest {
            controller_id: self.node_id,
            incarnation_id: self.incarnation,
            zk_migration_ready: false,
            listeners: self.endpoints.iter().map(listener).collect(),
            features: self.features.iter().map(feature).collect(),
        }
    }

    /// Registers whenever the metadata does not know this run of the controller, until the node stops.
    pub async fn keep_registered(
        self,
        channel: Channel,
        metadata: Metadata,
        clock: Clock,
        mut shutdown: Shutdown,
    ) {
        let request = self.request();
        let mut offsets = metadata.watch();
        loop {
            offsets.borrow_and_update();
            let known = metadata.image().controllers().any(|known| known.incarnation == self.incarnation);
            let again_ms = clock.now().mono_ms.saturating_add(TELL_WITHIN_MS);
            if !known {
                let told = tokio::select! {
                    biased;
                    () = shutdown.requested() => return,
                    told = channel.ask(&request, again_ms) => told,
                };
                if let Ok(answer) = told
                    && answer.error_code != 0
                {
                    let (code, message) = (answer.error_code, answer.error_message.unwrap_or_default());
                    warn!(code, message, "the active controller does not register this controller");
                }
            }
            tokio::select! {
                biased;
                () = shutdown.requested() => return,
                Ok(()) = offsets.changed() => {}
                () = clock.sleep_until(if known { u64::MAX } else { again_ms }) => {}
            }
        }
    }
}
