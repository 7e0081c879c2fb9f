"""Which functions of a project may a call in its text call? Read, not run.

A function is found by its name. A method is found by its name where the object may be of a class that has it: `self`, or what the project
binds to an instance of one. So `model.train()` is no call of a class Trainer's train(). Variables and members are told apart by their last
names alone: what any `agent` or `self.agent` is bound to, all may be. What nothing binds may be of any class, and an object of a class that
the text makes nowhere may be anywhere."""
import ast
import builtins

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BINDING = (*_FUNCTIONS, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension, ast.withitem, ast.Call,
            ast.Return, ast.Yield)
_ANYTHING = 1  # the bit of what may be of any class
_OF_MODULES = {"train", "eval"}  # of what may be of any class, these are taken for methods of a torch.nn.Module
_PUTTING = {"append", "add", "appendleft", "extend", "insert", "put", "setdefault", "update"}
_GIVING_ANYTHING = {"eval", "getattr", "globals", "locals", "vars", "__import__"}


class Calls:
    """Of `files`. `functions`, `methods`: (file, function) by name. `follows`: is what variables hold asked for?"""

    def __init__(self, files, follows):
        self.functions, self.methods = {}, {}
        self._classes, self._owners, self._bits, self._definitions = {}, {}, {}, []
        for file in files:
            for node in file.nodes_in(file.tree):
                if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                    self._define(file, node)
        self._kin = {kind: self._ancestors(kind) for kinds in self._classes.values() for kind in kinds}
        self._of_kin = {}  # by a class: the bits of all that are derived from it, and its own
        for kind, ancestors in self._kin.items():
            for one in ancestors:
                self._of_kin[one] = self._of_kin.get(one, 0) | self._bits[kind]
        self._all_functions = sum(bit for node, bit in self._bits.items() if isinstance(node, _FUNCTIONS))
        self._made = {word for file in files for word in _words_used(file)}
        self._held, self._makers = {}, {}  # by a word, and by the name of a class
        self._flows, self._values = {}, {}  # of a word, or of a function that returns: its sources; their bits
        for file in files:
            for node in file.nodes_in(file.tree):
                if follows and isinstance(node, _BINDING):
                    self._bind(file, node)
        self._spread()

    def of(self, file, call):
        """Returns the functions that a call in a file may call."""
        function, found = call.func, self.held(call.func)
        if isinstance(function, ast.Attribute) and not self._is_of_module(file, function):
            return dict.fromkeys([*self._methods_of(file, function), *found])
        name = _last(function)
        return dict.fromkeys([*(node for _, node in self.functions.get(file.renamed.get(name, name), ())), *found])

    def held(self, expression):
        """Returns the functions that a variable or a member may hold: also as a method __call__() of an object."""
        word = _last(expression)
        if word is None or word in self._classes:
            return []
        if word not in self._held:
            value = self._values.get(word, 0)
            self._held[word] = [*self._in(value & self._all_functions), *self._of_kinds(value, "__call__")]
        return self._held[word]

    def _methods_of(self, file, function):
        candidates = [node for _, node in self.methods.get(function.attr, ())]
        if not candidates:
            return []
        own = next((outer for outer in file.around(function) if isinstance(outer, ast.ClassDef)), None)
        if own is not None and _is_self(file, function.value):
            return [node for node in candidates if self._owners[node] in self._kin[own] or own in self._kin[self._owners[node]]]
        value = 0
        for source in self._sources(file, function.value):
            value |= self._value_of(source)
        found = self._of_kinds(value, function.attr)
        if function.attr in _OF_MODULES:
            return found
        return candidates if value & _ANYTHING else found or [node for node in candidates if self._owners[node].name not in self._made]

    def _of_kinds(self, value, name):
        """Returns the methods of a name of the classes among the bits of a value."""
        return [node for _, node in self.methods.get(name, ()) if value & self._of_kin[self._owners[node]]]

    def _define(self, file, node):
        self._bits[node] = 2 << len(self._definitions)
        self._definitions.append(node)
        if isinstance(node, ast.ClassDef):
            self._classes.setdefault(node.name, []).append(node)
        elif file.is_method(node):
            self._owners[node] = file.parents[node]
            self.methods.setdefault(node.name, []).append((file, node))
        else:
            self.functions.setdefault(node.name, []).append((file, node))

    def _in(self, value):
        value >>= 1
        while value:
            low = value & -value
            yield self._definitions[low.bit_length() - 1]
            value ^= low

    def _ancestors(self, kind):
        """Returns a class and those of the project that it is derived from."""
        found, todo = {}, [kind]
        while todo:
            one = todo.pop()
            if one not in found:
                found[one] = True
                todo += [base for expression in one.bases for base in self._classes.get(_last(expression), ())]
        return found

    def _is_of_module(self, file, expression):
        """Is it `module.name`, of a module and not of a class that was imported?"""
        root = expression.value
        while isinstance(root, ast.Attribute):
            root = root.value
        return isinstance(root, ast.Name) and root.id in file.modules and root.id not in self._classes

    # --- what is bound to what ---

    def _bind(self, file, node):
        for target, value in _bindings(node):
            for word in _words_in(target):
                self._flow(file, word, value)
        if isinstance(node, _FUNCTIONS):
            for word, value in _given_in(node):
                self._flow(file, word, value)
        elif isinstance(node, ast.Call):
            self._bind_arguments(file, node)
        elif isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
            self._flow(file, file.function_of(node), node.value)

    def _flow(self, file, place, value):
        self._flows.setdefault(place, set()).update(self._sources(file, value))

    def _bind_arguments(self, file, call):
        name = _last(call.func)
        for keyword in call.keywords:
            if keyword.arg is not None:
                self._flow(file, keyword.arg, keyword.value)
        if name in _PUTTING and isinstance(call.func, ast.Attribute) and _last(call.func.value) is not None:
            for value in call.args:
                self._flow(file, _last(call.func.value), value)
        functions = [node for _, node in (*self.functions.get(name, ()), *self.methods.get(name, ()))]
        functions += self._makers_of(name)
        given = [set(self._sources(file, value)) for value in call.args] if functions else []
        for function in functions:
            parameters = [*function.args.posonlyargs, *function.args.args]
            is_bound = function in self._owners and not any(_last(one) == "staticmethod" for one in function.decorator_list)
            for parameter, sources in zip(parameters[is_bound:], given):
                self._flows.setdefault(parameter.arg, set()).update(sources)

    def _makers_of(self, name):
        if name in self._classes and name not in self._makers:
            self._makers[name] = self._of_kinds(sum(self._bits[kind] for kind in self._classes[name]), "__init__")
        return self._makers.get(name, [])

    def _sources(self, file, expression):
        """Yields what the value of an expression may come from: a word; (a word,) that counts only where it is bound; a function that
        returns it; a definition as a bit."""
        if isinstance(expression, (ast.Name, ast.Attribute)):
            yield from self._sources_of_name(file, expression)
        elif isinstance(expression, ast.Call):
            yield from self._sources_of_call(file, expression)
        elif isinstance(expression, ast.Subscript):
            yield from self._sources(file, expression.value)
        elif isinstance(expression, ast.Lambda):
            yield from self._sources(file, expression.body)
        else:
            for part in ast.iter_child_nodes(expression):
                if isinstance(part, (ast.expr, ast.comprehension)):
                    yield from self._sources(file, part)

    def _sources_of_name(self, file, expression):
        word, is_member = _last(expression), isinstance(expression, ast.Attribute)
        is_of_module = is_member and self._is_of_module(file, expression)
        functions = [node for _, node in (self.methods if is_member and not is_of_module else self.functions).get(word, ())]
        yield from (self._bits[node] for node in (*self._classes.get(word, ()), *functions))
        if is_member:
            yield from functions  # a property returns its value
            yield (word,) if is_of_module else word
        elif word in file.modules or hasattr(builtins, word):
            yield (word,)
        elif not functions and word not in self._classes:
            yield word

    def _sources_of_call(self, file, call):
        name, is_member = _last(call.func), isinstance(call.func, ast.Attribute)
        if name in self._classes:
            yield from (self._bits[kind] for kind in self._classes[name])
            return
        is_of_module = is_member and self._is_of_module(file, call.func)
        yield from (node for _, node in (self.methods if is_member and not is_of_module else self.functions).get(name, ()))
        if is_member:
            yield (name,)
            yield from self._sources(file, call.func.value)
        elif name in _GIVING_ANYTHING:
            yield _ANYTHING
        elif name not in self.functions:
            yield from self._sources(file, call.func)  # of a class that a variable holds
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]:  # copies and lists hold what they were given
            yield from self._sources(file, value)

    def _spread(self):
        """Gives each word and function the bits of all that flows into it."""
        into = {}
        for place, sources in self._flows.items():
            for source in sources:
                if isinstance(source, int):
                    self._values[place] = self._values.get(place, 0) | source
                    continue
                into.setdefault(source[0] if isinstance(source, tuple) else source, []).append(place)
                if isinstance(source, str) and source not in self._flows:
                    self._values[source] = _ANYTHING
        todo = list(self._values)
        while todo:
            source = todo.pop()
            for place in into.get(source, ()):
                before = self._values.get(place, 0)
                self._values[place] = before | self._values[source]
                if self._values[place] != before:
                    todo.append(place)

    def _value_of(self, source):
        if isinstance(source, int):
            return source
        if isinstance(source, str) and source not in self._flows:
            return _ANYTHING
        return self._values.get(source[0] if isinstance(source, tuple) else source, 0)


