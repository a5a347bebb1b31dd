//! The list of all APIs.

/// Calls a macro with every API: its name, its key, its module, its request and its response.
macro_rules! every_api {
    ($callback:path) => {
        $callback! {
            Produce = 0, produce: ProduceRequest => ProduceResponse;
            Fetch = 1, fetch: FetchRequest => FetchResponse;
            ListOffsets = 2, list_offsets: ListOffsetsRequest => ListOffsetsResponse;
            Metadata = 3, metadata: MetadataRequest => MetadataResponse;
            OffsetCommit = 8, offset_commit: OffsetCommitRequest => OffsetCommitResponse;
            OffsetFetch = 9, offset_fetch: OffsetFetchRequest => OffsetFetchResponse;
            FindCoordinator = 10, find_coordinator: FindCoordinatorRequest => FindCoordinatorResponse;
            JoinGroup = 11, join_group: JoinGroupRequest => JoinGroupResponse;
            Heartbeat = 12, heartbeat: HeartbeatRequest => HeartbeatResponse;
            LeaveGroup = 13, leave_group: LeaveGroupRequest => LeaveGroupResponse;
            SyncGroup = 14, sync_group: SyncGroupRequest => SyncGroupResponse;
            DescribeGroups = 15, describe_groups: DescribeGroupsRequest => DescribeGroupsResponse;
            ListGroups = 16, list_groups: ListGroupsRequest => ListGroupsResponse;
            SaslHandshake = 17, sasl_handshake: SaslHandshakeRequest => SaslHandshakeResponse;
            ApiVersions = 18, api_versions: ApiVersionsRequest => ApiVersionsResponse;
            CreateTopics = 19, create_topics: CreateTopicsRequest => CreateTopicsResponse;
            DeleteTopics = 20, delete_topics: DeleteTopicsRequest => DeleteTopicsResponse;
            DeleteRecords = 21, delete_records: DeleteRecordsRequest => DeleteRecordsResponse;
            InitProducerId = 22, init_producer_id: InitProducerIdRequest => InitProducerIdResponse;
            OffsetForLeaderEpoch = 23, offset_for_leader_epoch:
                OffsetForLeaderEpochRequest => OffsetForLeaderEpochResponse;
            AddPartitionsToTxn = 24, add_partitions_to_txn:
                AddPartitionsToTxnRequest => AddPartitionsToTxnResponse;
            AddOffsetsToTxn = 25, add_offsets_to_txn: AddOffsetsToTxnRequest => AddOffsetsToTxnResponse;
            EndTxn = 26, end_txn: EndTxnRequest => EndTxnResponse;
            WriteTxnMarkers = 27, write_txn_markers: WriteTxnMarkersRequest => WriteTxnMarkersResponse;
            TxnOffsetCommit = 28, txn_offset_commit: TxnOffsetCommitRequest => TxnOffsetCommitResponse;
            DescribeAcls = 29, describe_acls: DescribeAclsRequest => DescribeAclsResponse;
            CreateAcls = 30, create_acls: CreateAclsRequest => CreateAclsResponse;
            DeleteAcls = 31, delete_acls: DeleteAclsRequest => DeleteAclsResponse;
            DescribeConfigs = 32, describe_configs: DescribeConfigsRequest => DescribeConfigsResponse;
            AlterConfigs = 33, alter_configs: AlterConfigsRequest => AlterConfigsResponse;
            AlterReplicaLogDirs = 34, alter_replica_log_dirs:
                AlterReplicaLogDirsRequest => AlterReplicaLogDirsResponse;
            DescribeLogDirs = 35, describe_log_dirs: DescribeLogDirsRequest => DescribeLogDirsResponse;
            SaslAuthenticate = 36, sasl_authenticate: SaslAuthenticateRequest => SaslAuthenticateResponse;
            CreatePartitions = 37, create_partitions: CreatePartitionsRequest => CreatePartitionsResponse;
            CreateDelegationToken = 38, create_delegation_token:
                CreateDelegationTokenRequest => CreateDelegationTokenResponse;
            RenewDelegationToken = 39, renew_delegation_token:
                RenewDelegationTokenRequest => RenewDelegationTokenResponse;
            ExpireDelegationToken = 40, expire_delegation_token:
                ExpireDelegationTokenRequest => ExpireDelegationTokenResponse;
            DescribeDelegationToken = 41, describe_delegation_token:
                DescribeDelegationTokenRequest => DescribeDelegationTokenResponse;
            DeleteGroups = 42, delete_groups: DeleteGroupsRequest => DeleteGroupsResponse;
            ElectLeaders = 43, elect_leaders: ElectLeadersRequest => ElectLeadersResponse;
            IncrementalAlterConfigs = 44, incremental_alter_configs:
                IncrementalAlterConfigsRequest => IncrementalAlterConfigsResponse;
            AlterPartitionReassignments = 45, alter_partition_reassignments:
                AlterPartitionReassignmentsRequest => AlterPartitionReassignmentsResponse;
            ListPartitionReassignments = 46, list_partition_reassignments:
                ListPartitionReassignmentsRequest => ListPartitionReassignmentsResponse;
            OffsetDelete = 47, offset_delete: OffsetDeleteRequest => OffsetDeleteResponse;
            DescribeClientQuotas = 48, describe_client_quotas:
                DescribeClientQuotasRequest => DescribeClientQuotasResponse;
            AlterClientQuotas = 49, alter_client_quotas:
                AlterClientQuotasRequest => AlterClientQuotasResponse;
            DescribeUserScramCredentials = 50, describe_user_scram_credentials:
                DescribeUserScramCredentialsRequest => DescribeUserScramCredentialsResponse;
            AlterUserScramCredentials = 51, alter_user_scram_credentials:
                AlterUserScramCredentialsRequest => AlterUserScramCredentialsResponse;
            Vote = 52, vote: VoteRequest => VoteResponse;
            BeginQuorumEpoch = 53, begin_quorum_epoch: BeginQuorumEpochRequest => BeginQuorumEpochResponse;
            EndQuorumEpoch = 54, end_quorum_epoch: EndQuorumEpochRequest => EndQuorumEpochResponse;
            DescribeQuorum = 55, describe_quorum: DescribeQuorumRequest => DescribeQuorumResponse;
            AlterPartition = 56, alter_partition: AlterPartitionRequest => AlterPartitionResponse;
            UpdateFeatures = 57, update_features: UpdateFeaturesRequest => UpdateFeaturesResponse;
            Envelope = 58, envelope: EnvelopeRequest => EnvelopeResponse;
            FetchSnapshot = 59, fetch_snapshot: FetchSnapshotRequest => FetchSnapshotResponse;
            DescribeCluster = 60, describe_cluster: DescribeClusterRequest => DescribeClusterResponse;
            DescribeProducers = 61, describe_producers: DescribeProducersRequest => DescribeProducersResponse;
            BrokerRegistration = 62, broker_registration:
                BrokerRegistrationRequest => BrokerRegistrationResponse;
            BrokerHeartbeat = 63, broker_heartbeat: BrokerHeartbeatRequest => BrokerHeartbeatResponse;
            UnregisterBroker = 64, unregister_broker: UnregisterBrokerRequest => UnregisterBrokerResponse;
            DescribeTransactions = 65, describe_transactions:
                DescribeTransactionsRequest => DescribeTransactionsResponse;
            ListTransactions = 66, list_transactions: ListTransactionsRequest => ListTransactionsResponse;
            AllocateProducerIds = 67, allocate_producer_ids:
                AllocateProducerIdsRequest => AllocateProducerIdsResponse;
            ConsumerGroupHeartbeat = 68, consumer_group_heartbeat:
                ConsumerGroupHeartbeatRequest => ConsumerGroupHeartbeatResponse;
            ConsumerGroupDescribe = 69, consumer_group_describe:
                ConsumerGroupDescribeRequest => ConsumerGroupDescribeResponse;
            ControllerRegistration = 70, controller_registration:
                ControllerRegistrationRequest => ControllerRegistrationResponse;
            GetTelemetrySubscriptions = 71, get_telemetry_subscriptions:
                GetTelemetrySubscriptionsRequest => GetTelemetrySubscriptionsResponse;
            PushTelemetry = 72, push_telemetry: PushTelemetryRequest => PushTelemetryResponse;
            AssignReplicasToDirs = 73, assign_replicas_to_dirs:
                AssignReplicasToDirsRequest => AssignReplicasToDirsResponse;
            ListConfigResources = 74, list_config_resources:
                ListConfigResourcesRequest => ListConfigResourcesResponse;
            DescribeTopicPartitions = 75, describe_topic_partitions:
                DescribeTopicPartitionsRequest => DescribeTopicPartitionsResponse;
            ShareGroupHeartbeat = 76, share_group_heartbeat:
                ShareGroupHeartbeatRequest => ShareGroupHeartbeatResponse;
            ShareGroupDescribe = 77, share_group_describe:
                ShareGroupDescribeRequest => ShareGroupDescribeResponse;
            ShareFetch = 78, share_fetch: ShareFetchRequest => ShareFetchResponse;
            ShareAcknowledge = 79, share_acknowledge: ShareAcknowledgeRequest => ShareAcknowledgeResponse;
            AddRaftVoter = 80, add_raft_voter: AddRaftVoterRequest => AddRaftVoterResponse;
            RemoveRaftVoter = 81, remove_raft_voter: RemoveRaftVoterRequest => RemoveRaftVoterResponse;
            UpdateRaftVoter = 82, update_raft_voter: UpdateRaftVoterRequest => UpdateRaftVoterResponse;
            InitializeShareGroupState = 83, initialize_share_group_state:
                InitializeShareGroupStateRequest => InitializeShareGroupStateResponse;
            ReadShareGroupState = 84, read_share_group_state:
                ReadShareGroupStateRequest => ReadShareGroupStateResponse;
            WriteShareGroupState = 85, write_share_group_state:
                WriteShareGroupStateRequest => WriteShareGroupStateResponse;
            DeleteShareGroupState = 86, delete_share_group_state:
                DeleteShareGroupStateRequest => DeleteShareGroupStateResponse;
            ReadShareGroupStateSummary = 87, read_share_group_state_summary:
                ReadShareGroupStateSummaryRequest => ReadShareGroupStateSummaryResponse;
            StreamsGroupHeartbeat = 88, streams_group_heartbeat:
                StreamsGroupHeartbeatRequest => StreamsGroupHeartbeatResponse;
            StreamsGroupDescribe = 89, streams_group_describe:
                StreamsGroupDescribeRequest => StreamsGroupDescribeResponse;
            DescribeShareGroupOffsets = 90, describe_share_group_offsets:
                DescribeShareGroupOffsetsRequest => DescribeShareGroupOffsetsResponse;
            AlterShareGroupOffsets = 91, alter_share_group_offsets:
                AlterShareGroupOffsetsRequest => AlterShareGroupOffsetsResponse;
            DeleteShareGroupOffsets = 92, delete_share_group_offsets:
                DeleteShareGroupOffsetsRequest => DeleteShareGroupOffsetsResponse;
            StreamsGroupTopologyDescriptionUpdate = 93, streams_group_topology_description_update:
                StreamsGroupTopologyDescriptionUpdateRequest => StreamsGroupTopologyDescriptionUpdateResponse;
            UnregisterController = 94, unregister_controller:
                UnregisterControllerRequest => UnregisterControllerResponse;
        }
    };
}

pub(crate) use every_api;
