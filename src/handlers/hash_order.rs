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
    let buckets = buckets(unique.len());
    in_buckets(unique, buckets, |name| name)
}

/// Items with different ids as a Java `HashMap` with `Long` keys gives them that has never been larger.
pub fn by_id<T>(mut items: Vec<T>, id: impl Fn(&T) -> i64) -> Vec<T> {
    let mask = buckets(items.len()).saturating_sub(1);
    items.sort_by_key(|item| {
        let [a, b, c, d, e, f, g, h] = id(item).to_be_bytes();
        // `Long.hashCode`
        fold(u32::from_be_bytes([a, b, c, d]) ^ u32::from_be_bytes([e, f, g, h])) & mask
    });
    items
}

/// Starts with 16 and doubles when three quarters would be exceeded.
fn buckets(items: usize) -> u32 {
    let least = u32::try_from(items.saturating_mul(4).div_ceil(3)).unwrap_or(u32::MAX);
    least.max(16).checked_next_power_of_two().unwrap_or(1 << 31)
}

/// `String.hashCode`, folded.
fn spread(text: &str) -> u32 {
    fold(text.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit))))
}

/// The high bits go into the low ones, as in `HashMap`.
fn fold(hash: u32) -> u32 {
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
        // Twelve producers in a row, as DescribeProducers lists them: 16 buckets.
        let producers: Vec<i64> = (1013..1025).collect();
        let listed = by_id(producers, |id| *id);
        assert_eq!(listed, [1024, 1013, 1014, 1015, 1016, 1017, 1018, 1019, 1020, 1021, 1022, 1023]);
    }
}
