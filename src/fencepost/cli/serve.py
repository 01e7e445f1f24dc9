"""`fencepost serve`: the broker as a process."""

import asyncio
import ipaddress
import os
import signal
import sys
import textwrap
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from fencepost.errors import FencepostError
from fencepost.server.broker_server import BrokerServer
from fencepost.server.logs import LogFormat, configure_logs, logger
from fencepost.server.opening import keep_freed_memory, new_event_loop, open_core
from fencepost.settings import (
    BrokerSettings,
    InvalidSetting,
    as_text,
    declarations,
    nearest,
    parse_assignments,
    parse_settings,
)

ENVIRONMENT_PREFIX = "FENCEPOST_"
FAILED = 1
HELP_WIDTH = 78
"""Click indents what follows the options by two."""

Address = tuple[str, int]


def parse_address(text: str) -> Address:
    host, separator, port = text.rpartition(":")
    if not separator or not port.isdigit() or int(port) > 65535:
        raise click.BadParameter(f"'{text}' is not HOST:PORT, for example 127.0.0.1:9092")
    return host.strip("[]") or "127.0.0.1", int(port)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def settings_from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """`FENCEPOST_NUM_PARTITIONS=4` is `num.partitions=4`."""
    known = declarations(BrokerSettings)
    given = {}
    for variable, text in environment.items():
        if variable.startswith(ENVIRONMENT_PREFIX):
            name = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("_", ".")
            if name not in known:
                raise InvalidSetting(f"{variable}: unknown setting '{name}'{nearest(name, known)}")
            given[name] = text
    return given


def settings_from_file(path: Path) -> dict[str, str]:
    """A TOML file of `"num.partitions" = 4`; bare dotted keys (`num.partitions = 4`) mean the same."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InvalidSetting(f"{path}: {problem}") from None
    return dict(_flatten("", document))


def _flatten(prefix: str, table: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(f"{prefix}{key}.", value)
        else:
            yield f"{prefix}{key}", as_text(value)


def gather_settings(config: Path | None, options: Iterable[str]) -> BrokerSettings:
    """The file first, the environment over it, `--set` over both."""
    given = settings_from_file(config) if config else {}
    given |= settings_from_environment(os.environ)
    given |= parse_assignments("--set", options, example="num.partitions=4")
    return parse_settings(BrokerSettings, given)


def settings_help() -> str:
    rows = ["\b", "Settings (--set NAME=VALUE; defaults in brackets):"]
    for declaration in declarations(BrokerSettings).values():
        unit = f" {declaration.unit}" if declaration.unit else ""
        rows.append(f"  {declaration.name} [{as_text(declaration.default)}{unit}]")
        rows += textwrap.wrap(declaration.help, HELP_WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return "\n".join(rows)


@click.command("serve", epilog=settings_help())
@click.option(
    "--listen", default="127.0.0.1:9092", show_default=True, help="HOST:PORT to listen on; port 0 takes a free one."
)
@click.option(
    "--data", default="fencepost-data", show_default=True, type=click.Path(path_type=Path), help="Data folder."
)
@click.option("--set", "options", multiple=True, metavar="NAME=VALUE", help="A setting; may be repeated.")
@click.option("--config", type=click.Path(path_type=Path), help="A TOML file with settings.")
@click.option(
    "--insecure", is_flag=True, help="Allow an address that other machines can reach, without authentication."
)
@click.option("--metrics", metavar="HOST:PORT", help="Serve /metrics in Prometheus form on this address.")
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info", show_default=True
)
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    listen: str,
    data: Path,
    options: tuple[str, ...],
    config: Path | None,
    insecure: bool,
    metrics: str | None,
    log_level: str,
    log_format: LogFormat,
) -> None:
    """Run the broker until SIGTERM or Ctrl-C.

    Prints "listening on HOST:PORT" when clients can connect. Settings come from --config, then from the environment
    (FENCEPOST_NUM_PARTITIONS=4 is num.partitions=4), then from --set.

    \b
    Examples:
      fencepost serve --listen 127.0.0.1:9092 --data ./data --set num.partitions=4
      fencepost serve --listen 127.0.0.1:0 --data ./data --metrics 127.0.0.1:9464
    """
    configure_logs(level=log_level, log_format=log_format)
    address = checked_address(listen, insecure=insecure)
    metrics_address = checked_address(metrics, insecure=insecure) if metrics else None
    try:
        settings = gather_settings(config, options)
    except InvalidSetting as problem:
        raise click.UsageError(str(problem)) from None
    keep_freed_memory()
    sys.exit(run_until_signal(data, settings, address=address, metrics_address=metrics_address))


def checked_address(text: str, *, insecure: bool) -> Address:
    host, port = parse_address(text)
    if not is_loopback(host) and not insecure:
        raise click.UsageError(
            f"{host} can be reached from other machines, and this broker does not ask who they are. "
            "Listen on 127.0.0.1, or add --insecure if the network keeps others out."
        )
    return host, port


def run_until_signal(data: Path, settings: BrokerSettings, *, address: Address, metrics_address: Address | None) -> int:
    loop = new_event_loop()
    try:
        return loop.run_until_complete(serve(data, settings, address=address, metrics_address=metrics_address))
    except (FencepostError, OSError) as problem:
        click.echo(f"fencepost serve: {problem}", err=True)
        return FAILED
    finally:
        loop.close()


async def serve(data: Path, settings: BrokerSettings, *, address: Address, metrics_address: Address | None) -> int:
    server = BrokerServer(open_core(data, settings))
    bound_host, bound_port = await server.start(*address)
    if metrics_address is not None:
        start_metrics(server, metrics_address)
    click.echo(f"listening on {bound_host}:{bound_port}")
    sys.stdout.flush()
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[None]] = []
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, lambda: stopping.append(loop.create_task(server.stop())))
    await server.wait_stopped()
    if server.failure is not None:
        click.echo(f"fencepost serve: stopped: {server.failure}", err=True)
        return FAILED
    await asyncio.gather(*stopping)
    logger.info("stopped")
    return 0


def start_metrics(server: BrokerServer, address: Address) -> None:
    """Imported here: a broker without metrics does not wait for their library."""
    from fencepost.server.metrics import serve_metrics

    host, port = address
    _, bound_port = serve_metrics(server, host=host, port=port)
    logger.info("metrics on http://%s:%d/metrics", host, bound_port)
