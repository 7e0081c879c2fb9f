"""Where the next read of a file begins: state of a program that trains from a stream."""

UNKNOWN = object()


def position_of(file):
    """Returns the position, or UNKNOWN. None of what is written, as a log, and of what cannot go back, as a pipe: nothing of these
    could be restored. What is opened to be read and written ("r+") may be read."""
    try:
        if file.closed or not file.readable() or not file.seekable() or file.writable() and "r" not in str(getattr(file, "mode", "")):
            return None
        return file.tell()
    except OSError:  # the program reads it line by line by next(), which keeps the position to itself
        return UNKNOWN
    except ValueError:  # it was detached from what it read
        return None
