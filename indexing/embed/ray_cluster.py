"""A Ray cluster that embeds: its address, who may get text, its workers as they come and die.

Touches: network. Ray is imported when a cluster is joined, and none is ever started.
"""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal
from urllib.parse import urlsplit

from notehop.config.errors import ModelError, ProviderError, UsageError
from notehop.indexing.llm.consent import Hosts, names_this_machine, refusal

WORKER_CPUS = 4
"""Cores of a worker at most: so many passes of the model run at once (torch_embedding.MOST_PASSES),
each on a core of its own."""

_CONNECT_S = 10.0
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\]")
INSTALL_THERE = "has no notehop, or another one; run there: pip install 'notehop[ray]'"
WHAT = "passages of your notes"

Device = Literal["auto", "cpu", "cuda", "mps"]


@dataclass(frozen=True, slots=True)
class Address:
    """Where a cluster is. ``host`` is None for ``auto``: the one that this machine is a node of."""

    text: str
    host: str | None
    port: int | None

    @classmethod
    def of(cls, text: str) -> Address:
        """Read an address as Ray writes it.

        :raises UsageError: if it is none.
        """
        text = text.strip()
        if text == "auto":
            return cls(text, None, None)
        plain = text.removeprefix("ray://")
        try:
            parts = urlsplit(f"//{plain}")
            port = parts.port
        except ValueError:
            port = None
        if port is None or not _HOST.fullmatch(plain.rpartition(":")[0]):
            raise UsageError(
                f"--ray {text!r} is no address of a Ray cluster; write HOST:PORT where this machine "
                "is a node of it (`ray start` prints it), ray://HOST:10001 where it is none, or auto"
            )
        return cls(text, parts.hostname, port)


@dataclass(frozen=True, slots=True)
class Slot:
    """Room for one worker on a node: a GPU, or some cores."""

    node: str
    host: str
    number: int
    cpus: int
    gpus: int = 0

    def device(self, wanted: Device) -> Device:
        """What its torch computes on."""
        if self.gpus:
            return "cuda"
        return "mps" if wanted == "mps" else "cpu"


def slots_of(nodes: Sequence[dict[str, Any]], device: Device) -> list[Slot]:
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

    def slots(self, device: Device) -> list[Slot]:
        """Room for workers on the nodes there are now.

        :raises ProviderError: ``consent``, if a node is another machine that nobody named.
        """
        import ray

        found = slots_of(ray.nodes(), device)
        away = {slot.host for slot in found if not is_this_machine(slot.host)}
        named = self.address.host is not None and self._hosts.allows(self.address.host)
        for host in sorted(away):
            # Who names the cluster by its address names its nodes.
            if not (named or self._hosts.allows(host)):
                raise refusal(host, WHAT)
        if new := sorted(away - self._told):
            self._told |= away
            self._tell(f"{WHAT} go to {', '.join(new)} (Ray cluster at {self.address.text})")
        return found

    def start(self, worker: type, slot: Slot) -> Any:
        """Begin an actor of a class on its slot, as soon as that is free."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        placed = ray.remote(worker).options(
            num_cpus=slot.cpus,
            num_gpus=slot.gpus,
            scheduling_strategy=NodeAffinitySchedulingStrategy(slot.node, soft=False),
        )
        try:
            return placed.remote()
        except ImportError as exc:  # of the head, where ray:// leads to
            raise ModelError(
                f"--ray {self.address.text}: its head {INSTALL_THERE} ({exc})"
            ) from exc

    def free(self) -> str:
        """What the cluster has and what is free of it, for a message."""
        import ray

        has, left = ray.cluster_resources(), ray.available_resources()
        told = [
            f"{left.get(name, 0):g} of {has[name]:g} {name}s free"
            for name in ("CPU", "GPU")
            if name in has
        ]
        return ", ".join(told) or "no CPUs and no GPUs"


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
    :raises ProviderError: ``consent``, before anything is sent.
    :raises ModelError: if Ray is not installed, or the cluster cannot be reached or joined.
    """
    hosts = Hosts(allowed, address="--ray")
    if address.host is not None and not hosts.allows(address.host):
        away = not names_this_machine(address.host)
        if away and not hosts.local(address.host, address.port or 0):
            raise refusal(address.host, WHAT)
    if find_spec("ray") is None:
        raise ModelError(
            f"--ray {address.text}: Ray is not installed; run: pip install 'notehop[ray]'"
        )
    # Read when Ray is imported. The nodes have it of whoever starts them.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    _reach(address)
    import ray

    if ray.is_initialized():
        yield RayCluster(address, hosts, tell)
        return
    try:
        ray.init(address=address.text, logging_level=logging.ERROR, log_to_driver=False)
    except Exception as exc:  # of many kinds, some of them bare
        raise _not_joined(address, exc) from exc
    try:
        yield RayCluster(address, hosts, tell)
    finally:
        ray.shutdown()


def _reach(address: Address) -> None:
    """Connect once: Ray itself tries for a minute, and ends the process then."""
    if address.host is None:
        return
    try:
        socket.create_connection((address.host, address.port or 0), _CONNECT_S).close()
    except OSError as exc:
        raise ProviderError(
            f"--ray {address.text}: nothing listens there ({exc.strerror or exc}); is the cluster up "
            "(`ray status` on its head), and is that its port? 6379 for HOST:PORT, 10001 for ray://",
            "refused",
        ) from exc


def _not_joined(address: Address, exc: Exception) -> ModelError:
    said = " ".join(str(exc).split())
    at = f"--ray {address.text}"
    if "ersion mismatch" in said or "ersions" in said:
        return ModelError(
            f"{at}: {said}; install the same Python and the same ray on both, with notehop[ray]"
        )
    if address.text == "auto":
        return ModelError(
            f"{at}: no cluster runs on this machine ({said[:200]}); name its address, or start a "
            "node here: ray start --address=HOST:6379"
        )
    node = (
        ""
        if address.text.startswith("ray://")
        else (
            "; this machine must be a node of it (ray start --address=…), else ask by ray://HOST:10001"
        )
    )
    return ModelError(
        f"{at}: the cluster cannot be joined: {said[:400]}{node}; one that asks for a token takes "
        "RAY_AUTH_MODE=token and RAY_AUTH_TOKEN here as on its nodes"
    )
