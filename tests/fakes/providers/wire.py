"""Requests, answers and times as they travel."""

import json
import re
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote, unquote_plus


class Request:
    def __init__(self, provider, method, target, headers, body):
        self.provider = provider
        self.method = method
        path, _, query = target.partition("?")
        self.path = unquote(path)
        self.query = []
        for part in query.split("&") if query else []:
            name, _, value = part.partition("=")
            self.query.append((unquote_plus(name), unquote_plus(value)))
        self.headers = {name.lower(): value for name, value in headers}
        self.body = body
        self.faults = []  # what is going to happen to the data of this one

    def all(self, name):
        return [v for k, v in self.query if k == name]

    def get(self, name, default=None):
        values = self.all(name)
        return values[0] if values else default

    def fault(self, kind):
        for fault in self.faults:
            if fault["kind"] == kind:
                return fault
        return None


class Reply:
    def __init__(self, status, body=b"", content_type="application/json; charset=utf-8", headers=()):
        self.status = status
        self.body = body.encode() if isinstance(body, str) else body
        self.content_type = content_type
        self.headers = list(headers)


def json_reply(status, value, content_type="application/json; charset=utf-8", headers=()):
    return Reply(status, json.dumps(value, separators=(",", ":")), content_type, headers)


class Refused(Exception):
    """Raised anywhere below a provider's answer(): the reply takes the place of the answer."""

    def __init__(self, reply):
        super().__init__(reply.status)
        self.reply = reply


def unknown_parameters(request, known):
    return [name for name, _ in request.query if name not in known]


def repeated_parameters(request, allowed=()):
    names = [name for name, _ in request.query if name not in allowed]
    return sorted({name for name in names if names.count(name) > 1})


YEARS = range(1970, 2200)  # of the times that are understood
_ISO = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,7}))?)?(Z|[+-]\d{2}:?\d{2})?"
)


def parse_iso(text, offset_required=True):
    """Whole Unix seconds, or None. Digits below a second are dropped."""
    match = _ISO.fullmatch(text) if isinstance(text, str) and text.isascii() else None
    if not match or int(match.group(1)) not in YEARS or (offset_required and not match.group(8)):
        return None
    year, month, day, hour, minute = (int(match.group(i)) for i in range(1, 6))
    try:
        at = datetime(year, month, day, hour, minute, int(match.group(6) or 0), tzinfo=timezone.utc)
    except ValueError:
        return None
    offset = match.group(8) or "Z"
    if offset != "Z":
        sign = -1 if offset[0] == "-" else 1
        digits = offset[1:].replace(":", "")
        at -= sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return int(at.timestamp())


def utc(unix):
    return datetime.fromtimestamp(unix, timezone.utc)


def iso_millis(unix):
    return utc(unix).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def iso_offset(unix):
    return utc(unix).strftime("%Y-%m-%dT%H:%M:%S+00:00")


def iso_minutes(unix):
    return utc(unix).strftime("%Y-%m-%dT%H:%MZ")


def http_date(unix):
    return utc(unix).strftime("%a, %d %b %Y %H:%M:%S GMT")
