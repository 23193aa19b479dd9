"""A home of its own for every test, as in the tests of the application."""

from tests.app.conftest import _home as _home
