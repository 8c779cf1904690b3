import os
import shutil
import signal
import sys
import tempfile

import pytest

# Also where pytest is too old to know the setting `pythonpath`. LOWTIDE_TEST_INSTALLED: test the
# installed package instead of the one of this tree.
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(_ROOT, "tests", "fakes"))
if not os.environ.get("LOWTIDE_TEST_INSTALLED"):
    sys.path.insert(0, os.path.join(_ROOT, "python"))

from marks_server import MarksServer  # noqa: E402

# A test run in the background of a script starts with it ignored, and its children with it.
signal.signal(signal.SIGINT, signal.default_int_handler)

RANK_VARIABLES = [
    "LOCAL_RANK",
    "RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_RANK",
    "MPI_LOCALRANKID",
    "PMI_RANK",
    "SLURM_LOCALID",
    "SLURM_PROCID",
]


@pytest.fixture(autouse=True)
def outside_a_run(monkeypatch):
    """Each test begins outside a run, with a client that has not connected."""
    from lowtide import _client

    for name in RANK_VARIABLES + ["LOWTIDE_SOCKET", "LOWTIDE_BATCH_SIZE", "LOWTIDE_DEBUG"]:
        monkeypatch.delenv(name, raising=False)
    yield
    for client in _client._current:
        client.abandon()
    _client._current.clear()


@pytest.fixture
def socket_path():
    # pytest's own temporary folders can be longer than a socket's path may be.
    folder = tempfile.mkdtemp(prefix="lowtide-")
    yield os.path.join(folder, "marks.sock")
    shutil.rmtree(folder)


@pytest.fixture
def server(socket_path, monkeypatch):
    with MarksServer(socket_path) as running:
        monkeypatch.setenv("LOWTIDE_SOCKET", running.path)
        yield running
