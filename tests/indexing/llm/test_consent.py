"""What leaves the machine: to whom, by whose consent, with which certificate, and what is logged."""

import datetime
import ipaddress
import logging
import os
import socket
import ssl
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pydantic import SecretStr

from tests.support import product
from tests.support.product import consent_is_loopback as is_loopback
from tests.support.tables import rows
from tests.support.wire import reply, wire

OK = reply(200, {"text": "yes"})
REAL = socket.getaddrinfo
MakeGate = Callable[..., product.ProviderTransport]


@pytest.fixture(autouse=True)
def names_lead_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of another machine, ``….test``, are reached here."""

    def led(host: Any, *more: Any, **named: Any) -> Any:
        return REAL("127.0.0.1" if str(host).endswith(".test") else host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", led)


@pytest.fixture
def make_gate(tmp_path: Path) -> MakeGate:
    """Makes a transport whose log is in the test's folder; retries wait for hundredths of a second."""

    def make(
        url: str,
        *,
        allow: tuple[str, ...] = (),
        retries: int = 2,
        key: str | None = None,
        folder: Path = tmp_path,
    ) -> product.ProviderTransport:
        llm = product.LlmSettings(provider="openai-compatible", model="m", timeout_s=20, retries=retries)
        secret = None if key is None else SecretStr(key)
        config = product.ProviderConfig(llm, url, secret, first_pause=0.01)
        return product.ProviderTransport(config, product.Hosts(allow), product.EgressLog(folder))

    return make


def post(gate: product.ProviderTransport) -> httpx.Response:
    with httpx.Client(transport=gate, trust_env=False) as client:
        return client.post(f"{gate.config.url}/chat", content=b"{}")


def lines(folder: Path) -> list[dict[str, Any]]:
    return list(product.EgressLog(folder).lines())


