"""Which calls of the standard library, NumPy and torch's odder corners break the graph: each tried once.

    PYTHON matrix/calls.py [NAME...]            write results/calls-VERSION.json (these of it, the others stay)
    PYTHON matrix/calls.py --stdout [NAME...]   print instead
    PYTHON matrix/calls.py --gpu [...]          the calls of ON_GPU, on a machine with CUDA: results/gpu-VERSION.json

CALLS gives for each operation (named as in pt2lint/op.py) an expression, or statements that end in one, which run in a
compiled function between two operations on tensors; `x`, `m`, `i` and `s` are as in table.py, `here` is an empty
folder. A result is as in operators.py; what cannot run in eager mode is left out (told where it is named): the module
that it needs may be missing in IMPORTS.
"""

import argparse
import json
import os
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)
sys.path += [str(ROOT / "pt2lint" / "dynamic"), str(ROOT / "tools")]

import torch  # noqa: E402
import torch._dynamo  # noqa: E402
from child import log_listener  # noqa: E402

from matrix.construct_probe import given  # noqa: E402
from matrix.harness import contained, prepared, said, shortened  # noqa: E402
from matrix.operators import text  # noqa: E402
from matrix.table import RESULTS  # noqa: E402

IMPORTS = """
import atexit, base64, bisect, concurrent.futures, contextlib, ctypes, datetime, gc, hashlib, heapq, io, json
import collections, fractions, importlib.metadata, inspect, itertools, logging, math, multiprocessing, os, pathlib
import queue, struct, textwrap, types
import pickle, platform, pprint, random, re, secrets, shutil, signal, statistics, subprocess, sys, tempfile, threading
import cProfile, functools, time, traceback, typing, uuid, warnings, zlib
import torch
from torch import nn
try:
    import numpy as np
except ImportError:
    np = None
def np_free():
    return 0
log = logging.getLogger("pt2lint.matrix")
generator = torch.Generator()
lock = threading.RLock()
drawer = random.Random(0)
shared = multiprocessing.Value("i", 3)
event = multiprocessing.Event()
shared_lock = multiprocessing.RLock()
channel = multiprocessing.Queue()
class Held:
    @torch.no_grad()
    @staticmethod
    def mean(v):
        return v.mean()
class Manager:
    def __enter__(self):
        return self
    def __exit__(self, *exception):
        return False
manager = Manager()
without_gradients = torch.no_grad()
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        return v.exp()
    @classmethod
    def backward(cls, ctx, grad):
        return grad
import torch.distributed as dist
import torch.distributed.nn
if not dist.is_initialized():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
reduced = dist.all_reduce(torch.ones(2), async_op=True)
data = b"ab cd"
packed = zlib.compress(data)
numbers = [3, 1, 2]
layer = nn.Linear(4, 4)
converted = nn.Linear(4, 4, dtype=torch.float16)
lstm, gru, rnn = nn.LSTM(4, 4), nn.GRU(4, 4), nn.RNN(4, 4)
pool = concurrent.futures.ThreadPoolExecutor(1)
things = queue.Queue()
weight = torch.ones(4, requires_grad=True)
now = time.time()
file = os.path.join(here, "file")
pathlib.Path(file).write_text("[1]")
with open(os.path.join(here, "pickle"), "wb") as out:
    pickle.dump(1, out)
torch.save(torch.ones(2), os.path.join(here, "saved"))
if np is not None:
    np.save(os.path.join(here, "array.npy"), [1, 2])
    draws = np.random.default_rng(0)
    old_draws = np.random.RandomState(0)
sequences = nn.utils.rnn.pack_sequence([torch.ones(2, 4), torch.ones(1, 4)])
"""


def each(owner, names, form):
    """The calls of several functions of one module: `{}` in the form is the function's name."""
    return {f"call {owner}.{name}": form.replace("{}", name) for name in names.split()}


