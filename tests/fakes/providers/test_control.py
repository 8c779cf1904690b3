"""How the fake servers are controlled, and how they live and end."""

import json
import pathlib
import ssl
import subprocess
import urllib.request

import pytest
from conftest import Fakes

UK = "/intensity/factors"


def test_the_log(fakes):
    fakes.get("uk_carbon_intensity", "/intensity/factors")
    fakes.ask("http://127.0.0.1:%d/eia/v2/x?api_key=k%%26" % fakes.port)
    log = fakes.requests()
    assert [(r["provider"], r["path"], r["status"]) for r in log] == [
        ("uk_carbon_intensity", "/intensity/factors", 200),
        ("eia", "/v2/x", 403),
    ]
    assert log[1]["query"] == [["api_key", "k&"]]
    fakes.reset()
    assert fakes.requests() == []


def test_the_plug(fakes):
    fakes.control(unplug=["eia"])
    with pytest.raises(OSError):
        fakes.get("eia", "/v2/x")
    assert fakes.get("uk_carbon_intensity", "/intensity")[0] == 200
    with pytest.raises(OSError):  # below its name, too
        fakes.ask("http://127.0.0.1:%d/eia/v2/x" % fakes.port)
    fakes.control(plug=["eia"])
    assert fakes.get("eia", "/v2/x")[0] == 403


@pytest.mark.parametrize(
    "command",
    [
        '{"faults": [{"kind": "earthquake"}]}',
        '{"faults": [{"kind": "slow"}]}',
        '{"faults": [{"kind": "gzip", "speed": 1}]}',
        '{"faults": [{"kind": "gzip", "times": -1}]}',
        '{"settings": {"eia": {"kyes": []}}}',
        '{"settings": {"nobody": {}}}',
        '{"now": "yesterday"}',
        '{"unplug": ["nobody"]}',
        '{"later": 1}',
        '{"now": 5}',
        '{"advance_s": "1"}',
        '{"clear_faults": 1}',
        '{"faults": {}}',
        '{"faults": [5]}',
        '{"faults": [{"kind": []}]}',
        '{"faults": [{"kind": "null", "at": 5}]}',
        '{"faults": [{"kind": "null", "at": ["x"]}]}',
        '{"faults": [{"kind": "short", "slots": -1}]}',
        '{"faults": [{"kind": "slow", "delay_s": "1"}]}',
        '{"faults": [{"kind": "status", "status": 99}]}',
        '{"faults": [{"kind": "status", "status": true}]}',
        '{"faults": [{"kind": "headers", "headers": ["ETag"]}]}',
        '{"faults": [{"kind": "rate_limit", "form": "years"}]}',
        '{"faults": [{"kind": "validators", "by": "luck"}]}',
        '{"faults": [{"kind": "redirect"}]}',
        '{"faults": [{"kind": "redirect", "to_provider": "nobody"}]}',
        '{"faults": [{"kind": "redirect", "to_provider": "*"}]}',
        '{"faults": [{"kind": "redirect", "to_provider": "eia", "location": "/"}]}',
        '{"faults": [{"kind": "gzip", "path": 5}]}',
        '{"faults": [{"kind": "gzip", "query": "zone=DE"}]}',
        '{"faults": [{"kind": "gzip", "provider": "nobody"}]}',
        '{"faults": [{"kind": "other_zone", "zone": "DE", "provider": "uk_carbon_intensity"}]}',
        '{"settings": []}',
        '{"settings": {"eia": []}}',
        '{"settings": {"eia": {"limit_per_hour": "9"}}}',
        '{"settings": {"eia": {"lag_hours": null}}}',
        '{"settings": {"eia": {"lag_hours": -1}}}',
        '{"settings": {"eia": {"values": "text"}}}',
        '{"settings": {"entsoe": {"curve": "A3"}}}',
        '{"settings": {"watttime": {"refusal": 403}}}',
        '{"unplug": "eia"}',
        '{"plug": [[]]}',
        "null",
        "5",
        "[]",
        "{",
    ],
)
def test_wrong_commands(fakes, command):
    status, _, body = fakes.ask("http://127.0.0.1:%d/_control" % fakes.port, body=command)
    assert status == 400 and json.loads(body)["error"]


