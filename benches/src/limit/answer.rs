//! The loop's answers: a length, the correlation id, and zeros.

/// Bytes of a real Produce answer for one partition, after its correlation id.
const PRODUCE_REST: usize = 59;
/// Bytes of a real Fetch answer for one partition before its records, after the correlation id.
const FETCH_REST: usize = 71;

/// Is this request a Fetch (key 1)?
pub fn is_fetch(frame: &[u8]) -> bool {
    frame.starts_with(&[0, 1])
}

/// The correlation id of a request.
pub fn correlation(frame: &[u8]) -> [u8; 4] {
    frame.get(4..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default()
}

/// Appends the answer to a Produce.
pub fn produce(correlation: [u8; 4], out: &mut Vec<u8>) {
    zeros(correlation, PRODUCE_REST, 0, out);
}

/// Appends the answer to a Fetch up to its `records` bytes of records.
pub fn fetch_head(correlation: [u8; 4], records: usize, out: &mut Vec<u8>) {
    zeros(correlation, FETCH_REST, records, out);
}

fn zeros(correlation: [u8; 4], rest: usize, behind: usize, out: &mut Vec<u8>) {
    let len = u32::try_from(4 + rest + behind).unwrap_or(u32::MAX);
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(&correlation);
    out.resize(out.len() + rest, 0);
}
