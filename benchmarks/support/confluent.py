"""confluent-kafka as a bulk consumer at its best: by default it pauses for a second whenever its queue is full."""

BULK_CONSUMER = {
    "queued.min.messages": 1_000_000,
    "queued.max.messages.kbytes": 1_000_000,
    "fetch.queue.backoff.ms": 10,
    "enable.auto.commit": False,
    "log_level": 0,
}
