"""How near the engine comes to the medium: writing against fio, verified restore against a plain read.

    bench/medium.py [--mib 1024] [--rounds 7] [--json FILE] MEDIUM DIRECTORY

Each round writes one checkpoint and then as many bytes by fio into the same directory, by io_uring with eight writes of
1 MiB in flight and with the direct flag that the checkpoint was written with, both until they are durable; within a round the order
alternates. Restoring reads from the page cache, as the plain read by two threads does. Medians and quartiles of ratios.
"""
import argparse
import json
import statistics
import subprocess


def fio(directory, mib, engine):
    direct = int(engine == "direct")
    done = subprocess.run(["fio", "--name=flor", f"--directory={directory}", "--rw=write", "--bs=1M", "--ioengine=io_uring",
                           "--iodepth=8", f"--direct={direct}", "--end_fsync=1", "--group_reporting", "--unlink=1",
                           "--output-format=json", "--fallocate=none", f"--size={mib}M"], check=True, stdout=subprocess.PIPE)
    write = json.loads(done.stdout)["jobs"][0]
    # Its own figure leaves out the last fsync; the whole job's time does not.
    return mib * 2**20 / (write["job_runtime"] / 1000) if direct == 0 else write["write"]["bw_bytes"]


def median_and_quartiles(values):
    quartiles = statistics.quantiles(values, n=4)
    return f"{statistics.median(values):.3f} ({quartiles[0]:.3f} to {quartiles[2]:.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json")
    parser.add_argument("medium")
    parser.add_argument("directory")
    asked = parser.parse_args()

    def ours():
        done = subprocess.run([asked.medium, "write", asked.directory, str(asked.mib)], check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    rounds, engine = [], ours()["engine"]
    for i in range(asked.rounds):
        if i % 2:
            theirs = fio(asked.directory, asked.mib, engine)
        mine = ours()
        if not i % 2:
            theirs = fio(asked.directory, asked.mib, engine)
        rounds.append({"ours": mine["bytes"] / mine["seconds"], "fio": theirs, "engine": mine["engine"],
                       "resident_kib": mine["resident_kib"]})
    done = subprocess.run([asked.medium, "read", asked.directory, str(asked.mib)], check=True, stdout=subprocess.PIPE)
    read = json.loads(done.stdout)
    writes = [row["ours"] / row["fio"] for row in rounds]
    reads = [plain / ours for plain, ours in zip(read["plain"], read["restore"])]
    print(f"write, {engine}: {statistics.median(row['ours'] for row in rounds) / 1e6:.0f} MB/s, fio "
          f"{statistics.median(row['fio'] for row in rounds) / 1e6:.0f} MB/s, ratio {median_and_quartiles(writes)}")
    print(f"restore: {read['bytes'] / statistics.median(read['restore']) / 1e9:.2f} GB/s, plain read "
          f"{read['bytes'] / statistics.median(read['plain']) / 1e9:.2f} GB/s, ratio {median_and_quartiles(reads)}")
    print(f"memory: {max(row['resident_kib'] for row in rounds) / 1024:.0f} MiB resident for a state of {asked.mib} MiB")
    if asked.json:
        with open(asked.json, "w") as file:
            json.dump({"writes": rounds, "read": read}, file, indent=1)


if __name__ == "__main__":
    main()
