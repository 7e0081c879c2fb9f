"""Does an iteration of the main loop leave gradients to the next, which a step of an optimizer then takes? Read, not run.

It does where a step() may come before the gradients are cleared (accumulation, whose last batches no step took), and they need
not be cleared at its end. Checkpoints then hold the values of gradients, which else they leave out (docs/semantics.md, rule 3).
Whatever zero_grad() is called on counts by itself; a backward() may add to all of them. What is not clear counts as leaving
some: checkpoints are larger then, and right. Functions of installed packages are not followed: a step() in one is not seen."""
import ast

from ._scopes import Scopes

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MOST_STATEMENTS = 20000  # that are followed: of a larger project the answer is that it leaves some


_TOUCHING = {"grad", "zero_grad", "zero_", "backward", "step"}


class Gradients:
    """What a project does with gradients, as its files were read."""

    def __init__(self, project):
        self._project = project
        self.trained_by = _optimizers_of(project)
        self._scopes = Scopes(project)
        self._touching = _functions_touching(project)

    def are_left_by(self, file, loop):
        walk = _Walk(self, file, loop)
        try:
            end = walk.iteration(file, loop)
        except _TooLong:
            return True
        return bool(end.dirty & walk.used)

    def thing(self, file, node, text):
        """Returns what a text at a node stands for, as a key."""
        return self._scopes.of(file, node, text), text

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
        self._known_bits = (1 << len(self._bits)) - 1
        self._other = 1 << len(self._bits)  # all else, which nothing clears
        self._all = self._known_bits | self._other

    def iteration(self, file, loop):
        exits = {"continue": [], "break": [], "return": []}
        end = self._through(file, loop.body, _State(0, 0), exits)
        return _join([end, *exits["continue"]]) or _State(0, 0)

    def _cleared_in(self, file, loop):
        """What zero_grad() is called on, in all that the loop may call, with its bits."""
        found, seen, todo = {}, set(), [(file, loop)]
        while todo:
            owner, node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            for part in owner.nodes_in(node):
                text = _cleared_by_loop(part)
                if text is not None:
                    found.setdefault(self._gradients.thing(owner, part, text), 1 << len(found))
            for call in owner.calls_in(node):
                if isinstance(call.func, ast.Attribute) and call.func.attr == "zero_grad":
                    found.setdefault(self._gradients.thing(owner, call, ast.unparse(call.func.value)), 1 << len(found))
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
        text = _cleared_by_loop(node)
        if end is not None and text is not None:
            end = self._cleared(end, self._gradients.thing(file, node, text))
        return self._through(file, node.orelse, end, exits) if end is not None else None

    def _cleared(self, state, thing):
        bit = self._bits.get(thing, 0)
        return _State(state.cleared | bit, state.dirty & ~bit)

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
            self.used |= (self._known_bits or self._other) & ~state.cleared
        if isinstance(node, ast.Assign) and not _is_none(node.value) and any(map(_is_gradient, node.targets)):
            state = _State(state.cleared, self._all)
        return state

    def _call(self, file, call, state):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else None
        for value in _called(call):  # a closure before what is done with its gradients
            # Of several of one name, as of a class and one that is derived from it, it is any.
            state = _join([self._function(owner, function, state) for owner, function in self._gradients.functions(file, value)]) or state
        if name == "zero_grad":
            return self._cleared(state, self._gradients.thing(file, call, ast.unparse(call.func.value)))
        if name == "backward":
            return _State(state.cleared, self._all)
        if name == "step":
            self.used |= self._taken_by(file, call) & ~state.cleared
        return state

    def _taken_by(self, file, call):
        """The bits of what a step takes gradients from: what its optimizer is cleared by. Where the text does not tell what that trains, it
        may be all that is cleared here, as of a scheduler; of what is called an optimizer, only where that is one thing."""
        words = [ast.unparse(call.func.value), *(ast.unparse(value) for value in call.args)]  # scaler.step(optimizer)
        of = self._gradients.trained_by
        bits = 0
        for text in {text for word in words for text in (word, *of.get(word, ()))}:
            bits |= self._bits.get(self._gradients.thing(file, call, text), 0)
        is_told = any(word in of for word in words) or ("opt" in words[0].lower() and len(self._bits) > 1)
        return bits or (0 if is_told else self._known_bits) or self._other

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


def _cleared_by_loop(node):
    """Returns the text of a module whose gradients a loop over its parameters clears, as `for p in net.parameters(): p.grad = None`."""
    if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call) or not isinstance(node.iter.func, ast.Attribute) or \
            node.iter.func.attr not in ("parameters", "named_parameters"):
        return None
    name = node.target.elts[-1] if isinstance(node.target, ast.Tuple) else node.target
    body = [*node.body, *(part for one in node.body if isinstance(one, ast.If) and _asks_for_gradient(one.test) for part in one.body)]
    is_cleared = isinstance(name, ast.Name) and any(_clears(one, name.id) for one in body)
    return ast.unparse(node.iter.func.value) if is_cleared else None


def _clears(statement, name):
    """Is it `NAME.grad = None` or `NAME.grad.zero_()`?"""
    if isinstance(statement, ast.Assign):
        return _is_none(statement.value) and any(_is_gradient(one, name) for one in statement.targets)
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "zero_" and _is_gradient(call.func.value, name)


def _asks_for_gradient(test):
    """Is it `p.grad is not None`, or `p.grad` alone?"""
    return _is_gradient(test.left if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) else test)


def _is_gradient(node, name=None):
    return isinstance(node, ast.Attribute) and node.attr == "grad" and (name is None or isinstance(node.value, ast.Name) and node.value.id == name)


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def _called(call):
    return [call.func, *call.args, *(keyword.value for keyword in call.keywords)]


def _optimizers_of(project):
    """The texts of the modules whose parameters() an optimizer was made of, by its text."""
    out = {}
    for file in project.files.values():
        for call in file.calls:
            targets = _targets_of(file, call)
            modules = {ast.unparse(part.func.value) for part in file.calls_in(call)
                       if isinstance(part.func, ast.Attribute) and part.func.attr == "parameters"} if targets else ()
            for target in targets if modules else ():
                out.setdefault(ast.unparse(target), set()).update(modules)
    return out


def _targets_of(file, call):
    """Returns what a call's value is bound to: also of one in `a, b = f(), g()`."""
    around = file.parents[call]
    if isinstance(around, ast.Tuple) and isinstance(file.parents[around], ast.Assign):
        place, statement = around.elts.index(call), file.parents[around]
        pairs = [one.elts for one in statement.targets if isinstance(one, ast.Tuple) and len(one.elts) == len(around.elts)]
        return [elements[place] for elements in pairs]
    if isinstance(around, ast.AnnAssign):
        return [around.target]
    return around.targets if isinstance(around, ast.Assign) and around.value is call else []
