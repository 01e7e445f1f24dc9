"""One connection to one broker: requests out, answers in, in the order of the requests.

`request` is for one request at a time. `send` and `receive` are the two halves for who pipelines: any thread may send,
any thread may receive, and an answer comes back with what it answers. A connection that met trouble is closed: the
next use says `Disconnected`. Opening one negotiates versions and, where the settings ask for it, TLS and SASL.
"""

import importlib.metadata
import threading
from collections import deque
from functools import cache
from ssl import SSLContext
from struct import Struct
from typing import NamedTuple, TypeVar

from fencepost.client.error_table import error_of
from fencepost.client.exceptions import AuthenticationFailed, ClientError, Disconnected, Timeout, UnsupportedVersion
from fencepost.client.net import security as sasl
from fencepost.client.net.transport import Transport, open_transport
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline
from fencepost.errors import ErrorCode, WireError
from fencepost.wire.api import API_TABLE, API_VERSIONS, LAST_STABLE
from fencepost.wire.codec import encode_request, read_response
from fencepost.wire.framing import FrameReader
from fencepost.wire.message import Message
from fencepost.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fencepost.wire.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from fencepost.wire.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

TRANSACTION_VERSION = "transaction.version"
GROUP_VERSION = "group.version"

API_KEYS = {f"{api.name}Request": key for key, api in API_TABLE.items()}


def api_key_of(request: Message) -> int:
    return API_KEYS[type(request).__name__]


class ApiVersions:
    """What a broker said it speaks, met with what we speak: ranges by API key; and the levels of the features that its
    cluster has finalized, by name (KIP-584)."""

    __slots__ = ("address", "features", "features_epoch", "ranges")

    def __init__(self, response: ApiVersionsResponse, address: str) -> None:
        self.address = address
        self.ranges = {row.api_key: (row.min_version, row.max_version) for row in response.api_keys}
        self.features = {row.name: row.max_version_level for row in response.finalized_features}
        self.features_epoch = response.finalized_features_epoch

    def highest_common(self, api_key: int, *, at_most: int | None = None) -> int | None:
        """The highest version that both sides speak, or None."""
        api = API_TABLE[api_key]
        low, high = self.ranges.get(api_key, (0, -1))
        ours = LAST_STABLE.get(api_key, api.max_version)
        version = min(high, ours if at_most is None else min(ours, at_most))
        return version if version >= max(low, api.min_version) else None

    def choose(self, api_key: int, *, at_most: int | None = None, at_least: int = 0) -> int:
        version = self.highest_common(api_key, at_most=at_most)
        if version is None or version < at_least:
            api = API_TABLE[api_key]
            theirs = self.ranges.get(api_key)
            said = f"versions {theirs[0]} to {theirs[1]}" if theirs else "no version"
            low, high = max(api.min_version, at_least), api.max_version if at_most is None else at_most
            raise UnsupportedVersion(f"{self.address} has {said} of {api.name}; this call needs one of {low} to {high}")
        return version

    def has(self, api_key: int, version: int = 0) -> bool:
        common = self.highest_common(api_key)
        return common is not None and common >= version


ANSWER_BYTES_MAX = 2**31 - 1
SASL_HANDSHAKE, SASL_HANDSHAKE_VERSION = 17, 1
"""Version 0 would send the tokens without Kafka's framing."""
CORRELATION_IDS = 2**31
_CORRELATION_ID = Struct(">i")

ResponseT = TypeVar("ResponseT", bound=Message)


class InFlight(NamedTuple):
    """A request whose answer is on its way."""

    api_key: int
    version: int
    correlation_id: int
    deadline: Deadline
    request: Message


