"""The one set of models that every edge speaks: queries in, answers, hits and status out."""

from notehop.app.models.notes import *  # noqa: F403
from notehop.app.models.query import *  # noqa: F403
from notehop.app.models.reply import *  # noqa: F403
from notehop.app.models.status import *  # noqa: F403
