"""The vault and index of the pipeline's tests."""

from __future__ import annotations

from tests.indexing.pipeline.conftest import bench

__all__ = ["bench"]
