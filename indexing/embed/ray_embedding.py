"""Embedding on the workers of a Ray cluster: batches go out, vectors come back, the dead are replaced.

Ray is imported when a cluster is joined, and none is ever started.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from notehop.config.errors import ModelError, NotehopError, ProviderError, UsageError
from notehop.config.settings import EmbeddingSettings
from notehop.indexing.embed.embedder import OnBatch, Vectors
from notehop.indexing.embed.identity import describe_model
from notehop.indexing.llm.consent import Hosts, refusal

if TYPE_CHECKING:
    from notehop.indexing.embed.torch_embedding import TorchEmbedding
    from notehop.indexing.llm.egress import Attempt, EgressLog

WORKER_CPUS = 4
"""Cores of a worker at most: so many passes of the model run at once (torch_embedding.MOST_PASSES),
each on a core of its own."""

BATCH_CHARACTERS = 65_536
SMALLEST_BATCH = 4_096
"""Characters of texts that a worker is given at once: half a second of four cores. Fewer where few
are left, so that all workers have some."""

BATCHES_EACH = 4
"""Batches for each worker at least: the slow ones take fewer, and none waits long for the last."""

MOST_LOSSES = 3
"""Workers that may die over one batch, and one after the other on one place of a node."""

START_S = 180.0
"""Seconds until the first worker must have its model, or a cluster in full use room for one."""

_LOOK_S = 5.0  # between two looks at which nodes there are
_CONNECT_S = 10.0
_INSTALL_THERE = "has no notehop, or another one; run there: pip install 'notehop[ray]'"
_WHAT = "passages of your notes"


class Address(NamedTuple):
    """Where a cluster is. ``host`` is None for ``auto``: the one that this machine is a node of."""

    text: str
    host: str | None = None
    port: int = 0

    @classmethod
    def of(cls, text: str) -> Address:
        """Read an address as Ray writes it. Raises UsageError if it is none."""
        text = text.strip()
        if text == "auto":
            return cls(text)
        host = r"(?:ray://)?([A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])"
        if (found := re.fullmatch(rf"{host}:(\d+)", text)) and int(found[2]) < 65_536:
            return cls(text, found[1].strip("[]").lower(), int(found[2]))
        raise UsageError(
            f"--ray {text!r} is no address of a Ray cluster; write HOST:PORT where this machine "
            "is a node of it (`ray start` prints it), ray://HOST:10001 where it is none, or auto"
        )


class Slot(NamedTuple):
    """Room for one worker on a node: a GPU, or some cores."""

    node: str
    host: str
    number: int
    cpus: int
    gpus: int = 0


def slots_of(nodes: Sequence[dict[str, Any]], device: str) -> list[Slot]:
    """Divide the living nodes among workers: one for each GPU; without any, one for four cores.

    :param nodes: as ``ray.nodes()`` gives them.
    :param device: ``cpu`` leaves GPUs alone, ``cuda`` takes nothing else.
    """
    found: list[Slot] = []
    for node in sorted((node for node in nodes if node["Alive"]), key=lambda node: node["NodeID"]):
        resources = node["Resources"]
        cpus, gpus = int(resources.get("CPU", 0)), int(resources.get("GPU", 0))
        where = (str(node["NodeID"]), str(node["NodeManagerAddress"]))
        if gpus and device in ("auto", "cuda"):
            found += [Slot(*where, number, min(1, cpus), 1) for number in range(gpus)]
        elif cpus and device != "cuda":
            each = min(cpus, WORKER_CPUS)
            found += [Slot(*where, number, each) for number in range(cpus // each)]
    return found


class RayCluster:
    """A cluster that this process joined; see :func:`joined`."""

    def __init__(self, address: Address, hosts: Hosts, tell: Callable[[str], None]) -> None:
        """:param tell: hears, once, which other machines get text."""
        self.address = address
        self._hosts = hosts
        self._tell = tell
        self._told: set[str] = set()

    def slots(self, device: str) -> list[Slot]:
        """Room for workers on the nodes there are now. Raises ProviderError: ``consent``, if a node is
        another machine that nobody named."""
        import ray

        found = slots_of(ray.nodes(), device)
        away = {slot.host for slot in found if not is_this_machine(slot.host)}
        named = self.address.host is not None and self._hosts.allows(self.address.host)
        for host in sorted(away):
            # Who names the cluster by its address names its nodes.
            if not (named or self._hosts.allows(host)):
                raise refusal(host, _WHAT)
        if new := sorted(away - self._told):
            self._told |= away
            self._tell(f"{_WHAT} go to {', '.join(new)} (Ray cluster at {self.address.text})")
        return found

    def error(self, what: str) -> ModelError:
        return ModelError(f"--ray {self.address.text}: {what}")


def is_this_machine(address: str) -> bool:
    """Whether a node's address is one of this machine: a socket can be bound to no other."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


