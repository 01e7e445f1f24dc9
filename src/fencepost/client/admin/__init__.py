"""Administration of any Kafka cluster: topics, groups, transactions, batches as they lie in a partition."""
