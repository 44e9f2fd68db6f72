# ruff: noqa
"""Time, environment, files, processes, imports and other calls that leave the graph; random numbers."""

import asyncio
import atexit
import concurrent.futures
import contextvars
import ctypes
import datetime
import gc
import getpass
import importlib
import importlib.metadata
import importlib.util
import inspect
import io
import multiprocessing
import os
import pathlib
import platform
import queue
import random
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import uuid

import torch
from torch import Tensor, nn

_linear = nn.Linear(4, 4).requires_grad_(False)
_context = contextvars.ContextVar("_context", default=1)
_generator = torch.Generator()
_random = random.Random(0)


def time_time(x: Tensor):
    """`time.time()`"""
    return x + time.time() * 0


def time_perf_counter(x: Tensor):
    """`time.perf_counter()`"""
    return x + time.perf_counter() * 0


def time_monotonic(x: Tensor):
    """`time.monotonic()`"""
    return x + time.monotonic() * 0


def time_ns(x: Tensor):
    """`time.perf_counter_ns()`"""
    return x + time.perf_counter_ns() * 0


def time_sleep(x: Tensor):
    """`time.sleep(0)`"""
    time.sleep(0)
    return x + 1


def time_strftime(x: Tensor):
    """`time.strftime`"""
    return x + len(time.strftime("%Y"))


def datetime_now(x: Tensor):
    """`datetime.datetime.now()`"""
    return x + datetime.datetime.now().year * 0


def datetime_delta(x: Tensor):
    """`datetime.timedelta(...)`"""
    return x + datetime.timedelta(seconds=3).seconds


def random_random(x: Tensor):
    """`random.random()`"""
    return x + random.random()


def random_uniform(x: Tensor):
    """`random.uniform`"""
    return x + random.uniform(0, 1)


def random_randint(x: Tensor):
    """`random.randint`"""
    return x + random.randint(0, 3)


def random_randrange(x: Tensor):
    """`random.randrange`"""
    return x + random.randrange(0, 3)


def random_choice(x: Tensor):
    """`random.choice`"""
    return x + random.choice([1, 2])


def random_choices(x: Tensor):
    """`random.choices`"""
    return x + random.choices([1, 2], k=1)[0]


def random_sample(x: Tensor):
    """`random.sample`"""
    return x + random.sample([1, 2, 3], 2)[0]


def random_shuffle(x: Tensor):
    """`random.shuffle`"""
    order = [0, 1]
    random.shuffle(order)
    return x + order[0]


def random_gauss(x: Tensor):
    """`random.gauss`"""
    return x + random.gauss(0, 1)


def random_if(x: Tensor):
    """`if random.random() < p`"""
    if random.random() < 0.5:
        return x + 1
    return x


def random_seed(x: Tensor):
    """`random.seed`"""
    random.seed(0)
    return x + 1


def random_object(x: Tensor):
    """`random.Random(0).random()` of the module"""
    return x + _random.random()


def random_object_made(x: Tensor):
    """`random.Random(0)` made inside"""
    return x + random.Random(0).random()


def secrets_token(x: Tensor):
    """`secrets.randbelow`"""
    return x + secrets.randbelow(3) * 0


def torch_rand(x: Tensor):
    """`torch.rand`, `randn_like`, `bernoulli`, `normal_`, `uniform_`, `randperm`"""
    y = torch.rand(4, 4) + torch.randn_like(x) + torch.bernoulli(torch.full((4, 4), 0.5))
    return y + torch.empty(4, 4).uniform_() + torch.empty(4, 4).normal_() + torch.randperm(4)


def torch_rand_generator(x: Tensor):
    """`torch.rand(..., generator=g)`"""
    return x + torch.rand(4, generator=_generator)


def torch_generator_made(x: Tensor):
    """`torch.Generator()` made inside"""
    g = torch.Generator()
    return x + torch.rand(4, generator=g)


def torch_manual_seed(x: Tensor):
    """`torch.manual_seed`"""
    torch.manual_seed(0)
    return x + torch.rand(4)


def torch_seed(x: Tensor):
    """`torch.seed()`"""
    torch.seed()
    return x + 1


def torch_initial_seed(x: Tensor):
    """`torch.initial_seed()`"""
    return x + torch.initial_seed() * 0


def torch_get_rng_state(x: Tensor):
    """`torch.get_rng_state()`"""
    return x + torch.get_rng_state().numel() * 0


