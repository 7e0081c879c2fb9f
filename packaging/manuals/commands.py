"""The commands and their flags, as their own `--help` lists them: the source of docs/reference.md, too."""
import dataclasses
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _load_reference():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("reference", str(ROOT / "scripts/reference"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("reference", loader))
    loader.exec_module(module)
    return module


reference = _load_reference()


@dataclasses.dataclass
class Flag:
    names: list
    value: str  # what the value is called, "" for a flag without one
    choices: list
    count: int  # how many words follow the flag
    text: str


@dataclasses.dataclass
class Command:
    words: list  # flor replay
    purpose: str
    usage: str  # "" where the purpose gives none
    arguments: list  # (name, text)
    flags: list
    commands: list

    @property
    def name(self):
        return "-".join(self.words)

    @property
    def takes_program(self):
        return " -- " in self.usage or any(" -- " in text for flag in self.flags for text in [flag.text])


def parse_flag(name, text):
    name = re.sub(r" (Needs|Excludes): .*|=\S+| \(Env:[^)]*\)", "", name)
    flags, _, value = name.partition(" ")
    choices = re.search(r"\{(.*)\}", value)
    count = re.search(r" x (\d+)", value)
    value = re.sub(r"( x \d+| \.\.\.| REQUIRED)+$", "", value)
    value = value.partition(":")[0]
    return Flag(flags.split(","), value, choices[1].split(",") if choices else [],
                int(count[1]) if count else int(bool(value)), text)


def parse_command(words, help_text, child):
    """`child(words)` gives the command of that name."""
    purpose, groups = reference.parse_help(help_text)
    purpose, colon, usage = purpose.partition(": flor ")
    below = [child([*words, name]) for name, _ in groups.pop("Subcommands", [])]
    rows = [row for found in groups.values() for row in found]
    return Command(words, purpose, (colon + usage)[2:],
                   [(name.split()[0].upper(), text) for name, text in rows if not name.startswith("-")],
                   [parse_flag(name, text) for name, text in rows if name.startswith("-")], below)


def read_commands(build):
    """The trees of `flor` and of `flor-agent`."""
    def ask(words):
        binary = build / "bin" / words[0]
        return parse_command(words, reference.output_of([binary, *words[1:], "--help"]), ask)

    return ask(["flor"]), ask(["flor-agent"])
