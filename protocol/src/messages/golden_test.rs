//! Compares every message with the bytes that Kafka's own classes write.

use std::collections::BTreeSet;

use super::default_principal::*;
use super::every_api::every_api;
use super::records::aborted_txn::*;
use super::records::classic_group::*;
use super::records::consumer_group::*;
use super::records::consumer_protocol::*;
use super::records::control::*;
use super::records::metadata::*;
use super::records::producer_snapshot::*;
use super::records::share_group::*;
use super::records::share_state::*;
use super::records::streams_group::*;
use super::records::transaction_log::*;
use super::*;

/// Each line: message, versions, what is in it, hex.
const GOLDEN: &str = include_str!("../../testdata/messages.txt");

/// Each line: message, version, damaged bytes in hex, what Kafka makes of them.
const DAMAGED: &str = include_str!("../../testdata/damaged.txt");

fn unhex(text: &str) -> Vec<u8> {
    let digit = |digit: u8| u8::try_from(char::from(digit).to_digit(16).unwrap()).unwrap();
    text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// Compares one message in all its versions.
fn compare<M: Message>(compared: &mut BTreeSet<&str>) {
    let mut filled = BTreeSet::new();
    for line in GOLDEN.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] != M::NAME {
            continue;
        }
        let bytes = unhex(words[3]);
        for version in words[1].split(',').map(|version| version.parse().unwrap()) {
            let what = format!("{} {} {version}", M::NAME, words[2]);
            let mut r = Reader::new(&bytes, version);
            let message = M::decode(&mut r).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(r.rest().is_empty(), "{what}: bytes are left over");
            assert_eq!(message.to_bytes(version), bytes, "{what}");
            match words[2] {
                "default" => assert_eq!(M::default().to_bytes(version), bytes, "{what}"),
                "filled" => assert!(filled.insert(version)),
                _ => {}
            }
            if words[2] == "filled" {
                every_cut_is_refused::<M>(&bytes, version, &what);
            }
        }
        if words[2] == "filled" {
            no_change_is_a_panic::<M>(&bytes, words[1].split(',').next().unwrap().parse().unwrap());
        }
    }
    damage_is_treated_as_kafka_does::<M>();
    assert_eq!(filled, (M::MIN_VERSION..=M::MAX_VERSION).collect(), "{}", M::NAME);
    assert!(compared.insert(M::NAME));
}

fn every_cut_is_refused<M: Message>(bytes: &[u8], version: i16, what: &str) {
    for cut in 0..bytes.len() {
        assert!(M::from_bytes(&bytes[..cut], version).is_err(), "{what} cut at {cut}");
    }
}

/// Puts values that are hard on decoders in each place; what still decodes must survive a second round.
fn no_change_is_a_panic<M: Message>(bytes: &[u8], version: i16) {
    for at in 0..bytes.len() {
        for hard in [&[0_u8][..], &[0xff], &[0x7f, 0xff, 0xff, 0xff]] {
            let mut changed = bytes.to_vec();
            changed.splice(at..(at + hard.len()).min(bytes.len()), hard.iter().copied());
            if let Ok(message) = M::from_bytes(&changed, version) {
                let written = message.to_bytes(version);
                let again = M::from_bytes(&written, version)
                    .unwrap_or_else(|error| panic!("{} {version}: {error}", M::NAME));
                assert_eq!(again.to_bytes(version), written, "{} {version} changed at {at}", M::NAME);
            }
        }
    }
}

fn damage_is_treated_as_kafka_does<M: Message>() {
    for line in DAMAGED.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] != M::NAME {
            continue;
        }
        let version = words[1].parse().unwrap();
        let read = M::from_bytes(&unhex(words[2]), version);
        match words[3] {
            "refused" => assert!(read.is_err(), "{line}: {read:?}"),
            "accepted" => assert!(read.is_ok(), "{line}: {read:?}"),
            written => assert_eq!(read.unwrap().to_bytes(version), unhex(written), "{line}"),
        }
    }
}

macro_rules! compare_apis {
    ($($name:ident = $key:literal, $module:ident: $request:ident => $response:ident;)*) => {
        fn compare_apis(compared: &mut BTreeSet<&str>) {
            $( compare::<$request>(compared); compare::<$response>(compared); )*
        }
    };
}

