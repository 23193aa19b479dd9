"""`notehop index --ray`: a first index on a cluster of two nodes, one of which is killed meanwhile."""

import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from tests.support import product
from tests.support.processes import NOTEHOP, environment, free_port, until
from tests.support.real_index import lend_query_model
from tests.support.tables import rows

INDEXING = """
import sys
from pathlib import Path
from notehop import index_vault
from notehop.config import load_settings
from notehop.indexing.report import Progress

class Steps(Progress):
    def advance(self, count):
        print("embedded", flush=True)
        sys.stdin.readline()

vault, index, address = sys.argv[1:]
settings = load_settings(vault=Path(vault)).with_overrides({"embedding.precision": "float32"})
index_vault(vault, index_dir=index, settings=settings, ray=address, progress=Steps())
print("whole", flush=True)
"""
"""Indexes on a cluster; after each batch it waits for a line."""

PATIENCE = 240.0
"""Seconds for what takes five where nothing else runs: a node that starts, a model that loads."""

TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
"""Whoever runs the tests may have a token of their own, which Ray would take."""


@pytest.mark.parametrize(
    ("address", "code", "told"), rows(__file__, "an_address_that_is_none_and_a_machine_that_nobody_named")
)
def test_an_address_that_is_none_and_a_machine_that_nobody_named(
    demo: tuple[Path, Path], tmp_path: Path, address: str, code: int, told: str
) -> None:
    done = _index(demo[0], tmp_path / "index", address)
    assert done.returncode == code
    assert told in " ".join(done.stderr.split())
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize(
    ("address", "allowed", "refused"),
    rows(__file__, "a_node_elsewhere_gets_nothing_until_it_or_its_cluster_is_named"),
)
def test_a_node_elsewhere_gets_nothing_until_it_or_its_cluster_is_named(
    monkeypatch: pytest.MonkeyPatch, address: str, allowed: tuple[str, ...], refused: bool
) -> None:
    nodes = [_described("a", "127.0.0.1", CPU=4.0), _described("b", "198.51.100.7", CPU=4.0)]
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(nodes=lambda: nodes))
    told: list[str] = []
    cluster = product.RayCluster(product.RayAddress.of(address), product.Hosts(allowed), told.append)
    if refused:
        with pytest.raises(product.ProviderError, match=r"198\.51\.100\.7 is not this machine"):
            cluster.slots("auto")
        assert not told
    else:
        assert [slot.node for slot in (*cluster.slots("auto"), *cluster.slots("auto"))] == [*"abab"]
        assert told == [f"passages of your notes go to 198.51.100.7 (Ray cluster at {address})"]  # once


@pytest.mark.parametrize(
    ("release", "other", "told"), rows(__file__, "a_worker_with_another_release_or_model_refuses")
)
def test_a_worker_with_another_release_or_model_refuses(
    release: str | None, other: dict[str, str], told: str
) -> None:
    settings = product.load_settings().embedding
    wanted = {**product.model_identity(settings), **other}
    with pytest.raises(product.ModelError, match=told):
        product.EmbeddingWorker(release or version("notehop"), settings.model_dump(), wanted).embed(["a"])


def _described(
    name: str, address: str = "127.0.0.1", *, alive: bool = True, **has: float
) -> dict[str, object]:
    """A node as ``ray.nodes()`` describes it."""
    resources = {**has, "memory": 1.0}
    return {"NodeID": name, "NodeManagerAddress": address, "Alive": alive, "Resources": resources}


@pytest.mark.services
def test_a_cluster_that_is_not_there_is_named(demo: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (pip install 'notehop[ray]')")
    address = f"127.0.0.1:{free_port()}"
    done = _index(demo[0], tmp_path / "index", address)
    assert done.returncode == 1
    assert f"--ray {address}: nothing listens there" in " ".join(done.stderr.split())


@pytest.mark.services
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.model
def test_an_index_is_whole_though_a_node_dies(demo: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (pip install 'notehop[ray]')")
    vault, alone = demo
    index = tmp_path / "index"
    lend_query_model(vault, index)
    with _cluster() as (address, node):
        command = [sys.executable, "-c", INDEXING, str(vault), str(index), address]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(**TOKEN),
        ) as running:
            _until_embedded(running)
            until(lambda: _has_model(node), PATIENCE)
            _go_on(running)
            # By now it was given batches, and has embedded one of them at most.
            _until_embedded(running)
            _kill(node)
            said, told = running.communicate("\n" * 10_000, timeout=PATIENCE)
    assert said.endswith("whole\n"), told
    assert said.count("embedded") > 3  # batches were left to be asked again
    here, there = _vectors(vault, alone), _vectors(vault, index)
    assert here.keys() == there.keys()
    assert min(float(here[one] @ there[one]) for one in here) > 0.9999


def _index(vault: Path, index: Path, address: str) -> subprocess.CompletedProcess[str]:
    where = [str(vault), "--index-dir", str(index)]
    return subprocess.run(
        [*NOTEHOP, "index", *where, "--ray", address],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )


def _until_embedded(running: subprocess.Popen[str]) -> None:
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.readline() == "embedded\n", running.stderr.read()


def _go_on(running: subprocess.Popen[str]) -> None:
    assert running.stdin is not None
    running.stdin.write("\n")
    running.stdin.flush()


def _vectors(vault: Path, index: Path) -> dict[str, np.ndarray]:
    with product.open_vault(vault, index_dir=index) as opened:
        return {node.node_id: np.array(node.embedding) for node in opened.nodes()}


@contextmanager
def _cluster() -> Iterator[tuple[str, psutil.Process]]:
    """A cluster of two nodes with one core each: its address, and the node that is not its head."""
    # Sockets lie in it, whose paths may have 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="ray"))
    port = str(free_port())
    head = ["--head", "--port", port, "--ray-client-server-port", str(free_port())]
    head += ["--include-dashboard=false", "--disable-usage-stats", "--temp-dir", str(folder)]
    address = f"127.0.0.1:{port}"
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.enter_context(_node(folder / "head.log", *head))
        yield address, stack.enter_context(_node(folder / "node.log", "--address", address))


@contextmanager
def _node(log: Path, *how: str) -> Iterator[psutil.Process]:
    size = ["--num-cpus=1", "--object-store-memory=80000000", "--node-ip-address=127.0.0.1"]
    with (
        log.open("w") as told,
        subprocess.Popen(
            [sys.executable, "-m", "ray.scripts.scripts", "start", *how, *size, "--block"],
            stdout=told,
            stderr=told,
            env=environment(RAY_USAGE_STATS_ENABLED="0", **TOKEN),
        ) as started,
    ):
        node = psutil.Process(started.pid)
        try:
            end = time.monotonic() + PATIENCE
            while "Ray runtime started" not in log.read_text():
                assert started.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.2)
            yield node
        finally:
            _kill(node)


def _has_model(node: psutil.Process) -> bool:
    """Whether the worker of a node has embedded what it was given, for which it loaded the model."""
    titles = [" ".join(child.cmdline()) for child in node.children(recursive=True)]
    workers = [title for title in titles if "EmbeddingWorker" in title]
    return bool(workers) and not any("EmbeddingWorker." in title for title in workers)


def _kill(node: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        dying = [*node.children(recursive=True), node]
        for process in dying:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(dying, timeout=10)
