"""Edits of programs: read from edits/*.edits, written out, compiled. README.md describes the format."""
import fcntl
import glob
import hashlib
import os
import shlex
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILER = None  # set by probed_test.py


class Edit:
    """One case: an edit of a program and the decision that it must lead to."""

    def __init__(self, name):
        self.name = name
        self.program = self.expect = self.why = ""
        self.execute, self.lead_in, self.probes, self.withheld, self.volatile = [], [], [], [], []
        self.from_start = False
        self.replacements = []  # (file, old, new)
        self.files = {}

    def wrong(self):
        return self.expect == "wrong"

    def texts(self):
        """File name -> edited text."""
        out = program_texts(self.program)
        for file, old, new in self.replacements:
            whole = "\n" + out[file]
            if whole.count("\n" + old + "\n") != 1:
                raise ValueError(f"{self.name}: the text to replace occurs {whole.count(old)} times in {file}")
            out[file] = whole.replace("\n" + old + "\n", "\n" + new + "\n")[1:]
        out.update(self.files)
        return out


def program_texts(program):
    folder = os.path.join(HERE, "programs", program)
    out = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as file:
            out[name] = file.read()
    return out


def text_until(lines, end):
    out = []
    for line in lines:
        if line == end:
            return "\n".join(out)
        out.append(line)
    raise ValueError(f"'{end}' is missing")


def read_case(name, lines):
    edit = Edit(name)
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "end":
            return edit
        if word in ("program", "expect", "why"):
            setattr(edit, word, rest)
        elif word in ("execute", "lead_in", "probes", "withheld", "volatile"):
            setattr(edit, word, rest.split())
        elif word == "from_start":
            edit.from_start = True
        elif word == "in" and next(lines) == "<<<<":
            edit.replacements.append((rest, text_until(lines, "===="), text_until(lines, ">>>>")))
        elif word == "new" and next(lines) == "<<<<":
            edit.files[rest] = text_until(lines, ">>>>") + "\n"
        else:
            raise ValueError(f"{name}: '{line}' has no meaning")
    raise ValueError(f"{name}: 'end' is missing")


def read_edits():
    """All cases, in order of file and text."""
    edits = []
    for path in sorted(glob.glob(os.path.join(HERE, "edits", "*.edits"))):
        with open(path) as file:
            lines = iter(file.read().splitlines())
        for line in lines:
            if line.startswith("case "):
                edits.append(read_case(line[len("case "):], lines))
            elif line and not line.startswith("#"):
                raise ValueError(f"{path}: '{line}' stands outside of a case")
    names = [edit.name for edit in edits]
    if len(set(names)) != len(names):
        raise ValueError("two cases have one name")
    return edits


class Compiler:
    """Compiles programs into a folder of the build tree; what is there already, from the same texts, is reused."""

    def __init__(self, command, library, work):
        self.command, self.library, self.work = shlex.split(command), library, work

    def key(self, texts):
        digest = hashlib.sha256(repr((self.command, sorted(texts.items()))).encode())
        headers = glob.glob(os.path.join(HERE, "mini", "**", "*.h"), recursive=True)
        for path in [*sorted(headers), os.path.join(HERE, "..", "rules", "program", "frontend.h")]:
            with open(path, "rb") as file:
                digest.update(file.read())
        return digest.hexdigest()

    def build(self, name, texts):
        """The path of the program."""
        folder = os.path.join(self.work, name)
        os.makedirs(folder, exist_ok=True)
        program, stamp, key = os.path.join(folder, "train"), os.path.join(folder, "stamp"), self.key(texts)
        with open(os.path.join(folder, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.exists(stamp):
                with open(stamp) as file:
                    if file.read() == key:
                        return program
                os.remove(stamp)
            for file_name, text in texts.items():
                with open(os.path.join(folder, file_name), "w") as file:
                    file.write(text)
            subprocess.run([*self.command, os.path.join(folder, "train.cpp"), "-o", program, self.library,
                            "-Wl,-rpath," + os.path.dirname(self.library)], check=True)
            with open(stamp, "w") as file:
                file.write(key)
        return program
