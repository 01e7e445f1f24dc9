"""The demonstration: a shop on Spark, killed in mid-transaction, its broker killed too, and what arrived."""
