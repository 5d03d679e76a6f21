"""The server as a process: its ports, its end, many requests, and folders that change while it runs."""

import asyncio
import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from cli_runs import refused
from web_server import serving

from spewy.web import server as server_module


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)]
)
def test_signals_end_the_server(solved: Path, number: int) -> None:
    """Within two seconds of its own time, as an interrupted command, also while a browser keeps a connection."""
    with serving(solved) as server, socket.create_connection(("127.0.0.1", server.port)) as idle:
        idle.sendall(b"GET /api/folders HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert idle.recv(12) == b"HTTP/1.1 200"
        started = time.monotonic()
        code, text = server.end(number)
        assert code == 130
        assert "Traceback" not in text
        assert text.splitlines()[-1] == "the server has ended"
        assert time.monotonic() - started < 2 * slowness()


def test_small_answers_are_not_delayed() -> None:
    async def nodelay() -> int:
        accepted: asyncio.Future[asyncio.StreamWriter] = asyncio.get_running_loop().create_future()
        with server_module._listener("127.0.0.1", 0) as listener:
            port = listener.getsockname()[1]
            async with await asyncio.start_server(lambda _, one: accepted.set_result(one), sock=listener):
                _, asked = await asyncio.open_connection("127.0.0.1", port)
                answering = await accepted
                found = answering.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                for each in (asked, answering):
                    each.close()
                    await each.wait_closed()
        return int(found)

    with ThreadPoolExecutor() as thread:  # the browser's tests have an event loop in this one
        assert thread.submit(asyncio.run, nodelay()).result()


def slowness() -> float:
    """How many times slower than usual this machine may be now, from the load of its processors."""
    return max(1.0, 2 * os.getloadavg()[0] / (os.cpu_count() or 1))


def test_a_second_server_says_where_the_first_one_is(served, tmp_path: Path) -> None:
    line = refused("serve", tmp_path, "--port", str(served.port))
    address = f"http://127.0.0.1:{served.port}/"
    told = f"another spewy serve is at {address}; open it, or give another --port"
    assert line == f"Error: port {served.port}: {told}"


def test_a_port_of_another_program(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        line = refused("serve", tmp_path, "--port", str(port))
    told = "is in use by another program; give another --port, or --port 0 for a free one"
    assert line == f"Error: port {port} {told}"


@pytest.mark.parametrize("host", ["192.0.2.1", "nowhere.invalid", "a b", "é" * 70, "1.2.3.4.5"])
def test_addresses_that_are_not_of_this_machine(tmp_path: Path, host: str) -> None:
    assert f"--host {host}" in refused("serve", tmp_path, "--host", host, "--port", "0")


@pytest.mark.parametrize(("host", "name"), [("::1", "[::1]"), ("127.0.0.2", "127.0.0.2")])
def test_other_addresses_of_this_machine(solved: Path, host: str, name: str) -> None:
    if host == "::1" and not _has_ipv6_loopback():
        pytest.skip("this machine has no IPv6")
    with serving(solved, "--host", host) as server:
        assert server.address == f"http://{name}:{server.port}/"
        assert server.ask("api/folders")["roots"] == [solved.name]


def _has_ipv6_loopback() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return socket.has_ipv6
    except OSError:
        return False


@pytest.mark.parametrize("arguments", [("--host", "0.0.0.0"), ("--token",)])
def test_a_token_is_printed_with_the_address(solved: Path, arguments: tuple[str, ...]) -> None:
    with serving(solved, *arguments) as server:
        address, _, token = server.address.partition("?token=")
        assert len(token) >= 20
        server.address = f"http://127.0.0.1:{server.port}/"
        if "--host" in arguments:
            assert address == f"http://{socket.gethostname()}:{server.port}/"
        assert server.status("api/folders")[0] == 401
        assert server.status("api/folders", token=token)[0] == 200


def test_a_client_that_leaves(served) -> None:
    """Connections that end within a request, or before the answer, leave nothing behind."""
    for request in (b"", b"GE", b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"GET / HTTP/1.1\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            connection.sendall(request)
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            connection.sendall(b"GET /api/position?folder=R1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    post = (
        b"POST /api/range HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9"
    )
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(post + b"\r\n\r\n{")
    assert served.ask("api/summary", folder="R1")["name"] == "R1"


def test_readers_do_not_wait_for_idle_connections(solved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many connections that send nothing, or only a part of a request, and stay: the oldest ones are closed."""
    monkeypatch.setattr(server_module, "MOST_CONNECTIONS", 20)
    addresses: list[str] = []
    listening = threading.Event()

    def ready(address: str) -> None:
        addresses.append(address)
        listening.set()

    arguments = ([solved], "127.0.0.1", 0, ready)
    threading.Thread(target=server_module.serve, args=arguments, daemon=True).start()
    assert listening.wait(30)
    port = int(addresses[0].rstrip("/").rpartition(":")[2])
    with ExitStack() as opened:

        def connection(start: bytes) -> socket.socket:
            made = opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            made.sendall(start)
            return made

        held = [connection(start) for start in [b"", b"GET / HTTP/1.1\r\nx: y"] * 30]
        for _ in range(3):
            reader = connection(b"GET /api/folders HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert reader.recv(12) == b"HTTP/1.1 200"
        assert [each.recv(1) for each in held[:40]] == [b""] * 40
        held[-1].settimeout(0.1)
        with pytest.raises(TimeoutError):  # the newest ones stay open
            held[-1].recv(1)
