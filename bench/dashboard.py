#!/usr/bin/env python3
"""What `flor serve` takes for a large store that is being watched.

    dashboard.py PROGRAM BIN [--runs 1000] [--epochs 1000] [--viewers 50] [--seconds 30] [--points 1000000]

PROGRAM is build/tests/rules/rules_program, BIN the directory of flor. Makes a store of copies of one recorded run, and
records another one meanwhile, so that viewers always have something new. Prints:

- the seconds until the list stands, in Chromium (first look of the server, and a second one), and the size of the snapshot,
- the memory of the server, and its share of a core while the viewers' event streams are open,
- for a run with --points rows: how long the server takes for a chart of it, first and for parts of it, and the frames a
  second that Chromium draws while the cursor moves over the chart.
"""
import argparse
import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time


class Store:
    def __init__(self, flags, directory):
        self.flags, self.path = flags, os.path.join(directory, "store")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("FLOR_", "SLURM_"))}
        self.environment.update(FLOR_STORE=self.path, FLOR_AGENT_SOCKET=os.path.join(directory, "agent.sock"))

    def flor(self, *words):
        return [os.path.join(self.flags.bin, "flor"), *words]

    def record(self, *program, every=100):
        subprocess.run(self.flor("record", "--every", str(every), "--", self.flags.program, *program), env=self.environment, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def runs(self):
        return [name for name in os.listdir(self.path) if not name.startswith(".")]

    def fill(self):
        """Copies one run, with an id, a start and arguments of its own for each."""
        self.record("train", "--guard", f"--epochs={self.flags.epochs}")
        (first,) = self.runs()
        with open(os.path.join(self.path, first, "run.json")) as file:
            manifest = json.load(file)
        for i in range(1, self.flags.runs):
            run = f"20260101-000000-{i:016x}"
            shutil.copytree(os.path.join(self.path, first), os.path.join(self.path, run), copy_function=os.link)
            path = os.path.join(self.path, run, "run.json")
            os.remove(path)
            with open(path, "w") as file:
                json.dump({**manifest, "id": run, "name": f"run-{i}", "started": manifest["started"] + i,
                           "args": {"lr": str(i / 1000), "seed": str(i)}}, file)

    def long_run(self):
        """A run whose log has --points rows, in the form in which they are recorded."""
        run = os.path.join(self.path, "20260102-000000-0000000000000001")
        shutil.copytree(os.path.join(self.path, "20260101-000000-0000000000000001"), run)
        with open(os.path.join(run, "run.json")) as file:
            manifest = json.load(file)
        manifest.update(id=os.path.basename(run), name="long")
        with open(os.path.join(run, "run.json"), "w") as file:
            json.dump(manifest, file)
        with open(os.path.join(run, "log.jsonl"), "w") as file:
            for i in range(self.flags.points):
                file.write(f'{{"name":"loss","value":{1 / (1 + i % 977)!r},"epoch":{i},"@at":"epoch={i}"}}\n')
        return os.path.basename(run)


class Server:
    def __init__(self, store):
        self.process = subprocess.Popen(store.flor("serve"), env=store.environment, stdout=subprocess.PIPE, text=True)
        link = re.search(r"http://([0-9.:]+)/#token=(\w+)", self.process.stdout.readline())
        self.address, self.token, self.link = link[1], link[2], link[0]

    def connect(self, path):
        connection = http.client.HTTPConnection(self.address, timeout=120)
        connection.request("GET", path, headers={"Authorization": "Bearer " + self.token})
        return connection.getresponse()

    def seconds(self, path):
        began = time.monotonic()
        size = len(self.connect(path).read())
        return time.monotonic() - began, size

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1024


def first_event(stream):
    size = 0
    while True:
        line = stream.readline()
        size += len(line)
        if line == b"\n":
            return size


def browser():
    from selenium import webdriver
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,720"):
        options.add_argument(word)
    return webdriver.Chrome(options=options, service=webdriver.chrome.service.Service("/usr/bin/chromedriver"))


def looked_at(driver, server, count):
    """Seconds from opening the page to its list, and to its first paint."""
    began = time.monotonic()
    driver.get(server.link)
    while f"of {count}" not in driver.execute_script("return document.querySelector('main').textContent"):
        time.sleep(0.01)
    seen = time.monotonic() - began
    painted = driver.execute_script("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
    driver.get("about:blank")
    return seen, painted / 1000


def watched(server, store, viewers, seconds):
    """The server's share of a core while this many event streams are read and a run is recorded."""
    streams = [server.connect("/events") for _ in range(viewers)]
    read = [0] * viewers

    def follow(i):
        try:
            while line := streams[i].readline():
                read[i] += len(line)
        except OSError:
            pass

    for i in range(viewers):
        threading.Thread(target=follow, args=(i,), daemon=True).start()
    recording = subprocess.Popen(store.flor("record", "--every", "100", "--", store.flags.program, "train", "--guard", "--epochs=100000",
                                            "--sleep=20"), env=store.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(3)
    before, bytes_before, began = server.cpu(), sum(read), time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - began
    share, sent = (server.cpu() - before) / took, (sum(read) - bytes_before) / took / viewers
    recording.kill()
    recording.wait()
    return share, sent


def frames(driver, server, run, seconds=4):
    """Frames a second while the cursor moves over the chart."""
    driver.get(server.link)
    time.sleep(1)
    driver.get(f"http://{server.address}/run/{run}")
    while not driver.find_elements("css selector", ".chart canvas"):
        time.sleep(0.1)
    return driver.execute_async_script("""
      const [seconds, done] = arguments;
      const over = document.querySelector('.chart .u-over');
      const box = over.getBoundingClientRect();
      const mouse = (kind, x) => over.dispatchEvent(new MouseEvent(kind, {clientX: box.left + x, clientY: box.top + 50, bubbles: true, buttons: 1}));
      const times = [];
      const began = performance.now();
      const step = (now) => {
        times.push(now);
        mouse('mousemove', ((now - began) / 5) % box.width);
        if (now - began < seconds * 1000) requestAnimationFrame(step); else done((times.length - 1) / ((times.at(-1) - times[0]) / 1000));
      };
      requestAnimationFrame(step);
    """, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("bin")
    for name, default in (("runs", 1000), ("epochs", 1000), ("viewers", 50), ("seconds", 30), ("points", 1000000)):
        parser.add_argument("--" + name, type=int, default=default)
    flags = parser.parse_args()
    flags.program, flags.bin = os.path.abspath(flags.program), os.path.abspath(flags.bin)
    with tempfile.TemporaryDirectory() as directory:
        store = Store(flags, directory)
        store.fill()
        server = Server(store)
        driver = browser()
        try:
            looks = [looked_at(driver, server, flags.runs) for _ in range(6)]
            print(f"list of {flags.runs} runs: first look {looks[0][0]:.2f} s, then {statistics.median(look[0] for look in looks[1:]):.2f} s "
                  f"(first paint {looks[0][1]:.2f} s, then {statistics.median(look[1] for look in looks[1:]):.2f} s)")
            print(f"snapshot: {first_event(server.connect('/events')) / 1e6:.2f} MB; memory of the server: {server.memory():.0f} MB")
            share, sent = watched(server, store, flags.viewers, flags.seconds)
            print(f"{flags.viewers} viewers: {100 * share:.1f} % of a core, {sent / 1000:.1f} kB/s to each; memory {server.memory():.0f} MB")
            run = store.long_run()
            chart = f"/data/runs/{run}/series?name=loss&points=2000"
            first, size = server.seconds(chart)
            again = statistics.median(server.seconds(chart + f"&from={i * 1000}&to={flags.points // 2 + i * 1000}")[0] for i in range(9))
            print(f"a chart of {flags.points} rows: first {first:.2f} s, a part of it then {1000 * again:.0f} ms, {size / 1000:.0f} kB; "
                  f"{frames(driver, server, run):.0f} frames a second; memory {server.memory():.0f} MB")
        finally:
            driver.quit()
            server.process.kill()


if __name__ == "__main__":
    sys.exit(main())
