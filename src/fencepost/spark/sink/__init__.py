"""The transactional sink: one micro-batch of a query is one Kafka transaction, however many executors write it."""
