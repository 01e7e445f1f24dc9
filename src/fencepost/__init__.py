"""Fencepost: exactly-once messaging and pipelines.

Keep this file free of imports: every Spark worker loads it.
"""
