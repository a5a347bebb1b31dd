//! Java's string hash: which shard owns a group, and the order in which Kafka's hash tables list names.

/// `String.hashCode`, over UTF-16 units.
pub fn hash_code(text: &str) -> i32 {
    text.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// The partition of a group or transactional id, as Kafka's `Utils.abs(hashCode) % partitions`.
pub fn partition_of(id: &str, partitions: i32) -> i32 {
    let hash = hash_code(id);
    let positive = if hash == i32::MIN { 0 } else { hash.abs() };
    positive.checked_rem(partitions).unwrap_or_default()
}

/// Sorts names as a `java.util.HashMap` with room for them lists its keys (names of one bucket keep their order).
pub fn sort_like_hash_map<T>(entries: &mut [T], name: impl Fn(&T) -> &str) {
    // A table starts with 16 buckets and doubles when it is more than three quarters full.
    let mut buckets: u32 = 16;
    while usize::try_from(buckets / 4 * 3).is_ok_and(|limit| limit < entries.len()) {
        buckets = buckets.saturating_mul(2);
    }
    entries.sort_by_key(|entry| {
        let hash = hash_code(name(entry)).cast_unsigned();
        (hash ^ (hash >> 16)) & (buckets - 1)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_javas() {
        assert_eq!(hash_code(""), 0);
        assert_eq!(hash_code("hello"), 99_162_322);
        // A group id whose hash is the smallest number: its absolute value does not exist.
        assert_eq!(hash_code("polygenelubricants"), i32::MIN);
        assert_eq!(partition_of("polygenelubricants", 50), 0);
        assert_eq!(partition_of("hello", 50), 22);
        assert_eq!(hash_code("\u{1F600}"), 1_772_899, "two UTF-16 units");
    }
}
