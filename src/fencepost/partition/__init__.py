"""One topic-partition as a pure state machine: what may be appended to it, and what a reader may see of it."""
