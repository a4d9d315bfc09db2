"""The exceptions of this package."""


class EventloomError(Exception):
    """The base class of this package's exceptions."""


class DamagedFile(EventloomError):
    """A file of a run is damaged, was changed, or differs from the run's list."""
