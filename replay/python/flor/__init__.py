"""Flor: record a training run once, ask it anything later.

    import flor

    with flor.checkpointing(net=net, optimizer=optimizer):
        for epoch in flor.loop("epoch", range(epochs)):
            with flor.skip_block("train", net, optimizer) as train:
                if train.step_into():
                    for batch in loader: ...
            flor.log("accuracy", evaluate(net))

Record:  srun --flor-record python3 train.py     or   flor record -- python3 train.py
Replay:  flor replay RUN -- python3 train_with_more_logging.py

A program that is neither recorded nor replayed is "outside Flor": its loops are plain loops, its blocks always execute,
and flor.log prints. Call everything but flor.log on the thread that trains."""
from ._block import checkpointing, skip_block
from ._loop import loop
from ._rows import arg, log
from ._runtime import start as _start

__all__ = ["arg", "checkpointing", "log", "loop", "recording", "replaying", "skip_block"]


def recording():
    """Was this process started to be recorded? So also before the first loop, and where another process of the launch keeps the
    record; no longer after the recording failed."""
    return bool(_start().flor_recording())


def replaying():
    """Does this process belong to a replay? So to its end, and in forked children."""
    return bool(_start().flor_replaying())