def torch_set_rng_state(x: Tensor):
    """`torch.set_rng_state(torch.get_rng_state())`"""
    torch.set_rng_state(torch.get_rng_state())
    return x + 1


def torch_fork_rng(x: Tensor):
    """`with torch.random.fork_rng()`"""
    with torch.random.fork_rng():
        y = x + torch.rand(4)
    return y


def dropout_seed(x: Tensor):
    """`F.dropout` in training"""
    return nn.functional.dropout(x, 0.5, training=True)


def environ_get(x: Tensor):
    """`os.environ.get`"""
    return x + len(os.environ.get("PT2LINT_NOT_SET", ""))


def environ_index(x: Tensor):
    """`os.environ["PATH"]`"""
    return x + len(os.environ["PATH"]) * 0


def environ_in(x: Tensor):
    """`"NAME" in os.environ`"""
    return x + ("PT2LINT_NOT_SET" in os.environ)


def environ_set(x: Tensor):
    """`os.environ["NAME"] = ...`"""
    os.environ["PT2LINT_SET"] = "1"
    return x + 1


def getenv(x: Tensor):
    """`os.getenv`"""
    return x + len(os.getenv("PT2LINT_NOT_SET", ""))


def path_exists(x: Tensor):
    """`os.path.exists`"""
    return x + os.path.exists("/nonexistent")


def path_join(x: Tensor):
    """`os.path.join`, `basename`, `splitext`"""
    return x + len(os.path.join("a", "b")) + len(os.path.basename("a/b")) + len(os.path.splitext("a.b"))


def os_listdir(x: Tensor):
    """`os.listdir`"""
    return x + len(os.listdir("/")) * 0


def os_getcwd(x: Tensor):
    """`os.getcwd()`"""
    return x + len(os.getcwd()) * 0


def os_getpid(x: Tensor):
    """`os.getpid()`"""
    return x + os.getpid() * 0


def os_cpu_count(x: Tensor):
    """`os.cpu_count()`"""
    return x + os.cpu_count() * 0


def os_makedirs(x: Tensor):
    """`os.makedirs(..., exist_ok=True)`"""
    os.makedirs("/tmp", exist_ok=True)
    return x + 1


def pathlib_join(x: Tensor):
    """`pathlib.Path("a") / "b"`"""
    return x + len(str(pathlib.Path("a") / "b"))


def pathlib_exists(x: Tensor):
    """`pathlib.Path.exists`"""
    return x + pathlib.Path("/nonexistent").exists()


def file_open(x: Tensor):
    """`with open(...)`"""
    with open(os.devnull) as file:
        file.read()
    return x + 1


def file_open_plain(x: Tensor):
    """`open(...).read()`"""
    return x + len(open(os.devnull).read())


def file_temporary(x: Tensor):
    """`tempfile.TemporaryFile`"""
    with tempfile.TemporaryFile():
        y = x + 1
    return y


def bytes_io(x: Tensor):
    """`io.StringIO().write`"""
    buffer = io.StringIO()
    buffer.write("a")
    return x + len(buffer.getvalue())


def torch_save(x: Tensor):
    """`torch.save`"""
    torch.save(x, io.BytesIO())
    return x + 1


def import_loaded(x: Tensor):
    """`import` of a module that is loaded"""
    import math as m

    return x + m.pi


def import_from_loaded(x: Tensor):
    """`from ... import` of a module that is loaded"""
    from collections import OrderedDict

    return OrderedDict(a=x)["a"] + 1


def import_not_loaded(x: Tensor):
    """`import` of a module that is not loaded yet"""
    import this_is_loaded_late as late

    return x + late.VALUE


def import_guarded(x: Tensor):
    """`try: import missing except ImportError`"""
    try:
        import pt2lint_no_such_module
    except ImportError:
        return x + 1
    return x


def import_module(x: Tensor):
    """`importlib.import_module` of a loaded module"""
    return x + importlib.import_module("math").pi


def find_spec(x: Tensor):
    """`importlib.util.find_spec`"""
    return x + (importlib.util.find_spec("json") is not None)


def metadata_version(x: Tensor):
    """`importlib.metadata.version`"""
    return x + len(importlib.metadata.version("torch"))


def sys_modules(x: Tensor):
    """`"math" in sys.modules`"""
    return x + ("math" in sys.modules)


