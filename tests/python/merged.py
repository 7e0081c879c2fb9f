"""Puts several small training programs into one, so that one recording and one replay test them all: each process that imports
torch takes seconds."""
import ast


class _Suffixed(ast.NodeTransformer):
    def __init__(self, names, suffix):
        self._names, self._suffix = names, suffix

    def visit_Name(self, node):
        node.id += self._suffix if node.id in self._names else ""
        return node

    def visit_ClassDef(self, node):
        node.name += self._suffix if node.name in self._names else ""
        return self.generic_visit(node)


def names_of(text):
    """The variables and classes of a module's own lines."""
    tree = ast.parse(text)
    return {node.id for line in tree.body if not isinstance(line, ast.ClassDef) for node in ast.walk(line)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} | {
                line.name for line in tree.body if isinstance(line, ast.ClassDef)}


def suffixed(text, names, suffix):
    """The lines with these names made others by a suffix."""
    return ast.unparse(_Suffixed(names, suffix).visit(ast.parse(text)))


def indented(text, by):
    return "".join(" " * by + line + "\n" for line in text.splitlines())


def merged(begin, cases, epochs):
    """A program that trains a network for each case: the lines in front of the loop, within its block (with `x` and a `loss`) and
    behind it, and what is shown in the end. Returns the text, and of it the lines that show."""
    parts = [[], [], []]
    probe = ""
    for number, case in enumerate(cases):
        names = set().union(*map(names_of, case[:3]))
        for part, lines in zip(parts, case):
            part.append(suffixed(lines, names, f"_{number}"))
        probe += indented(suffixed(f"print({case[3]})", names, f"_{number}"), 4)
    front, within, behind = parts
    text = "\n".join([begin, *front, f"for epoch in range({epochs}):", "    for x in torch.randn(5, 8, 4):\n"])
    text += "".join(indented(lines, 8) for lines in within) + "".join(indented(lines, 4) for lines in behind)
    return text + probe + '    print("loss", loss_0.item())\n', probe
