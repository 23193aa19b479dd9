"""The index run: from a vault on disk to a new generation of its index."""

from notehop.indexing.pipeline.indexer import Indexer

__all__ = ["Indexer"]