CALLS = {
    **each("pprint", "pprint pp", "pprint.{}(x.shape)"),
    **each("sys.stdout", "write", "sys.stdout.write('a')"),
    **each("sys.stderr", "write", "sys.stderr.write('a')"),
    **each("sys.stdout", "flush", "sys.stdout.flush()"),
    **each("sys.stderr", "flush", "sys.stderr.flush()"),
    **each("logging.Logger", "debug info warning warn error critical exception", "log.{}('a')"),
    "call logging.Logger.log": "log.log(10, 'a')",
    "call logging.Logger.setLevel": "log.setLevel(10)",
    "call logging.Logger.hasHandlers": "log.hasHandlers()",
    "call logging.Logger.getEffectiveLevel": "log.getEffectiveLevel()",
    "call logging.Logger.addHandler": "log.addHandler(logging.NullHandler())",
    **each("logging", "debug info warning warn error critical exception", "logging.{}('a')"),
    "call logging.log": "logging.log(10, 'a')",
    "call logging.disable": "logging.disable(0)",
    "call logging.basicConfig": "logging.basicConfig()",
    "call warnings.warn_explicit": "warnings.warn_explicit('a', UserWarning, 'file', 1)",
    "call warnings.filterwarnings": "warnings.filterwarnings('ignore')",
    **each(
        "math",
        "asin asinh atan cos cosh degrees erf erfc exp expm1 fabs gamma isfinite isinf isnan lgamma log10 log1p log2 "
        "modf radians sin sinh sqrt tan tanh trunc acos atanh ceil floor log",
        "math.{}(s)",
    ),
    "call math.acosh": "math.acosh(s + 1)",
    **each("math", "atan2 copysign fmod hypot isclose pow", "math.{}(s, 2.0)"),
    "call builtins.pow": "pow(s, 2)",
    "call builtins.list.sort": "both = [x.sum(), x.mean()]; both.sort()",
    "call builtins.list.index": "[x, s].index(s)",
    "call time.time_ns": "time.time_ns()",
    **each(
        "time",
        "time perf_counter perf_counter_ns monotonic monotonic_ns process_time localtime ctime",
        "time.{}()",
    ),
    "call time.sleep": "time.sleep(0)",
    "call time.strftime": "time.strftime('%Y')",
    **each("datetime.datetime", "now utcnow today", "datetime.datetime.{}()"),
    "call datetime.datetime.fromtimestamp": "datetime.datetime.fromtimestamp(now)",
    "call datetime.date.today": "datetime.date.today()",
    "call datetime.datetime": "datetime.datetime(2020, 1, 1)",
    "call random.normalvariate": "random.normalvariate(0, 1)",
    "call random.uniform": "random.uniform(0, 1)",
    "call random.randrange": "random.randrange(3)",
    **each("random", "betavariate expovariate", "random.{}(1.0, *([1.0] if '{}' == 'betavariate' else []))"),
    "call random.getrandbits": "random.getrandbits(3)",
    "call random.triangular": "random.triangular()",
    **each("random.Random", "gauss normalvariate betavariate", "drawer.{}(1.0, 1.0)"),
    **each("random.Random", "choice choices", "drawer.{}([1, 2])"),
    "call random.Random.expovariate": "drawer.expovariate(1.0)",
    "call random.Random.getrandbits": "drawer.getrandbits(3)",
    "call random.Random.sample": "drawer.sample([1, 2], 1)",
    "call random.Random.seed": "drawer.seed(0)",
    "call random.Random.shuffle": "drawer.shuffle([1, 2])",
    "call random.Random.triangular": "drawer.triangular()",
    **each("numpy.random.RandomState", "rand randn random_sample uniform normal", "old_draws.{}()"),
    **each("numpy.random.RandomState", "choice permutation", "old_draws.{}(3)"),
    "call numpy.random.RandomState.randint": "old_draws.randint(3)",
    "call numpy.random.RandomState.shuffle": "old_draws.shuffle([1, 2])",
    **each(
        "numpy.random", "randn random random_sample rand normal uniform standard_normal", "x + np.random.{}()"
    ),
    **each("numpy.random", "exponential poisson laplace", "np.random.{}(1.0, 4)"),
    **each("numpy.random", "gamma beta", "np.random.{}(1.0, 1.0, 4)"),
    **each(
        "numpy.random",
        "gumbel logistic lognormal rayleigh standard_cauchy standard_exponential",
        "np.random.{}(size=4)",
    ),
    **each(
        "numpy.random", "chisquare pareto power standard_gamma standard_t weibull", "np.random.{}(1.0, 4)"
    ),
    **each("numpy.random", "f noncentral_chisquare vonmises wald", "np.random.{}(1.0, 1.0, 4)"),
    **each("numpy.random", "geometric logseries", "np.random.{}(0.5, 4)"),
    **{f"set torch.Tensor.{part}": f"y = x + 0j; y.{part} = x; y.abs()" for part in ("real", "imag")},
    **each("numpy.random.Generator", "random normal uniform standard_normal exponential", "draws.{}(size=4)"),
    **each("numpy.random.Generator", "poisson permutation", "draws.{}(4)"),
    **each("numpy.random.Generator", "beta gamma", "draws.{}(1.0, 1.0)"),
    "call numpy.random.Generator.integers": "draws.integers(3)",
    "call numpy.random.Generator.choice": "draws.choice(3)",
    "call numpy.random.Generator.binomial": "draws.binomial(3, 0.5)",
    "call numpy.random.Generator.shuffle": "draws.shuffle(numbers)",
    "call numpy.random.zipf": "np.random.zipf(2.0, 4)",
    "call numpy.random.dirichlet": "np.random.dirichlet([1.0, 1.0])",
    "call numpy.random.hypergeometric": "np.random.hypergeometric(3, 3, 2)",
    "call numpy.random.multinomial": "np.random.multinomial(3, [0.5, 0.5])",
    "call numpy.random.multivariate_normal": "np.random.multivariate_normal([0.0], [[1.0]])",
    "call numpy.random.negative_binomial": "np.random.negative_binomial(3, 0.5)",
    "call numpy.random.noncentral_f": "np.random.noncentral_f(1.0, 1.0, 1.0)",
    "call numpy.random.binomial": "np.random.binomial(3, 0.5, 4)",
    "call numpy.random.triangular": "np.random.triangular(0, 1, 2, 4)",
    "call numpy.random.RandomState": "np.random.RandomState(0)",
    "call numpy.random.standard_normal": "np.random.standard_normal(4)",
    "call numpy.random.shuffle": "np.random.shuffle(np.arange(4))",
    "call numpy.random.get_state": "np.random.get_state()",
    "call uuid.uuid1": "uuid.uuid1()",
    **each("secrets", "token_hex token_bytes", "secrets.{}(4)"),
    "call secrets.choice": "secrets.choice(numbers)",
    "call os.mkdir": "os.mkdir(os.path.join(here, str(len(os.listdir(here)))))",
    **each("os", "remove unlink", "shutil.copy(file, file + '2'); os.{}(file + '2')"),
    **each("os", "rename replace", "os.{}(file, file)"),
    **each("os", "listdir scandir walk stat", "os.{}(here)"),
    **each("os", "getcwd times uname getlogin getppid", "os.{}()"),
    "call os.urandom": "os.urandom(2)",
    "call os.kill": "os.kill(os.getpid(), 0)",
    "call os.popen": "os.popen('true').close()",
    "call os.posix_spawn": "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)",
    **each("os", "spawnl spawnlp", "os.{}(os.P_WAIT, '/bin/true', 'true')"),
    **each("os", "spawnv spawnvp", "os.{}(os.P_WAIT, '/bin/true', ['true'])"),
    **each(
        "os.path",
        "isfile isdir getsize getmtime abspath realpath exists expanduser islink isabs",
        "os.path.{}(file)",
    ),
    **each(
        "pathlib.Path", "is_file is_dir exists stat read_text resolve absolute", "pathlib.Path(file).{}()"
    ),
    "call pathlib.Path.write_text": "pathlib.Path(file).write_text('[1]')",
    "call pathlib.Path.open": "pathlib.Path(file).open().close()",
    "call pathlib.Path.mkdir": "pathlib.Path(here).mkdir(exist_ok=True)",
    "call pathlib.Path.iterdir": "list(pathlib.Path(here).iterdir())",
    "call pathlib.Path.glob": "list(pathlib.Path(here).glob('*'))",
    "call torch.load": "torch.load(os.path.join(here, 'saved'))",
    "call torch.save": "torch.save(x, os.path.join(here, 'saved'))",
    "call numpy.save": "np.save(os.path.join(here, 'array.npy'), np.arange(2))",
    "call numpy.load": "np.load(os.path.join(here, 'array.npy'))",
    "call json.dump": "json.dump([1], io.StringIO())",
    "call json.load": "json.load(io.StringIO('[1]'))",
    "call pickle.dump": "pickle.dump([1], io.BytesIO())",
    "call pickle.load": "pickle.load(open(os.path.join(here, 'pickle'), 'rb'))",
    "call pickle.loads": "pickle.loads(b'K\\x01.')",
    **each("shutil", "copy copyfile", "shutil.{}(file, file + '2')"),
    "call shutil.copytree": "shutil.copytree(here, os.path.join(tempfile.gettempdir(), 'pt2lint'), dirs_exist_ok=True)",
    "call shutil.rmtree": "shutil.rmtree(os.path.join(here, 'none'), ignore_errors=True)",
    "call shutil.move": "shutil.move(file, file)",
    "call shutil.which": "shutil.which('python')",
    **each(
        "tempfile", "TemporaryDirectory NamedTemporaryFile TemporaryFile mkdtemp mkstemp", "tempfile.{}()"
    ),
    "call subprocess.Popen": "subprocess.Popen(['true']).wait()",
    **each("subprocess", "call check_call check_output run", "subprocess.{}(['true'])"),
    **each("gc", "disable enable collect freeze", "gc.{}()"),
    "call ctypes.CDLL": "ctypes.CDLL(None)",
    "call ctypes.cast": "ctypes.cast(0, ctypes.c_void_p)",
    **each("ctypes", "byref pointer", "ctypes.{}(ctypes.c_int(1))"),
    **each("traceback", "print_exc print_stack format_stack extract_stack", "traceback.{}()"),
    **each("hashlib", "md5 sha1 sha256 sha512 blake2b", "hashlib.{}(data)"),
    **each("threading.RLock", "acquire", "lock.acquire()"),
    "call threading.RLock.release": "lock.acquire(); lock.release()",
    "call builtins.__import__": "__import__('math')",
    "call sys.getrefcount": "sys.getrefcount(data)",
    "call torch.utils.data.get_worker_info": "torch.utils.data.get_worker_info()",
    **each("platform", "system machine node python_version", "platform.{}()"),
    "call torch.nn.utils.rnn.pad_packed_sequence": "nn.utils.rnn.pad_packed_sequence(sequences)",
    "call torch.nn.Module.flatten_parameters": "gru.flatten_parameters()",
    **each("torch", "clamp clip", "torch.{}(x, 0, s)"),
    **each("torch.Tensor", "clamp clamp_ clip clip_", "(x * 1).{}(0, s)"),
    **{
        f"get torch.nn.{kind}.{name}": f"x * {kind.lower()}.{name}"
        for kind in ("LSTM", "GRU", "RNN")
        for name in "input_size hidden_size num_layers batch_first bidirectional dropout proj_size".split()
    },
    "call builtins.isinstance of an RNN": "isinstance(gru, nn.LSTM)",
    **each("torch.random", "manual_seed", "torch.random.manual_seed(0)"),
    "call torch.random.get_rng_state": "torch.random.get_rng_state()",
    "call torch.utils.checkpoint.get_device_states": "torch.utils.checkpoint.get_device_states(x)",
    "call torch.utils.checkpoint.set_device_states": "torch.utils.checkpoint.set_device_states([], [])",
    "call torch.random.set_rng_state": "torch.random.set_rng_state(torch.random.get_rng_state())",
    "call torch.random.seed": "torch.random.seed()",
    "call torch.seed": "torch.seed()",
    **each("torch.cuda", "manual_seed manual_seed_all", "torch.cuda.{}(0)"),
    **each(
        "torch.cuda",
        "max_memory_allocated memory_reserved memory_allocated empty_cache synchronize",
        "torch.cuda.{}()",
    ),
    **each("torch.cuda", "reset_peak_memory_stats is_current_stream_capturing", "torch.cuda.{}()"),
    "call torch.Generator.manual_seed": "generator.manual_seed(0)",
    "call torch.Generator.get_state": "generator.get_state()",
    "call torch.Generator.set_state": "generator.set_state(generator.get_state())",
    **{
        f"call torch.{name} with a generator": f"torch.{name}({given}generator=generator)"
        for name, given in {
            "rand": "4, ",
            "randn": "4, ",
            "randint": "3, (4,), ",
            "randperm": "4, ",
            "bernoulli": "m.float(), ",
            "multinomial": "x.abs() + 1, 2, ",
            "normal": "x, ",
        }.items()
    },
    **{
        f"call torch.Tensor.{name} with a generator": f"x.clone().{name}(generator=generator)"
        for name in ("uniform_", "normal_", "bernoulli_", "exponential_", "random_")
    },
    **{
        f"call torch.{name} that requires a gradient": f"torch.{name}({given}requires_grad=True)"
        for name, given in {
            **dict.fromkeys("zeros ones empty rand randn".split(), "4, "),
            "tensor": "1.0, ",
            "full": "(4,), 1.0, ",
            "arange": "4.0, ",
            "linspace": "0, 1, 4, ",
            "eye": "4, ",
            **dict.fromkeys("zeros_like ones_like empty_like rand_like randn_like".split(), "x, "),
            "full_like": "x, 1.0, ",
        }.items()
    },
    "call torch.Tensor.random_": "x.clone().random_()",
    "call torch.autograd.backward": "torch.autograd.backward((weight * 2).sum())",
    **each(
        "torch.autograd.functional", "hvp vhp", "torch.autograd.functional.{}(lambda v: v.sum(), x, x)[1]"
    ),
    "call torch.autograd.functional.jacobian": "torch.autograd.functional.jacobian(torch.sin, x)",
    "call torch.autograd.functional.hessian": "torch.autograd.functional.hessian(lambda v: v.sin().sum(), x)",
    "call torch.autograd.functional.vjp": "torch.autograd.functional.vjp(torch.sin, x, x)",
    "call torch.autograd.functional.jvp": "torch.autograd.functional.jvp(torch.sin, x, x)",
    **each(
        "torch.nn.Module",
        "register_forward_hook register_forward_pre_hook register_full_backward_hook",
        "layer.{}(lambda *a: None)",
    ),
    "call torch.nn.Module.requires_grad_": "layer.requires_grad_(not layer.weight.requires_grad)",
    **each("torch.nn.Module", "half double bfloat16", "converted.{}(); converted.float()"),
    "call torch.nn.Module.float": "converted.float(); converted.half()",
    **each("torch.nn.Module", "to type", "converted.{}(torch.float64); converted.{}(torch.float16)"),
    "call torch.nn.Module.to_empty": "converted.to_empty(device='cpu')",
    **each(
        "torch.backends.cuda",
        "flash_sdp_enabled math_sdp_enabled mem_efficient_sdp_enabled cudnn_sdp_enabled preferred_blas_library "
        "preferred_linalg_library",
        "torch.backends.cuda.{}()",
    ),
    "call torch.backends.cuda.SDPAParams": (
        "v = x[None, None]; torch.backends.cuda.SDPAParams(v, v, v, None, 0.0, False, False)"
    ),
    "call torch.backends.mps.is_built": "torch.backends.mps.is_built()",
    **{
        f"call torch.backends.{name}.is_available": f"torch.backends.{name}.is_available()"
        for name in "mkl mkldnn openmp cudnn opt_einsum".split()
    },
    "call torch.backends.cpu.get_cpu_capability": "torch.backends.cpu.get_cpu_capability()",
    **each("torch", "typename is_storage", "torch.{}(x)"),
    "call torch.set_flush_denormal": "torch.set_flush_denormal(False)",
    "call struct.calcsize": "struct.calcsize('i')",
    **each("typing", "get_args get_origin", "typing.{}(typing.Optional[int])"),
    "call functools.cmp_to_key": "functools.cmp_to_key(lambda a, b: a - b)",
    "call collections.deque.rotate": "recent = collections.deque([1, 2]); recent.rotate(1)",
    "call cProfile.Profile": "cProfile.Profile()",
    "call torch.jit.isinstance": "torch.jit.isinstance(x, torch.Tensor)",
    "call torch.jit.fork": "torch.jit.fork(torch.relu, x)",
    "call torch.jit.wait": "torch.jit.wait(torch.jit.fork(torch.relu, x))",
    "call torch.utils.dlpack.to_dlpack": "torch.utils.dlpack.to_dlpack(x)",
    "call torch.utils.dlpack.from_dlpack": "torch.utils.dlpack.from_dlpack(x)",
    "call torch.sparse_csr_tensor": "torch.sparse_csr_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.ones(1))",
    "call torch.sparse_csc_tensor": "torch.sparse_csc_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.ones(1))",
    "call torch.sparse_bsr_tensor": (
        "torch.sparse_bsr_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.ones(1, 2, 2))"
    ),
    "call torch.nested.as_nested_tensor": "torch.nested.as_nested_tensor([x[0], x[1]])",
    "call torch._check_value": "torch._check_value(x.dim() > 1, lambda: f'{x.dtype}')",
    "call torch._check_index": "torch._check_index(x.dim() > 1, lambda: f'{x.dtype}')",
    "call torch._check_type": "torch._check_type(x.dim() > 1, lambda: f'{x.dtype}')",
    "call torch._check_not_implemented": "torch._check_not_implemented(x.dim() > 1, lambda: f'{x.dtype}')",
    **each("torch", "nonzero", "torch.nonzero(m)"),
    "call torch.masked_select": "torch.masked_select(x, m)",
    "call torch.Tensor.argwhere": "m.argwhere()",
    "call torch.Tensor.unique_consecutive": "i.unique_consecutive()",
    "call torch.Tensor.bincount": "i.bincount()",
    **each("numpy", "nonzero flatnonzero unique", "np.{}(x.numpy())"),
    "call torch.repeat_interleave": "torch.repeat_interleave(x, i, dim=0)",
    "call builtins.str.format": "len('{}'.format(x))",
    "with torch.autograd.profiler.emit_itt": "with torch.autograd.profiler.emit_itt(False): x + 1",
    "with torch.autograd.set_multithreading_enabled": "with torch.autograd.set_multithreading_enabled(False): x + 1",
    "with torch.jit.optimized_execution": "with torch.jit.optimized_execution(False): x + 1",
    "call torch.compiler.reset": "torch.compiler.reset()",
    "call torch._dynamo.maybe_mark_dynamic": "torch._dynamo.maybe_mark_dynamic(x, 0)",
    "with torch.autograd.set_detect_anomaly": "with torch.autograd.set_detect_anomaly(False): x + 1",
    "with torch.autograd.graph.save_on_cpu": "with torch.autograd.graph.save_on_cpu(): x + 1",
    "with contextlib.redirect_stderr": "with contextlib.redirect_stderr(None): x + 1",
    **{
        f"call builtins.bytes.{name}": f"data.{name}({given})"
        for name, given in {
            "split": "",
            "strip": "",
            "hex": "",
            "join": "[data]",
            "replace": "data, b''",
            **dict.fromkeys("find startswith endswith count index".split(), "b'a'"),
        }.items()
    },
    "call builtins.bytes.decode": "data.decode()",
    "call builtins.bytes": "bytes(3)",
    **each("re", "match search findall split fullmatch", "re.{}('a', 'a')"),
    "call re.compile": "re.compile('abc')",
    "call re.sub": "re.sub('a', 'b', 'a')",
    **each("re.Pattern", "match search findall split fullmatch", "re.compile('a').{}('a')"),
    **each("heapq", "heapreplace heappushpop heappush", "heapq.{}(list(numbers), 1)"),
    **each("heapq", "heapify heappop", "heapq.{}(list(numbers))"),
    **each("heapq", "nlargest nsmallest", "heapq.{}(1, numbers)"),
    **each("bisect", "bisect bisect_left bisect_right", "bisect.{}(numbers, 2)"),
    **each("bisect", "insort insort_left insort_right", "bisect.{}(list(numbers), 2)"),
    **each("statistics", "mean median stdev fmean variance pstdev mode", "statistics.{}(numbers)"),
    **each("zlib", "crc32 compress adler32", "zlib.{}(data)"),
    "call zlib.decompress": "zlib.decompress(packed)",
    "call base64.b64encode": "base64.b64encode(data)",
    "call base64.b64decode": "base64.b64decode(b'YWI=')",
    **each("torch.Tensor", "unsqueeze_ squeeze_", "x.{}(0)"),
    **each("torch.Tensor", "transpose_ swapaxes_ swapdims_", "x.{}(0, 1)"),
    "call torch.Tensor.t_": "x.t_()",
    "call torch.Tensor.as_strided_": "x.as_strided_((1,), (1,))",
    "call torch.Tensor.detach_": "x.detach_()",
    "make torch.nn.Parameter": "nn.Parameter(x.clone())",
    **each("torch.UntypedStorage", "data_ptr nbytes size", "x.untyped_storage().{}()"),
    "with kept manager": "with manager: x + 1",
    "with kept manager of torch": "with without_gradients: x + 1",
    "call contextlib.ExitStack.enter_context of a kept manager": (
        "with contextlib.ExitStack() as stack: stack.enter_context(manager)"
    ),
    "call contextlib.ExitStack.enter_context": (
        "with contextlib.ExitStack() as stack: stack.enter_context(torch.no_grad())"
    ),
    **{
        f"call random.{name} in a branch": f"if random.{name}({given}) > 2: y = y + 1"
        for name, given in {"uniform": "0, 1", "randrange": "2", "random": ""}.items()
    },
    **{
        f"call math.{name} of NumPy": f"math.{name}(np.sqrt(2.0))"
        for name in "ceil floor isfinite isinf isnan".split()
    },
    "call math.isclose of NumPy": "math.isclose(np.sqrt(2.0), 1.4)",
    "compute with random": "k = 2 * random.uniform(0, 1)",
    **each("itertools", "starmap takewhile dropwhile filterfalse", "list(itertools.{}(abs, []))"),
    **each("itertools", "permutations combinations", "list(itertools.{}(numbers, 2))"),
    **each("itertools", "groupby product", "list(itertools.{}(numbers))"),
    **each("builtins", "hex bin chr", "{}(3)"),
    "call builtins.ord": "ord('a')",
    "call builtins.hash": "hash('a')",
    "call builtins.eval": "eval('3')",
    "call fractions.Fraction": "fractions.Fraction(1, 2)",
    "call struct.pack": "struct.pack('i', 3)",
    "call textwrap.dedent": "textwrap.dedent('  a')",
    "call collections.ChainMap": "collections.ChainMap({})",
    "call types.MappingProxyType": "types.MappingProxyType({})",
    "call importlib.metadata.version": "importlib.metadata.version('torch')",
    "call multiprocessing.current_process": "multiprocessing.current_process()",
    **each("inspect", "isfunction isclass signature", "inspect.{}(np_free)"),
    "call sys.exc_info": "sys.exc_info()",
    "call torch.nn.Module.state_dict": "layer.state_dict()",
    "call torch.nn.Module.to": "layer.to(x.dtype)",
    "call torch.accelerator.is_available": "torch.accelerator.is_available()",
    "call torch.quantize_per_tensor": "torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)",
    "forward torch.nn.GaussianNLLLoss": "nn.GaussianNLLLoss()(x, x, x.abs() + 1)",
    "call torch.Tensor.allclose": "x.allclose(x)",
    "call torch.Tensor.is_nonzero": "s.is_nonzero()",
    "call concurrent.futures.ThreadPoolExecutor.submit": "pool.submit(abs, 1).result()",
    "call concurrent.futures.ThreadPoolExecutor.map": "list(pool.map(abs, [1]))",
    "call queue.Queue.get": "things.put(1); things.get()",
    "call queue.Queue.put": "things.put(1)",
    "choose by key": "max([x, x[:2]], key=lambda t: t.shape[0])",
    "choose plain by key": "max([1, 3, 2], key=lambda n: -n)",
    "choose among pairs": "max([(1, x), (2, y)])",
    "choose by tensor": "max([0, 1], key=lambda n: (x, y)[n].sum())",
    "key array": "{1: 2}[np.arange(3)[1]]",
    "keep by array": "kept = {}; kept[np.arange(3)[1]] = 2; len(kept)",
    "call builtins.set": "set(np.arange(3))",
    "call builtins.set.add": "seen = set(); seen.add(np.arange(3)[1])",
    "call builtins.dict.setdefault": "{1: 2}.setdefault(np.arange(3)[1], 3)",
    "call decorated static method": "Held.mean(x)",
    "call class method of function": "Exp.apply(weight)",
    "get multiprocessing.Value.value": "shared.value",
    "set multiprocessing.Value.value": "shared.value = 4",
    "call multiprocessing.Event.is_set": "event.is_set()",
    "call multiprocessing.Queue.empty": "channel.empty()",
    "call multiprocessing.Queue.put": "channel.put(1)",
    "call multiprocessing.Queue.get": "channel.put(1); channel.get()",
    "with multiprocessing.Lock": "with shared_lock: x + 1",
    "with multiprocessing.RLock": "with shared_lock: x + 1",
    **each("torch.distributed", "barrier monitored_barrier", "dist.{}()"),
    **each("torch.distributed", "all_reduce", "dist.{}(y, async_op=True).wait()"),
    **each("torch.distributed", "broadcast reduce", "dist.{}(y, 0)"),
    "call torch.distributed.gather": "dist.gather(x, [torch.empty_like(x)])",
    **each("torch.distributed", "scatter reduce_scatter", "dist.{}(torch.empty_like(x), [x])"),
    "call torch.distributed.all_to_all": "dist.all_to_all([torch.empty_like(x)], [x])",
    **each(
        "torch.distributed",
        "reduce_scatter_tensor all_to_all_single",
        "dist.{}(torch.empty_like(x), x, async_op=True).wait()",
    ),
    **each("torch.distributed.nn", "all_reduce", "dist.nn.{}(x)"),
    **each("torch.distributed.nn", "broadcast reduce", "dist.nn.{}(x, 0)"),
    **each("torch.distributed.nn", "all_gather gather", "dist.nn.{}(x)[0]"),
    "call torch.distributed.nn.scatter": "dist.nn.scatter([x])",
    "call torch.distributed.nn.reduce_scatter": "dist.nn.reduce_scatter(torch.empty_like(x), [x])",
    "call torch.distributed.nn.all_to_all": "dist.nn.all_to_all([torch.empty_like(x)], [x])[0]",
    "call torch.distributed.nn.all_to_all_single": "dist.nn.all_to_all_single(torch.empty_like(x), x)",
    "call torch.distributed.new_group": "dist.new_group([0])",
    "call torch.distributed.Work.wait": "reduced.wait()",
    **each("torch.distributed", "all_gather", "dist.{}([torch.empty_like(x)], x, async_op=True).wait()"),
    **each(
        "torch.distributed", "all_gather_into_tensor", "dist.{}(torch.empty_like(x), x, async_op=True).wait()"
    ),
    **each("torch.distributed", "all_gather_object", "dist.{}([None], 3)"),
    **each("torch.distributed", "broadcast_object_list", "dist.{}([3], 0)"),
    "call torch.testing.assert_close": "torch.testing.assert_close(x, x)",
    "call torch._C._is_tracing": "torch._C._is_tracing()",
    "call torch._assert": "torch._assert(s > 0, 'a')",
    "call operator.index": "import operator; operator.index(i[1])",
    "call atexit.register": "atexit.register(print)",
    "call signal.getsignal": "signal.getsignal(signal.SIGINT)",
    "decorate compile inside": "@torch.compile(fullgraph=True)\ndef g(v):\n    return v * 2\ng(x)",
    "call torch._dynamo.disallow_in_graph": "torch._dynamo.disallow_in_graph(torch.lcm)",
}

