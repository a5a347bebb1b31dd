use super::super::story::{FewRules, Story};
use super::*;

fn change(kind: ResourceKind, name: &str, ops: &[(&str, ConfigOp)], replace: bool) -> ConfigChange {
    let ops = ops.iter().map(|(name, op)| ((*name).to_owned(), op.clone())).collect();
    ConfigChange { resource: ConfigResource::new(kind, name), ops, replace }
}

fn run(story: &mut Story, change: ConfigChange) -> Result<(), (i16, String)> {
    let mut reply = story.run(|image, _| alter(image, &FewRules, &[change], false));
    reply.remove(0).map_err(|refusal| (refusal.code.code(), refusal.message.unwrap_or_default()))
}

fn set(value: &str) -> ConfigOp {
    ConfigOp::Set(value.to_owned())
}

#[test]
fn lists_grow_and_shrink_from_their_default() {
    let mut story = Story::started();
    let group = |ops: &[(&str, ConfigOp)]| change(ResourceKind::Group, "g", ops, false);
    run(&mut story, group(&[("cleanup.policy", ConfigOp::Append("compact,delete".into()))])).unwrap();
    assert_eq!(story.image().group_config("g")["cleanup.policy"], "delete,compact");
    run(&mut story, group(&[("cleanup.policy", ConfigOp::Subtract("delete".into()))])).unwrap();
    assert_eq!(story.image().group_config("g")["cleanup.policy"], "compact");
    let message = "Can't APPEND to key retention.ms because its type is not LIST.";
    let refused = run(&mut story, group(&[("retention.ms", ConfigOp::Append("1".into()))]));
    assert_eq!(refused, Err((40, message.into())));
    story.the_end();
}

#[test]
fn the_older_request_replaces_everything() {
    let mut story = Story::started();
    let broker = |ops: &[(&str, ConfigOp)]| change(ResourceKind::Broker, "1", ops, true);
    run(&mut story, broker(&[("retention.ms", set("1"))])).unwrap();
    run(&mut story, broker(&[("cleanup.policy", set("compact"))])).unwrap();
    let expected: Overrides = [("cleanup.policy".to_owned(), "compact".to_owned())].into();
    assert_eq!(*story.image().broker_config(1), expected);
    run(&mut story, broker(&[])).unwrap();
    assert_eq!(
        story.image().configured(ResourceKind::Broker).count(),
        1,
        "only the cluster's default is left"
    );
    story.the_end();
}

#[test]
fn what_does_not_exist_cannot_be_configured() {
    let mut story = Story::started();
    let refused = run(&mut story, change(ResourceKind::Topic, "nope", &[("retention.ms", set("1"))], false));
    assert_eq!(refused, Err((3, "The topic 'nope' does not exist.".into())));
    let refused = run(&mut story, change(ResourceKind::Broker, "9", &[("retention.ms", set("1"))], false));
    assert_eq!(refused, Err((102, "No broker with id 9 found.".into())));
    story.the_end();
}

#[test]
fn what_is_to_be_done_is_looked_at_before_the_name() {
    let mut story = Story::started();
    for (kind, name, code) in [
        (ResourceKind::Topic, "", 42),
        (ResourceKind::Topic, "a b", 17),
        (ResourceKind::Group, "", 42),
        (ResourceKind::ClientMetrics, "", 42),
    ] {
        let mut refused =
            |op| run(&mut story, change(kind, name, &[("retention.ms", op)], false)).unwrap_err().0;
        assert_eq!(refused(ConfigOp::Append("1".into())), 40, "{kind:?} {name}");
        assert_eq!(refused(ConfigOp::Unknown(9)), -1, "{kind:?} {name}");
        assert_eq!(refused(set("1")), code, "{kind:?} {name}");
    }
    story.the_end();
}

#[test]
fn the_clusters_min_isr_stays_while_there_are_eligible_leaders() {
    let mut story = Story::started();
    assert_eq!(story.image().cluster_config()["min.insync.replicas"], "1");
    let all = |op| change(ResourceKind::Broker, "", &[("min.insync.replicas", op)], false);
    assert_eq!(run(&mut story, all(ConfigOp::Delete)).unwrap_err().0, 40);
    run(&mut story, all(set("2"))).unwrap();
    let one = change(ResourceKind::Broker, "1", &[("min.insync.replicas", set("2"))], false);
    assert_eq!(run(&mut story, one).unwrap_err().0, 40);
    story.the_end();
}
