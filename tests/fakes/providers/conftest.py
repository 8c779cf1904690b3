"""Starts the fake servers for the tests here."""

import base64
import json
import os
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

HERE = pathlib.Path(__file__).parent
NOW = "2026-08-22T17:24:00Z"


class Fakes:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(HERE / "serve.py"), "--now", NOW, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.port = int(self.process.stdout.readline())
        self.ports = json.loads(self.process.stdout.readline())
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)

    def ask(self, url, headers=None, body=None, method=None):
        """Status, headers and body."""
        data = body.encode() if isinstance(body, str) else body
        request = urllib.request.Request(url, data, headers or {}, method=method)
        try:
            with self.opener.open(request, timeout=20) as reply:
                return reply.status, reply.headers, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def get(self, provider, path, headers=None, **more):
        url = "http://127.0.0.1:%d%s" % (self.ports[provider], path)
        return self.ask(url, {**login(self, provider), **(headers or {})}, **more)

    def json(self, provider, path, headers=None, **more):
        status, _, body = self.get(provider, path, headers, **more)
        return status, json.loads(body)

    def control(self, **command):
        url = "http://127.0.0.1:%d/_control" % self.port
        status, _, body = self.ask(url, body=json.dumps(command))
        assert status == 200, body
        return status

    def requests(self):
        _, _, body = self.ask("http://127.0.0.1:%d/_requests" % self.port)
        return json.loads(body)

    def reset(self):
        self.token = None
        self.ask("http://127.0.0.1:%d/_reset" % self.port, body="")

    def stop(self):
        self.process.stdin.close()
        return self.process.wait(5)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def login(fakes, provider):
    if provider == "electricity_maps":
        return {"auth-token": "em-full"}
    if provider != "watttime":
        return {}
    if fakes.token is None:
        basic = base64.b64encode(b"ada:lovelace-1815").decode()
        url = "http://127.0.0.1:%d/login" % fakes.ports["watttime"]
        fakes.token = json.loads(fakes.ask(url, {"Authorization": "Basic " + basic})[2])["token"]
    return {"Authorization": "Bearer " + fakes.token}


@pytest.fixture(scope="session")
def running():
    fakes = Fakes()
    yield fakes
    assert fakes.stop() == 0


@pytest.fixture
def fakes(running):
    running.reset()
    return running


@pytest.fixture(scope="session")
def recordings():
    folder = os.environ.get("LOWTIDE_TEST_DATA")
    if not folder:
        pytest.skip("LOWTIDE_TEST_DATA is not set")
    return pathlib.Path(folder) / "fixtures"
