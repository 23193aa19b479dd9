"""What a doctor looks for; :mod:`notehop.app.services.doctor.vault` looks."""

from typing import Literal

Kind = Literal["index", "unresolved", "fragments", "ambiguous", "warnings", "orphans"]
