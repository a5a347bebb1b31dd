//! Expiry (KIP-211).

use super::*;

const DAY_MS: u64 = 24 * 3_600_000;

#[test]
fn a_lone_consumers_offsets_expire_by_their_commit() {
    let mut tale = Tale::new();
    tale.commit(committing("g", "t", 0, 1)).unwrap();
    tale.story.sleep(4 * DAY_MS);
    tale.commit(committing("g", "t", 1, 1)).unwrap();
    tale.story.sleep(4 * DAY_MS);
    assert_eq!((tale.offset("g", "t", 0), tale.offset("g", "t", 1)), (-1, 1));
    tale.story.sleep(4 * DAY_MS);
    assert_eq!(tale.state("g"), "Dead", "its last offset is gone, so is the group");
}

#[test]
fn a_groups_clock_starts_when_it_empties() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 1);
    let commit = Commit { generation, member: ids[0].clone(), ..committing("g", "t", 0, 1) };
    tale.commit(commit).unwrap();
    for _ in 0..10 * DAY_MS / 20_000 {
        tale.story.sleep(20_000);
        tale.beat("g", generation, &ids[0]).unwrap();
    }
    assert_eq!(tale.offset("g", "t", 0), 1, "a living group keeps what it reads");
    tale.leave("g", &[(&ids[0], None)]);
    tale.story.sleep(6 * DAY_MS);
    tale.story.reload();
    assert_eq!(tale.offset("g", "t", 0), 1);
    tale.story.sleep(DAY_MS + 600_000);
    assert_eq!(tale.offset("g", "t", 0), -1);
    assert_eq!(tale.state("g"), "Dead");
}

#[test]
fn a_living_group_loses_offsets_of_topics_it_reads_no_more() {
    let mut tale = Tale::new();
    tale.settings().max_session_ms = i32::MAX;
    tale.settings().offsets_retention_ms = 3_600_000;
    let long = Join { session_timeout_ms: i32::MAX, member_id_required: false, ..joining("g", "") };
    let reply = tale.join(long);
    tale.story.sleep(DELAY_MS);
    let joined = tale.joined(reply);
    tale.share_out("g", joined.generation, &[joined.member.to_string()]);
    for topic in ["t", "forgotten"] {
        let member = joined.member.to_string();
        let commit = Commit { generation: joined.generation, member, ..committing("g", topic, 0, 1) };
        tale.commit(commit).unwrap();
    }
    tale.story.sleep(5_000_000);
    assert_eq!((tale.offset("g", "t", 0), tale.offset("g", "forgotten", 0)), (1, -1));
}

#[test]
fn old_clients_may_say_how_long() {
    let mut tale = Tale::new();
    tale.commit(Commit { retention_ms: Some(3_600_000), ..committing("g", "t", 0, 1) }).unwrap();
    tale.story.reload();
    tale.story.sleep(3_500_000);
    assert_eq!(tale.offset("g", "t", 0), 1);
    tale.story.sleep(800_000);
    assert_eq!(tale.offset("g", "t", 0), -1);
}

#[test]
fn a_wall_clock_that_jumps_puts_no_member_out() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 1);
    tale.story.now.wall_ms += 1_000_000_000;
    tale.story.sleep(10_000);
    assert_eq!(tale.beat("g", generation, &ids[0]), Ok(()));
}
