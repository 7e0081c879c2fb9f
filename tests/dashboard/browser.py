"""What tests of the page in a real browser share. The last argument of such a test is the folder of its screenshots."""
import json
import os
import re
import subprocess
import sys

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rules"))
import axe  # noqa: E402
import harness  # noqa: E402

SCREENSHOTS = sys.argv[3]
THEMES = ("light", "dark")
SIZES = ((1280, 720), (390, 844))


def browser():
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.chrome.service.Service("/usr/bin/chromedriver"))


class Case(harness.Case):
    def setUp(self):
        super().setUp()
        self.driver = browser()
        self.addCleanup(self.driver.quit)
        os.makedirs(os.path.join(self.directory, "store"), exist_ok=True)

    def serve(self, port=0):
        server = subprocess.Popen([os.path.join(harness.BIN, "flor"), "serve", "--listen", f"127.0.0.1:{port}"],
                                  stdout=subprocess.PIPE, text=True, env=self.environment, start_new_session=True)
        self.addCleanup(lambda: server.poll() is None and server.kill())
        self.addCleanup(server.stdout.close)
        return server, re.search(r"http://\S+", server.stdout.readline())[0]

    def until(self, what, seconds=30):
        """What it looks at may be drawn anew meanwhile."""
        patience = WebDriverWait(self.driver, seconds, ignored_exceptions=[StaleElementReferenceException])
        return patience.until(lambda driver: what())

    def text(self):
        return self.driver.find_element(By.TAG_NAME, "main").text

    def mark(self):
        """Is lost where the page is loaded anew."""
        self.driver.execute_script("window.isMarked = true")

    def is_marked(self):
        return self.driver.execute_script("return window.isMarked === true")

    def assert_quiet(self, expected=()):
        """No error on the console, and no request to anywhere else."""
        lines = [entry["message"] for entry in self.driver.get_log("browser")
                 if entry["level"] == "SEVERE" and not any(word in entry["message"] for word in expected)]
        self.assertEqual(lines, [])
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.assertRegex(message["params"]["request"]["url"], r"^(http://127.0.0.1:\d+/|data:|file:///.*\.html|chrome)")

    def shoot(self, name):
        """Keeps the view in both themes, on a screen and on a phone. Nothing of it may keep people from using it."""
        os.makedirs(SCREENSHOTS, exist_ok=True)
        for theme in THEMES:
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                        {"features": [{"name": "prefers-color-scheme", "value": theme}]})
            for width, height in SIZES:
                self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
                self.driver.execute_async_script("setTimeout(arguments[0], 300)")
                self.driver.save_screenshot(os.path.join(SCREENSHOTS, f"{name}-{theme}-{width}.png"))
                self.assertEqual(axe.problems(self.driver, os.path.join(SCREENSHOTS, "axe")), [], f"{name}, {theme}, {width}")
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
