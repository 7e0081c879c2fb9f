"""What the source of a program says that its blocks and guards hold: paths of variables and members."""
import ast
import re


def path_of(node):
    """Returns `a.b` for a.b, and for a.b[i]: what changes an element changes the container. None: no such thing."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        outer = path_of(node.value)
        return outer and f"{outer}.{node.attr}"
    if isinstance(node, (ast.Subscript, ast.Starred)):
        return path_of(node.value)
    return None


def clean(name):
    """Returns the name of a block as the record has it."""
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", name) or "_"
    return "_" + name[1:] if name[0] in ".-" else name


def lies_in(path, outer):
    return path == outer or path.startswith(outer + ".")


class Holder:
    """`with flor.skip_block(NAME, …)` or `with flor.checkpointing(…)`. `name`: None where it is no literal. `held`: the
    paths of its objects."""

    def __init__(self, node, call, name, objects):
        self.node, self.name = node, None if name is None else clean(name)
        values = [path_of(value) for value in [*objects, *(keyword.value for keyword in call.keywords)]]
        self.held = [path for path in values if path]

    def holds(self, path, is_bound=False):
        """Does restoring the objects restore this? `is_bound`: the path gets another object; then what it is a member of
        must be held."""
        return any(lies_in(path, one) and not (is_bound and path == one) for one in self.held)

    def handles(self):
        """Names of `with … as NAME`."""
        return {node.id for item in self.node.items if item.optional_vars is not None for node in ast.walk(item.optional_vars)
                if isinstance(node, ast.Name)}


class SlotHolder(Holder):
    """A block, or a main loop as its own guard, whose objects nobody named (_free.py). It holds nothing until takes()."""

    def __init__(self, node, name):
        self.node, self.name, self.held = node, name, []

    def takes(self, paths):
        self.held = list(paths)

    def holds(self, path, is_bound=False):
        return any(lies_in(path, one) for one in self.held)

    def handles(self):
        return super().handles() if isinstance(self.node, (ast.With, ast.AsyncWith)) else set()
