"""Runs a command with a way out that leads nowhere, and writes down what it sends there.

To be run in a network namespace of its own. Every packet to another machine goes into a device
whose other end is this process, whoever sends it: native code is seen as Python is. Nobody answers.

    python uplink.py FILE COMMAND...

Touches: network (of its namespace), ``FILE``: a line for each packet.
"""

import fcntl
import ipaddress
import os
import select
import struct
import subprocess
import sys
import threading

TUNSETIFF = 0x400454CA
TUN, NO_HEADER = 0x0001, 0x1000
NAME = "way-out"


def way_out() -> int:
    """Make the device, and lead everything but loopback to it; return its other end."""
    end = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH", NAME.encode(), TUN | NO_HEADER))
    for arguments in (
        f"link set dev {NAME} addrgenmode none",
        "link set dev lo up",
        f"link set dev {NAME} up",
        # Addresses that are for documents, and belong to nobody.
        f"addr add 192.0.2.2/24 dev {NAME}",
        f"route add default dev {NAME}",
        f"addr add 2001:db8::2/64 dev {NAME} nodad",
        f"-6 route add default dev {NAME}",
    ):
        subprocess.run(["ip", *arguments.split()], check=True)
    return end


def destination(packet: bytes) -> str | None:
    """Where a packet goes; None for what the system tells its neighbours by itself."""
    if packet[0] >> 4 == 4:
        to: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.IPv4Address(packet[16:20])
        kind, payload = packet[9], packet[(packet[0] & 15) * 4 :]
    else:
        to, kind, payload = ipaddress.IPv6Address(packet[24:40]), packet[6], packet[40:]
    if to.is_multicast:
        return None
    port = int.from_bytes(payload[2:4], "big") if kind in (6, 17) else 0
    name = {6: "tcp", 17: "udp"}.get(kind, str(kind))
    asked = f" for {looked_up(payload[8:])}" if (kind, port) == (17, 53) else ""
    return f"{name} {to} {port}{asked}"


def looked_up(question: bytes) -> str:
    """The host whose address a resolver is asked for."""
    labels, at = [], 12
    while at < len(question) and (length := question[at]):
        labels.append(question[at + 1 : at + 1 + length].decode("ascii", "replace"))
        at += 1 + length
    return ".".join(labels)


def write_down(end: int, file: str, over: threading.Event) -> None:
    """Write down where packets go, until it is over and none is left."""
    with open(file, "a", encoding="utf-8") as log:  # noqa: PTH123
        while select.select([end], [], [], 0.05)[0] or not over.is_set():
            if select.select([end], [], [], 0)[0] and (to := destination(os.read(end, 65_536))):
                log.write(f"packet {to}\n")
                log.flush()


def main(file: str, *command: str) -> int:
    end, over = way_out(), threading.Event()
    thread = threading.Thread(target=write_down, args=(end, file, over))
    thread.start()
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        over.set()
        thread.join()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