def _is_self(file, expression):
    """Is it the object of the method around it, or its super()?"""
    if isinstance(expression, ast.Call):
        return isinstance(expression.func, ast.Name) and expression.func.id == "super"
    method = next((outer for outer in file.around(expression) if isinstance(outer, _FUNCTIONS) and file.is_method(outer)), None)
    first = [*method.args.posonlyargs, *method.args.args][:1] if method is not None else []
    return isinstance(expression, ast.Name) and [one.arg for one in first] == [expression.id]


def _words_used(file):
    """Yields the names that are read, other than those that a class is derived from."""
    nodes = file.nodes_in(file.tree)
    bases = {base for node in nodes if isinstance(node, ast.ClassDef) for base in node.bases}
    yield from (_last(node) for node in nodes if isinstance(node, (ast.Name, ast.Attribute)) and node not in bases)


def _last(expression):
    while isinstance(expression, ast.Subscript):
        expression = expression.value
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else None


def _words_in(target):
    if isinstance(target, (ast.Tuple, ast.List)):
        return [word for part in target.elts for word in _words_in(part)]
    word = _last(target.value if isinstance(target, ast.Starred) else target)
    return [word] if word is not None else []


def _given_in(function):
    """Yields (parameter, value) for each fallback of a function, and for the classes that are given as a parameter's type."""
    of = function.args
    positional = [*of.posonlyargs, *of.args]
    pairs = [*zip(reversed(positional), reversed(of.defaults)), *zip(of.kwonlyargs, of.kw_defaults)]
    yield from ((one.arg, value) for one, value in pairs if value is not None and not isinstance(value, ast.Constant))
    for one in [*positional, *of.kwonlyargs]:
        yield from ((one.arg, name) for name in _types_in(one.annotation))