# What only a machine with a GPU can run; tensors are there.
ON_GPU = {
    **each(
        "torch.cuda",
        "memory_stats memory_summary get_device_name is_current_stream_capturing initial_seed default_stream "
        "utilization get_arch_list cudart get_rng_state synchronize",
        "torch.cuda.{}()",
    ),
    "call torch.cuda.set_device": "torch.cuda.set_device(0)",
    "call torch.cuda.set_rng_state": "torch.cuda.set_rng_state(torch.cuda.get_rng_state())",
    "call torch.cuda.get_device_properties": "torch.cuda.get_device_properties(0)",
    **each(
        "torch.cuda", "get_device_capability current_device current_stream mem_get_info", "torch.cuda.{}()"
    ),
    "call torch.cuda.nvtx.range_push": "torch.cuda.nvtx.range_push('a')",
    "call torch.cuda.nvtx.range_pop": "torch.cuda.nvtx.range_pop()",
    "call torch.cuda.nvtx.mark": "torch.cuda.nvtx.mark('a')",
    "call torch.backends.cudnn.version": "torch.backends.cudnn.version()",
    "call torch.cuda.CUDAGraph": "torch.cuda.CUDAGraph()",
    "with torch.cuda.nvtx.range": "with torch.cuda.nvtx.range('a'): x + 1",
    "with torch.cuda.device": "with torch.cuda.device(0): x + 1",
    "with torch.cuda.device_of": "with torch.cuda.device_of(x): x + 1",
    "with torch.cuda.stream": "with torch.cuda.stream(torch.cuda.Stream()): x + 1",
    "with torch.autograd.profiler.emit_nvtx": "with torch.autograd.profiler.emit_nvtx(): x + 1",
    **each("torch.cuda.amp.GradScaler", "get_scale is_enabled state_dict", "scaler.{}()"),
    "call torch.cuda.amp.GradScaler.scale": "scaler.scale(x.sum())",
    **each("torch.cuda.amp.GradScaler", "unscale_ step", "scaler.{}(optimizer); scaler.update()"),
    "call torch.cuda.amp.GradScaler.update": "scaler.update(2.0)",
}
GPU_IMPORTS = """
parameter = torch.ones(2, device="cuda", requires_grad=True)
parameter.grad = torch.ones_like(parameter)
optimizer = torch.optim.SGD([parameter])
scaler = torch.amp.GradScaler("cuda")
scaler.scale(parameter.sum())
"""


