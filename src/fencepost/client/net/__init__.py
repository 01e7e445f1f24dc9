"""Connections to the brokers of a cluster: bytes, TLS and SASL, requests and answers, metadata."""
