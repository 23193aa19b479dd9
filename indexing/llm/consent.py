"""Decides which hosts may get text: this machine, and those that the user named.

This machine is what lies behind a loopback address when the connection is made. A name proves
nothing: ``localhost`` counts because it leads there, and another name that leads there counts, too.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

from notehop.config import user_config_file
from notehop.config.errors import ProviderError

Resolve = Callable[[str, int], list[str]]
"""Gives the addresses of a host, the best first, or raises OSError."""


class Hosts:
    def __init__(
        self,
        allowed: Iterable[str],
        resolve: Resolve | None = None,
        *,
        address: str = "llm.base_url",
    ) -> None:
        """:param allowed: host names and addresses, as the setting has them.
        :param address: the setting that says whom to ask.
        """
        self._address = address
        self._allowed = frozenset(_plain(host) for host in allowed)
        self._resolve = resolve or resolved

    def admit(self, host: str, port: int, what: str) -> bool:
        """Let what would be sent go to a host; whether that is this machine. Raises ProviderError:
        ``consent``, if it is another one that the user did not name; ``refused``, if it is not named
        and its name leads nowhere."""
        try:
            here = bool(self.local(host, port))
        except ProviderError:
            if not self.allows(host):
                raise
            return False
        if not (here or self.allows(host)):
            raise refusal(host, what)
        return here

    def allows(self, host: str) -> bool:
        """Whether the user named a host."""
        return _plain(host) in self._allowed

    def local(self, host: str, port: int) -> list[str]:
        """The loopback addresses of a host; empty if it has any other. Raises ProviderError if the
        name leads nowhere."""
        found = self.addresses(host, port)
        return found if found and all(is_loopback(address) for address in found) else []

    def addresses(self, host: str, port: int) -> list[str]:
        """Where a host is now. Raises ProviderError if the name leads nowhere."""
        try:
            return [host] if _address(host) else self._resolve(host, port)
        except OSError as exc:
            raise ProviderError(
                f"{host}: no such host ({exc.strerror or exc}); check {self._address}, or are you "
                "offline?",
                "refused",
            ) from exc


def resolved(host: str, port: int) -> list[str]:
    """Ask the system for the addresses of a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[4][0]) for address in found))


def is_loopback(address: str) -> bool:
    """Whether an address is one of this machine's own: 127.0.0.0/8 and ::1."""
    ip = _address(address)
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return ip is not None and ip.is_loopback


def names_this_machine(host: str) -> bool:
    """Whether a host is this machine as far as can be told without asking anybody else."""
    plain = _plain(host)
    return is_loopback(plain) or plain == "localhost" or plain.endswith(".localhost")


def refusal(host: str, what: str) -> ProviderError:
    """The error for a host that may get nothing, with what it would have got."""
    hint = "; write 127.0.0.1 for this machine" if host in ("0.0.0.0", "::") else ""
    return ProviderError(
        f"{host} is not this machine and would get {what}; nothing was sent. To allow it, name it "
        f'in {user_config_file()}: [privacy] allow_hosts = ["{host}"]{hint}',
        "consent",
    )


def _plain(host: str) -> str:
    return host.strip().strip("[]").rstrip(".").lower()


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None
