//! The order in which Kafka's hash tables give strings: it shows in some answers.

/// Strings as a Java hash table of `buckets` (a power of two) gives them: by bucket, then in the order they came in.
pub fn in_buckets<T>(mut items: Vec<T>, buckets: u32, key: impl Fn(&T) -> &str) -> Vec<T> {
    let mask = buckets.saturating_sub(1);
    items.sort_by_key(|item| spread(key(item)) & mask);
    items
}

/// Distinct strings as a Java `HashSet` that they were put into one by one gives them.
pub fn as_set<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = std::collections::HashSet::new();
    let unique: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
    // Starts with 16 buckets and doubles when three quarters would be exceeded.
    let least = u32::try_from(unique.len().saturating_mul(4).div_ceil(3)).unwrap_or(u32::MAX);
    in_buckets(unique, least.max(16).checked_next_power_of_two().unwrap_or(1 << 31), |name| name)
}

/// `String.hashCode`, with its high bits folded into the low ones as `HashMap` does.
fn spread(text: &str) -> u32 {
    let hash =
        text.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_kafkas() {
        // As a running Kafka 4.4 answers them.
        assert_eq!(as_set(["b a d", "", ".", ""].into_iter()), ["", "b a d", "."]);
        let features = [
            "eligible.leader.replicas.version",
            "group.version",
            "share.version",
            "streams.version",
            "transaction.version",
            "metadata.version",
        ];
        let expected = [
            "group.version",
            "streams.version",
            "transaction.version",
            "eligible.leader.replicas.version",
            "share.version",
            "metadata.version",
        ];
        assert_eq!(in_buckets(features.to_vec(), 8, |name| name), expected);
    }
}
