"""Certificates are checked for the name that is asked, whatever address it leads to."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.indexing.llm.conftest import MakeGate, post
from tests.support.product import ProviderError
from tests.support.wire import reply, wire

OK = reply(200, {"text": "yes"})


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
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return file


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_a_certificate_that_nobody_vouches_for(make_gate: MakeGate, tls: ssl.SSLContext) -> None:
    with wire(OK, tls=tls) as server, pytest.raises(ProviderError) as caught:
        post(make_gate(f"https://127.0.0.1:{server.port}"))
    assert caught.value.kind == "refused"
    assert "certificate that is not trusted" in str(caught.value)
    assert "SSL_CERT_FILE" in str(caught.value)
    assert server.bodies == []


def test_a_certificate_that_is_named(
    make_gate: MakeGate,
    tls: ssl.SSLContext,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with wire(OK, tls=tls) as server:
        assert post(make_gate(f"https://127.0.0.1:{server.port}")).status_code == 200
        named = make_gate(f"https://model.test:{server.port}", resolve=lambda *_: ["127.0.0.1"])
        assert post(named).status_code == 200
        assert len(server.bodies) == 2
        other = make_gate(f"https://other.test:{server.port}", resolve=lambda *_: ["127.0.0.1"])
        with pytest.raises(ProviderError, match="Hostname mismatch"):
            post(other)
        assert len(server.bodies) == 2