def function(body):
    """A function of the inputs that runs the body between two operations."""
    lines = textwrap.indent(body.replace("; ", "\n"), "    ")
    return f"def call(x, m, i, s):\n    y = x + 1\n{lines}\n    return y * 2\n"


class Attempt:
    """Compiles one body after the other, in a namespace that holds the imports."""

    def __init__(self, records, here, on_gpu=False):
        self.records, self.globals = records, {"here": here}
        self.folder = here
        self.device = "cuda" if on_gpu else "cpu"
        exec(IMPORTS, self.globals)
        if on_gpu:
            exec(GPU_IMPORTS, self.globals)

    def inputs(self):
        return [value.to(self.device) for value in given("xmis")]

    def measure(self, name, body):
        """None if it cannot run here; else the result as operators.py gives it, [] if it does not break."""
        path = os.path.join(self.folder, "body.py")
        Path(path).write_text(function(body), encoding="utf-8")
        exec(compile(function(body), path, "exec"), self.globals)
        call = self.globals["call"]
        with contained():
            try:
                call(*self.inputs())
            except Exception:
                return None
        torch._dynamo.reset()
        self.records.events.clear()
        error = self.compiled(call)
        breaks = [record for kind, record in self.records.events if kind == "break"]
        if not breaks and error is None:
            return []
        torch._dynamo.reset()
        fullgraph = self.compiled(call, fullgraph=True) is None
        first = breaks[0] if breaks else {"graph_break": None, "reason": error}
        skipped = any(record["skipped"] for record in breaks)
        return [first["graph_break"], shortened(first["reason"]), fullgraph, skipped]

    def compiled(self, call, **options):
        with contained():
            try:
                torch.compile(call, backend="eager", **options)(*self.inputs())
            except Exception as error:
                return said(error)
        return None


