"""A client of the pages' server, without a socket."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from spewy.web.app import make_app
from spewy.web.folders import Folders
from spewy.web.server import LOCAL


class Client:
    """Sends requests to an application in this process, and keeps its cookies.

    Args:
        app: the application.
        base_url: address of its server.
    """

    def __init__(self, app, base_url: str) -> None:
        self._transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._base_url, self._cookies = base_url, httpx.Cookies()

    def request(self, method: str, path: str, **options) -> httpx.Response:
        """Send a request; the options are those of httpx."""

        async def send() -> httpx.Response:
            async with httpx.AsyncClient(
                transport=self._transport, base_url=self._base_url, cookies=self._cookies
            ) as client:
                answer = await client.request(method, path, **options)
                self._cookies = client.cookies
                return answer

        # Playwright's browser, which other tests leave open, keeps an event loop running in this thread.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(send())).result()

    def get(self, path: str, **options) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options) -> httpx.Response:
        return self.request("POST", path, **options)


class Pages:
    """Asks a server that shows some folders, and that may solve jobs."""

    def __init__(self, *roots, jobs=None):
        self._client = Client(make_app(Folders(roots), LOCAL, jobs=jobs), "http://127.0.0.1")

    def get(self, path, **query):
        """The answer to a question."""
        return self._client.get(path, params=query)

    def post(self, path, **content):
        """The answer to a request that changes something, or that has much to say."""
        return self._client.post(path, json=content)

    def status(self, path, **query):
        """Status and JSON of the answer to a question."""
        answer = self.get(path, **query)
        return answer.status_code, answer.json()

    def send(self, path, **content):
        """Status and JSON of the answer to a request that changes something."""
        answer = self.post(path, **content)
        return answer.status_code, answer.json()

    def whole(self, path, **query):
        """The answer to a question that may take longer: the first that is not 202."""
        limit = time.monotonic() + 60
        while (answer := self.get(path, **query)).status_code == 202:
            assert set(answer.json()) == {"done", "total"}
            assert time.monotonic() < limit
            time.sleep(0.05)
        return answer

    def ask(self, path, **query):
        """The JSON of an answer that shall be good."""
        answer = self.whole(path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def refused(self, path, status=400, **query):
        """The error of an answer that shall be one."""
        answer = self.whole(path, **query)
        assert answer.status_code == status, answer.text
        assert list(answer.json()) == ["error"]
        return answer.json()["error"]
