"""What belongs to the process, and to no variable: settings of torch, the environment, the folder."""
import os
import sys


def settings():
    torch = sys.modules.get("torch")
    values = [dict(os.environ), os.getcwd()]
    if torch is not None and hasattr(torch, "get_default_dtype"):
        cudnn = torch.backends.cudnn
        values += [str(torch.get_default_dtype()), torch.is_grad_enabled(), torch.get_num_threads(), cudnn.benchmark, cudnn.deterministic,
                   torch.are_deterministic_algorithms_enabled()]
    return values
