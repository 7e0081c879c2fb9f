"""What a look at an object finds, word by word, as one digest (_seen.py)."""
import hashlib

_MANY = 256  # words that wait: to write and to digest them together takes a fraction of the time


class Words:
    """Words are values that never change: numbers, texts, tuples of these. The digest of the same words in the same order is the same in
    this process."""

    def __init__(self):
        self._hash, self._waiting = hashlib.blake2b(digest_size=16), []

    def put(self, *words):
        self._waiting.append(words)
        if len(self._waiting) > _MANY:
            self._flush()

    def digest(self):
        self._flush()
        return self._hash.digest()

    def _flush(self):
        self._hash.update(repr(self._waiting).encode("utf-8", "surrogatepass"))
        self._waiting.clear()
