"""Options in Spark's manner, `kafka.bootstrap.servers` and its like, to settings of Fencepost's client.

Names are compared without case, because Spark does so. `kafka.x.y` is the client's setting `x_y`; whatever belongs to
the Java client alone is refused with a word on what to do instead. An unknown name is refused with the nearest one.
No message and no `repr` shows a secret.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fencepost.client.settings import SECRETS, SHOWN_FOR_SECRETS, ClientSettings, parse_bootstrap_servers
from fencepost.settings import InvalidSetting, declarations, nearest, parse_settings

KAFKA_PREFIX = "kafka."
BOOTSTRAP_SERVERS = "bootstrap.servers"
JAAS_CONFIG = "sasl.jaas.config"
STORE_TYPES = ("ssl.truststore.type", "ssl.keystore.type")
JAAS_MODULES = ("PlainLoginModule", "ScramLoginModule")

JAVA_ONLY = {
    "key.deserializer": "keys are bytes; use functions on the DataFrame to read them",
    "value.deserializer": "values are bytes; use functions on the DataFrame to read them",
    "key.serializer": "keys are bytes; use functions on the DataFrame to write them",
    "value.serializer": "values are bytes; use functions on the DataFrame to write them",
    "interceptor.classes": "interceptors are Java classes, and they could change records",
    "ssl.truststore.password": "give the authorities as a PEM file, which has no password",
    "ssl.keystore.password": "give chain and key as a PEM file; its password is ssl.key.password",
}


class InvalidOption(InvalidSetting):
    """An option that does not exist, is missing, or has a value that it cannot have."""


@dataclass(frozen=True)
class KafkaOptions:
    """Which cluster, and how to talk to it: hashable, can be pickled, and its `repr` hides what is secret."""

    bootstrap_servers: str
    settings: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """The client's keyword arguments, sorted."""

    def keywords(self) -> dict[str, Any]:
        return dict(self.settings)

    def __str__(self) -> str:
        shown = (f"{name}={SHOWN_FOR_SECRETS if name in SECRETS else value}" for name, value in self.settings)
        return ", ".join([f"bootstrap_servers={self.bootstrap_servers}", *shown])


def lower_names(options: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): str(value) for name, value in options.items()}


def own_options(options: Mapping[str, str], known: Iterable[str]) -> dict[str, str]:
    """Those without `kafka.` before them, all of them among `known`; the names come back in lower case."""
    spelled = {name.lower(): name for name in known}
    found = {}
    for name, value in lower_names(options).items():
        if name.startswith(KAFKA_PREFIX):
            continue
        if name not in spelled:
            hint = nearest(name, [*spelled.values(), KAFKA_PREFIX + BOOTSTRAP_SERVERS])
            hint = hint or f"; expected one of {', '.join(spelled.values())}, or kafka.*"
            raise InvalidOption(f"unknown option '{name}'{hint}")
        found[name] = value
    return found


def kafka_options(
    options: Mapping[str, str],
    settings_class: type[ClientSettings],
    *,
    refused: Mapping[str, str] | None = None,
    ignored: Iterable[str] = (),
    defaults: Mapping[str, str] | None = None,
) -> KafkaOptions:
    """The `kafka.*` options, checked as `settings_class` checks them.

    `refused` maps further names that make no sense here to the reason; `ignored` are accepted and have no effect.
    """
    given = {
        name.removeprefix(KAFKA_PREFIX): value
        for name, value in lower_names(options).items()
        if name.startswith(KAFKA_PREFIX)
    }
    servers = given.pop(BOOTSTRAP_SERVERS, "")
    if not servers.strip():
        raise InvalidOption("option 'kafka.bootstrap.servers' is missing: expected host:port, several with commas")
    parse_bootstrap_servers(servers)
    _check_not_refused(given, {**JAVA_ONLY, **(refused or {})})
    _check_store_types(given)
    settings = {**(defaults or {}), **_credentials_of_jaas(given.pop(JAAS_CONFIG, None))}
    settings.update((name.replace(".", "_"), value) for name, value in given.items() if name not in ignored)
    _check_settings(settings, settings_class)
    return KafkaOptions(servers, tuple(sorted(settings.items())))


def _check_not_refused(given: Mapping[str, str], refused: Mapping[str, str]) -> None:
    for name in given:
        if name in refused:
            raise InvalidOption(f"option 'kafka.{name}' cannot be set: {refused[name]}")


def _check_store_types(given: dict[str, str]) -> None:
    for name in STORE_TYPES:
        kind = given.pop(name, "PEM")
        if kind.upper() != "PEM":
            raise InvalidOption(
                f"option 'kafka.{name}' is {kind}: only PEM files can be read; convert the store to PEM, for instance "
                "with keytool and openssl"
            )


def _check_settings(settings: Mapping[str, str], settings_class: type[ClientSettings]) -> None:
    known = {declaration.field_name: name for name, declaration in declarations(settings_class).items()}
    for name in settings:
        if name not in known:
            raise InvalidOption(f"unknown option 'kafka.{name.replace('_', '.')}'{_nearest_setting(name, known)}")
    try:
        parse_settings(settings_class, {known[name]: value for name, value in settings.items()})
    except InvalidSetting as problem:
        raise InvalidOption(f"option kafka.{problem}") from problem


def _nearest_setting(name: str, known: Mapping[str, str]) -> str:
    return nearest(f"kafka.{name.replace('_', '.')}", [f"kafka.{setting}" for setting in known.values()])


def _credentials_of_jaas(text: str | None) -> dict[str, str]:
    """User name and password out of what the Java client takes; its classes for them have the same meaning here."""
    if text is None:
        return {}
    found = dict(re.findall(r"""(\w+)\s*=\s*["']([^"']*)["']""", text))
    if not any(module in text for module in JAAS_MODULES) or not {"username", "password"} <= set(found):
        raise InvalidOption(
            f"option 'kafka.{JAAS_CONFIG}' was not understood: expected {' or '.join(JAAS_MODULES)} with "
            'username="..." and password="..."; or set kafka.sasl.username and kafka.sasl.password'
        )
    return {"sasl_username": found["username"], "sasl_password": found["password"]}


# What the name of Spark's master says. Imports nothing: it is asked before a session is started.


def is_local(master: str) -> bool:
    """Whether tasks are threads of the driver's JVM, and their workers processes beside it."""
    return master == "local" or master.startswith("local[")
