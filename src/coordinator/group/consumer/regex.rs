//! Subscriptions by regular expression: looked up on a blocking thread, at most every ten seconds per group.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracing::{info, warn};

use crate::coordinator::group::event::Event;
use crate::coordinator::group::view::Cluster;
use crate::coordinator::group::{GroupError, GroupId, Soft, Step};
use crate::coordinator::re2;
use crate::ids::TopicName;

use super::Refused;
use super::hash::metadata_hash;
use super::live::Live;
use super::record::Change;
use super::state::{About, ConsumerGroup, Resolved};

/// Shortest time between two look-ups of a group, in milliseconds.
const PAUSE_MS: i64 = 10_000;

/// What a heartbeat means for the group's regular expressions.
#[derive(Default)]
pub(super) struct Outlook {
    /// The member reads topics by an expression that is known already, or by none any more.
    pub bump: bool,
    /// Expressions to be looked up.
    pub resolve: Option<Vec<Arc<str>>>,
}

/// The member may have another expression than before; old ones may be due for a look.
pub(super) fn update(
    cx: &mut Step<'_>,
    soft: &Soft,
    live: Option<&Live>,
    id: &GroupId,
    group: &ConsumerGroup,
    before: &About,
    after: &About,
) -> Result<Outlook, Refused> {
    let mut outlook = Outlook::default();
    if group.patterns().is_empty() && after.regex.is_empty() {
        return Ok(outlook);
    }
    let mut patterns: BTreeSet<Arc<str>> = group.patterns().keys().cloned().collect();
    if before.regex != after.regex {
        if group.patterns().get(&before.regex) == Some(&1) {
            patterns.remove(&before.regex);
            cx.consumer_record(id, Change::Regex(before.regex.clone(), None));
        }
        if after.regex.is_empty() {
            outlook.bump = true;
        } else if patterns.insert(after.regex.clone()) {
            re2::compile(&after.regex).map_err(|why| invalid(&after.regex, why))?;
        } else {
            outlook.bump = group.regexes().contains_key(&after.regex);
        }
    }
    let known = group.regexes().values();
    let last_ms = known.clone().map(|resolved| resolved.at_ms).max().unwrap_or_default();
    let version = known.map(|resolved| resolved.version).max().unwrap_or_default();
    let now_ms = cx.now.wall_ms;
    if patterns.is_empty()
        || live.is_some_and(|live| live.resolving)
        || now_ms <= last_ms.saturating_add(PAUSE_MS)
    {
        return Ok(outlook);
    }
    let due = patterns.iter().any(|pattern| !group.regexes().contains_key(pattern))
        || version < soft.newest_topics
        || now_ms > last_ms.saturating_add(cx.settings.consumer.regex_refresh_ms);
    outlook.resolve = due.then(|| patterns.into_iter().collect());
    Ok(outlook)
}

fn invalid(regex: &str, why: &str) -> Refused {
    let message = format!("SubscribedTopicRegex `{regex}` is not a valid regular expression: {why}.");
    Refused::new(GroupError::InvalidRegex, message)
}

/// Looks expressions up among all topics. Costly: runs on a blocking thread.
pub(in crate::coordinator::group) fn resolve(
    group: GroupId,
    regexes: Vec<Arc<str>>,
    cluster: &dyn Cluster,
) -> Event {
    let names = cluster.names();
    let found = regexes.into_iter().map(|pattern| {
        let topics = match re2::compile(&pattern) {
            Ok(regex) => names.iter().filter(|name| regex.is_match(name)).cloned().collect(),
            Err(why) => {
                warn!(%group, %pattern, why, "a regular expression on record cannot be used");
                BTreeSet::new()
            }
        };
        (pattern, topics)
    });
    let found = found.collect();
    Event::Resolved { group, version: cluster.version(), found }
}

/// The topics that the group's expressions stand for have been looked up.
pub(in crate::coordinator::group) fn resolved(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    id: &GroupId,
    version: i64,
    found: Vec<(Arc<str>, BTreeSet<TopicName>)>,
) {
    let Some(live) = soft.consumers.get_mut(id) else { return };
    live.resolving = false;
    let Some(group) = cx.hard.consumer(id) else { return };
    let mut changed = false;
    let mut names: BTreeSet<TopicName> = group.names.keys().cloned().collect();
    for (regex, topics) in found {
        if !group.patterns().contains_key(&regex) {
            continue;
        }
        let before = group.regexes().get(&regex).map(|resolved| &resolved.topics);
        changed |= before.map_or(!topics.is_empty(), |before| *before != topics);
        names.extend(topics.iter().cloned());
        let resolved = Resolved { topics, version, at_ms: cx.now.wall_ms };
        cx.consumer_record(id, Change::Regex(regex, Some(resolved)));
    }
    if changed {
        let epoch = group.epoch.saturating_add(1);
        info!(group = %id, epoch, "regular expressions stand for other topics");
        let hash = metadata_hash(&**cx.cluster, &names);
        cx.consumer_record(id, Change::Group(Some((epoch, hash))));
    }
}
