//! Who votes, as Kafka writes it (KIP-853).

use std::collections::{BTreeMap, BTreeSet};

use barnabas_protocol::messages::records::control::{
    self, KRaftVersionFeature, Majority, VotersRecord, VotersVoter,
};

use crate::ids::Uuid;
use crate::peer::Address;

/// Who votes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Voters {
    /// By `node.id`.
    pub nodes: BTreeMap<i32, Voter>,
    /// The majorities that are needed, while voters change; none if it is one of all.
    pub majorities: Vec<BTreeSet<i32>>,
}

/// A controller that votes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Voter {
    /// Its metadata directory; zero with static voters.
    pub directory: Uuid,
    /// Its controller listeners.
    pub endpoints: Vec<Endpoint>,
}

/// Where a voter listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Of the listener.
    pub name: String,
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl Voter {
    /// Where other nodes reach it.
    pub fn address(&self) -> Option<Address> {
        self.endpoints.first().map(|at| Address { host: at.host.clone(), port: at.port })
    }
}

impl Voters {
    /// All of these, and a majority of them decides.
    pub fn all_of(nodes: impl IntoIterator<Item = (i32, Voter)>) -> Voters {
        Voters { nodes: nodes.into_iter().collect(), majorities: Vec::new() }
    }

    /// The nodes and their directories.
    pub fn ids(&self) -> impl Iterator<Item = (i32, Uuid)> {
        self.nodes.iter().map(|(id, voter)| (*id, voter.directory))
    }

    /// As KRAFT_VOTERS has it.
    pub(super) fn to_record(&self) -> VotersRecord {
        let record = |(id, voter): (&i32, &Voter)| VotersVoter {
            voter_id: *id,
            voter_directory_id: voter.directory,
            endpoints: voter
                .endpoints
                .iter()
                .map(|at| control::Endpoint { name: at.name.clone(), host: at.host.clone(), port: at.port })
                .collect(),
            kraft_version_feature: KRaftVersionFeature { min_supported_version: 0, max_supported_version: 1 },
        };
        let majority = |ids: &BTreeSet<i32>| Majority { voter_ids: ids.iter().copied().collect() };
        VotersRecord {
            version: 0,
            voters: self.nodes.iter().map(record).collect(),
            majorities: self.majorities.iter().map(majority).collect(),
        }
    }

    /// From KRAFT_VOTERS.
    pub(super) fn from_record(record: VotersRecord) -> Voters {
        let endpoint = |at: control::Endpoint| Endpoint { name: at.name, host: at.host, port: at.port };
        let voter = |voter: VotersVoter| {
            let endpoints = voter.endpoints.into_iter().map(endpoint).collect();
            (voter.voter_id, Voter { directory: voter.voter_directory_id, endpoints })
        };
        Voters {
            nodes: record.voters.into_iter().map(voter).collect(),
            majorities: record.majorities.into_iter().map(|of| of.voter_ids.into_iter().collect()).collect(),
        }
    }
}
