"""Refuses whatever this Python process wants of another machine, and writes it down.

Python imports it at its start where its folder is on ``PYTHONPATH``, in children too. It sees what
goes through Python's own sockets; :mod:`uplink` sees the rest.

Touches: the file that ``ATTEMPTS_SEEN`` names.
"""

import os
import sys

_LOOPBACK = ("127.", "::1", "::ffff:127.")
_HERE = ("", "localhost", "0.0.0.0", "::")


def _host(event, arguments):
    """The other machine that an event is about; None if it is about none."""
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"):
        address = arguments[1]
        # Others are names of sockets on this machine, or of none.
        if not isinstance(address, tuple) or not isinstance(address[0], str):
            return None
        host = address[0]
        # A server that listens everywhere is open to others.
        return host if event == "socket.bind" or host not in ("0.0.0.0", "::") else None
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        host = arguments[0]
        host = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        return None if host is None or host in _HERE else host
    if event == "socket.getnameinfo":
        return arguments[0][0]
    return None


def _watch(event, arguments):
    if not event.startswith("socket."):
        return
    host = _host(event, arguments)
    if host is None or host == "localhost" or host.startswith(_LOOPBACK):
        return
    line = f"{event} {host} by {' '.join(' '.join(sys.orig_argv[1:]).split())[:80]}\n"
    file = os.open(os.environ["ATTEMPTS_SEEN"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)
    raise ConnectionRefusedError(f"no network here: {event} {host}")


sys.addaudithook(_watch)
