"""The page in a real browser, while a recording and a replay run: page.py RULES_PROGRAM BIN SCREENSHOTS."""
import json
import os
import re
import shutil
import signal
import sys
import unittest

from selenium.webdriver.common.by import By

from browser import Case, harness


class Page(Case):
    def test_a_recording_is_seen_while_it_runs_and_its_replay_as_well(self):
        reached, until = self.path("until.reached"), self.path("until")
        program = ["train", "--guard", "--hold=3", "--in=recording", "--until=" + until]
        recording = self.start("record", "--name", "held", "--every", "1", "--", self.program(), *program)
        self.wait_for(lambda: os.path.exists(reached), "epoch 3")
        _, link = self.serve()
        self.driver.get(link)
        self.until(lambda: "recording" in self.text() and "3/6" in self.text())
        self.assertNotIn("token", self.driver.current_url)
        self.mark()
        open(until, "w").close()
        recording.communicate(timeout=60)
        self.until(lambda: "completed" in self.text() and "6/6" in self.text())
        self.assertTrue(self.is_marked(), "it changes without being loaded anew")
        self.shoot("runs")

        self.driver.find_element(By.LINK_TEXT, "held").click()
        self.until(lambda: self.driver.find_elements(By.CSS_SELECTOR, ".chart canvas"))
        self.assertRegex(self.driver.current_url, r"/run/[0-9a-f-]+$")
        run = self.newest_run()
        answer = run.replay(*program, "--inner", probe="all", workers=2)
        address = self.driver.current_url + "/replay/" + os.path.basename(answer.path)
        self.assertIn("watch it: " + address + "\n", answer.output)
        self.until(lambda: "identical" in self.text())
        self.assertTrue(self.is_marked())
        self.driver.find_element(By.TAG_NAME, "summary").click()
        self.driver.find_element(By.XPATH, "//label[contains(., 'by time')]/input").click()
        self.until(lambda: "seconds computed" in self.text() and "axis=time" in self.driver.current_url)
        self.until(lambda: re.search(r"Checkpoints cost .* of .* computed: .* %, taken every 1 as asked for", self.text()))
        self.shoot("run")
        self.driver.find_element(By.CSS_SELECTOR, "a[href*='/replay/']").click()
        self.until(lambda: "units, 0 differ" in self.text())
        self.shoot("replay")
        self.driver.refresh()
        self.until(lambda: "units, 0 differ" in self.text())
        self.driver.back()
        self.until(lambda: "Sources" in self.text())
        self.assert_quiet()

    def test_what_fails_in_a_replay_stands_at_the_top(self):
        mended = self.path("mended")
        program = ["train", "--guard", "--inner", "--crash=2", "--unless=" + mended]
        run = self.record(*program)
        run.ask(*program, probe="all", workers=2, code=1)
        replay = os.path.basename(run.newest_replay())
        self.driver.get(self.serve()[1])
        self.until(lambda: "1–1 of 1" in self.text())
        self.driver.get(f"{self.driver.current_url.split('?')[0]}run/{run.id}/replay/{replay}")
        self.until(lambda: "unit 2 failed 3 times" in self.top())
        self.assertIn("the data of this epoch cannot be read", self.top())
        self.assertIn("5 of 6 units are done and kept", self.top())
        self.shoot("replay-failed")
        open(mended, "w").close()
        run.ask(*program, probe="all")
        self.until(lambda: "identical" in self.text())
        self.assertFalse(self.driver.find_elements(By.CSS_SELECTOR, ".warnings.bad"))
        self.assertIn("unit 2 failed 3 times", self.text())
        self.assertIn("going on with replay", self.text())
        self.assert_quiet()

    def top(self):
        return self.driver.execute_script("return [...document.querySelectorAll('.warnings.bad')].map((one) => one.innerText).join('')")

    def test_a_replay_is_watched_worker_by_worker(self):
        run = self.record("train", "--guard")
        until = self.path("replaying")
        replay = self.start("replay", run.id, "--launcher", "local", "--workers", "2", "--probe", "all", "--", harness.PROGRAM,
                            "train", "--guard", "--inner", "--hold=3", "--in=replaying", "--until=" + until)
        self.wait_for(lambda: os.path.exists(until + ".reached"), "epoch 3 of the replay")
        link = self.serve()[1]
        self.driver.get(link)
        self.until(lambda: "1–1 of 1" in self.text())
        path = run.newest_replay()
        self.driver.get(f"{self.driver.current_url.split('?')[0]}run/{run.id}/replay/{os.path.basename(path)}")
        self.until(lambda: re.search(r"\bunit 3\b", self.text()))
        self.mark()
        held = [worker for worker in harness.work_of(path) if harness.work_of(path)[worker][-1] == {"unit": 3}]
        with open(os.path.join(path, "workers", held[0] + ".json")) as file:
            os.kill(json.load(file)["pid"], signal.SIGKILL)
        open(until, "w").close()
        replay.communicate(timeout=60)
        self.assertEqual(replay.returncode, 0)
        self.until(lambda: "identical" in self.text() and "executed again" in self.text())
        self.assertTrue(self.is_marked())
        self.assertNotRegex(self.text(), r"\bunit 3\b")
        done = sorted(line["unit"] for lines in harness.work_of(path).values() for line in lines if "seconds" in line)
        self.assertEqual(done[:6], list(range(6)), "the rest are proof units")
        self.assertEqual(self.units_shown(), {worker: sum("seconds" in line for line in lines)
                                              for worker, lines in harness.work_of(path).items()},
                         "what was sent before and what was new, once each")
        self.shoot("replay-killed")
        self.assert_quiet()

    def units_shown(self):
        """How many units the page shows as done, by worker."""
        rows = self.driver.execute_script(
            "return [...document.querySelectorAll('[aria-label=\"Workers\"] tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))")
        return {cells[0]: int(cells[3]) for cells in rows}

    def test_the_page_goes_on_when_its_server_comes_back(self):
        run = self.record("train")
        server, link = self.serve()
        port = re.search(r":(\d+)/", link)[1]
        self.driver.get(link)
        self.until(lambda: "1–1 of 1" in self.text())
        server.send_signal(signal.SIGINT)
        server.wait(30)
        self.assertNotIn("watch it: http", run.ask("train").stdout, "nobody serves it any more")
        connection = self.driver.find_element(By.ID, "connection")
        self.until(lambda: "no connection" in connection.text)
        self.record("train")
        self.assertIn("1–1 of 1", self.text())
        link = self.serve(port)[1]
        self.until(lambda: "open the link that `flor serve` printed" in connection.text)
        self.assertIn("1–1 of 1", self.text(), "what was seen stays")
        self.driver.get("about:blank")  # an address that differs in its end alone loads nothing
        self.driver.get(link)
        self.until(lambda: "1–2 of 2" in self.text())

    def test_a_cut_event_stream_goes_on_where_it_was(self):
        self.record("train")
        self.driver.get(self.serve()[1])
        self.until(lambda: "1–1 of 1" in self.text())
        self.mark()
        offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
        self.record("train")
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {**offline, "offline": False})
        self.until(lambda: "1–2 of 2" in self.text())
        self.assertTrue(self.is_marked())

    def test_runs_are_compared(self):
        for rate, loss, name in (("0.1", 0.25, "first"), ("0.5", 0.125, "second")):
            run = self.record("train", flags=("--name", name))
            with open(run.file("run.json")) as file:
                manifest = json.load(file)
            with open(run.file("run.json"), "w") as file:
                json.dump({**manifest, "args": {"rate": rate, "seed": "7"}}, file)
            with open(run.file("log.jsonl"), "a") as file:
                file.write(json.dumps({"name": "loss", "value": loss, "epoch": 5, "@at": "epoch=5"}) + "\n")
        self.driver.get(self.serve()[1])
        self.until(lambda: "1–2 of 2" in self.text())
        button = self.driver.find_element(By.XPATH, "//button[text()='Compare']")
        self.assertFalse(button.is_enabled())
        for box in self.driver.find_elements(By.CSS_SELECTOR, "tbody input[type=checkbox]"):
            box.click()
        button.click()
        self.until(lambda: "Runs compared" in self.text() and "loss" in self.text())
        self.until(lambda: "loaded" not in self.text())
        cells = lambda: [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")]  # noqa: E731
                         for row in self.driver.find_elements(By.CSS_SELECTOR, "table tr")]
        head, *rows = cells()
        self.assertEqual(len(rows), 2)
        self.assertIn("rate", head)
        self.assertEqual({row[0]: row[head.index("loss")] for row in rows}, {"first": "0.25", "second": "0.125"})
        self.assertIn("The same in all: seed=7", self.text())
        self.assertNotIn("Sources", head, "they are the same")
        self.driver.find_element(By.XPATH, "//th/button[text()='rate']").click()
        self.assertEqual([row[head.index("rate")] for row in cells()[1:]], ["0.1", "0.5"])
        self.driver.find_element(By.XPATH, "//th/button[text()='rate']").click()
        self.assertEqual([row[head.index("rate")] for row in cells()[1:]], ["0.5", "0.1"])
        self.driver.find_element(By.XPATH, "//option[text()='lowest value']").click()
        for part in ("sort=arg+rate", "order=down", "value=min"):
            self.assertIn(part, self.driver.current_url)
        before = cells()
        self.driver.refresh()
        self.until(lambda: cells() == before)
        self.shoot("compare")
        self.assert_quiet()

    # More than the list of runs has room for.
    def test_many_arguments_are_compared_by_pages_and_by_search(self):
        for value in ("a", "b"):
            run = self.record("train")
            with open(run.file("run.json")) as file:
                manifest = json.load(file)
            with open(run.file("run.json"), "w") as file:
                json.dump({**manifest, "args": {f"argument-{i:03}": value * 100 for i in range(300)}}, file)
        self.driver.get(self.serve()[1])
        self.until(lambda: "1–2 of 2" in self.text())
        for box in self.driver.find_elements(By.CSS_SELECTOR, "tbody input[type=checkbox]"):
            box.click()
        self.driver.find_element(By.XPATH, "//button[text()='Compare']").click()
        heads = lambda: [head.text for head in self.driver.find_elements(By.CSS_SELECTOR, "thead th")]  # noqa: E731
        self.until(lambda: re.search(r"columns 1–50 of 30\d", self.text()))
        self.assertEqual(len(heads()), 51)
        self.driver.find_element(By.XPATH, "//button[text()='Next →']").click()
        self.until(lambda: "argument-052" in heads())
        self.assertIn("page=2", self.driver.current_url)
        self.driver.find_element(By.CSS_SELECTOR, "input[type=search]").send_keys("argument-299")
        self.until(lambda: heads() == ["Run", "argument-299"])
        self.assertIn("columns 1–1 of 1 that fit", self.text())
        self.driver.refresh()
        self.until(lambda: heads() == ["Run", "argument-299"])
        self.shoot("compare-many")
        self.assert_quiet()

    def test_a_job_array_has_a_page(self):
        for task in (10, 2):
            run = self.record("train", "--guard", flags=("--name", f"task-{task}"),
                              env={"SLURM_JOB_ID": str(70 + task), "SLURM_ARRAY_JOB_ID": "70", "SLURM_ARRAY_TASK_ID": str(task)})
            with open(run.file("run.json")) as file:
                manifest = json.load(file)
            with open(run.file("run.json"), "w") as file:
                json.dump({**manifest, "args": {"rate": f"0.{task}", "seed": "7"}}, file)
        self.record("train")
        self.driver.get(self.serve()[1])
        self.until(lambda: "1–3 of 3" in self.text())
        self.driver.find_element(By.LINK_TEXT, "70_2").click()
        self.until(lambda: "2 runs: 2 completed" in self.text())
        rows = [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")] for row in self.driver.find_elements(By.CSS_SELECTOR, ".scroll tr")]
        self.assertEqual([row[:3] for row in rows], [["Task", "Run", "Status"], ["2", "task-2", "completed"], ["10", "task-10", "completed"]])
        self.assertEqual([row[rows[0].index("rate")] for row in rows[1:]], ["0.2", "0.10"])
        self.assertNotIn("seed", rows[0], "it is the same in all")
        self.until(lambda: len(self.driver.find_elements(By.CSS_SELECTOR, ".chart canvas")) > 0)
        self.driver.refresh()
        self.until(lambda: "2 runs: 2 completed" in self.text())
        self.shoot("array")
        self.driver.find_element(By.LINK_TEXT, "compare them").click()
        self.until(lambda: "Runs compared" in self.text() and "rate" in self.text())
        self.assert_quiet()

    def test_a_store_without_runs_says_how_to_get_one(self):
        self.driver.get(self.serve()[1])
        self.until(lambda: "No runs yet" in self.text())
        self.record("train")
        self.until(lambda: "1–1 of 1" in self.text())
        self.assert_quiet()

    def test_names_are_shown_as_text(self):
        run = self.record("train", flags=("--name", "plain"))
        with open(run.file("log.jsonl"), "a") as file:
            for name in ("<img src=x onerror=document.title='owned'>", "\"><script>document.title='owned'</script>"):
                file.write(json.dumps({"name": name, "value": 1.5, "epoch": 0, "@at": "epoch=0"}) + "\n")
        with open(run.file("run.json")) as file:
            manifest = json.load(file)
        manifest.update(name="<script>document.title='owned'</script>", args={"<b>lr": "<img src=x onerror=alert(1)>"},
                        warnings=["<i>careful"])
        with open(run.file("run.json"), "w") as file:
            json.dump(manifest, file)
        self.driver.get(self.serve()[1])
        self.until(lambda: "<script>" in self.text())
        self.driver.get(self.driver.current_url.split("?")[0] + "run/" + run.id)
        self.until(lambda: "<i>careful" in self.text() and "<b>lr=" in self.text() and "onerror=document" in self.text())
        self.assertNotEqual(self.driver.title, "owned")
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, "main img, main script, main i, main b"), [])
        self.assert_quiet()

    def plant_names(self, run):
        with open(run.file("log.jsonl"), "a") as file:
            for name in ("</script><img src=x onerror=document.title='owned'>", "100%25 & <b>"):
                file.write(json.dumps({"name": name, "value": 1.5, "epoch": 0, "@at": "epoch=0"}) + "\n")

    def test_a_report_opens_from_disk_and_needs_no_server(self):
        run = self.record("train", "--guard", flags=("--name", "saved"))
        replay = os.path.basename(run.replay("train", "--guard", "--inner", probe="all").path)
        self.plant_names(run)
        self.flor("report", run.id, "--output", "page.html")
        shutil.rmtree(os.path.dirname(run.path))
        self.driver.set_window_size(1280, 1200)
        self.driver.get("file://" + self.path("page.html"))
        self.until(lambda: len(self.driver.find_elements(By.CSS_SELECTOR, ".chart canvas")) >= 2)
        for name in ("</script><img src=x onerror=document.title='owned'>", "100%25 & <b>"):
            self.assertIn(name, self.text())
        self.assertRegex(self.driver.find_element(By.ID, "connection").text, "^as of [A-Z]")
        self.assertEqual(self.driver.title, "saved · Flor")
        self.driver.find_element(By.TAG_NAME, "summary").click()
        self.until(lambda: "Checkpoints cost" in self.text())
        self.assertEqual(self.driver.find_elements(By.CSS_SELECTOR, ".warnings.bad"), [])
        self.shoot("report")
        self.driver.find_element(By.CSS_SELECTOR, "a[href*='/replay/']").click()
        self.until(lambda: "units, 0 differ" in self.text())
        self.driver.refresh()
        self.until(lambda: "units, 0 differ" in self.text())
        self.driver.find_element(By.LINK_TEXT, "Flor").click()
        self.until(lambda: "Sources" in self.text())
        self.driver.back()
        self.until(lambda: f"Replay {replay}" in self.text())
        self.assert_quiet()

    def test_images_and_the_spread_of_tensors_are_shown(self):
        run = self.record("observed", "--guard", flags=("--name", "observed"))
        self.driver.get(self.serve()[1])
        self.until(lambda: "1–1 of 1" in self.text())
        self.driver.get(f"{self.driver.current_url.split('?')[0]}run/{run.id}")
        self.assert_tensors_are_seen()
        self.driver.set_window_size(1280, 1400)
        self.shoot("tensors")
        self.flor("report", run.id, "--output", "page.html")
        self.driver.get("file://" + self.path("page.html"))
        self.assert_tensors_are_seen()
        self.assert_quiet()

    def assert_tensors_are_seen(self):
        pictures = self.until(lambda: self.driver.find_elements(By.CSS_SELECTOR, "section[aria-label='chart of velocity_image']"))[0]
        self.driver.execute_script("arguments[0].scrollIntoView()", pictures)
        image, slider, at = (pictures.find_element(By.CSS_SELECTOR, one) for one in ("img", "input", "output"))
        self.until(lambda: self.driver.execute_script("return arguments[0].naturalWidth", image) > 0)
        self.assertEqual((at.text, slider.get_attribute("max")), ("epoch=3/train#0/step=2", "11"))
        last = image.get_attribute("src")
        self.driver.execute_script("arguments[0].value = 4; arguments[0].dispatchEvent(new Event('input'))", slider)
        self.until(lambda: at.text == "epoch=1/train#0/step=1" and image.get_attribute("src") not in (None, last))
        spread = self.driver.find_element(By.CSS_SELECTOR, "section[aria-label='chart of velocity'] canvas")
        self.driver.execute_script("arguments[0].scrollIntoView()", spread)
        self.until(lambda: self.colours_of(spread) > 5)  # cells of counts, not one colour
        whole = self.driver.find_element(By.CSS_SELECTOR, "section[aria-label='last value of velocity_whole']").text
        self.assertRegex(whole, r"12 rows; the last one:\n.*tensors/velocity_whole.*")

    def colours_of(self, canvas):
        """How many colours the right half of it has."""
        return self.driver.execute_script(
            "const c = arguments[0]; const all = new Uint32Array(c.getContext('2d').getImageData(c.width / 2, 0, c.width / 2, c.height)"
            ".data.buffer); return new Set(all).size", canvas)

    def test_a_report_of_a_replay_shows_that_first(self):
        run = self.record("train")
        replay = os.path.basename(run.replay("train", "--inner", probe="all").path)
        done = self.flor("report", f"{run.id}/{replay}")
        self.driver.get("file://" + self.path(f"{run.id}-{replay}.html"))
        self.until(lambda: "units, 0 differ" in self.text())
        self.assertIn(f"{run.id}-{replay}.html, ", done.stdout)
        self.assertIn("exists; remove it, or choose another file", self.flor("report", f"{run.id}/{replay}", code=2).stderr)
        self.assertIn("has no replay 'r-none'; flor show", self.flor("report", run.id + "/r-none", code=2).stderr)
        self.assertIn("is a directory", self.flor("report", run.id, "-o", self.directory, code=2).stderr)
        self.assert_quiet()

    def test_runs_are_searched_sorted_and_paged_and_the_address_says_how(self):
        first = self.record("train", flags=("--name", "r000"))
        store = os.path.dirname(first.path)
        with open(first.file("run.json")) as file:
            manifest = json.load(file)
        for number in range(1, 120):
            path = os.path.join(store, f"20200101-000000-{number:016x}")
            os.makedirs(path)
            with open(os.path.join(path, "run.json"), "w") as file:
                json.dump({**manifest, "name": f"r{number:03}", "started": number}, file)
        self.driver.get(self.serve()[1])
        self.until(lambda: "1–50 of 120" in self.text())
        self.driver.find_element(By.XPATH, "//button[text()='Next →']").click()
        self.until(lambda: "51–100 of 120" in self.text())
        self.driver.find_element(By.XPATH, "//th/button[text()='Run']").click()
        self.driver.find_element(By.CSS_SELECTOR, "input[type=search]").send_keys("r11")
        self.until(lambda: "1–10 of 10 that fit, 120 in all" in self.text())
        names = [link.text for link in self.driver.find_elements(By.CSS_SELECTOR, "tbody a")]
        self.assertEqual(names, [f"r{number}" for number in range(110, 120)])
        for part in ("find=r11", "sort=run", "order=up"):
            self.assertIn(part, self.driver.current_url)
        self.driver.refresh()
        self.until(lambda: "1–10 of 10 that fit" in self.text())
        self.assert_quiet()


if __name__ == "__main__":
    harness.PROGRAM, harness.BIN = sys.argv[1], sys.argv[2]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