@contextmanager
def joined(
    address: Address, allowed: Sequence[str], tell: Callable[[str], None]
) -> Iterator[RayCluster]:
    """Join a cluster for the body; a program that joined one before stays in that.

    :param allowed: hosts that may get text (``privacy.allow_hosts``).
    :param tell: hears which other machines get text.
    :raises ProviderError: ``consent``, before anything is sent; ``refused``, if nothing listens there.
    :raises ModelError: if Ray is not installed, or the cluster cannot be joined.
    """
    hosts = Hosts(allowed, address="--ray")
    cluster = RayCluster(address, hosts, tell)
    if address.host is not None:
        hosts.admit(address.host, address.port, _WHAT)
    if find_spec("ray") is None:
        raise cluster.error("Ray is not installed; run: pip install 'notehop[ray]'")
    # Read when Ray is imported. The nodes have it of whoever starts them.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if address.host is not None:
        # Ray itself tries for a minute, and ends the process then.
        try:
            socket.create_connection((address.host, address.port), _CONNECT_S).close()
        except OSError as exc:
            raise ProviderError(
                f"--ray {address.text}: nothing listens there ({exc.strerror or exc}); is the cluster "
                "up (`ray status` on its head), and is that its port? 6379 for HOST:PORT, 10001 for "
                "ray://",
                "refused",
            ) from exc
    import ray

    if ray.is_initialized():
        yield cluster
        return
    try:
        ray.init(address=address.text, logging_level=logging.ERROR, log_to_driver=False)
    except Exception as exc:  # of many kinds, some of them bare
        raise cluster.error(
            f"the cluster cannot be joined: {' '.join(str(exc).split())[:400]}; a node of it has the "
            "same Python and ray, and is started by: ray start --address=HOST:6379; who is none asks by "
            "ray://HOST:10001; one that asks for a token takes RAY_AUTH_MODE=token and RAY_AUTH_TOKEN "
            "here as on its nodes"
        ) from exc
    try:
        yield cluster
    finally:
        ray.shutdown()


class EmbeddingWorker:
    """An actor: the model, loaded once, on a node of the cluster."""

    def __init__(self) -> None:
        self._model: TorchEmbedding | None = None

    def open(self, release: str, settings: dict[str, Any], identity: dict[str, Any]) -> None:
        """Load the model, if it is the one that the index is made with. Raises ModelError if it is
        missing here or another one, or if notehop is."""
        if (here := version("notehop")) != release:
            raise ModelError(
                f"has notehop {here}, and {release} asks; run there: "
                f"pip install 'notehop[ray]=={release}'"
            )
        wanted = EmbeddingSettings(**settings)
        found = describe_model(wanted).identity()
        for key, value in identity.items():
            if found.get(key) != value:
                raise ModelError(
                    f"has another {wanted.model}: its {key} is {found.get(key)!r}, and the index is "
                    f"made with {value!r}; install the same model there"
                )
        from notehop.indexing.embed.torch_embedding import load_bulk

        self._model = load_bulk(wanted)

    def embed(self, texts: list[str]) -> tuple[Vectors, int]:
        """Embed passages: (n, d) in their order, and how many of them were longer than the window."""
        assert self._model is not None
        before = self._model.cut
        return self._model.embed(texts), self._model.cut - before


@dataclass(slots=True, eq=False)
class _Worker:
    """``call`` is what it does: without a batch it loads the model; None for nothing."""

    slot: Slot
    actor: Any
    call: Any
    batch: list[int] = field(default_factory=list)
    attempt: Attempt | None = None

    def end(self, *, bytes_in: int = 0, error: str | None = None) -> None:
        if self.attempt is not None:
            self.attempt.end(bytes_in=bytes_in, error=error)
        self.attempt = None


