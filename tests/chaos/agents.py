"""Puts an agent of the cluster where its clock can jump, or where its network can be cut."""
import ctypes
import glob
import os
import shutil
import signal
import socket
import subprocess
import threading

LIBFAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)
CLONE_NEWNET = 0x40000000


def can_cut_networks():
    return shutil.which("unshare") is not None and subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL).returncode == 0


started = []  # the agents that are not as the cluster starts them


def end_all():
    """Ends them. Where this program relays their connections to Redis, they reach it no longer than it runs."""
    for agent in started:
        agent.kill()
        agent.wait()
    started.clear()


def start_again(pid, directory, wrapper=(), **environment):
    """Kills the agent and starts it as it was, with more around it. Its Popen; None: somebody else was quicker."""
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        command = os.fsdecode(file.read()).split("\0")[:-1]
    with open(f"/proc/{pid}/environ", "rb") as file:
        variables = dict(entry.split("=", 1) for entry in os.fsdecode(file.read()).split("\0") if "=" in entry)
    node = variables["SLURMD_NODENAME"]
    os.kill(pid, signal.SIGKILL)
    with open(os.path.join(directory, "log", f"flor-agent-{node}.log"), "ab") as log:
        agent = subprocess.Popen([*wrapper, *command], env={**variables, **environment}, cwd=directory, start_new_session=True,
                                 stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    started.append(agent)
    try:
        agent.wait(0.5)
        return None
    except subprocess.TimeoutExpired:
        with open(os.path.join(directory, "run", f"flor-agent-{node}.pid"), "w") as file:
            file.write(f"{agent.pid}\n")
        return agent


class Clock:
    """An agent whose clock of the day jumps. (The monotonic one never does.)"""

    def __init__(self, pid, directory, work):
        self.file = os.path.join(work, f"clock-{pid}")
        self.set("+0")
        self.agent = start_again(pid, directory, LD_PRELOAD=LIBFAKETIME, FAKETIME_TIMESTAMP_FILE=self.file,
                                 FAKETIME_NO_CACHE="1", FAKETIME_DONT_FAKE_MONOTONIC="1")

    def set(self, offset):
        with open(self.file + ".new", "w") as file:
            file.write(offset + "\n")
        os.replace(self.file + ".new", self.file)


class Network:
    """An agent in a network of its own, where only Redis can be reached, until it is cut."""

    def __init__(self, pid, directory, port):
        self.agent = start_again(pid, directory,
                                 ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"])
        if self.agent:
            threading.Thread(target=self.relay, args=(port,), daemon=True).start()

    def relay(self, port):
        libc = ctypes.CDLL(None, use_errno=True)
        # A thread may be in another network than its process, and a socket stays where it was made.
        with open("/proc/self/ns/net") as ours, open(f"/proc/{self.agent.pid}/ns/net") as theirs:
            if libc.setns(theirs.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
            server = socket.create_server(("127.0.0.1", port))
            libc.setns(ours.fileno(), CLONE_NEWNET)
        while True:
            inside = server.accept()[0]
            try:
                outside = socket.create_connection(("127.0.0.1", port))
            except OSError:
                inside.close()
                continue
            for ends in ((inside, outside), (outside, inside)):
                threading.Thread(target=self.pump, args=ends, daemon=True).start()

    @staticmethod
    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def link(self, state):
        """state: "down" or "up"."""
        subprocess.run(["nsenter", f"--net=/proc/{self.agent.pid}/ns/net", "ip", "link", "set", "lo", state],
                       stderr=subprocess.DEVNULL)