every_api!(compare_apis);

macro_rules! compare_each {
    ($compared:ident: $($message:ident,)*) => { $( compare::<$message>($compared); )* };
}

fn compare_records(compared: &mut BTreeSet<&str>) {
    compare_each! {
        compared:
        AbortedTxn,
        LegacyOffsetCommitKey,
        LegacyOffsetCommitValue,
        OffsetCommitKey,
        OffsetCommitValue,
        GroupMetadataKey,
        GroupMetadataValue,
        ConsumerGroupMetadataKey,
        ConsumerGroupMetadataValue,
        ConsumerGroupPartitionMetadataKey,
        ConsumerGroupPartitionMetadataValue,
        ConsumerGroupMemberMetadataKey,
        ConsumerGroupMemberMetadataValue,
        ConsumerGroupTargetAssignmentMetadataKey,
        ConsumerGroupTargetAssignmentMetadataValue,
        ConsumerGroupTargetAssignmentMemberKey,
        ConsumerGroupTargetAssignmentMemberValue,
        ConsumerGroupCurrentMemberAssignmentKey,
        ConsumerGroupCurrentMemberAssignmentValue,
        ConsumerGroupRegularExpressionKey,
        ConsumerGroupRegularExpressionValue,
        ConsumerProtocolSubscription,
        ConsumerProtocolAssignment,
        ControlRecordTypeSchema,
        EndTxnMarker,
        LeaderChangeMessage,
        SnapshotHeaderRecord,
        SnapshotFooterRecord,
        KRaftVersionRecord,
        VotersRecord,
        RegisterBrokerRecord,
        UnregisterBrokerRecord,
        FenceBrokerRecord,
        UnfenceBrokerRecord,
        BrokerRegistrationChangeRecord,
        ConfigRecord,
        FeatureLevelRecord,
        ClientQuotaRecord,
        RegisterControllerRecord,
        UnregisterControllerRecord,
        NoOpRecord,
        BeginTransactionRecord,
        EndTransactionRecord,
        AbortTransactionRecord,
        ZkMigrationStateRecord,
        ProducerIdsRecord,
        AccessControlEntryRecord,
        RemoveAccessControlEntryRecord,
        UserScramCredentialRecord,
        RemoveUserScramCredentialRecord,
        DelegationTokenRecord,
        RemoveDelegationTokenRecord,
        TopicRecord,
        RemoveTopicRecord,
        PartitionRecord,
        PartitionChangeRecord,
        ClearElrRecord,
        ProducerSnapshot,
        ShareGroupMemberMetadataKey,
        ShareGroupMemberMetadataValue,
        ShareGroupMetadataKey,
        ShareGroupMetadataValue,
        ShareGroupTargetAssignmentMetadataKey,
        ShareGroupTargetAssignmentMetadataValue,
        ShareGroupTargetAssignmentMemberKey,
        ShareGroupTargetAssignmentMemberValue,
        ShareGroupCurrentMemberAssignmentKey,
        ShareGroupCurrentMemberAssignmentValue,
        ShareGroupStatePartitionMetadataKey,
        ShareGroupStatePartitionMetadataValue,
        ShareSnapshotKey,
        ShareSnapshotValue,
        ShareUpdateKey,
        ShareUpdateValue,
        StreamsGroupMetadataKey,
        StreamsGroupMetadataValue,
        StreamsGroupMemberMetadataKey,
        StreamsGroupMemberMetadataValue,
        StreamsGroupTargetAssignmentMetadataKey,
        StreamsGroupTargetAssignmentMetadataValue,
        StreamsGroupTargetAssignmentMemberKey,
        StreamsGroupTargetAssignmentMemberValue,
        StreamsGroupCurrentMemberAssignmentKey,
        StreamsGroupCurrentMemberAssignmentValue,
        StreamsGroupTopologyKey,
        StreamsGroupTopologyValue,
        TransactionLogKey,
        TransactionLogValue,
        DefaultPrincipalData,
    }
}

#[test]
fn every_message_is_read_and_written_as_kafka_does() {
    let mut compared = BTreeSet::new();
    compare_apis(&mut compared);
    compare_records(&mut compared);
    let given =
        GOLDEN.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split(' ').next());
    assert_eq!(compared, given.collect());
}
