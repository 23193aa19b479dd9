"""Measuring retrieval: golden sets, metrics, and the comparison of settings."""