def sys_version(x: Tensor):
    """`sys.version_info >= (3, 10)`, `sys.platform`, `sys.maxsize`"""
    if sys.version_info >= (3, 10) and sys.platform != "win32" and sys.maxsize > 0:
        return x + 1
    return x


def sys_exit_unreached(x: Tensor):
    """`sys.exit` in a branch that is not taken"""
    if x.dim() > 5:
        sys.exit(1)
    return x + 1


def sys_getsizeof(x: Tensor):
    """`sys.getsizeof`"""
    return x + sys.getsizeof(1) * 0


def sys_getframe(x: Tensor):
    """`sys._getframe()`"""
    return x + sys._getframe().f_lineno * 0


def sys_exc_info(x: Tensor):
    """`sys.exc_info()`"""
    return x + (sys.exc_info()[0] is None)


def platform_system(x: Tensor):
    """`platform.system()`"""
    return x + len(platform.system()) * 0


def torch_version(x: Tensor):
    """`torch.__version__` compared"""
    major, minor = map(int, torch.__version__.split(".")[:2])
    return x + ((major, minor) >= (2, 0))


def torch_version_compare(x: Tensor):
    """`torch.__version__ >= "2.0"`"""
    return x + int(torch.__version__ >= "2.0")


def inspect_signature(x: Tensor):
    """`inspect.signature`"""
    return x + len(inspect.signature(_linear.forward).parameters)


def inspect_stack(x: Tensor):
    """`inspect.stack()`"""
    return x + len(inspect.stack()) * 0


def inspect_isfunction(x: Tensor):
    """`inspect.isfunction`, `inspect.isclass`"""
    return x + inspect.isfunction(time_time) + inspect.isclass(nn.Linear)


def traceback_format(x: Tensor):
    """`traceback.format_exc()`"""
    return x + len(traceback.format_exc()) * 0


def uuid_made(x: Tensor):
    """`uuid.uuid4()`"""
    return x + len(str(uuid.uuid4())) * 0


def gc_collect(x: Tensor):
    """`gc.collect()`"""
    gc.collect()
    return x + 1


def subprocess_run(x: Tensor):
    """`subprocess.run`"""
    subprocess.run(["true"])
    return x + 1


def os_system(x: Tensor):
    """`os.system`"""
    os.system("true")
    return x + 1


def socket_hostname(x: Tensor):
    """`socket.gethostname()`"""
    return x + len(socket.gethostname()) * 0


def user_name(x: Tensor):
    """`getpass.getuser()`"""
    return x + len(getpass.getuser()) * 0


def ctypes_sizeof(x: Tensor):
    """`ctypes.sizeof`"""
    return x + ctypes.sizeof(ctypes.c_int)


def signal_get(x: Tensor):
    """`signal.getsignal`"""
    signal.getsignal(signal.SIGTERM)
    return x + 1


def atexit_register(x: Tensor):
    """`atexit.register`"""
    atexit.register(time_time, x)
    return x + 1


def thread_ident(x: Tensor):
    """`threading.get_ident()`"""
    return x + threading.get_ident() * 0


def thread_current(x: Tensor):
    """`threading.current_thread().name`"""
    return x + len(threading.current_thread().name) * 0


def thread_started(x: Tensor):
    """`threading.Thread(...).start()`"""
    thread = threading.Thread(target=len, args=("",))
    thread.start()
    thread.join()
    return x + 1


def thread_local(x: Tensor):
    """`threading.local()`"""
    store = threading.local()
    store.value = 3
    return x + store.value


def process_name(x: Tensor):
    """`multiprocessing.current_process().name`"""
    return x + len(multiprocessing.current_process().name) * 0


def queue_put(x: Tensor):
    """`queue.Queue().put`"""
    q = queue.Queue()
    q.put(3)
    return x + q.get()


def executor_map(x: Tensor):
    """`ThreadPoolExecutor().map`"""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        y = sum(pool.map(abs, [1, 2]))
    return x + y


def asyncio_run(x: Tensor):
    """`asyncio.run`"""

    async def work():
        return 3

    return x + asyncio.run(work())


def context_variable_get(x: Tensor):
    """`ContextVar.get()`"""
    return x + _context.get()


def context_variable_set(x: Tensor):
    """`ContextVar.set`, `reset`"""
    token = _context.set(3)
    y = x + _context.get()
    _context.reset(token)
    return y
