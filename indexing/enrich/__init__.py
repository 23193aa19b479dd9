"""What is written about notes when they are indexed: summaries, and headers of passages."""