@pytest.mark.parametrize(("address", "here"), rows(__file__, "loopback_is_an_address_of_this_machine"))
def test_loopback_is_an_address_of_this_machine(address: str, here: bool) -> None:
    assert is_loopback(address) is here


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "app.localhost"])
def test_localhost_is_this_machine_wherever_it_leads(
    host: str, make_gate: MakeGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    led: list[str] = []

    def elsewhere(host: Any, *more: Any, **named: Any) -> Any:
        led.append(str(host))
        return REAL(host if host in ("127.0.0.1", "::1") else "192.0.2.7", *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", elsewhere)
    with wire(OK) as server:
        assert post(make_gate(f"http://{host}:{server.port}")).status_code == 200
    assert led == ["127.0.0.1"]


@pytest.mark.parametrize("allowed", ["test", "del.test", "x.model.test", "model.tes", "model_test"])
def test_a_part_of_a_name_allows_nothing(allowed: str, make_gate: MakeGate) -> None:
    gate = make_gate("http://model.test", allow=(allowed,))
    with pytest.raises(product.ProviderError) as caught:
        post(gate)
    assert caught.value.kind == "consent"


def test_a_name_that_leads_here_is_named_like_any_other(make_gate: MakeGate, tmp_path: Path) -> None:
    with wire(OK) as server:
        gate = make_gate(f"http://model.test:{server.port}")
        with pytest.raises(product.ProviderError, match="is not this machine") as caught:
            post(gate)
        assert server.bodies == []
    assert caught.value.kind == "consent"
    assert lines(tmp_path) == []


def test_an_allowed_host_is_told_once_for_each_purpose(
    make_gate: MakeGate, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with wire(OK) as server:
        url = f"http://model.test:{server.port}"
        gate = make_gate(url, allow=("model.test",))
        with product.sending(["a.md", "b.md"], purpose="answer") as first:
            post(gate)
        with product.sending(["a.md"], purpose="answer") as second:
            post(gate)
        with product.sending(["c.md"], purpose="summary") as other:
            post(gate)
        # Another process, which finds the log.
        with product.sending(["a.md"], purpose="answer") as later:
            post(make_gate(url, allow=("model.test",)))
    assert [len(one.notices) for one in (first, second, other, later)] == [1, 0, 1, 0]
    assert "model.test" in first.notices[0]
    assert "the question, the passages" in first.notices[0]
    assert "the text of notes" in other.notices[0]
    assert [record.getMessage() for record in caplog.records] == [*first.notices, *other.notices]
    sent = [line for line in lines(tmp_path) if "host" in line]
    assert [(line["local"], line["notes"]) for line in sent[:2]] == [
        (False, ["a.md", "b.md"]),
        (False, ["a.md"]),
    ]


@pytest.mark.parametrize("key", [None, "sk-own"])
def test_plain_http_to_another_machine_is_told(make_gate: MakeGate, tmp_path: Path, key: str | None) -> None:
    with wire(OK) as server, product.sending(["a.md"], purpose="answer") as sent:
        url = f"http://model.test:{server.port}"
        post(make_gate(url, allow=("model.test",), key=key))
        post(make_gate(server.url, key=key, folder=tmp_path / "here"))
    (notice,) = sent.notices
    assert "over plain http: whoever is on the way can read them" in notice
    assert ("and with them your key" in notice) is (key is not None)


def test_what_leaves_is_written_down_first_or_does_not_leave(make_gate: MakeGate, tmp_path: Path) -> None:
    nowhere = tmp_path / "file"
    nowhere.write_text("no folder")
    with wire(OK) as server:
        far = make_gate(f"http://model.test:{server.port}", allow=("model.test",), folder=nowhere)
        with pytest.raises(product.ProviderError, match=r"cannot be written .* nothing is sent to model"):
            post(far)
        assert server.bodies == []
        # What stays here needs no record.
        assert post(make_gate(server.url, folder=nowhere)).status_code == 200


def begin(log: product.EgressLog, **changed: Any) -> product.egress.Attempt:
    told: dict[str, Any] = {
        "host": "model.test",
        "local": False,
        "provider": "openai",
        "model": "m",
        "purpose": "answer",
        "notes": ("a.md",),
        "bytes_out": 10,
        "attempt": 1,
    }
    return log.begin(**{**told, **changed})


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_only_its_user_can_read_it(tmp_path: Path) -> None:
    begin(product.EgressLog(tmp_path)).end()
    assert stat.S_IMODE((tmp_path / product.NAME).stat().st_mode) == 0o600


def test_a_line_that_a_crash_left_half_spoils_no_other(tmp_path: Path) -> None:
    log = product.EgressLog(tmp_path)
    begin(log, host="one.test")
    with (tmp_path / product.NAME).open("ab") as stream:
        stream.write(b'{"id":"x","host":"ha')
    begin(log, host="two.test")
    assert [line["host"] for line in log.lines()] == ["one.test", "two.test"]
    assert (tmp_path / product.NAME).read_bytes().count(b"\n") == 3


def test_it_does_not_grow_without_end(tmp_path: Path) -> None:
    log = product.EgressLog(tmp_path, largest=2_000)
    for number in range(60):
        begin(log, host=f"host-{number}.test").end(status=200)
    assert {path.name for path in tmp_path.glob("*.jsonl")} == {product.NAME, product.FORMER}
    assert sum(path.stat().st_size for path in tmp_path.glob("*.jsonl")) <= 4_000
    hosts = [line["host"] for line in log.lines() if "host" in line]
    assert hosts[-1] == "host-59.test"
    assert hosts == [f"host-{number}.test" for number in range(60 - len(hosts), 60)]


def test_no_name_of_a_note_hides_its_call(tmp_path: Path) -> None:
    name = "a\u2028b\x85c\u2029\x1c\r.md"
    log = product.EgressLog(tmp_path)
    begin(log, notes=(name,)).end(status=200)
    begun, ended = lines(tmp_path)
    assert (begun["notes"], ended["status"]) == ([name], 200)
    told = "answer", "test", "https://model.test", "llm.base_url"
    assert log.announcement("model.test", *told) is None
    begin(log, host="here.test", local=True)
    assert log.announcement("here.test", *told), "what stayed here was told of no host"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for ``model.test`` and 127.0.0.1 that nobody vouches for, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "model.test")])
    now = datetime.datetime.now(datetime.UTC)
    names: list[x509.GeneralName] = [
        x509.DNSName("model.test"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    ]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "certificate.pem"
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return file


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_a_certificate_that_nobody_vouches_for(make_gate: MakeGate, tls: ssl.SSLContext) -> None:
    with wire(OK, tls=tls) as server, pytest.raises(product.ProviderError) as caught:
        post(make_gate(f"https://127.0.0.1:{server.port}"))
    assert caught.value.kind == "refused"
    assert "certificate that is not trusted" in str(caught.value)
    assert "SSL_CERT_FILE" in str(caught.value)
    assert server.bodies == []


def test_a_certificate_that_is_named(
    make_gate: MakeGate, tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with wire(OK, tls=tls) as server:
        assert post(make_gate(f"https://127.0.0.1:{server.port}")).status_code == 200
        named = make_gate(f"https://model.test:{server.port}", allow=("model.test",))
        assert post(named).status_code == 200
        assert len(server.bodies) == 2
        other = make_gate(f"https://other.test:{server.port}", allow=("other.test",))
        with pytest.raises(product.ProviderError, match="Hostname mismatch"):
            post(other)
        assert len(server.bodies) == 2
