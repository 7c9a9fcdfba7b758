"""The server of models and of the page: every route, and what stands before them.

Every answer is computed from published models and public facts. The two exceptions are off unless
asked for: `/recommend` gets a person's ratings, keeps none and logs nothing; `/officer` reads the
book, behind a token.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Request
from fastapi import Path as Part
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from tacit.data.catalogue import bare_title, fold
from tacit.errors import TacitError, UsageError
from tacit.ledger.software import software
from tacit.model.model import Model, Recommendation
from tacit.serving.compact import Precision
from tacit.serving.front import Front
from tacit.serving.http.answer import Asset, Variants, plain
from tacit.serving.http.headers import check_origin, security
from tacit.serving.http.watch import LOG, Metrics, log
from tacit.serving.names import FRONT, PageNames, with_names
from tacit.serving.officer import Officer, add_officer
from tacit.serving.shelf import PACKED, Shelf, name_sources
from tacit.serving.statements import HTML, JSON, TEXT

WATCH_SECONDS = 2.0
"""Between two looks at the folders of the models."""
AT_ONCE = 4
"""Lists that are computed at once for `/recommend`; more wait."""
Name = Annotated[str, Part(max_length=200, description="a model of the list")]
Digest = Annotated[str, Part(pattern="^[0-9a-f]{64}$", description="SHA-256 of the bytes")]
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
REACH_80 = 1.2815515655446004
"""Standard deviations on each side of an interval that holds 80 %."""
MOST_RATINGS = 2_000
ItemName = Annotated[str, Field(min_length=1, max_length=200)]


@dataclass(frozen=True)
class Options:
    """How to serve. Paths of models come with it; nothing else is read."""

    recommend: bool = False
    federation: Sequence[str] = ()
    root: str = ""
    logs: bool = True
    tls: bool = False
    precision: Precision = "auto"
    officer: Officer | None = None
    web: Path | None = None
    names: PageNames | None = None
    watch: float = WATCH_SECONDS


@dataclass(eq=False)
class Server:
    """The application, and what an operator may do to it."""

    app: Front
    shelf: Shelf
    metrics: Metrics

    def reload(self) -> None:
        """Look at every folder now, changed or not."""
        for line in self.shelf.refresh(force=True):
            log("reload", model=line)


def build(folders: Sequence[Path], options: Options | None = None) -> Server:
    """Read the models and put the routes together."""
    settings = options or Options()
    origins = [check_origin(origin) for origin in settings.federation]
    about = {"recommend": settings.recommend, "federation": origins, "software": software()}
    shelf = Shelf(
        name_sources(folders), page_files(settings.web, settings.names), about, settings.precision
    )
    shelf.load()
    metrics = Metrics("serve")
    app = _framework(shelf, settings)
    headers = security(origins, tls=settings.tls)
    front = Front(app, shelf, headers, metrics, root=settings.root, logs=settings.logs)
    return Server(front, shelf, metrics)


def metrics_text(server: Server) -> str:
    """For Prometheus: counts only, no address, no model's content."""
    shelf = server.shelf
    gauges = {"models": len(shelf.models), "reloads": shelf.reloads, "failed": shelf.failures}
    return server.metrics.text(**gauges)


def metrics_app(server: Server) -> FastAPI:
    """On a port of its own, which operators keep to themselves."""
    app = FastAPI(title="tacit serve metrics", openapi_url=None, docs_url=None, redoc_url=None)

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(metrics_text(server), media_type="text/plain; version=0.0.4")

    return app


def _framework(shelf: Shelf, options: Options) -> FastAPI:
    app = FastAPI(
        title="tacit serve",
        version=software(),
        description="Published models, and the page where no rating leaves the browser.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        servers=[{"url": "."}],
        lifespan=_watching(shelf, options.watch),
        responses={404: {"description": "there is nothing here"}},
    )
    _add_faults(app)
    _add_reading(app, shelf)
    if options.recommend:
        _add_recommend(app, shelf)
    if options.officer is not None:
        add_officer(app, options.officer, lambda: shelf.models)
    return app


