# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""What every emulator shares: the server, the recording and the verdict.

An emulator is an HTTP server on the loopback interface that lives in a thread of its
own. It judges each request by its provider's contract, records it, and answers in the
provider's words. Subclasses know one wire form each, and nothing of threads.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn import Config, Server

from .answers import Tokens, tokens
from .models import Failure, Part, as_model
from .records import JSON, Breach, OnBreach, Query, RecordedRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from types import TracebackType
    from typing import Self

    from starlette.requests import Request

    from .models import Model, Reply, ScriptItem

__all__ = ["Emulator"]

_START_SECONDS = 10.0
_STOP_SECONDS = 5.0
# Clients that keep no connection leave nothing behind in a closed event loop.
_HEADERS = {"connection": "close"}
_FAULT = 422  # Clients retry 5xx; a fault of the script is nothing to retry.


class Emulator(ABC):
    """A strict stand-in for a provider, over HTTP on the loopback interface.

    Use it as a context manager, plain or asynchronous, or call `start` and `stop`.

    Args:
        model: What answers: a `Model`, the items of a `Script`, or one text.
        on_breach: What a broken request gets: the provider's `"error"`, a silently
            `"empty"` reply, or, with `"ignore"`, a reply as if nothing had happened.
            It is recorded in each case.
    """

    paths: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        model: Model | Iterable[ScriptItem] | str | None = None,
        *,
        on_breach: OnBreach = "error",
    ) -> None:
        self.on_breach = on_breach
        self._model = as_model(model)
        self._lock = threading.RLock()
        self._requests: list[RecordedRequest] = []
        self._server: Server | None = None
        self._thread: threading.Thread | None = None
        self._port = 0

    # What the requests were.

    @property
    def requests(self) -> list[RecordedRequest]:
        """The requests so far, oldest first; a new list each time."""
        with self._lock:
            return list(self._requests)

    @property
    def rejections(self) -> list[RecordedRequest]:
        """The requests that broke the contract, however they were answered."""
        return [request for request in self.requests if request.problems]

    @property
    def problems(self) -> list[str]:
        """Every breach so far, with the number of its request: handy in asserts."""
        return [f"#{r.index} {p}" for r in self.requests for p in r.problems]

    def answers(self, index: int = -1) -> Tokens:
        """The tokens of one request, by default the newest: see `tokens`."""
        return tokens(self.requests[index].contents)

    def play(self, model: Model | Iterable[ScriptItem] | str | None) -> None:
        """Let another model or script answer from now on."""
        with self._lock:
            self._model = as_model(model)

    # The server.

    @property
    def url(self) -> str:
        """The base URL, without a slash at the end.

        Raises:
            RuntimeError: If the server is not running.
        """
        if self._server is None:
            message = f"{type(self).__name__} is not running; use it in a with block"
            raise RuntimeError(message)
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> Self:
        """Start to listen on a free port. Does nothing when it already does.

        Raises:
            RuntimeError: If the server does not come up.
        """
        if self._server is not None:
            return self
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._port = listener.getsockname()[1]
        routes = [Route(path, self._serve, methods=["POST"]) for path in self.paths]
        config = Config(
            Starlette(routes=routes),
            log_config=None,
            log_level="critical",
            access_log=False,
            lifespan="off",
            loop="asyncio",
            http="h11",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        server = Server(config)
        thread = threading.Thread(
            target=server.run,
            kwargs={"sockets": [listener]},
            name=f"{type(self).__name__}:{self._port}",
            daemon=True,
        )
        thread.start()
        deadline = time.monotonic() + _START_SECONDS
        while not server.started:
            if not thread.is_alive() or time.monotonic() > deadline:
                server.should_exit = True
                listener.close()
                message = f"{type(self).__name__} did not start"
                raise RuntimeError(message)
            time.sleep(0.002)
        self._server, self._thread = server, thread
        return self

    def stop(self) -> None:
        """Stop to listen. Takes a fraction of a second; does nothing when stopped."""
        server, thread = self._server, self._thread
        self._server = self._thread = None
        if server is None or thread is None:
            return
        server.should_exit = True
        thread.join(_STOP_SECONDS)
        if thread.is_alive():
            server.force_exit = True
            thread.join(_STOP_SECONDS)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    # One request.

    async def _serve(self, request: Request) -> Response:
        try:
            body = json.loads(await request.body())
        except ValueError:
            body = None
        query = self._read(request.url.path, body) if isinstance(body, dict) else None
        if query is None:
            missing = f"{request.method} {request.url.path} is not known here."
            return JSONResponse(self._error(404, missing, {}), 404, _HEADERS)
        with self._lock:
            answer = self._answer(query)
        if isinstance(answer, list):
            return StreamingResponse(
                _chunks(answer), 200, _HEADERS, media_type="text/event-stream"
            )
        status, payload = answer
        return JSONResponse(payload, status, _HEADERS)

    def _answer(self, query: Query) -> tuple[int, JSON] | list[str]:
        """Judge, record and answer: a status and a body, or the chunks of a stream."""
        breaches = self._judge(query)
        index = len(self._requests)
        issued: tuple[Part, ...] = ()
        refusal: Failure | None = None
        info: JSON = {}
        if breaches and self.on_breach == "error":
            refusal, info = Failure(400, breaches[0].message), breaches[0].info
        elif not (breaches and self.on_breach == "empty"):
            try:
                reply = self._reply(query)
            except Exception as error:  # noqa: BLE001 - any fault of a user's script
                reply = Failure(_FAULT, f"the emulator's script raised {error!r}")
            if isinstance(reply, Failure):
                refusal = reply
            else:
                issued = tuple(self._issue(query, list(reply)))
        status = refusal.status if refusal else 200
        self._requests.append(
            RecordedRequest(
                index=index,
                model=query.model,
                stream=query.stream,
                body=query.body,
                contents=query.contents,
                problems=[str(breach) for breach in breaches],
                status=status,
                reply=issued,
                path=query.path,
            )
        )
        if refusal:
            return status, self._error(status, refusal.message, info)
        if query.stream:
            return self._stream(query, issued, index)
        return status, self._whole(query, issued, index)

    def _reply(self, query: Query) -> Reply:
        return self._model.reply(query.contents, self._steps(query))

    # What a subclass knows of its wire form.

    @abstractmethod
    def _read(self, path: str, body: JSON) -> Query | None:
        """Read a request, or return `None` when this is no request of the API."""

    @abstractmethod
    def _judge(self, query: Query) -> list[Breach]:
        """Every breach of the contract, the one that the provider reports first."""

    @abstractmethod
    def _steps(self, query: Query) -> int:
        """How many call turns the request holds since the user last spoke."""

    @abstractmethod
    def _issue(self, query: Query, parts: list[Part]) -> list[Part]:
        """Give the parts of a reply the ids and signatures they need."""

    @abstractmethod
    def _whole(self, query: Query, parts: tuple[Part, ...], index: int) -> JSON:
        """The body of an answer that is not streamed."""

    @abstractmethod
    def _stream(self, query: Query, parts: tuple[Part, ...], index: int) -> list[str]:
        """The chunks of a streamed answer."""

    @abstractmethod
    def _error(self, status: int, message: str, info: JSON) -> JSON:
        """The body of an error."""


async def _chunks(chunks: list[str]) -> AsyncIterator[str]:
    for chunk in chunks:
        yield chunk