class RayWorkers:
    """The actors of one run: as many as the cluster has room for, made anew when they die."""

    def __init__(
        self,
        cluster: RayCluster,
        settings: EmbeddingSettings,
        identity: dict[str, Any],
        log: EgressLog,
    ) -> None:
        """:param identity: of the model that they have to have.
        :param log: each batch is written down there before it goes to another machine.
        """
        self.cut = 0
        """Passages so far that were longer than the window."""
        self._cluster = cluster
        self._settings = settings
        self._identity = identity
        self._log = log
        self._workers: dict[Slot, _Worker] = {}
        self._deaths: Counter[Slot] = Counter()
        self._reason = ""
        self._looked = 0.0

    def embed(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """Embed passages: (n, d), in the order of ``texts``; (0, d) for none. Raises ModelError if no
        worker can be had, or the model fails on one."""
        rows = np.empty((len(texts), self._identity["dimensions"]), dtype=np.float32)
        if not texts:
            return rows
        from ray.exceptions import RayError

        done = 0
        try:
            for batch, found, cut in self._embedded(texts):
                rows[batch] = found
                self.cut += cut
                done += len(batch)
                if on_batch is not None:
                    on_batch(done)
        except (RayError, ConnectionError) as exc:
            raise self._cluster.error(
                f"the cluster is gone ({_first_line(exc)}); what was committed stays: run it again "
                "when the cluster is back"
            ) from exc
        finally:
            # What is under way is of no use any more; its worker begins anew.
            self._workers = {at: one for at, one in self._workers.items() if not one.batch}
        return rows

    def _embedded(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors, int]]:
        """Each batch as it is done: the places of its texts, their vectors, how many were cut."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        self._fill()
        waiting = deque(_batches(texts, BATCHES_EACH * len(self._workers)))
        losses: Counter[int] = Counter()  # by the first place of a batch
        since = time.monotonic()
        while waiting or any(one.batch for one in self._workers.values()):
            if time.monotonic() - self._looked > _LOOK_S:
                self._fill()
            for worker in self._workers.values():
                if waiting and worker.call is None:
                    batch = waiting.popleft()
                    self._send(worker, batch, [texts[at] for at in batch], losses[batch[0]] + 1)
            calls = {one.call: one for one in self._workers.values() if one.call is not None}
            for call in ray.wait(list(calls), timeout=_LOOK_S)[0]:
                worker = calls[call]
                try:
                    found = ray.get(call)
                except RayTaskError as exc:
                    worker.end(error="model")
                    cause = exc.cause
                    said = str(cause) if isinstance(cause, NotehopError) else _first_line(cause)
                    raise self._cluster.error(f"node {worker.slot.host} {said}") from exc
                except RayError as exc:
                    self._remove(worker, exc)
                    if not (batch := worker.batch):
                        continue
                    losses[batch[0]] += 1
                    if losses[batch[0]] >= MOST_LOSSES:
                        raise self._cluster.error(
                            f"{MOST_LOSSES} workers died over the same {len(batch)} texts, the last "
                            f"on {self._reason}; if its memory ran out, set a smaller "
                            "embedding.batch_size"
                        ) from exc
                    waiting.appendleft(batch)
                    continue
                batch, worker.call, worker.batch = worker.batch, None, []
                if batch:
                    del self._deaths[worker.slot]
                    worker.end(bytes_in=found[0].nbytes)
                    yield batch, *found
            if any(one.call is None or one.batch for one in self._workers.values()):
                since = time.monotonic()  # one has its model
            elif time.monotonic() - since > START_S:
                raise self._cluster.error(
                    f"no worker began within {START_S:.0f} s ({ray.available_resources()} are free of "
                    f"{ray.cluster_resources()}); free some, or wait until others are done"
                )

    def _fill(self) -> None:
        """Start a worker wherever there is room for one. Raises ModelError if there is none left."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._looked = time.monotonic()
        asked = self._settings.device
        for slot in self._cluster.slots(asked):
            if slot in self._workers or self._deaths[slot] >= MOST_LOSSES:
                continue
            kind = ray.remote(EmbeddingWorker).options(
                num_cpus=slot.cpus,
                num_gpus=slot.gpus,
                scheduling_strategy=NodeAffinitySchedulingStrategy(slot.node, soft=False),
            )
            try:
                actor = kind.remote()
            except ImportError as exc:  # of the head, where ray:// leads to
                raise self._cluster.error(f"its head {_INSTALL_THERE} ({exc})") from exc
            device = "cuda" if slot.gpus else "mps" if asked == "mps" else "cpu"
            # Ray says how many threads a worker has.
            settings = self._settings.model_copy(update={"device": device, "threads": 0})
            call = actor.open.remote(version("notehop"), settings.model_dump(), self._identity)
            self._workers[slot] = _Worker(slot, actor, call)
        if not self._workers:
            what = "GPUs" if asked == "cuda" else "CPUs or GPUs"
            why = self._reason or f"no node has {what} for Ray (`ray status`)"
            raise self._cluster.error(f"no worker can be had: {why}")

    def _send(self, worker: _Worker, batch: list[int], texts: list[str], attempt: int) -> None:
        if not is_this_machine(worker.slot.host):
            worker.attempt = self._log.begin(
                host=worker.slot.host,
                local=False,
                provider="ray",
                model=self._settings.model,
                purpose="embedding",
                notes=(),
                bytes_out=sum(len(text.encode("utf-8", "replace")) for text in texts),
                attempt=attempt,
            )
        worker.call, worker.batch = worker.actor.embed.remote(texts), batch

    def _remove(self, worker: _Worker, exc: Exception) -> None:
        """Go on without a worker that died."""
        import ray

        del self._workers[worker.slot]
        self._deaths[worker.slot] += 1
        self._looked = 0.0  # its node may be gone, or take another worker
        worker.end(error="refused")
        # One that lost what it sent, or is slow to answer, may live on.
        ray.kill(worker.actor)
        why = _INSTALL_THERE if "No module named 'notehop" in str(exc) else _first_line(exc)
        self._reason = f"node {worker.slot.host}: {why}"


def _batches(texts: Sequence[str], least: int) -> list[list[int]]:
    """Places of texts of like length together, the longest first: padding is wasted work.

    :param least: about how many batches there shall be, where there are texts for it.
    """
    size = min(BATCH_CHARACTERS, max(SMALLEST_BATCH, sum(map(len, texts)) // least))
    found: list[list[int]] = []
    room = 0
    for place in sorted(range(len(texts)), key=lambda place: (-len(texts[place]), place)):
        if room <= 0:
            found.append([])
            room = size
        found[-1].append(place)
        room -= len(texts[place]) + 1
    return found


def _first_line(exc: BaseException) -> str:
    return next((line.strip() for line in str(exc).splitlines() if line.strip()), repr(exc))
