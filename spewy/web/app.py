"""The web application: pages, their scripts and styles, and the routes that answer with JSON."""

from __future__ import annotations

import mimetypes

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from spewy.web.answers import failed, refused
from spewy.web.bundle import STATIC
from spewy.web.folders import Folders
from spewy.web.job_process import Estimates, JobProcess
from spewy.web.jobs import job_routes
from spewy.web.looking import look_routes
from spewy.web.page_files import PageFiles
from spewy.web.playing import Playing
from spewy.web.security import Guard
from spewy.web.setting_up import setup_routes

# Some machines have other types in their own tables, and browsers refuse scripts of another type.
mimetypes.add_type("text/javascript", ".js")


def make_app(
    folders: Folders,
    hosts: frozenset[str] | None,
    token: str | None = None,
    jobs: JobProcess | None = None,
) -> ASGIApp:
    """Make the application that shows some folders.

    Args:
        folders: the folders to show.
        hosts: names and addresses that the ``Host`` header of a request may have; None: any, for a
            server that requires a token.
        token: token that each request must bring; None: no token.
        jobs: runs the solves that pages start; the caller closes it. None: a new `JobProcess`.
    """
    app = Starlette(
        routes=[
            *PageFiles().routes,
            *look_routes(folders),
            *setup_routes(folders, Estimates()),
            *job_routes(folders, jobs or JobProcess()),
            *Playing(folders).routes,
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        exception_handlers={HTTPException: refused, Exception: failed},
    )
    return Guard(app, hosts, token)
