# SPDX-License-Identifier: Apache-2.0
"""Keys, certificates and kubeconfigs of the local cluster: made once, renewed before they end."""

from __future__ import annotations

import base64
import ipaddress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import yaml
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, NameOID

from hack.cluster.settings import NODE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from hack.cluster.settings import Settings

__all__ = ("CLIENTS", "Identity", "ensure_pki", "identities", "kubeconfig", "valid")

YEARS = timedelta(days=3650)
MARGIN = timedelta(days=30)
CLIENTS = (
    "admin",
    "controller-manager",
    "scheduler",
    "kubelet",
    "kube-proxy",
    "coredns",
    "kwok",
    "provisioner",
)


@dataclass(frozen=True)
class Identity:
    """One certificate: its file's name, its subject and the names it serves under."""

    name: str
    user: str
    groups: tuple[str, ...] = ()
    serves: tuple[str, ...] = field(default=())


def identities(settings: Settings) -> list[Identity]:
    """Every certificate of the cluster."""
    masters = ("system:masters",)
    service = ("kubernetes", "kubernetes.default", "kubernetes.default.svc")
    full = f"kubernetes.default.svc.{settings.domain}"
    here = ("localhost", "127.0.0.1", settings.gateway)
    return [
        Identity("etcd", "etcd", serves=here),
        Identity("apiserver-etcd", "kube-apiserver-etcd"),
        Identity("apiserver", "kube-apiserver", serves=(*here, settings.api_service, *service, full)),
        Identity("apiserver-kubelet", "kube-apiserver-kubelet", masters),
        Identity("front-proxy", "front-proxy"),
        Identity("kubelet-server", NODE, serves=(NODE, *here)),
        Identity("admin", "admin", masters),
        Identity("controller-manager", "system:kube-controller-manager"),
        Identity("scheduler", "system:kube-scheduler"),
        Identity("kubelet", f"system:node:{NODE}", ("system:nodes",)),
        Identity("kube-proxy", "system:kube-proxy"),
        Identity("coredns", "dglop:coredns"),
        Identity("kwok", "dglop:kwok", masters),
        Identity("provisioner", "dglop:provisioner"),
    ]


def valid(certificate: bytes, authority: bytes, wanted: Identity, now: datetime) -> bool:
    """Whether the certificate is the authority's, lasts a while and says what is wanted."""
    try:
        cert, ca = x509.load_pem_x509_certificate(certificate), x509.load_pem_x509_certificate(authority)
        cert.verify_directly_issued_by(ca)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return (
        _identified(cert)
        and cert.subject == _subject(wanted)
        and _names(cert) == set(wanted.serves)
        and (now + MARGIN < min(cert.not_valid_after_utc, ca.not_valid_after_utc))
    )


def ensure_pki(folder: Path, settings: Settings, now: datetime) -> None:
    """Write what is missing or about to end; keep the rest, so that kubeconfigs stay good."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    authority = Identity("ca", "dglop-cluster")
    if not _good(folder, authority, now):
        for old in folder.glob("*"):
            old.unlink()
        key = ec.generate_private_key(ec.SECP256R1())
        _write(folder, "ca", key, _certificate(authority, key, authority, key, now))
        account = ec.generate_private_key(ec.SECP256R1())
        _private(folder / "service-account.key", _pem(account))
        (folder / "service-account.pub").write_bytes(account.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ))  # fmt: skip
    ca_key = serialization.load_pem_private_key((folder / "ca.key").read_bytes(), None)
    for identity in identities(settings):
        if not _good(folder, identity, now):
            key = ec.generate_private_key(ec.SECP256R1())
            _write(folder, identity.name, key, _certificate(identity, key, authority, ca_key, now))


def kubeconfig(server: str, ca: bytes, certificate: bytes, key: bytes) -> str:
    """A kubeconfig with everything in it, so that it may be copied."""

    def data(content: bytes) -> str:
        return base64.b64encode(content).decode()

    name = "dglop"
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": name, "cluster": {"server": server, "certificate-authority-data": data(ca)}}
            ],
            "users": [
                {
                    "name": name,
                    "user": {"client-certificate-data": data(certificate), "client-key-data": data(key)},
                }
            ],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        },
        sort_keys=False,
    )


def _good(folder: Path, identity: Identity, now: datetime) -> bool:
    files = [folder / f"{identity.name}.crt", folder / f"{identity.name}.key", folder / "ca.crt"]
    if not all(path.is_file() for path in files):
        return False
    return valid(files[0].read_bytes(), files[2].read_bytes(), identity, now)


def _subject(identity: Identity) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in identity.groups]
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, identity.user)])


def _names(cert: x509.Certificate) -> set[str]:
    try:
        names = cert.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return set()
    return {str(name.value) for name in names}


def _identified(cert: x509.Certificate) -> bool:
    """Whether it has what Python 3.13 and newer want to see, after RFC 5280."""
    return any(extension.oid == ExtensionOID.AUTHORITY_KEY_IDENTIFIER for extension in cert.extensions)


def _general(names: Sequence[str]) -> list[x509.GeneralName]:
    return [
        x509.IPAddress(ipaddress.ip_address(name)) if name[0].isdigit() else x509.DNSName(name)
        for name in names
    ]


def _certificate(
    identity: Identity, key: ec.EllipticCurvePrivateKey, issuer: Identity, issuer_key: Any, now: datetime
) -> x509.Certificate:
    authority = identity == issuer
    builder = (
        x509.CertificateBuilder()
        .subject_name(_subject(identity))
        .issuer_name(_subject(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + YEARS)
    )
    for extension, critical in _extensions(identity, key, issuer_key, authority=authority):
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(issuer_key, hashes.SHA256())


def _extensions(
    identity: Identity, key: ec.EllipticCurvePrivateKey, issuer_key: Any, *, authority: bool
) -> Iterator[tuple[x509.ExtensionType, bool]]:
    """Each extension, and whether who does not know it must refuse the certificate."""
    yield x509.BasicConstraints(ca=authority, path_length=None), True
    yield x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False
    yield x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False
    yield _usage(authority=authority), True
    if not authority:
        yield x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]), False
    if identity.serves:
        yield x509.SubjectAlternativeName(_general(identity.serves)), False


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)


def _write(folder: Path, name: str, key: ec.EllipticCurvePrivateKey, cert: x509.Certificate) -> None:
    _private(folder / f"{name}.key", _pem(key))
    (folder / f"{name}.crt").write_bytes(cert.public_bytes(serialization.Encoding.PEM))


def now_utc() -> datetime:
    """The time that certificates are judged by."""
    return datetime.now(UTC)
