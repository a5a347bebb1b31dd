//! What the controller asks about settings, answered by the settings room.

use std::sync::Arc;

use barnabas_protocol::ErrorCode;

use crate::config::definition::{self, Key, Kind};
use crate::config::{self, Config, Layers, Refused};
use crate::controller::image::{ConfigResource, Image, Overrides, ResourceKind};
use crate::controller::{ConfigRules, Refusal, TopicSetting};

/// See the module.
pub struct Rules(pub Arc<Config>);

fn key(kind: ResourceKind, name: &str) -> Option<&'static Key> {
    match kind {
        ResourceKind::Topic => definition::topic_key(name),
        ResourceKind::Broker => definition::broker_key(name),
        ResourceKind::Group => definition::group_key(name),
        ResourceKind::ClientMetrics => definition::client_metrics_key(name),
        ResourceKind::BrokerLogger => None,
    }
}

impl ConfigRules for Rules {
    fn check(&self, resource: &ConfigResource, before: &Overrides, after: &Overrides) -> Result<(), Refusal> {
        let checked = match resource.kind {
            ResourceKind::Topic => config::check_topic(&self.0, before, after),
            ResourceKind::Broker => config::check_broker(&self.0, !resource.name.is_empty(), before, after),
            ResourceKind::Group => config::check_group(&self.0.values, after),
            ResourceKind::ClientMetrics => config::check_client_metrics(after),
            ResourceKind::BrokerLogger => Ok(()),
        };
        checked.map_err(|refused| match refused {
            Refused::Config(why) => Refusal::new(ErrorCode::InvalidConfig, why),
            Refused::Request(why) => Refusal::new(ErrorCode::InvalidRequest, why),
        })
    }

    fn is_list(&self, kind: ResourceKind, name: &str) -> bool {
        // Kafka's controller knows the types of topics' and brokers' settings only.
        let typed = matches!(kind, ResourceKind::Topic | ResourceKind::Broker);
        typed && key(kind, name).is_some_and(|key| key.kind == Kind::List)
    }

    fn default_value(&self, kind: ResourceKind, name: &str) -> Option<String> {
        key(kind, name)?.default_value().text()
    }

    fn describe_topic(&self, image: &Image, overrides: &Overrides) -> Vec<TopicSetting> {
        let layers = Layers {
            config: &self.0,
            broker: image.broker_config(self.0.node_id),
            all_brokers: image.cluster_config(),
        };
        // Settings that cannot be read were refused when they were made.
        let settings = layers.describe_topic(overrides).unwrap_or_default();
        let short = settings.into_iter().map(|setting| TopicSetting {
            name: setting.name,
            value: setting.value,
            read_only: setting.read_only,
            source: setting.source.code(),
            sensitive: setting.sensitive,
        });
        let mut short: Vec<TopicSetting> = short.collect();
        short.sort_by(|a, b| a.name.cmp(&b.name));
        short
    }
}
