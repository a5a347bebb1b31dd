//! The records of `__transaction_state` as bytes, in the versions that Kafka 4.4 writes.

use barnabas_protocol::batch::Codec;
use barnabas_protocol::codec::{Reader, Wire, Writer};
use barnabas_protocol::messages::records::transaction_log::{
    PartitionsSchema, TransactionLogKey, TransactionLogValue,
};
use barnabas_protocol::messages::records::{from_versioned, to_versioned};

use crate::coordinator::records::{Names, Naming, Stored};

use super::record::{Record, State, Transaction};
use super::{TransactionMachine, TransactionSettings};

/// The key's schema.
const TRANSACTION: i16 = 0;
/// The value's version, the first with flexible fields.
const VALUE: i16 = 1;

impl Stored for TransactionMachine {
    const BASE_SEQUENCE: i32 = -1;

    fn encode(record: &Record, key: &mut Vec<u8>, value: &mut Vec<u8>) -> bool {
        let mut w = Writer::new(key, 0);
        TRANSACTION.write(&mut w);
        w.string(Some(&record.id));
        let Some(transaction) = &record.value else { return false };
        value.extend_from_slice(&to_versioned(&message(transaction), VALUE));
        true
    }

    fn decode(
        key: &[u8],
        value: Option<&[u8]>,
        _producer: Option<i64>,
        names: &mut Names,
    ) -> Result<Record, String> {
        let mut r = Reader::new(key, 0);
        let text = |e: barnabas_protocol::DecodeError| e.to_string();
        let kind = i16::read(&mut r).map_err(text)?;
        if kind != TRANSACTION {
            return Err(format!("a key of schema {kind}"));
        }
        let key = TransactionLogKey::read(&mut r).map_err(text)?;
        let value = value.map(from_versioned::<TransactionLogValue>).transpose().map_err(text)?;
        let value = value.map(|value| transaction(value, names)).transpose()?.map(Box::new);
        Ok(Record { id: key.transactional_id.into(), value })
    }

    fn codec(_view: &TransactionSettings) -> Codec {
        Codec::None
    }

    fn marker(_producer: i64, _commit: bool) -> Option<Record> {
        None
    }
}

fn message(transaction: &Transaction) -> TransactionLogValue {
    let partitions = transaction.partitions.iter().map(|(topic, partitions)| PartitionsSchema {
        topic: topic.to_string(),
        partition_ids: partitions.iter().copied().collect(),
    });
    TransactionLogValue {
        producer_id: transaction.producer_id,
        producer_epoch: transaction.epoch,
        transaction_timeout_ms: transaction.timeout_ms,
        transaction_status: transaction.state.id(),
        transaction_partitions: (transaction.state != State::Empty).then(|| partitions.collect()),
        transaction_last_update_timestamp_ms: transaction.updated_ms,
        transaction_start_timestamp_ms: transaction.begun_ms,
        previous_producer_id: transaction.previous_producer_id,
        next_producer_id: transaction.next_producer_id,
        client_transaction_version: transaction.client_version,
        next_producer_epoch: transaction.next_epoch,
    }
}

fn transaction(value: TransactionLogValue, names: &mut Names) -> Result<Transaction, String> {
    let status = value.transaction_status;
    let state = State::from_id(status).ok_or_else(|| format!("a transaction in state {status}"))?;
    let partitions = value.transaction_partitions.unwrap_or_default().into_iter();
    let partitions =
        partitions.map(|of| (names.shared(Naming::Topic, &of.topic), of.partition_ids.into_iter().collect()));
    Ok(Transaction {
        producer_id: value.producer_id,
        previous_producer_id: value.previous_producer_id,
        next_producer_id: value.next_producer_id,
        epoch: value.producer_epoch,
        next_epoch: value.next_producer_epoch,
        timeout_ms: value.transaction_timeout_ms,
        state,
        partitions: partitions.collect(),
        updated_ms: value.transaction_last_update_timestamp_ms,
        begun_ms: value.transaction_start_timestamp_ms,
        client_version: value.client_transaction_version,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn comes_back(record: &Record) {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let has_value = TransactionMachine::encode(record, &mut key, &mut value);
        let decoded =
            TransactionMachine::decode(&key, has_value.then_some(&value), None, &mut Names::default());
        assert_eq!(decoded.as_ref(), Ok(record));
    }

    #[test]
    fn records_come_back_in_every_state() {
        let mut transaction = Transaction::new(7, 3, 60_000, 1_800_000_000_000);
        comes_back(&Record { id: "x".into(), value: None });
        comes_back(&Record { id: "x".into(), value: Some(Box::new(transaction.clone())) });
        transaction.partitions.insert("t".into(), [0, 5].into());
        transaction.client_version = 2;
        for status in 1..=7 {
            transaction.state = State::from_id(status).unwrap();
            transaction.next_producer_id = if status > 3 { 9 } else { -1 };
            comes_back(&Record { id: "x".into(), value: Some(Box::new(transaction.clone())) });
        }
        assert!(State::from_id(8).is_none());
        assert!(TransactionMachine::decode(&[0, 1], None, None, &mut Names::default()).is_err());
    }
}
