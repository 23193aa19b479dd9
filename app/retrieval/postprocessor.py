"""What our LlamaIndex postprocessors share."""

from __future__ import annotations

from typing import Any, Self

from llama_index.core.bridge.pydantic import ConfigDict
from llama_index.core.postprocessor.types import BaseNodePostprocessor


class VaultPostprocessor(BaseNodePostprocessor):
    """A postprocessor that is wired to an index: its ``view`` is no part of what is serialised."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex serialises the component."""
        return cls.__name__

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        # The index is open once, and so is the model: a copy is wired to the same.
        return self.model_copy()

    def __getstate__(self) -> dict[str, Any]:
        # LlamaIndex takes what cannot be pickled out of the living object: give it another.
        twin = type(self).model_construct()
        twin.__dict__ = dict(self.__dict__)
        return BaseNodePostprocessor.__getstate__(twin)