def _watching(
    shelf: Shelf, seconds: float
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Folders are looked at while the server runs; packing happens beside it, in a thread."""

    async def watch() -> None:
        while True:
            await asyncio.sleep(seconds)
            for line in await asyncio.to_thread(shelf.refresh):
                log("reload", model=line)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        task = asyncio.create_task(watch())
        yield
        task.cancel()

    return lifespan


def _add_faults(app: FastAPI) -> None:
    """Short words, and never the message that caused them."""

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        body = {"error": str(error.detail).lower()}
        return JSONResponse(body, error.status_code, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first_error = error.errors()[0]
        field = ".".join(str(part) for part in first_error["loc"] if isinstance(part, int | str))
        message = f"{field[:200]}: {first_error['type']}".encode("ascii", "replace").decode()
        return JSONResponse({"error": message}, 422)

    @app.exception_handler(TacitError)
    async def tacit_error(_: Request, error: TacitError) -> Response:
        return JSONResponse({"error": error.message}, 422 if isinstance(error, UsageError) else 500)

    @app.exception_handler(Exception)
    async def fault(_: Request, error: Exception) -> Response:
        LOG.error("failed", extra={"facts": {"fault": type(error).__name__}})
        return JSONResponse({"error": "the server failed"}, 500)


def _binary(kind: str) -> dict[str, Any]:
    return {"content": {kind: {"schema": {"type": "string", "format": "binary"}}}}


def _add_reading(app: FastAPI, shelf: Shelf) -> None:
    """Listed for the OpenAPI document. `Front` answers what exists before these are asked."""

    async def ready(request: Request) -> Response:
        asset = shelf.table.get(request.url.path)
        reply = plain(404, "there is nothing here") if asset is None else asset.reply(request.scope)
        response = Response(reply.body, reply.status)
        response.raw_headers = reply.headers
        return response

    async def one(request: Request, name: Name) -> Response:
        return await ready(request)

    async def exact(request: Request, name: Name, digest: Digest) -> Response:
        return await ready(request)

    text_forms: dict[str, Any] = {"content": {TEXT: {}, HTML: {}, JSON: {}}}
    common: dict[int | str, dict[str, Any]] = {304: {"description": "not modified"}}
    partial_: dict[int | str, dict[str, Any]] = {
        **common,
        206: {"description": "a range of it", **_binary(PACKED)},
        416: {"description": "no such range"},
    }
    get: Any = partial(app.add_api_route, methods=["GET"], response_class=Response)
    get("/models", ready, summary="the models", responses={**common, 200: {"content": {JSON: {}}}})
    for base, handler in (("", ready), ("/models/{name}", one)):
        default = "the default model: " if not base else "a model: "
        get(
            f"{base}/model",
            handler,
            summary=f"{default}packed arrays",
            responses={**partial_, 200: _binary(PACKED)},
        )
        get(
            f"{base}/catalogue",
            handler,
            summary=f"{default}its items",
            responses={**partial_, 200: {"content": {JSON: {}}}},
        )
        get(
            f"{base}/statement",
            handler,
            summary=f"{default}what was promised",
            responses={**partial_, 200: text_forms},
        )
    for part in ("model", "catalogue"):
        get(
            f"/models/{{name}}/{part}/{{digest}}",
            exact,
            summary=f"a {part} by its digest, for ever",
            responses={**partial_, 200: _binary(PACKED if part == "model" else JSON)},
        )

    @app.get("/healthz", summary="whether it serves")
    async def healthz() -> dict[str, Any]:
        return {"ok": True, "models": len(shelf.models), "software": software()}


def _add_recommend(app: FastAPI, shelf: Shelf) -> None:
    """A list for who chooses to send ratings; nothing of it is kept or logged."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def listed(name: str, question: Question, response: Response) -> Recommended:
        served = shelf.models.get(name)
        if served is None:
            raise HTTPException(404, "there is no such model")
        async with slots:
            recommended = await asyncio.to_thread(answer_question, name, served.model, question)
        response.headers["cache-control"] = "no-store"
        return recommended

    refusals: dict[int | str, dict[str, Any]] = {
        400: {"description": "not JSON"},
        408: {"description": "too slow"},
        413: {"description": "too long"},
        422: {"description": "not a question"},
    }

    @app.post("/recommend", summary="a list by the default model", responses=refusals)
    async def by_default(question: Question, response: Response) -> Recommended:
        return await listed(shelf.default, question, response)

    @app.post("/models/{name}/recommend", summary="a list by a model", responses=refusals)
    async def by_name(name: Name, question: Question, response: Response) -> Recommended:
        return await listed(name, question, response)


# The files of the page, read once into memory.
#
# `scripts/page` builds them from the sources in `web/`; a server only reads and sends them.


def web_folder() -> Path:
    """Where the installed page is."""
    return Path(str(files("tacit.serving"))) / "web"


def read_page(folder: Path, names: PageNames | None = None) -> dict[str, bytes]:
    """What a browser may get of a folder, by name, with the owner's words if there are any."""
    files = dict[str, bytes]()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if path.is_file() and path.suffix in KINDS and not hidden:
            files[name.as_posix()] = path.read_bytes()
    return files if names is None else with_names(files, names)


def page_files(
    folder: Path | None = None, names: PageNames | None = None
) -> dict[str, Asset | Variants]:
    """Every file of the page by its address; the front page also at `/`."""
    assets: dict[str, Asset | Variants] = {
        f"/{name}": Asset("page", KINDS[Path(name).suffix], body)
        for name, body in sorted(read_page(folder or web_folder(), names).items())
    }
    if f"/{FRONT}" in assets:
        assets["/"] = assets[f"/{FRONT}"]
    style = Path(str(files("tacit.serving"))) / "pages" / "plain.css"
    assets["/plain.css"] = Asset("page", KINDS[".css"], style.read_bytes())
    return assets


# `POST /recommend`, for clients that choose to send their ratings: none is kept or logged.
#
# It is off unless asked for: the page never uses it, and what it is sent has left its owner's
# device.


class Rated(BaseModel):
    """One own rating. Of a model of likes the value may be left out."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    item: ItemName
    """The id, or the title."""
    rating: float | None = None


class Question(BaseModel):
    """What a client asks."""

    model_config = ConfigDict(extra="forbid")

    ratings: list[Rated] = Field(max_length=MOST_RATINGS)
    n: int = Field(10, ge=1, le=200)
    by: Literal["rating", "liked", "explore"] | None = None
    exclude: list[ItemName] = Field([], max_length=MOST_RATINGS)


class Line(BaseModel):
    """One item of the list; `low` and `high` hold a new rating with chance 80 %. A model of
    likes expects no rating: null."""

    item: str
    title: str
    rating: float | None
    error: float | None
    low: float | None
    high: float | None
    score: float
    because: list[str]


class Recommended(BaseModel):
    """A list, and what the model does not know."""

    model: str
    recommendations: list[Line]
    unknown: list[str]


def answer_question(name: str, model: Model, question: Question) -> Recommended:
    """From the published model and these ratings alone."""
    rated = list[tuple[str, float | None, None, None]]()
    unknown = list[str]()
    for rating in question.ratings:
        if _is_in_model(model, rating.item):
            rated.append((rating.item, rating.rating, None, None))
        else:
            unknown.append(rating.item)
    user_ratings = model.own(rated).own
    exclude = [item for item in question.exclude if _is_in_model(model, item)]
    lines = model.recommend_own(user_ratings, question.n, by=question.by, exclude=exclude)
    return Recommended(
        model=name, recommendations=[_line(model, line) for line in lines], unknown=unknown
    )


def _is_in_model(model: Model, text: str) -> bool:
    """Without a search for what looks alike, which would cost a server too much."""
    catalogue = model.shared.catalogue
    titles = catalogue.by_title
    return text in catalogue.index or fold(text) in titles or fold(bare_title(text)) in titles


def _line(model: Model, line: Recommendation) -> Line:
    schema = model.shared.schema
    low = high = None
    if line.rating is not None and line.error is not None:
        reach = REACH_80 * line.error
        low = max(line.rating - reach, schema.low)
        high = min(line.rating + reach, schema.high)
    return Line(
        item=line.item,
        title=line.title,
        rating=line.rating,
        error=line.error,
        low=low,
        high=high,
        score=line.score,
        because=list(line.because),
    )
