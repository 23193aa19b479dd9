"""Filters of a query: how they are written, what they mean, and which chunks they leave."""