class Connection:
    def __init__(self, transport: Transport, settings: ClientSettings) -> None:
        self._transport = transport
        self._settings = settings
        self._frames = FrameReader(ANSWER_BYTES_MAX)
        self._in_flight: deque[InFlight] = deque()
        self._send_lock = threading.Lock()
        self._receive_lock = threading.Lock()
        self._exchange_lock = threading.Lock()
        self._next_correlation_id = 0
        self._problem: ClientError | None = None
        self.versions = ApiVersions(ApiVersionsResponse(), transport.address)

    @classmethod
    def open(
        cls, host: str, port: int, settings: ClientSettings, *, context: SSLContext | None = None, timeout_s: float = 30
    ) -> "Connection":
        deadline = Deadline(timeout_s)
        connection = cls(open_transport(host, port, settings, context, deadline), settings)
        try:
            connection._negotiate(deadline)
            if settings.security_protocol.startswith("SASL"):
                connection._authenticate(deadline)
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def address(self) -> str:
        return self._transport.address

    @property
    def is_closed(self) -> bool:
        return self._problem is not None

    @property
    def in_flight_count(self) -> int:
        return len(self._in_flight)

    @property
    def remaining_s(self) -> float:
        """How long the next answer may still take."""
        try:
            return self._in_flight[0].deadline.remaining_s
        except IndexError:
            return float("inf")

    @property
    def has_something_to_read(self) -> bool:
        return self._transport.has_something_to_read

    def fileno(self) -> int:
        return self._transport.fileno()

    def request(
        self,
        request: Message,
        response_class: type[ResponseT],
        *,
        version: int | None = None,
        timeout_s: float | None = None,
    ) -> ResponseT:
        """Send, and wait for the answer. Not while answers of `send` are awaited."""
        with self._exchange_lock:
            sent = self.send(request, version=version, timeout_s=timeout_s)
            answered, response = self.receive()
            if answered is not sent or not isinstance(response, response_class):
                raise self._broken(WireError(f"{self.address}: the answer is not to {type(request).__name__}"))
            return response

    def send(
        self,
        request: Message,
        *,
        version: int | None = None,
        timeout_s: float | None = None,
        expects_answer: bool = True,
    ) -> InFlight:
        """Put a request on the wire. Its answer comes from `receive`, unless the broker will not send one (acks=0)."""
        api_key = api_key_of(request)
        if version is None:
            version = self.versions.choose(api_key)
        limit_s = self._settings.request_timeout_ms / 1000 if timeout_s is None else timeout_s
        with self._send_lock:
            self._check_open()
            correlation_id = self._next_correlation_id
            pieces = encode_request(api_key, version, correlation_id, self._settings.client_id, request)
            self._next_correlation_id = (correlation_id + 1) % CORRELATION_IDS
            in_flight = InFlight(api_key, version, correlation_id, Deadline(limit_s), request)
            if expects_answer:
                self._in_flight.append(in_flight)
            try:
                self._transport.send(pieces, in_flight.deadline)
            except ClientError as problem:
                raise self._broken(problem) from None
        return in_flight

    def receive(self) -> tuple[InFlight, Message]:
        """The next answer, waited for until its request's time limit."""
        with self._receive_lock:
            while (answer := self._pull()) is None:
                if not self._in_flight:
                    raise self._broken(WireError(f"{self.address}: there is nothing to wait for"))
                expected = self._in_flight[0]
                try:
                    self._transport.wait_readable(expected.deadline, f"to answer {API_TABLE[expected.api_key].name}")
                except ClientError as problem:
                    raise self._broken(problem) from None
                self._feed()
            return answer

    def receive_available(self) -> list[tuple[InFlight, Message]]:
        """The answers that have arrived, without waiting. Raises `Timeout` if one is overdue."""
        with self._receive_lock:
            self._feed()
            answers = []
            while (answer := self._pull()) is not None:
                answers.append(answer)
            if not answers and self._in_flight and self._in_flight[0].deadline.has_passed:
                name = API_TABLE[self._in_flight[0].api_key].name
                raise self._broken(Timeout(f"{self.address}: waited too long for the broker to answer {name}"))
            return answers

    def close(self) -> None:
        self._broken(Disconnected(f"{self.address}: the connection was closed on this side"))

    def _feed(self) -> None:
        self._check_open()
        room = self._frames.room()
        try:
            received = self._transport.receive() if room is None else self._transport.receive_into(room)
        except ClientError as problem:
            raise self._broken(problem) from None
        if received is None:
            return
        if not received:
            raise self._broken(Disconnected(f"{self.address}: the broker closed the connection"))
        if isinstance(received, bytes):
            self._frames.feed(received)
        else:
            self._frames.took(received)

    def _pull(self) -> tuple[InFlight, Message] | None:
        try:
            frame = self._frames.pull()
            if frame is None:
                return None
            if not self._in_flight:
                raise WireError(f"{self.address}: an answer came to no request")
            expected = self._in_flight[0]
            correlation_id = _CORRELATION_ID.unpack_from(frame)[0] if len(frame) >= _CORRELATION_ID.size else None
            if correlation_id != expected.correlation_id:
                raise WireError(f"{self.address}: answer {correlation_id} came, {expected.correlation_id} was next")
            version = expected.version
            if expected.api_key == API_VERSIONS and _refuses_version(frame):
                version = 0
            _, response = read_response(expected.api_key, version, frame)
        except WireError as problem:
            raise self._broken(problem) from None
        self._in_flight.popleft()
        return expected, response

    def _check_open(self) -> None:
        if self._problem is not None:
            raise Disconnected(str(self._problem)) from self._problem

    def _broken(self, problem: ClientError | WireError) -> ClientError:
        """Close, remember why, and give back what to raise."""
        error = problem if isinstance(problem, ClientError) else Disconnected(str(problem))
        if self._problem is None:
            self._problem = error
            self._transport.close()
        return error

    def _negotiate(self, deadline: Deadline) -> None:
        version = API_TABLE[API_VERSIONS].max_version
        asked = ApiVersionsRequest(client_software_name="fencepost", client_software_version=_own_version())
        response = self.request(asked, ApiVersionsResponse, version=version, timeout_s=deadline.remaining_s)
        if response.error_code == ErrorCode.UNSUPPORTED_VERSION:
            theirs = [row.max_version for row in response.api_keys if row.api_key == API_VERSIONS]
            version = min(theirs[0] if theirs else 0, version)
            response = self.request(asked, ApiVersionsResponse, version=version, timeout_s=deadline.remaining_s)
        if response.error_code:
            raise error_of(response.error_code, "ApiVersions", what=self.address)
        self.versions = ApiVersions(response, self.address)

    def _authenticate(self, deadline: Deadline) -> None:
        mechanism = self._settings.sasl_mechanism
        if not self.versions.has(SASL_HANDSHAKE, SASL_HANDSHAKE_VERSION):
            raise AuthenticationFailed(
                f"{self.address} has no SASL: set security_protocol to PLAINTEXT or SSL, or ask another listener"
            )
        shaken = self.request(
            SaslHandshakeRequest(mechanism=mechanism),
            SaslHandshakeResponse,
            version=SASL_HANDSHAKE_VERSION,
            timeout_s=deadline.remaining_s,
        )
        if shaken.error_code:
            offered = ", ".join(shaken.mechanisms) or "none"
            raise AuthenticationFailed(f"{self.address} does not offer {mechanism}; it offers {offered}")
        tokens = sasl.exchange(self._settings)
        token = next(tokens)
        while True:
            answer = self.request(
                SaslAuthenticateRequest(auth_bytes=token), SaslAuthenticateResponse, timeout_s=deadline.remaining_s
            )
            if answer.error_code:
                raise error_of(
                    answer.error_code, "SaslAuthenticate", what=self.address, explanation=answer.error_message
                )
            try:
                token = tokens.send(answer.auth_bytes)
            except StopIteration:
                return


def _refuses_version(frame: memoryview) -> bool:
    """Whether an answer to ApiVersions says UNSUPPORTED_VERSION: such an answer has the layout of version 0."""
    start = _CORRELATION_ID.size
    return int.from_bytes(frame[start : start + 2], "big") == ErrorCode.UNSUPPORTED_VERSION


@cache
def _own_version() -> str:
    try:
        return importlib.metadata.version("fencepost")
    except importlib.metadata.PackageNotFoundError:
        return "unpackaged"
