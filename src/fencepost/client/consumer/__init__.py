"""The consumer: fetching, positions, group membership, offsets, Arrow."""
