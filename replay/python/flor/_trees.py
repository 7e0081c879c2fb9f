"""Trees of nodes, as which objects are saved (_objects.py), become leaves of JSON text. Of a large state this is most of the memory, and
is looked at while it is taken: nothing else asks before whether there is room."""
from . import _leaves, _text
from ._leaves import label
from ._room import Room

SIMPLE = frozenset((type(None), bool, int, str))  # are their own nodes
# What the parts of a state take while it is saved, in bytes, about: a node's text, the name of an object that was seen, and a leaf with
# all that the library has of it.
_OF_NODE, _OF_NAME, _OF_LEAF = 64, 150, 1500
_FEW_FLOATS = 32


class TreeSaver:
    """`leaves`: by their names. A subclass has _node(name, value), which returns the node of a value."""

    def __init__(self):
        self.leaves = {}
        self._seen = {}  # by id: the name under which an object was saved
        self._room = Room()
        self._pending = self._texts = self._size = 0  # nodes in containers that are no text yet; Texts, and bytes of text

    def save(self, name, value):
        texts, self._pending = self._texts, _weight_of(value)
        node = self._node(name, value)
        self._check_room(name)
        pieces, size = _text.pieces_of(node, self._texts > texts)
        self._size += size
        del node  # has the pieces, too
        self.leaves[f"{name}.@tree"] = _leaves.of_pieces(pieces)

    def _check_room(self, name):
        """Raises NoRoom before nodes become text where there is none for it."""
        self._room.check(name, self._size + self._pending * _OF_NODE + len(self._seen) * _OF_NAME + len(self.leaves) * _OF_LEAF)

    def _will_copy(self, name, size):
        """Raises NoRoom where there is none for a copy of values, as of those on a GPU, that is about to be made."""
        if size > 0:
            self._size += size
            self._check_room(name)

    def _nodes(self, name, values, keys=None):
        """Returns the nodes of a container's items as a list, or, where they are many, as Text. `keys`: of a dict, whose items have their
        names by them."""
        if keys is None and _are_floats(values):
            return self._floats(name, values)
        nodes, text, began, texts = [], None, self._pending, self._texts
        for index, value in enumerate(values):
            kind = type(value)
            if kind in SIMPLE:
                nodes.append(value)
                if kind is str:
                    self._pending += _weight_of(value)
            else:
                nodes.append(self._node(f"{name}.{index}" if keys is None else f"{name}.{label(keys[index], index)}", value))
            self._pending += 1
            if self._pending - began > _text.MANY:
                text = self._added(name, nodes, text, self._texts > texts)
                nodes, texts, self._pending = [], self._texts, began
        if text is None:
            return nodes
        text, self._pending = self._added(name, nodes, text, self._texts > texts), began
        return text.end()

    def _floats(self, name, values):
        """As _nodes(), of floats, as of the losses of all steps so far: a node for each would take the most time of a checkpoint."""
        text = _text.Text()
        self._texts += 1
        for begin in range(0, len(values), _text.MANY):
            self._check_room(name)
            self._size += text.add_floats(values[begin:begin + _text.MANY])
        return text.end()

    def _added(self, name, nodes, text, has_texts):
        """Returns the Text of a container's items, or a new one, with further nodes."""
        self._check_room(name)
        if text is None:
            text = _text.Text()
            self._texts += 1
        self._size += text.add(nodes, has_texts)
        return text


def _are_floats(values):
    return type(values) in (list, tuple) and len(values) >= _FEW_FLOATS and set(map(type, values)) == {float}


def _weight_of(value):
    """Returns how many nodes more a text counts for."""
    return len(value) // _OF_NODE if type(value) is str else 0
