//! Barnabas and Apache Kafka under the same load, side by side in one run.
