"""A client of the pages' server, without a socket."""

import asyncio
import time

import httpx

from spewy.web.app import make_app
from spewy.web.folders import Folders
from spewy.web.server import LOCAL


class Pages:
    """Asks a server that shows some folders, and that may solve jobs."""

    def __init__(self, *roots, jobs=None):
        self._app = make_app(Folders(roots), LOCAL, jobs=jobs)

    def get(self, path, **query):
        """The answer to a question."""
        return self._answer("GET", path, params=query)

    def post(self, path, **content):
        """The answer to a request that changes something, or that has much to say."""
        return self._answer("POST", path, json=content)

    def _answer(self, method, path, **options):
        async def got():
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, **options)

        return asyncio.run(got())

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
