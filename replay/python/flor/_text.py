"""The JSON text of a tree (_objects.py) in pieces. As Python's objects a tree takes many times its text, so that of a large container
a few thousand nodes at a time become text."""
import ctypes
import json
import struct

MANY = 4096  # nodes


class Text:
    """The text of a list. `pieces`: bytes."""

    __slots__ = ("pieces",)

    def __init__(self):
        self.pieces = [b"["]

    def add(self, nodes, has_texts):
        """Adds further elements, which may have Texts in them. Returns how many bytes of text were made."""
        pieces, size = pieces_of(nodes, has_texts)
        if nodes:
            self.pieces.extend([b", ", *_without_brackets(pieces)] if len(self.pieces) > 1 else _without_brackets(pieces))
        return size

    def add_floats(self, values):
        """As add(), of the nodes of floats (_objects.py): their bits in hexadecimal digits, made by Python's own C code."""
        before = ", " if len(self.pieces) > 1 else ""
        bits = struct.pack(f">{len(values)}d", *values).hex("/", 8)
        piece = (before + '{"float": "' + bits.replace("/", '"}, {"float": "') + '"}').encode()
        self.pieces.append(piece)
        return len(piece)

    def end(self):
        self.pieces.append(b"]")
        return self


def _without_brackets(pieces):
    pieces[0] = pieces[0][1:]
    pieces[-1] = pieces[-1][:-1]
    return pieces


def pieces_of(node, has_texts):
    """Returns the pieces of a node's text, and how many bytes of it were made. To the byte what json.dumps() makes: the digest of a
    state has it. `has_texts`: may it be or have a Text?"""
    if has_texts:
        writer = _Writer()
        writer.write(node)
        writer.end()
        return writer.pieces, writer.size
    text = json.dumps(node).encode()
    return [text], len(text)


class _Writer:
    """Writes nodes with Texts in them, which json.dumps() does not know."""

    def __init__(self):
        self.pieces, self.size, self._words = [], 0, []

    def end(self):
        """Makes what was written since one piece."""
        self.pieces.append("".join(self._words).encode())
        self.size += len(self.pieces[-1])
        self._words = []

    def write(self, node):
        if type(node) is Text:
            self.end()
            self.pieces.extend(node.pieces)
        elif isinstance(node, dict):
            self._words.append("{")
            # So keys that are no texts become the same as with json.dumps().
            self._write_all((json.dumps({key: None})[1:-len("null}")], item) for key, item in node.items())
            self._words.append("}")
        elif isinstance(node, (list, tuple)):
            self._words.append("[")
            self._write_all(("", item) for item in node)
            self._words.append("]")
        else:
            self._words.append(json.dumps(node))

    def _write_all(self, items):
        for index, (key, item) in enumerate(items):
            self._words.append((", " if index else "") + key)
            self.write(item)


def joined(pieces):
    """Returns memory with the pieces, which are gone then: each as soon as it was copied. From the last one on, so that the C library
    gives what is free at the end of its heap back."""
    size = sum(map(len, pieces))
    memory = (ctypes.c_char * max(size, 1))()
    at = ctypes.addressof(memory) + size
    while pieces:
        piece = pieces.pop()
        at -= len(piece)
        ctypes.memmove(at, piece, len(piece))
    return memory, size