def test_a_wrong_command_changes_nothing(fakes):
    command = {"faults": [{"kind": "gzip"}, {"kind": "earthquake"}], "now": "2030-01-01T00:00:00Z"}
    for part in ({}, {"unplug": ["eia"]}):
        body = json.dumps({**command, **part})
        assert fakes.ask("http://127.0.0.1:%d/_control" % fakes.port, body=body)[0] == 400
    _, headers, _ = fakes.get("uk_carbon_intensity", UK)
    assert headers["Content-Encoding"] is None
    assert headers["Date"] == "Sat, 22 Aug 2026 17:24:00 GMT"
    assert fakes.get("eia", "/v2/x")[0] == 403


def test_a_settings_null_is_no_limit(fakes):
    fakes.control(settings={"entsoe": {"limit_per_minute": None}})
    fakes.control(settings={"energy_charts": {"deprecated": None, "limit_per_minute": 1}})
    assert "deprecated" not in fakes.json("energy_charts", "/co2eq?country=de")[1]
    assert fakes.get("energy_charts", "/co2eq?country=de")[0] == 429


@pytest.mark.parametrize(
    "by,header,question", [("etag", "ETag", "If-None-Match"), ("date", "Last-Modified", "If-Modified-Since")]
)
def test_the_same_answer_need_not_be_sent_twice(fakes, by, header, question):
    fakes.control(faults=[{"kind": "validators", "by": by}])
    path = "/intensity"
    status, headers, body = fakes.get("uk_carbon_intensity", path)
    known = {question: headers[header]}
    assert status == 200 and body
    fakes.control(advance_s=60)
    status, headers, body = fakes.get("uk_carbon_intensity", path, known)
    assert (status, body, headers[header]) == (304, b"", known[question])
    fakes.control(advance_s=1800)  # another slot, another answer
    status, headers, body = fakes.get("uk_carbon_intensity", path, known)
    assert status == 200 and body and headers[header] != known[question]


def test_without_the_fault_there_are_no_validators(fakes):
    _, headers, _ = fakes.get("uk_carbon_intensity", UK)
    assert headers["ETag"] is None and headers["Last-Modified"] is None


def test_a_failure_of_a_fake_is_no_refusal(monkeypatch, capfd):
    import serve
    from wire import Request

    servers = serve.Servers()
    monkeypatch.setattr(serve.uk_carbon_intensity, "answer", lambda request, world: 1 // 0)
    reply = servers.answer(Request("uk_carbon_intensity", "GET", UK, [], b""))
    assert reply.status == 599
    assert "ZeroDivisionError" in capfd.readouterr().err


# The process.


def test_it_ends_with_its_input():
    fakes = Fakes()
    assert fakes.stop() == 0


def test_a_scenario_file(tmp_path):
    scenario = tmp_path / "scenario.json"
    scenario.write_text('{"now": "2030-01-01T00:00:00Z", "faults": [{"kind": "no_data"}]}')
    fakes = Fakes("--scenario", str(scenario))
    fakes.token = None
    assert fakes.json("uk_carbon_intensity", "/intensity") == (200, {"data": []})
    fakes.control(clear_faults=True)
    assert fakes.json("uk_carbon_intensity", "/intensity")[1]["data"]
    fakes.reset()
    assert fakes.json("uk_carbon_intensity", "/intensity") == (200, {"data": []})
    fakes.stop()


def test_tls(tmp_path):
    key, certificate = tmp_path / "key", tmp_path / "cert"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=fake",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    fakes = Fakes("--tls", str(certificate), str(key))
    assert fakes.process.stdout.readline().strip().isdigit()  # the port for control
    url = "https://127.0.0.1:%d/intensity" % fakes.ports["uk_carbon_intensity"]
    trust = ssl.create_default_context(cafile=str(certificate))
    with urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trust)
    ).open(url, timeout=20) as reply:
        assert reply.status == 200
    fakes.stop()


def test_the_documentation_names_every_fault_and_setting():
    import faults
    import serve

    text = (pathlib.Path(__file__).parent / "README.md").read_text()
    names = {*faults.TRANSPORT, *faults.DATA}
    for module in serve.PROVIDERS.values():
        names |= set(module.SETTINGS)
    assert {name for name in names if "`%s`" % name not in text} == set()
