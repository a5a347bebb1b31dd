use super::*;

fn topic(n: u8) -> Uuid {
    Uuid([n; 16])
}

fn sizes(of: &[(u8, i32)]) -> BTreeMap<Uuid, i32> {
    of.iter().map(|(n, size)| (topic(*n), *size)).collect()
}

struct Member {
    id: String,
    instance: Option<String>,
    topics: Vec<u8>,
    has: Arc<Partitions>,
}

fn member(id: &str, topics: &[u8]) -> Member {
    Member { id: id.into(), instance: None, topics: topics.to_vec(), has: Arc::default() }
}

fn assigned(name: &str, members: &mut [Member], sizes: &BTreeMap<Uuid, i32>) -> Vec<usize> {
    let subscribers: Vec<_> = members
        .iter()
        .map(|member| Subscriber {
            id: &member.id,
            instance: member.instance.as_deref(),
            topics: Arc::new(member.topics.iter().map(|n| topic(*n)).collect()),
            has: &member.has,
        })
        .collect();
    let shares = assign(name, &subscribers, sizes);
    let mut seen = BTreeSet::new();
    for (subscriber, share) in subscribers.iter().zip(&shares) {
        for (topic, partitions) in share {
            assert!(subscriber.topics.contains(topic), "nobody gets what it does not read");
            assert!(!partitions.is_empty());
            for partition in partitions {
                assert!(*partition < sizes[topic] && seen.insert((*topic, *partition)), "each once");
            }
        }
    }
    let read = subscribers.iter().flat_map(|subscriber| subscriber.topics.iter()).collect::<BTreeSet<_>>();
    let all: i32 = read.into_iter().map(|topic| sizes[topic]).sum();
    assert_eq!(seen.len(), usize::try_from(all).unwrap(), "everything that is read is assigned");
    let loads = shares.iter().map(|share| share.values().map(BTreeSet::len).sum()).collect();
    for (member, share) in members.iter_mut().zip(shares) {
        member.has = Arc::new(share);
    }
    loads
}

fn kept(before: &[Arc<Partitions>], members: &[Member]) -> usize {
    let both = before.iter().zip(members);
    both.flat_map(|(before, member)| {
        before.iter().map(move |(topic, partitions)| (topic, partitions, member))
    })
    .map(|(topic, partitions, member)| {
        member.has.get(topic).map_or(0, |now| now.intersection(partitions).count())
    })
    .sum()
}

#[test]
fn uniform_is_even_and_sticky() {
    let sizes = sizes(&[(1, 7), (2, 7)]);
    let mut members = vec![member("a", &[1, 2]), member("b", &[1, 2])];
    assert_eq!(assigned("uniform", &mut members, &sizes), [7, 7]);
    members.push(member("c", &[1, 2]));
    let before: Vec<_> = members.iter().map(|member| member.has.clone()).collect();
    let loads = assigned("uniform", &mut members, &sizes);
    assert_eq!(loads.iter().max().unwrap() - loads.iter().min().unwrap(), 1);
    assert_eq!(kept(&before, &members), loads[0] + loads[1], "who was there gets nothing new");
    members.remove(0);
    let before: Vec<_> = members.iter().map(|member| member.has.clone()).collect();
    assert_eq!(assigned("uniform", &mut members, &sizes), [7, 7]);
    assert_eq!(kept(&before, &members), loads[1] + loads[2], "who stays keeps all");
}

#[test]
fn uniform_is_as_even_as_subscriptions_allow() {
    let sizes = sizes(&[(1, 6), (2, 6), (3, 6)]);
    let mut members = vec![member("a", &[1]), member("b", &[1, 2]), member("c", &[2, 3])];
    let loads = assigned("uniform", &mut members, &sizes);
    assert!(loads.iter().all(|load| (5..=7).contains(load)), "{loads:?}");
    members.push(member("d", &[1, 2, 3]));
    let loads = assigned("uniform", &mut members, &sizes);
    assert!(loads.iter().all(|load| (4..=5).contains(load)), "{loads:?}");
    members.push(member("idle", &[]));
    assert_eq!(assigned("uniform", &mut members, &sizes)[4], 0);
}

#[test]
fn a_topic_that_shrinks_or_goes_is_given_up() {
    let mut members = vec![member("a", &[1, 2])];
    assigned("uniform", &mut members, &sizes(&[(1, 3), (2, 1)]));
    members[0].topics = vec![1];
    assert_eq!(assigned("uniform", &mut members, &sizes(&[(1, 2)])), [2]);
}

#[test]
fn range_gives_the_same_partitions_of_each_topic() {
    let sizes = sizes(&[(1, 3), (2, 3)]);
    let mut members = vec![member("b", &[1, 2]), member("a", &[1, 2])];
    assert_eq!(assigned("range", &mut members, &sizes), [2, 4]);
    assert_eq!(members[1].has[&topic(1)], BTreeSet::from([0, 1]));
    assert_eq!(members[1].has[&topic(1)], members[1].has[&topic(2)]);
    members[0].instance = Some("z".into());
    assigned("range", &mut members, &sizes);
    assert_eq!(members[0].has[&topic(1)], BTreeSet::from([0, 1]), "static members come first");
}
