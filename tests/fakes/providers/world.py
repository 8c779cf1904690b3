"""What all fake providers share: the time, the settings, the faults to come and the log."""

import copy
import threading
import time

import faults
from series import HOUR
from wire import parse_iso


# Settings that may be null: no limit, no such key in the answer.
OPTIONAL = ("limit_", "logins_", "deprecated")


def alike(key, value, preset):
    """Whether a setting may have `value`."""
    if value is None:
        return key.startswith(OPTIONAL)
    if key.startswith("limit_"):
        preset = 0
    return type(value) is type(preset) and (type(value) is not int or value >= 0)


class World:
    def __init__(self, providers, now=None):
        self.providers = providers  # name -> module
        self.lock = threading.RLock()
        self._first_now = now
        self.reset()

    def reset(self):
        with self.lock:
            self.fixed_now = self._first_now
            self.settings = {n: copy.deepcopy(m.SETTINGS) for n, m in self.providers.items()}
            self.rules = []
            self.requests = []
            self.counts = {}
            self.sessions = {}
            self.served = {}

    def now(self):
        with self.lock:
            return int(time.time()) if self.fixed_now is None else self.fixed_now

    def now_of_data(self, request):
        """As now(), or earlier where the data are stale."""
        stale = request.fault("stale")
        return self.now() - (stale["hours"] * HOUR if stale else 0)

    def control(self, command):
        """Does what a control request says; all or nothing. Returns what is wrong with it, or None."""
        wrong = self.check(command)
        if wrong:
            return wrong
        with self.lock:
            if "now" in command:
                now = command["now"]
                self.fixed_now = None if now is None else parse_iso(now)
            if "advance_s" in command:
                self.fixed_now = self.now() + command["advance_s"]
            if command.get("clear_faults"):
                self.rules = []
            for rule in command.get("faults", []):
                self.rules.append(dict(rule))
            for name, values in command.get("settings", {}).items():
                self.settings[name].update(values)
        return None

    def changed_at(self, request, body):
        """When `body` became the answer to a request, as far as these servers have seen."""
        with self.lock:
            key = (request.provider, request.path, tuple(request.query))
            if self.served.get(key, (None, 0))[0] != body:
                self.served[key] = (body, self.now())
            return self.served[key][1]

    def check(self, command):
        known = {"now", "advance_s", "faults", "settings", "clear_faults"}
        if not isinstance(command, dict) or set(command) - known:
            return "a control command is an object with %s" % ", ".join(sorted(known))
        now = command.get("now")
        if now is not None and parse_iso(now) is None:
            return "now: %r is no time with an offset" % (now,)
        if type(command.get("advance_s", 0)) is not int:
            return "advance_s: whole seconds"
        if not isinstance(command.get("clear_faults", True), bool):
            return "clear_faults: true or false"
        if not isinstance(command.get("faults", []), list):
            return "faults: an array"
        for rule in command.get("faults", []):
            wrong = faults.check_rule(rule, self.providers)
            if wrong:
                return wrong
        settings = command.get("settings", {})
        if not isinstance(settings, dict) or not all(isinstance(v, dict) for v in settings.values()):
            return "settings: an object of providers, each with an object"
        for name, values in settings.items():
            if name not in self.providers:
                return "settings: %r is none of %s" % (name, ", ".join(self.providers))
            presets = self.providers[name].SETTINGS
            for key, value in values.items():
                if key not in presets:
                    return "settings of %s: no %s" % (name, key)
                choice = getattr(self.providers[name], "CHOICES", {}).get(key)
                if not alike(key, value, presets[key]) or choice and value not in choice:
                    return "settings of %s: %s: %r is not allowed" % (name, key, value)
        return None

    def take_faults(self, request):
        """The faults that befall this request; each rule counts it."""
        with self.lock:
            out = []
            for rule in self.rules:
                if not faults.matches(rule, request):
                    continue
                if rule.get("skip", 0) > 0:
                    rule["skip"] -= 1
                elif rule.get("times", 1) > 0:
                    if "times" in rule:
                        rule["times"] -= 1
                    out.append(rule)
            return out

    def too_many(self, name, limit, per_s):
        """Counts a request against `limit` in `per_s` seconds of the servers' time; None: no limit."""
        if limit is None:
            return False
        with self.lock:
            moment = self.now()
            recent = [t for t in self.counts.get(name, []) if moment - per_s < t <= moment]
            self.counts[name] = [*recent, moment] if len(recent) < limit else recent
            return len(recent) >= limit
