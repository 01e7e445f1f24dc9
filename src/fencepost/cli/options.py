"""How a command reaches a cluster: three options that all of them share, and the clients made from them.

Settings come from `--command-config FILE`, lines of `name=value` as Kafka's own tools read them, and from `-X
name=value` over it. Names are those of the client's settings; one that only a producer has is fine in a file that a
consumer reads too, and one that neither has is refused. `sasl.jaas.config` is read for its name and password.
"""

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fencepost.client.admin.admin import Admin
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.settings import ClientSettings, ProducerSettings
from fencepost.client.settings import client_settings as make_settings
from fencepost.settings import InvalidSetting, declarations, nearest, parse_assignments

if TYPE_CHECKING:
    from fencepost.client.consumer.consumer import Consumer
    from fencepost.client.producer.producer import Producer


DEFAULT_SERVERS = "127.0.0.1:9092"
SERVERS_VARIABLE = "KAFKA_BOOTSTRAP_SERVERS"
IGNORED = frozenset({"bootstrap.servers", "sasl.jaas.config", "ssl.truststore.type", "ssl.keystore.type"})
"""Names in files for Kafka's tools that say nothing here, or are read in another way."""

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    bootstrap_servers: str
    settings: Mapping[str, str]
    """Kafka's names."""

    def admin(self) -> Admin:
        """Connected: a broker that cannot be reached is reported at once, and not after a client's time limits."""
        admin = Admin(self.bootstrap_servers, **self._for(ClientSettings))
        try:
            admin.cluster.refresh()
        except BaseException:
            admin.close()
            raise
        return admin

    def consumer(self, **settings: Any) -> "Consumer":
        from fencepost.client.consumer.consumer import Consumer

        return Consumer(self.bootstrap_servers, **{**self._for(ConsumerSettings), **settings})

    def producer(self, **settings: Any) -> "Producer":
        from fencepost.client.producer.producer import Producer

        return Producer(self.bootstrap_servers, **{**self._for(ProducerSettings), **settings})

    def consumer_settings(self, **settings: Any) -> ConsumerSettings:
        return make_settings(ConsumerSettings, {**self._for(ConsumerSettings), **settings}, kind="consumer")

    def _for(self, settings_class: type[ClientSettings]) -> dict[str, Any]:
        known = declarations(settings_class)
        return {known[name].field_name: value for name, value in self.settings.items() if name in known}


def connection_options(function: FunctionT) -> FunctionT:
    """The three options; the command gets them as one argument, `connection`."""

    @functools.wraps(function)
    def with_connection(
        *args: Any, bootstrap_servers: str, command_config: Path | None, client_settings: tuple[str, ...], **kwargs: Any
    ) -> Any:
        made = make_connection(bootstrap_servers, command_config, client_settings)
        return function(*args, connection=made, **kwargs)

    options = [
        click.option(
            "-b",
            "--bootstrap-servers",
            default=DEFAULT_SERVERS,
            envvar=SERVERS_VARIABLE,
            show_default=True,
            show_envvar=True,
            metavar="HOST:PORT,...",
            help="Brokers to start from.",
        ),
        click.option(
            "--command-config",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Client settings, name=value lines, as for Kafka's tools.",
        ),
        click.option(
            "-X", "client_settings", multiple=True, metavar="NAME=VALUE", help="A client setting; may be repeated."
        ),
    ]
    decorated: Any = with_connection
    for option in reversed(options):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def make_connection(bootstrap_servers: str, command_config: Path | None, options: Iterable[str]) -> ClusterAccess:
    given = read_properties(_read_text(command_config)) if command_config else {}
    given |= parse_assignments("-X", options, example="client.id=me")
    if "sasl.jaas.config" in given:
        given = {**read_jaas(given["sasl.jaas.config"]), **given}
    known = {**declarations(ProducerSettings), **declarations(ConsumerSettings)}
    for name in given:
        if name not in known and name not in IGNORED:
            raise InvalidSetting(f"unknown client setting '{name}'{nearest(name, known)}")
    return ClusterAccess(bootstrap_servers, {name: value for name, value in given.items() if name in known})


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise InvalidSetting(f"{path} is no text in UTF-8: {problem}") from None


def read_properties(text: str) -> dict[str, str]:
    """Java's properties, as far as client configurations use them: name=value, comments, escapes, lines that go on."""
    joined = re.sub(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t]*", r"\1", text)
    given = {}
    for line in joined.splitlines():
        if match := re.match(r"\s*([^#!=:\s][^=:\s]*)\s*[=:]?\s*(.*?)\s*$", line):
            given[match[1]] = re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _unescape, match[2])
    return given


def _unescape(match: re.Match[str]) -> str:
    escaped = match[1]
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    return {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}.get(escaped, escaped)


def read_jaas(text: str) -> dict[str, str]:
    """Name and password out of `...LoginModule required username="me" password="secret";`."""
    found = dict(re.findall(r'(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"', text))
    return {f"sasl.{name}": re.sub(r"\\(.)", r"\1", value) for name, value in found.items()}
