"""What readers raise when a file does not hold what was written to it."""


class EventloomError(Exception):
    """The base of the exceptions that are this package's own."""


class DamagedFile(EventloomError):
    """A file of a run is damaged, has been changed, or is not as the run lists it."""
