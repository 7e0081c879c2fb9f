"""Writes the manual pages and the completions of bash and zsh.

    python3 packaging/manuals --build BUILD --output FOLDER --version VERSION"""
import argparse
import gzip
import pathlib

import commands
import completions
import man_pages


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=pathlib.Path, required=True)
    options.add_argument("--output", type=pathlib.Path, required=True)
    options.add_argument("--version", required=True)
    given = options.parse_args()
    flor, agent = commands.read_commands(given.build.resolve())
    page = (commands.ROOT / "docs/reference.md").read_text()
    for name, text in man_pages.pages(flor, agent, given.version, page).items():
        folder = given.output / f"man{name[-1]}"
        folder.mkdir(parents=True, exist_ok=True)
        # Without a time in it the same text is the same file.
        (folder / (name + ".gz")).write_bytes(gzip.compress(text.encode(), mtime=0))
    (given.output / "flor").write_text(completions.bash(flor))
    (given.output / "flor-agent").write_text(completions.bash(agent))
    (given.output / "_flor").write_text(completions.zsh(flor, agent))


if __name__ == "__main__":
    main()
