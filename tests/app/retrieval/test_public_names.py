"""What the package offers, and that offering it costs nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from notehop.app import retrieval


@pytest.mark.parametrize("name", retrieval.__all__)
def test_every_public_name_is_there(name):
    assert getattr(retrieval, name) is not None
    assert name in dir(retrieval)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Reranker'"):
        _ = retrieval.Reranker


def test_importing_the_package_loads_no_library():
    code = "import sys, notehop.app.retrieval; print(sorted({'llama_index', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_search_path_loads_no_model_library():
    code = (
        "import sys, notehop.app.retrieval as r\n"
        "for name in r.__all__: getattr(r, name)\n"
        "print(sorted({'torch', 'chromadb', 'sentence_transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
