"""Checks arguments that must be whole numbers, of Python or numpy types."""

from __future__ import annotations

import operator
from typing import Any, Optional


def whole_number(name: str, value: Any, least: Optional[int] = None, most: Optional[int] = None) -> int:
    """Returns the value of the argument `name`. Raises ValueError for other types and for values beyond the limits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(_refusal(name, value, least, most)) from None
    if least is not None and number < least or most is not None and number > most:
        raise ValueError(_refusal(name, number, least, most))
    return number


def _refusal(name: str, value: Any, least: Optional[int], most: Optional[int]) -> str:
    limits = f" from {least} to {most}" if most is not None else f", at least {least}" if least is not None else ""
    return f"{name} is {value!r}: give a whole number{limits}"