def _types_in(annotation):
    return [part for part in ast.walk(annotation) if isinstance(part, (ast.Name, ast.Attribute))] if annotation is not None else []


def _elements(target, iterated):
    """Returns (target, value) for what a loop binds; of `for a, b in zip(x, y)` each for itself."""
    name, given = (_last(iterated.func), iterated.args) if isinstance(iterated, ast.Call) else (None, [])
    if isinstance(target, ast.Tuple) and name == "zip" and len(target.elts) == len(given):
        return [pair for one, value in zip(target.elts, given) for pair in _elements(one, value)]
    if isinstance(target, ast.Tuple) and name == "enumerate" and len(target.elts) == 2 and given:
        return _elements(target.elts[1], given[0])
    return [(target, iterated)]


def _bindings(node):
    """Yields (target, value) of what a node binds; of `a, b = x, y` each for itself."""
    pairs = []
    if isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        pairs = [(node.target, value) for value in [node.value, *_types_in(getattr(node, "annotation", None))] if value is not None]
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        pairs = _elements(node.target, node.iter)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        pairs = [(node.optional_vars, node.context_expr)]
    for target, value in pairs:
        if all(isinstance(one, (ast.Tuple, ast.List)) for one in (target, value)) and len(target.elts) == len(value.elts):
            yield from zip(target.elts, value.elts)
        else:
            yield target, value
