"""The base class of all errors, for packages that do not know each other."""


class SpewyError(Exception):
    """Base class of all errors that Spewy and its packages `buckets`, `lockers` and `solvers` raise deliberately."""
