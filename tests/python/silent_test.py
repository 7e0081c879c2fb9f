"""What iterations pass on by other ways than variables: by the ids of objects, by other processes, by files. A resumed recording
begins at the program's start rather than train on with what it lacks."""
import ast
import sys

import pytest
from carried_test import goes_on, killed, slowed
from unseen_test import program

CASES = {
    "by the ids of objects": program('''
class Param:
    def __init__(self):
        self.value, self.grad = 0.0, 1.0
params, velocity = [Param() for _ in range(4)], {}
def move():
    for param in params:
        velocity[id(param)] = 0.9 * velocity.get(id(param), 0.0) + param.grad
        param.value -= velocity[id(param)]
    return [param.value for param in params]
''', "move()"),
    "by a method called update": program('''
class Holder:
    rate = 1.0
class Warmup:
    def __init__(self, holder):
        self.holder, self.rates = holder, (float(k) for k in range(20))
    def update(self):
        self.holder.rate = next(self.rates)
holder = Holder()
warmup = Warmup(holder)
''', "[holder.rate] * 4", first="warmup.update()"),
    "in shared memory": program('''
import multiprocessing
count = multiprocessing.Value("i", 0)
def targets():
    count.value += 1
    return [count.value] * 4
''', "targets()"),
    "in another process": program('''
import multiprocessing
def simulate(remote):
    state = 0.0
    while True:
        state += remote.recv()
        remote.send(state)
class Environments:
    def __init__(self):
        self.remotes, works = zip(*[multiprocessing.Pipe() for _ in range(2)])
        for work in works:
            multiprocessing.Process(target=simulate, args=(work,), daemon=True).start()
    def step(self, action):
        for remote in self.remotes:
            remote.send(action)
        return [remote.recv() for remote in self.remotes] * 2
environments = Environments()
''', "environments.step(1)"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_program_begins_again(place, case):
    assert "resumed behind" not in goes_on(place, *CASES[case])


# As in a tutorial: the best state is in a file, which is read in the end.
BEST = program('''
import json
def save(value):
    with open("best.json", "w") as file:
        json.dump(value, file)
save(weights)
best = 1e9
''', "[1.0, 2.0, 3.0, 4.0]", last='''error = abs(weights[0] - 0.4)
    if error < best:
        best = error
        save(weights)''')[0] + '''
with open("best.json") as file:
    print("best", json.load(file)[0])
'''


LOGGED = program('''
import csv
class Log:
    def __init__(self):
        self.file = open("log.csv", "w")
        self.writer = csv.writer(self.file)
    def append(self, row):
        self.writer.writerow(row)
log = Log()
''', "[1.0] * 4", last="log.append([epoch])")[0]


def test_a_log_that_only_the_loop_writes_keeps_nothing_from_going_on(place):
    assert "resumed behind" in goes_on(place, LOGGED)


def reads_back(text):
    from flor import _project, _read_back

    project = _project.Project("train.py", lambda path: "def other():\n    loss.backward()\n" + text)
    file = project.files["train.py"]
    return _read_back.reads_back(project, file, next(node for node in ast.walk(file.tree) if isinstance(node, ast.For)))


def test_what_counts_as_reading_back():
    assert reads_back(BEST)
    assert reads_back("for epoch in range(3):\n    save(1)\n    other = torch.load(path)\n")
    assert reads_back("for epoch in range(3):\n    torch.save(1, path)\nrun.load_best_model()\n")
    assert reads_back(BEST.replace("json.load(file)", "file.read()"))  # of the very path that the loop saves
    assert not reads_back(BEST.replace("json.load(file)", "file.read()").replace('("best.json") as', '("data.json") as'))
    assert not reads_back("state = torch.load(path)\nfor epoch in range(3):\n    torch.save(state, path)\n")
    assert not reads_back("for epoch in range(3):\n    torch.save(1, path)\n    net.load_state_dict(best)\n    x = load_batch(epoch)\n")
    assert not reads_back("for epoch in range(3):\n    torch.save(1, path)\n    x = np.load(shards[epoch])\n")
    assert not reads_back("for epoch in range(3):\n    print(json.dumps(1))\n    plt.savefig(path)\ntorch.load(path)\n")
    train = "def train():\n    for epoch in range(3):\n        torch.save(1, path)\n"
    assert reads_back(train + "def main():\n    train()\n    net = torch.load(path)\n")
    assert not reads_back(train + "def main():\n    net = AutoModel.from_pretrained(path)\n    torch.load(other)\n    train()\n")
    assert not reads_back("for epoch in range(3):\n    pass\nnet.load_state_dict(torch.load(path))\n")


BY_OTHERS = [  # what the loop saves, and what it or the code behind it loads
    ("np.savez('best.npz', *weights)", "saved = np.load('best.npz')"), ("numpy.savetxt(path, w)", "w = numpy.loadtxt(path)"),
    ("np.save(os.path.join(out, 'w.npy'), w)", "name = out + '/w.npy'; w = np.load(name)"), ("save_file(net.state_dict(), 'a.safetensors')", "net.load_state_dict(load_file('a.safetensors'))"),
    ("torch.jit.save(net, path)", "net = torch.jit.load(path)"), ("frame.to_csv('a.csv')", "frame = pd.read_csv('a.csv')"),
    ("path.write_text(str(best))", "best = float(path.read_text())"), ("with open('best.txt', 'w') as f: f.write('1')", "best = open('best.txt').read()"),
    ("np.save(f'{out}/w.npy', w)", "w = np.load(f'{out}/w.npy')"), ("np.save(args.out, w)", "w = load_run(args.out)"),
    ("np.save('kept/%d.npy' % epoch, w)", "w = np.load(sorted(glob.glob('kept/*.npy'))[-1])"), ("keep_path.open('w').write('1')", "best = keep_path.open().read()"),
    ("name = 'best.txt'; open(name, 'w').write('1')", "best = open('best.txt').read()"), ("save_params(net, path)", "net = read_params(path)"),
    ("name = f'a{epoch}.npy'; np.save(name, w)", "other = f'a{best}.npy'; w = np.load(other)"),
]
BY_NEITHER = [
    ("np.save('metrics.npy', w)", "x = np.load(f'shards/{epoch}.npy')"), ("np.save(f'{epoch}.npy', w)", "x = np.load('x.txt')"), ("frame.to_csv('log.csv')", "x = pd.read_csv('data.csv')"),
    ("with open('log.txt', 'a') as f: f.write('1')", "x = open('data.txt').read()"), ("frame.to_csv('log.csv')", "x = np.load('shard.npy')"),
    # What both calls are given, and is no path.
    ("torch.save(best, 'best.pt')", "net.load_state_dict(best)"), ("save_checkpoint(net, epoch)", "x = load_batch(epoch)"), ("save_checkpoint(net, epoch + 1)", "x = load_batch(epoch + 1)"),
    ("torch.save({'net': net.state_dict(), 'args': args}, f'{epoch}.pt')", "x = load_shard(args, epoch)"), ("save_checkpoint(args, net)", "x = load_shard(args, epoch)"),
    ("save_model(net, path, device)", "x = load_batch(i, device)"),
    # One path is known, and nothing tells the other.
    ("np.save('losses.npy', losses)", "x = np.load(shards[epoch])"), ("frame.to_csv('history.csv')", "test = pd.read_csv(args.test)"),
    ("np.save(os.path.join(out, 'w.npy'), w)", "w = np.load(name)"), ("name = f'a{epoch}.npy'; np.save(name, w)", "other = f'b{epoch}.npy'; w = np.load(other)"),
]


def test_what_counts_as_reading_back_by_other_libraries():
    for save, load in BY_OTHERS:
        assert reads_back(f"for epoch in range(3):\n    {save}\n    {load}\n") and reads_back(f"for epoch in range(3):\n    {save}\n{load}\n"), save
        assert not reads_back(f"{load}\nfor epoch in range(3):\n    {save}\n"), save
    for save, load in BY_NEITHER:
        assert not reads_back(f"for epoch in range(3):\n    {save}\n    {load}\n") and not reads_back(f"for epoch in range(3):\n    {save}\n{load}\n"), save
    assert reads_back("def keep(w):\n    np.save(PATH, w)\ndef best():\n    return np.load(PATH)\nfor epoch in range(3):\n    keep(w)\nbest()\n")
    assert not reads_back("def keep(w, path):\n    torch.save(w, path)\ndef shard(path):\n    return np.load(path)\nfor epoch in range(3):\n    keep(w, out)\n    shard(epoch)\n")
    found = "def best(name):\n    return np.load(os.path.join(out, name))\nfor epoch in range(3):\n    np.save('best.npy', w)\nbest(PLACE)\n"
    assert reads_back(found.replace("PLACE", "'best.npy'")) and not reads_back(found.replace("PLACE", "'data.npy'"))
    given = "parser.add_argument('--keep', default='kept.npy')\nfor epoch in range(3):\n    np.save('kept.npy', w)\n    w = np.load(args.keep)\n"
    assert reads_back(given) and not reads_back(given.replace("default='kept", "default='data"))


# The save in an object that is called, and the load in a function.
KEEPER = program('''
import json
class Keeper:
    def __init__(self, value, path):
        self.path, self.error = path, 9.0
        self.write(value)
    def __call__(self, value):
        error = abs(value[0] - 0.4)
        if error < self.error:
            self.error = error
            self.write(value)
    def write(self, value):
        with open(self.path, "w") as file:
            json.dump(value, file)
def best_of(path):
    with open(path) as file:
        return json.load(file)
keep = Keeper(weights, "best.json")
''', "[1.0, 2.0, 3.0, 4.0]", last="keep(weights)")[0] + '''
print("best", best_of("best.json")[0])
'''


@pytest.mark.parametrize("text", [BEST, KEEPER], ids=["in the loop", "by an object and a function"])
def test_where_it_reads_what_it_saved_the_program_begins_again(place, text):
    place.write("train.py", text)
    plain = place.run(sys.executable, "train.py").stdout.splitlines()
    killed(place)
    done = place.run("flor", "record", "--resume", "a", "--every", "1", "--", sys.executable, "-u", "train.py")
    assert done.stdout.splitlines()[-1] == plain[-1] != "best 0.0"
    assert "it runs from its start" in done.stderr


def test_what_counts_as_reading_back_in_what_is_called():
    keeper = "class Keeper:\n    def __call__(self, net):\n        self.keep(net)\n    def keep(self, net):\n        torch.save(net, self.path)\nkeep = Keeper()\n"
    loop = "for epoch in range(3):\n    keep(net)\n"
    restore = "def restore(net):\n    net.load_state_dict(torch.load(path))\n"
    data = "def shard(k):\n    return torch.load(shards[k])\n"
    main = "def train():\n    for epoch in range(3):\n        keep(net)\ndef run():\n    train()\ndef main():\n    run()\n    restore(net)\n"
    assert reads_back(keeper + loop + "net.load_state_dict(torch.load(path))\n")
    assert reads_back(keeper + restore + loop + "restore(net)\n") and reads_back(keeper + restore + loop + "    restore(net)\n")
    assert reads_back(keeper + restore + main)
    assert not reads_back(keeper + data + loop + "    x = shard(epoch)\n")
    assert not reads_back(keeper + restore + "restore(net)\n" + loop)
    assert not reads_back(keeper + "keep(net)\nfor epoch in range(3):\n    pass\nnet = torch.load(path)\n")
