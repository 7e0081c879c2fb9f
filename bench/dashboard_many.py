#!/usr/bin/env python3
"""How the dashboard's page bears much of one kind: names in a run, runs in a chart, arguments in a table.

    dashboard_many.py PROGRAM BIN [--names 2000] [--runs 200] [--points 2000] [--arguments 10000]

PROGRAM is build/tests/rules/rules_program, BIN the directory of flor. Prints for each view, in Chromium: the seconds from opening it
until it stands, the longest time that the page did not answer, then and while it is scrolled, and the memory of its heap. The views
are a run with --names names, --runs runs of --points rows each in one chart, and two runs with --arguments other arguments compared.
"""
import argparse
import json
import os
import sys
import tempfile
import time

from dashboard import Server, Store, browser

WATCH = """
  window.tasks = [];
  new PerformanceObserver((list) => list.getEntries().forEach((one) => tasks.push(one.duration))).observe({type: 'longtask', buffered: true});
"""


class Many(Store):
    def __init__(self, flags, directory):
        super().__init__(flags, directory)
        self.record("train", "--guard", "--epochs=10")
        (first,) = self.runs()
        with open(os.path.join(self.path, first, "run.json")) as file:
            self.manifest = json.load(file)

    def add(self, number, name, rows, args=None):
        """A run with these rows, as (name, value, epoch). Returns its id."""
        run = f"20260101-000000-{number:016x}"
        epochs = max(epoch for _, _, epoch in rows) + 1
        loop = {**self.manifest["loops"][0], "iterations": epochs, "last": epochs - 1, "end": epochs}
        os.makedirs(os.path.join(self.path, run))
        with open(os.path.join(self.path, run, "run.json"), "w") as file:
            json.dump({**self.manifest, "id": run, "name": name, "started": 1.7e9 + number, "args": args or {}, "loops": [loop]}, file)
        with open(os.path.join(self.path, run, "log.jsonl"), "w") as file:
            for row, value, epoch in rows:
                file.write(json.dumps({"name": row, "value": value, "epoch": epoch, "@at": f"epoch={epoch}"}) + "\n")
        return run


def looked_at(driver, server, path, stands):
    """Opens a view, waits until the script `stands` is true, and scrolls through it."""
    driver.get(server.link)
    while "of " not in driver.execute_script("return document.querySelector('main').textContent"):
        time.sleep(0.02)
    began = time.monotonic()
    driver.get(f"http://{server.address}{path}")
    driver.execute_script(WATCH)
    while not driver.execute_script(f"return Boolean({stands})"):
        time.sleep(0.02)
        if time.monotonic() - began > 300:
            raise SystemExit(f"{path[:80]} does not stand after 300 s")
    seconds = time.monotonic() - began
    opening = driver.execute_script("const longest = Math.max(0, ...tasks); tasks.length = 0; return longest")
    driver.execute_async_script("""
      const done = arguments[0];
      const step = (count) => { scrollBy(0, 200); if (count > 0) requestAnimationFrame(() => step(count - 1)); else setTimeout(done, 500); };
      step(120);
    """)
    scrolling = driver.execute_script("return Math.max(0, ...tasks)")
    heap = driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"]
    return f"{seconds:.1f} s until it stands, at most {opening:.0f} ms without an answer, {scrolling:.0f} ms while it is scrolled; {heap / 1e6:.0f} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("bin")
    for name, default in (("names", 2000), ("runs", 200), ("points", 2000), ("arguments", 10000)):
        parser.add_argument("--" + name, type=int, default=default)
    flags = parser.parse_args()
    flags.program, flags.bin = os.path.abspath(flags.program), os.path.abspath(flags.bin)
    with tempfile.TemporaryDirectory() as directory:
        store = Many(flags, directory)
        names = store.add(1, "names", [(f"metric/{name:04}", (name * epoch) % 17, epoch) for epoch in range(50) for name in range(flags.names)])
        overlaid = [store.add(2 + run, f"run-{run}", [("loss", 1 / (1 + (epoch + run) % 97), epoch) for epoch in range(flags.points)])
                    for run in range(flags.runs)]
        pair = [store.add(100000 + run, f"pair-{run}", [("loss", 1.0, 0)], {f"argument-{i:05}": f"{i * run}" for i in range(flags.arguments)})
                for run in (1, 2)]
        server = Server(store)
        driver = browser()
        try:
            charts = "document.querySelectorAll('.chart canvas').length"
            print(f"a run with {flags.names} names: " + looked_at(driver, server, f"/run/{names}", f"{charts} > 2"))
            done = f"{charts} > 0 && !/loaded \\d+ of/.test(document.body.textContent)"
            print(f"{flags.runs} runs of {flags.points} rows in one chart: " +
                  looked_at(driver, server, f"/run/{overlaid[0]}?with=" + ",".join(overlaid[1:]), done))
            stands = "document.querySelectorAll('table th').length > 3 && !/loaded \\d+ of/.test(document.body.textContent)"
            address = "/compare?runs=" + ",".join(pair)
            print(f"{flags.arguments} arguments compared: " + looked_at(driver, server, address, stands))
            last = f"argument-{flags.arguments - 1:05}"
            print(f"{last} searched for: " +
                  looked_at(driver, server, f"{address}&find={last}", f"{stands} && document.querySelector('table').textContent.includes('{last}')"))
            print(f"memory of the server: {server.memory():.0f} MB")
        finally:
            driver.quit()
            server.process.kill()


if __name__ == "__main__":
    sys.exit(main())
