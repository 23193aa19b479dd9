"""Embedding on the workers of a Ray cluster: batches go out, vectors come back.

Ray is imported when a cluster is joined, and none is ever started.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from notehop.config.errors import ModelError, NotehopError, ProviderError, UsageError
from notehop.config.settings import EmbeddingSettings
from notehop.indexing.embed.embedder import OnBatch, Vectors
from notehop.indexing.embed.identity import describe_model
from notehop.indexing.llm.egress import Attempt, EgressLog, Hosts, refusal

if TYPE_CHECKING:
    from notehop.indexing.embed.torch_embedding import TorchEmbedding

WORKER_CPUS = 4
"""Cores of a worker at most: so many passes of the model run at once (torch_embedding.MOST_PASSES),
each on a core of its own."""

BATCH_CHARACTERS = 65_536
SMALLEST_BATCH = 4_096
"""Characters of texts that a worker is given at once: half a second of four cores. Fewer where few
are left, so that all workers have some."""

BATCHES_EACH = 4
"""Batches for each worker at least: the slow ones take fewer, and none waits long for the last."""

START_S = 180.0
"""Seconds until one worker has its model; a cluster in full use may have no room for any."""

_LOOK_S = 5.0  # that an answer is waited for before the clock is looked at
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
def joined(address: Address, allowed: Sequence[str], tell: Callable[[str], None]) -> Iterator[RayCluster]:
    """Join a cluster for the body; a program that joined one before stays in that.

    :param allowed: hosts that may get text (``privacy.allow_hosts``).
    :param tell: hears which other machines get text.
    :raises ProviderError: ``consent``, before anything is sent; ``refused``, if nothing listens there.
    :raises ModelError: if Ray is not installed, or the cluster cannot be joined.
    """
    hosts = Hosts(allowed)
    cluster = RayCluster(address, hosts, tell)
    if address.host is not None:
        hosts.admit(address.host, _WHAT)
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

    def __init__(self, release: str, settings: dict[str, Any], identity: dict[str, Any]) -> None:
        """:param release: of the notehop that asks.
        :param identity: of the model that the index is made with.
        """
        self._asked = release, settings, identity
        self._model: TorchEmbedding | None = None

    def embed(self, texts: list[str]) -> Vectors:
        """Embed passages: (n, d), in their order.

        :raises ModelError: if the model is missing here or another one, or if notehop is.
        """
        if self._model is None:
            release, settings, identity = self._asked
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
                        f"has another {wanted.model}: its {key} is {found.get(key)!r}, and the index "
                        f"is made with {value!r}; install the same model there"
                    )
            from notehop.indexing.embed.torch_embedding import load_bulk

            self._model = load_bulk(wanted)
        return self._model.embed(texts)


class Call(NamedTuple):
    """What a worker was asked; without places it loads its model, which may outlast an ``embed()``."""

    slot: Slot
    places: list[int]
    attempt: Attempt | None = None

    def end(self, bytes_in: int = 0, error: str | None = None) -> None:
        if self.attempt is not None:
            self.attempt.end(bytes_in=bytes_in, error=error)


class RayWorkers:
    """The actors of one run: as many as the cluster has room for when texts come. What one has that dies
    goes to the others, and its place gets another with the next texts."""

    def __init__(
        self, cluster: RayCluster, settings: EmbeddingSettings, identity: dict[str, Any], log: EgressLog
    ) -> None:
        """:param identity: of the model that they have to have.
        :param log: each batch is written down there before it goes to another machine.
        """
        self._cluster, self._settings, self._identity, self._log = cluster, settings, identity, log
        self._actors: dict[Slot, Any] = {}
        self._calls: dict[Any, Call] = {}
        self._reason = ""  # why the last one died

    def embed(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """Embed passages: (n, d), in the order of ``texts``; (0, d) for none.

        :raises ModelError: if no worker can be had, or the model fails on one.
        """
        rows = np.empty((len(texts), self._identity["dimensions"]), dtype=np.float32)
        if not texts:
            return rows
        import ray
        from ray.exceptions import RayError

        done, useful = 0, time.monotonic()
        try:
            slots = self._cluster.slots(self._settings.device)
            waiting = deque(_batches(texts, BATCHES_EACH * max(1, len(slots))))
            while done < len(texts):
                busy = {call.slot for call in self._calls.values()}
                for slot in slots:
                    if waiting and slot not in busy:
                        self._ask(slot, texts, waiting)
                if not self._calls:
                    what = "GPUs" if self._settings.device == "cuda" else "CPUs or GPUs"
                    why = self._reason or f"no node has {what} for Ray (`ray status`)"
                    raise self._cluster.error(f"no worker can be had: {why}")
                if any(call.places for call in self._calls.values()):
                    useful = time.monotonic()
                elif time.monotonic() - useful > START_S:
                    raise self._cluster.error(
                        f"no worker began within {START_S:.0f} s ({ray.available_resources()} are free "
                        f"of {ray.cluster_resources()}); free some, or wait until others are done"
                    )
                for reference in ray.wait(list(self._calls), timeout=_LOOK_S)[0]:
                    call = self._calls.pop(reference)
                    found = self._answer(reference, call)
                    if found is None:
                        slots = [one for one in slots if one != call.slot]
                        waiting.extendleft([call.places] if call.places else [])
                    elif call.places:
                        rows[call.places] = found
                        done += len(call.places)
                        if on_batch is not None:
                            on_batch(done)
        except (RayError, ConnectionError) as exc:
            raise self._cluster.error(
                f"the cluster is gone ({_first_line(exc)}); what was committed stays: run it again "
                "when the cluster is back"
            ) from exc
        finally:
            # A batch that is under way is of no use any more; its worker begins anew.
            for reference, call in list(self._calls.items()):
                if call.places:
                    del self._calls[reference], self._actors[call.slot]
        return rows

    def _ask(self, slot: Slot, texts: Sequence[str], waiting: deque[list[int]]) -> None:
        """Give a worker a batch; a new one loads its model first."""
        if slot not in self._actors:
            self._actors[slot] = self._worker(slot)
            # No text goes to one that has another model, or dies while it loads it.
            self._calls[self._actors[slot].embed.remote([])] = Call(slot, [])
            return
        places = waiting.popleft()
        given = [texts[at] for at in places]
        attempt = None
        if not is_this_machine(slot.host):
            attempt = self._log.begin(
                host=slot.host,
                local=False,
                provider="ray",
                model=self._settings.model,
                purpose="embedding",
                notes=(),
                bytes_out=sum(len(text.encode("utf-8", "replace")) for text in given),
                attempt=1,
            )
        self._calls[self._actors[slot].embed.remote(given)] = Call(slot, places, attempt)

    def _answer(self, reference: Any, call: Call) -> Vectors | None:
        """What a worker made of a call; None if it died."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        slot = call.slot
        try:
            found: Vectors = ray.get(reference)
        except RayTaskError as exc:
            call.end(error="model")
            said = str(exc.cause) if isinstance(exc.cause, NotehopError) else _first_line(exc.cause)
            raise self._cluster.error(f"node {slot.host} {said}") from exc
        except RayError as exc:
            call.end(error="refused")
            # One that lost what it sent, or is slow to answer, may live on.
            ray.kill(self._actors.pop(slot))
            missing = "No module named 'notehop" in str(exc)
            self._reason = f"node {slot.host}: {_INSTALL_THERE if missing else _first_line(exc)}"
            return None
        if call.places:
            call.end(bytes_in=found.nbytes)
        return found

    def _worker(self, slot: Slot) -> Any:
        """A new worker, which loads its model when it is first asked."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        kind = ray.remote(EmbeddingWorker).options(
            num_cpus=slot.cpus,
            num_gpus=slot.gpus,
            scheduling_strategy=NodeAffinitySchedulingStrategy(slot.node, soft=False),
        )
        device = "cuda" if slot.gpus else "mps" if self._settings.device == "mps" else "cpu"
        settings = self._settings.model_copy(update={"device": device})
        try:
            return kind.remote(version("notehop"), settings.model_dump(), self._identity)
        except ImportError as exc:  # of the head, where ray:// leads to
            raise self._cluster.error(f"its head {_INSTALL_THERE} ({exc})") from exc


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
