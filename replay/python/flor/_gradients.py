"""Does an iteration of the main loop leave gradients to the next, which a step of an optimizer then takes? Read, not run.

It does where a step() may come before the gradients are cleared (accumulation, whose last batches no step took), and they need
not be cleared at its end. Checkpoints then hold the values of gradients, which else they leave out (docs/semantics.md, rule 3).
Whatever zero_grad() is called on counts by itself; a backward() may add to all of them. What is not clear counts as leaving
some: checkpoints are larger then, and right. Functions of installed packages are not followed: a step() in one is not seen."""
import ast

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MOST_STATEMENTS = 20000  # that are followed: of a larger project the answer is that it leaves some


_TOUCHING = {"grad", "zero_grad", "zero_", "backward", "step"}


class Gradients:
    """What a project does with gradients, as its files were read."""

    def __init__(self, project):
        self._project = project
        self.trained_by = _optimizers_of(project)
        self._touching = _functions_touching(project)

    def are_left_by(self, file, loop):
        walk = _Walk(self, file, loop)
        try:
            end = walk.iteration(file, loop)
        except _TooLong:
            return True
        return bool(end.dirty & walk.used)

    def functions(self, file, expression):
        """Returns the functions that an expression in a file may name, of those that do something with gradients."""
        return [pair for pair in self._project.defined(file, expression) if pair[1] in self._touching]


def _functions_touching(project):
    """Returns the functions that do something with gradients, themselves or by what they name."""
    naming, todo, touching = {}, list(_TOUCHING), set()
    for named in (project.functions, project.methods):
        for file, function in (pair for pairs in named.values() for pair in pairs):
            for node in file.nodes_in(function):
                word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None
                naming.setdefault(word, set()).add(function)
    while todo:
        new = naming.pop(todo.pop(), set()) - touching
        touching |= new
        todo.extend(function.name for function in new)
    return touching


class _TooLong(Exception):
    pass


class _State:
    """Of each thing that gradients are cleared of, a bit. `cleared`: for certain, since the iteration began. `dirty`: perhaps some
    were computed since they were cleared last."""

    def __init__(self, cleared, dirty):
        self.cleared, self.dirty = cleared, dirty


def _join(states):
    """Where several ways meet. None: there is no way here."""
    states = [state for state in states if state is not None]
    if not states:
        return None
    cleared, dirty = states[0].cleared, 0
    for state in states:
        cleared, dirty = cleared & state.cleared, dirty | state.dirty
    return _State(cleared, dirty)


