"""The product's insides that tests stand on: a module that moves changes one line here."""

from __future__ import annotations

from notehop.app.container.place import Place as Place
from notehop.app.container.place import locate as locate
from notehop.app.container.update import update_index as update_index
from notehop.config import load_settings as load_settings
from notehop.indexing.embed import onnx_export as onnx_export
from notehop.indexing.embed.bulk import load_bulk as load_bulk
from notehop.indexing.embed.onnx_export import export_query_door as export_query_door
from notehop.indexing.stores.layout import IndexLayout as IndexLayout
