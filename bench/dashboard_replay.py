#!/usr/bin/env python3
"""What `flor serve` takes while a large replay runs over a large store.

    dashboard_replay.py PROGRAM BIN [--runs 1000] [--epochs 1000] [--units 10000] [--workers 64] [--viewers 50] [--seconds 20]

PROGRAM is build/tests/rules/rules_program, BIN the directory of flor. Makes a store of copies of one recorded run, records one of --units
epochs, and replays it by --workers processes on this machine, each epoch a unit that mostly sleeps. While that goes on, prints:

- the seconds until the page of the replay stands in Chromium, and until its first paint,
- the bytes of what the server sends of the runs, and of the replay,
- the server's share of a core with --viewers viewers of the replay's page, and its memory.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from dashboard import Server, Store, browser, first_event
from replay_scaling import redis


class Replay:
    """A replay that is running."""

    def __init__(self, store, flags, url):
        store.environment.update(FLOR_REDIS=url, FLOR_BIN=flags.bin)
        before = set(store.runs())
        program = ["train", "--guard", f"--epochs={flags.units}"]
        store.record(*program, every=1)  # a unit is what lies between two checkpoints
        (self.run,) = set(store.runs()) - before
        self.process = subprocess.Popen(
            store.flor("replay", self.run, "--launcher", "local", "--workers", str(flags.workers), "--probe", "all", "--prove", "none", "--", flags.program,
                       *program, "--inner", f"--sleep={flags.sleep}"),
            env=store.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._folder = os.path.join(store.path, self.run, "replays")
        self.id = self.wait(lambda: next((name for name in os.listdir(self._folder) if self._done(name) > 0), None))

    def _done(self, name):
        units = os.path.join(self._folder, name, "units")
        return len(os.listdir(units)) if os.path.isdir(units) else 0

    def wait(self, condition):
        while not (os.path.isdir(self._folder) and condition()):
            if self.process.poll() is not None:
                raise SystemExit(f"flor replay ended with {self.process.returncode}")
            time.sleep(0.05)
        return condition()

    def done(self):
        return self._done(self.id)


def opened(driver, server, path):
    """Seconds from opening the replay's page until its chart of workers stands, and to the first paint."""
    began = time.monotonic()
    driver.get(server.link.replace("/#", path + "#"))
    while not driver.find_elements("css selector", "main canvas"):
        if time.monotonic() - began > 60:
            raise SystemExit("the replay's page does not stand after 60 s")
        time.sleep(0.01)
    stands = time.monotonic() - began
    painted = driver.execute_script("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
    driver.get("about:blank")
    return stands, painted / 1000


def watched(server, flags, data):
    """The server's share of a core while viewers read its events, and what is new of the replay as often as these name its run."""
    over = threading.Event()
    reads = []

    def view():
        stream, version = server.connect("/events"), ""
        while not over.is_set() and (line := stream.readline()):
            if line.startswith(b"data") and flags.run.encode() in line:
                text = server.connect(f"{data}?have={version}").read()
                version = json.loads(text)["version"]
                reads.append(len(text))

    for _ in range(flags.viewers):
        threading.Thread(target=view, daemon=True).start()
    time.sleep(3)
    before, read_before, began = server.cpu(), len(reads), time.monotonic()
    time.sleep(flags.seconds)
    took = time.monotonic() - began
    share, news = (server.cpu() - before) / took, reads[read_before:]
    over.set()
    return share, len(news) / took, statistics.mean(news) / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("bin")
    for name, default in (("runs", 1000), ("epochs", 1000), ("units", 10000), ("workers", 64), ("viewers", 50), ("seconds", 20), ("sleep", 500)):
        parser.add_argument("--" + name, type=int, default=default)
    flags = parser.parse_args()
    flags.program, flags.bin = os.path.abspath(flags.program), os.path.abspath(flags.bin)
    with tempfile.TemporaryDirectory() as directory, redis(directory) as url:
        store = Store(flags, directory)
        store.fill()
        replay = Replay(store, flags, url)
        flags.run = replay.run
        server, driver = Server(store), None
        data = f"/data/runs/{replay.run}/replays/{replay.id}"
        try:
            driver = browser()
            looks = [opened(driver, server, f"/run/{replay.run}/replay/{replay.id}") for _ in range(5)]
            print(f"the page of the replay: {looks[0][0]:.2f} s, then {statistics.median(look[0] for look in looks[1:]):.2f} s; "
                  f"first paint {looks[0][1]:.2f} s, then {statistics.median(look[1] for look in looks[1:]):.2f} s; {replay.done()} units are done")
            print(f"the runs: {first_event(server.connect('/events')) / 1e6:.2f} MB; the replay: {server.seconds(data)[1] / 1e6:.2f} MB")
            share, count, kilobytes = watched(server, flags, data)
            print(f"{flags.viewers} viewers, who read the replay {count:.0f} times a second together, {kilobytes:.0f} kB each: {100 * share:.1f} % of a core; "
                  f"memory {server.memory():.0f} MB; {replay.done()} units are done")
            plan = json.loads(server.connect(data).read())
            print(f"{len(plan['work']['workers'])} workers are shown")
        finally:
            if driver is not None:
                driver.quit()
            server.process.kill()
            replay.process.send_signal(signal.SIGINT)
            replay.process.wait()


if __name__ == "__main__":
    sys.exit(main())