def run(names=(), on_gpu=False):
    prepared()
    fine, broken = [], {}
    with tempfile.TemporaryDirectory() as here, log_listener.listening([here]) as records:
        attempt = Attempt(records, here, on_gpu)
        for name, body in (ON_GPU if on_gpu else CALLS).items():
            if names and name not in names:
                continue
            result = attempt.measure(name, body)
            if result == []:
                fine.append(name)
            elif result is not None:
                broken[name] = result
    return {
        "torch": torch.__version__.split("+")[0],
        "python": ".".join(map(str, sys.version_info[:2])),
        "breaks": dict(sorted(broken.items())),
        "fine": sorted(fine),
    }


def merged(known, data, names):
    """The known results with those of `names` taken from new ones."""
    stay = {*CALLS, *ON_GPU} - {*names}
    broken = {n: r for n, r in known["breaks"].items() if n in stay} | data["breaks"]
    fine = {n for n in known["fine"] if n in stay} | set(data["fine"])
    return {**data, "breaks": dict(sorted(broken.items())), "fine": sorted(fine)}


def main():
    parser = argparse.ArgumentParser(description="Try each call in a compiled function.")
    parser.add_argument("--stdout", action="store_true", help="print the results, write nothing")
    parser.add_argument("--gpu", action="store_true", help="what only a machine with CUDA can run")
    parser.add_argument("names", nargs="*", help='only these, as "call os.stat"')
    options = parser.parse_intermixed_args()
    data = run(options.names, options.gpu)
    for name in {*options.names} - {*data["breaks"], *data["fine"]}:
        sys.stderr.write(f"{name}: not among the calls, or does not run in eager mode\n")
    if options.stdout:
        sys.stdout.write(text(data))
    else:
        path = RESULTS / f"{'gpu' if options.gpu else 'calls'}-{data['torch']}.json"
        if options.names and path.exists():
            data = merged(json.loads(path.read_text(encoding="utf-8")), data, options.names)
        path.write_text(text(data), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
