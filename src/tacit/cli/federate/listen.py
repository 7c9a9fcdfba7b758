"""A server listens: with TLS or on loopback, for devices at one port and for operators at
another."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.serving.http.plain import PlainRoutes


def check_secure(o: dict[str, Any]) -> None:
    """Refuse to listen for other machines without TLS, unless that is meant."""
    from tacit.errors import SettingError
    from tacit.federation.protocol.http import is_loopback

    if not (o["tls_cert"] or o["insecure"] or is_loopback(o["host"])):
        raise SettingError(
            "without TLS anybody on the way sees who takes part",
            remedy="--tls-cert and --tls-key, or --insecure behind a proxy that has them",
        )


def serve(app: PlainRoutes, o: dict[str, Any]) -> None:
    """uvicorn, which stops gracefully on SIGTERM and Ctrl-C."""
    import uvicorn

    from tacit.federation.protocol.long_running import leave_what_is_loaded, take_short_turns
    from tacit.serving.http.crowd import Crowd, make_room, most_connections
    from tacit.serving.http.door import CountedServer
    from tacit.serving.http.headers import check_origin
    from tacit.serving.http.stops import end_well
    from tacit.serving.http.watch import start_logs

    app.origins = frozenset(check_origin(address) for address in o["origins"])
    start_logs()
    make_room()
    app.watch_port = o["watch_port"]
    config = uvicorn.Config(
        app,
        host=o["host"],
        port=o["port"],
        log_level="warning",
        access_log=False,
        timeout_keep_alive=120,
        timeout_graceful_shutdown=5,
        ssl_certfile=o["tls_cert"],
        ssl_keyfile=o["tls_key"],
        backlog=4096,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
    )
    ports = [(o["host"], o["port"])]
    if o["watch_port"] is not None:
        ports.append((o["watch_host"], o["watch_port"]))
    leave_what_is_loaded()
    take_short_turns()
    end_well()
    crowd = Crowd(most_connections(), o["trusted_proxy"])
    CountedServer(config, crowd).run([_listening(*address) for address in ports])


def _listening(host: str, port: int) -> socket.socket:
    """A socket for a server, or a word about why there is none."""
    from tacit.errors import SettingError

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=4096)
    except OSError as error:
        raise SettingError(f"{host}:{port} cannot be listened on: {error.strerror}") from None