class _Walk:
    def __init__(self, gradients, file, loop):
        self.used = 0  # what a step took that was not cleared before
        self._gradients = gradients
        self._open, self._known, self._left = [], {}, _MOST_STATEMENTS
        self._bits = self._cleared_in(file, loop)
        self._all = (1 << max(len(self._bits), 1)) - 1

    def iteration(self, file, loop):
        exits = {"continue": [], "break": [], "return": []}
        end = self._through(file, loop.body, _State(0, 0), exits)
        return _join([end, *exits["continue"]]) or _State(0, 0)

    def _cleared_in(self, file, loop):
        """The texts of what zero_grad() is called on, in all that the loop may call, with their bits."""
        found, seen, todo = {}, set(), [(file, loop)]
        while todo:
            owner, node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            for call in owner.calls_in(node):
                if isinstance(call.func, ast.Attribute) and call.func.attr == "zero_grad":
                    found.setdefault(ast.unparse(call.func.value), 1 << len(found))
                todo.extend(pair for value in _called(call) for pair in self._gradients.functions(owner, value))
        return found

    def _through(self, file, statements, state, exits):
        for statement in statements:
            if state is None:
                return None
            self._left -= 1
            if self._left < 0:
                raise _TooLong
            state = self._statement(file, statement, state, exits)
        return state

    def _statement(self, file, node, state, exits):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            return state
        if isinstance(node, (ast.Continue, ast.Break)):
            exits["continue" if isinstance(node, ast.Continue) else "break"].append(state)
            return None
        if isinstance(node, (ast.Return, ast.Raise)):
            state = self._expressions(file, node, state)
            if isinstance(node, ast.Return):
                exits["return"].append(state)
            return None
        if isinstance(node, ast.If):
            return self._if(file, node, state, exits)
        if isinstance(node, _LOOPS):
            return self._loop(file, node, state, exits)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                state = self._expressions(file, item.context_expr, state)
            return self._through(file, node.body, state, exits)
        if isinstance(node, ast.Try) or hasattr(node, "finalbody"):
            body = self._through(file, node.body, state, exits)
            ways = [self._through(file, node.orelse, body, exits) if body is not None else None]
            ways += [self._through(file, handler.body, _join([state, body]), exits) for handler in node.handlers]
            end = _join(ways)
            return self._through(file, node.finalbody, end if end is not None else state, exits) if node.finalbody else end
        if hasattr(node, "cases"):
            state = self._expressions(file, node.subject, state)
            return _join([state, *(self._through(file, case.body, state, exits) for case in node.cases)])
        return self._expressions(file, node, state)

    def _if(self, file, node, state, exits):
        state = self._expressions(file, node.test, state)
        return _join([self._through(file, node.body, state, exits), self._through(file, node.orelse, state, exits)])

    def _loop(self, file, node, state, exits):
        """Twice: a second iteration may find what the first one left. One that does not begin is not what one trains with."""
        state = self._expressions(file, node.test if isinstance(node, ast.While) else node.iter, state)
        ways = []
        for _ in range(2):
            own = {"continue": [], "break": [], "return": exits["return"]}
            state = _join([self._through(file, node.body, state, own), *own["continue"]])
            ways += [state, *own["break"]]
            if state is None:
                break
        end = _join(ways)
        return self._through(file, node.orelse, end, exits) if end is not None else None

    def _expressions(self, file, node, state):
        """Follows the calls of an expression or a simple statement, in the order of their ends."""
        nodes, conditional = file.nodes_in(node), set()
        for part in nodes:
            for value in part.values[1:] if isinstance(part, ast.BoolOp) else [part.body, part.orelse] if isinstance(part, ast.IfExp) else ():
                conditional.update(file.calls_in(value))
        for call in sorted(file.calls_in(node), key=lambda call: (call.end_lineno, call.end_col_offset)):
            after = self._call(file, call, state)
            state = _join([state, after]) if call in conditional else after
        if _read_gradient(nodes):
            self.used |= self._all & ~state.cleared
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Attribute) and target.attr == "grad" for target in node.targets):
            state = _State(self._all, 0)
        return state

    def _call(self, file, call, state):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else None
        for value in _called(call):  # a closure before what is done with its gradients
            for owner, function in self._gradients.functions(file, value):
                state = self._function(owner, function, state)
        if name == "zero_grad":
            bit = self._bits.get(ast.unparse(call.func.value), 0)
            return _State(state.cleared | bit, state.dirty & ~bit)
        if name == "zero_" and isinstance(call.func.value, ast.Attribute) and call.func.value.attr == "grad":
            return _State(self._all, 0)
        if name == "backward":
            return _State(state.cleared, self._all)
        if name == "step":
            self.used |= self._taken_by(call) & ~state.cleared
        return state

    def _taken_by(self, call):
        """The bits of what a step of an optimizer takes gradients from: what it is cleared by, else all."""
        words = [ast.unparse(call.func.value), *(ast.unparse(value) for value in call.args)]  # scaler.step(optimizer)
        known = {text for word in words for text in (word, *self._gradients.trained_by.get(word, ())) if text in self._bits}
        return sum(self._bits[text] for text in known) or self._all

    def _function(self, file, function, state):
        """What it does depends on the state alone: each is followed once for each."""
        key = (function, state.cleared, state.dirty)
        if key in self._known or function in self._open:
            return self._known.get(key, state)
        self._open.append(function)
        exits = {"continue": [], "break": [], "return": []}
        end = _join([self._through(file, function.body, state, exits), *exits["return"]])
        self._open.pop()
        self._known[key] = end if end is not None else state
        return self._known[key]


def _read_gradient(nodes):
    """Do the nodes of a statement or expression compute with gradients, other than to clear them or to see whether there are any?"""
    left_out = set()
    for part in nodes:
        if isinstance(part, ast.Attribute) and part.attr in ("zero_", "detach_", "requires_grad_"):
            is_data = isinstance(part.value, ast.Attribute) and part.value.attr == "data"
            left_out.add(part.value.value if is_data else part.value)
        elif isinstance(part, ast.Compare) and any(isinstance(one, ast.Constant) and one.value is None for one in part.comparators):
            left_out.add(part.left)
    return any(isinstance(part, ast.Attribute) and part.attr == "grad" and isinstance(part.ctx, ast.Load) and part not in left_out
               for part in nodes)


def _called(call):
    return [call.func, *call.args, *(keyword.value for keyword in call.keywords)]


def _optimizers_of(project):
    """The texts of the modules whose parameters() an optimizer was made of, by its text."""
    out = {}
    for file in project.files.values():
        for call in file.calls:
            statement = file.parents[call]
            if not isinstance(statement, ast.Assign):
                continue
            modules = {ast.unparse(part.func.value) for part in file.calls_in(call)
                       if isinstance(part.func, ast.Attribute) and part.func.attr == "parameters"}
            for target in statement.targets if modules else ():
                out.setdefault(ast.unparse(target), set()).update(modules)
    return out
