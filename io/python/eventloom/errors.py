"""What readers raise when a file does not hold what was written to it."""


class DamagedFile(Exception):
    """A file of a run is damaged, or is not as the run lists it."""
