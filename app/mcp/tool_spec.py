"""The tools for agents as those of LlamaIndex: the same texts, arguments and replies as over MCP."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llama_index.core.tools import FunctionTool, ToolMetadata

from notehop.app.mcp.tools import TOOLS, Tool
from notehop.app.problems import agent_text
from notehop.config.errors import NotehopError

if TYPE_CHECKING:
    from notehop.app.services.vault import VaultHandle


def vault_tools(vault: VaultHandle) -> list[FunctionTool]:
    """Searching, asking, browsing and reading one open vault, and keeping new notes in it.

    A tool answers in text; where it cannot, the text says why and what to do.
    """

    def working(tool: Tool) -> Callable[..., str]:
        main = next(iter(tool.input_schema()["properties"]))

        def work(said: Any = None, /, **arguments: Any) -> str:
            if said is not None:
                arguments = {main: said, **arguments}
            try:
                return tool.work(vault, tool.read(arguments))
            except NotehopError as exc:
                return agent_text(exc)

        return work

    return [FunctionTool(fn=working(tool), metadata=_Described(tool)) for tool in TOOLS.values()]


class _Described(ToolMetadata):
    """A tool with the schema that agents are told over MCP."""

    def __init__(self, tool: Tool) -> None:
        super().__init__(name=tool.name, description=tool.description, fn_schema=tool.arguments)
        self._schema = tool.input_schema()

    def get_parameters_dict(self) -> dict[str, Any]:
        return self._schema
