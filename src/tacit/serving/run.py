"""Runs the server: sockets, signals, the port of the metrics; a stop lets requests end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import uvicorn

from tacit.errors import SettingError
from tacit.serving.app import Server, metrics_app
from tacit.serving.http.crowd import ConnectionCrowd, make_room, most_connections
from tacit.serving.http.door import CountedServer

BACKLOG = 2048
KEEP_ALIVE = 30
"""Seconds that an idle connection stays open."""
GRACE = 10
"""Seconds for running requests to end before a stop."""
CONNECTIONS = 4096
"""Open at a time, at most."""


@dataclass(frozen=True)
class Place:
    """Where to listen."""

    host: str = "127.0.0.1"
    port: int = 8000
    metrics_port: int | None = None
    metrics_host: str = "127.0.0.1"
    tls_cert: str | None = None
    tls_key: str | None = None
    proxies: tuple[str, ...] = ()
    """Addresses of proxies before the server: many people's."""


class _Server(CountedServer):
    """Says when it listens."""

    def __init__(
        self,
        config: uvicorn.Config,
        crowd: ConnectionCrowd,
        ready: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(config, crowd)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does, and then the word."""
        await super().startup(sockets)
        if self.started and self._ready is not None:
            self._ready()


class _Beside(CountedServer):
    """A second server in the same process: signals are the first one's."""

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        """None."""
        yield


def listen(host: str, port: int) -> socket.socket:
    """A bound socket; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise SettingError(
            f"cannot listen on {host} port {port}: {error.strerror}", remedy=_instead(error)
        ) from None
    sock.set_inheritable(True)
    return sock


def _instead(error: OSError) -> str:
    """What to choose otherwise: the host if it is not this machine's, else the port."""
    elsewhere = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
    if isinstance(error, socket.gaierror) or error.errno in elsewhere:
        return "choose another --host: an address of this machine, or 0.0.0.0 for all of them"
    return "choose another --port"


def run(server: Server, address: Place, ready: Callable[[str, str | None], None]) -> None:
    """Serve until told to stop. `ready` hears the addresses of the page and of the metrics."""
    with contextlib.ExitStack() as open_sockets:
        page = open_sockets.enter_context(listen(address.host, address.port))
        metrics_socket = None
        if address.metrics_port is not None:
            metrics_socket = open_sockets.enter_context(
                listen(address.metrics_host, address.metrics_port)
            )
        with asyncio.Runner(loop_factory=_loop()) as runner:
            runner.run(_serve(server, address, page, metrics_socket, ready))


def _loop() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:  # slower, the same
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def _config(app: Any, address: Place | None) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=address is not None,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
        ssl_certfile=address.tls_cert if address else None,
        ssl_keyfile=address.tls_key if address else None,
    )


async def _serve(
    server: Server,
    address: Place,
    page: socket.socket,
    metrics_socket: socket.socket | None,
    ready: Callable[[str, str | None], None],
) -> None:
    scheme = "https" if address.tls_cert else "http"
    addresses = (
        _address(scheme, page),
        _address("http", metrics_socket) if metrics_socket else None,
    )
    make_room()
    crowd = ConnectionCrowd(min(CONNECTIONS, most_connections()), address.proxies)
    main = _Server(_config(server.app, address), crowd, lambda: ready(*addresses))
    loop = asyncio.get_running_loop()
    tasks = set[asyncio.Task[None]]()

    def reload() -> None:
        task = asyncio.create_task(asyncio.to_thread(server.reload))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    with contextlib.suppress(NotImplementedError, AttributeError):  # no SIGHUP on some systems
        loop.add_signal_handler(signal.SIGHUP, reload)
    if metrics_socket is None:
        await main.serve([page])
        return
    second = _Beside(_config(metrics_app(server), None), crowd)
    watching = asyncio.create_task(second.serve([metrics_socket]))
    await main.serve([page])
    second.should_exit = True
    await watching


def _address(scheme: str, sock: socket.socket) -> str:
    host, port = sock.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
