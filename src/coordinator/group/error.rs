//! Why the group coordinator refuses.

use thiserror::Error;

/// A refusal, by cause. `handlers` maps each to Kafka's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GroupError {
    /// This broker's coordinator is not running, or the answer got lost with its shard.
    #[error("the coordinator is not available")]
    NotAvailable,
    /// Another broker coordinates this group.
    #[error("this broker does not coordinate the group")]
    NotCoordinator,
    /// The group's records are still being read.
    #[error("the coordinator is loading")]
    Loading,
    /// An empty group id where a group is needed.
    #[error("the group id is empty")]
    InvalidGroupId,
    /// No such member, or it has been removed.
    #[error("unknown member")]
    UnknownMember,
    /// The generation is not the group's.
    #[error("wrong generation")]
    IllegalGeneration,
    /// Protocol type or protocols do not fit the group's.
    #[error("inconsistent group protocol")]
    InconsistentProtocol,
    /// Outside of `group.min.session.timeout.ms` to `group.max.session.timeout.ms`.
    #[error("invalid session timeout")]
    InvalidSessionTimeout,
    /// The group rebalances: join again.
    #[error("rebalance in progress")]
    RebalanceInProgress,
    /// Join again with the member id of this answer (KIP-394).
    #[error("member id required")]
    MemberIdRequired,
    /// Another member has taken over this `group.instance.id` (KIP-345).
    #[error("fenced instance id")]
    FencedInstance,
    /// The member's epoch is not the one it has, or is behind (KIP-848): it must give everything up and join again.
    #[error("fenced member epoch")]
    FencedMemberEpoch,
    /// A commit or fetch in an epoch that is over.
    #[error("stale member epoch")]
    StaleMemberEpoch,
    /// The `group.instance.id` belongs to a member that has not gone.
    #[error("the instance id is not released")]
    UnreleasedInstance,
    /// A subscription that is no regular expression.
    #[error("invalid regular expression")]
    InvalidRegex,
    /// The member's protocol needs a newer version of the request.
    #[error("the request's version is too old for the member")]
    UnsupportedVersion,
    /// An epoch without a member.
    #[error("a member epoch without a member id")]
    MemberIdMissing,
    /// `group.max.size` is reached.
    #[error("the group is full")]
    GroupFull,
    /// Only an empty group can be deleted.
    #[error("the group is not empty")]
    NonEmptyGroup,
    /// No such group.
    #[error("the group was not found")]
    GroupIdNotFound,
    /// Offsets of a topic that a member reads cannot be deleted.
    #[error("the group is subscribed to the topic")]
    SubscribedToTopic,
    /// Longer than `offset.metadata.max.bytes`.
    #[error("the offset's metadata is too large")]
    MetadataTooLarge,
    /// A transaction that commits this offset is still open.
    #[error("the offset is not stable")]
    UnstableOffset,
    /// A newer incarnation of the transactional producer has written.
    #[error("an older epoch of the producer")]
    ProducerFenced,
    /// The transaction that commits these offsets has ended.
    #[error("the transaction has ended")]
    TransactionEnded,
    /// The records of this request do not fit into one batch.
    #[error("the records do not fit into one batch")]
    RecordsTooLarge,
}
