"""The producer: records in, futures out; batches, the thread that sends them, transactions around them."""
