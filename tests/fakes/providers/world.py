"""What all fake providers share: the time, the settings, the faults to come and the log."""

import copy
import threading
import time

import faults
from series import HOUR
from wire import parse_iso


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

    def now(self):
        with self.lock:
            return int(time.time()) if self.fixed_now is None else self.fixed_now

    def now_of_data(self, request):
        """As now(), or earlier where the data are stale."""
        stale = request.fault("stale")
        return self.now() - (stale["hours"] * HOUR if stale else 0)

    def control(self, command):
        """Does what a control request says; all or nothing. Returns what is wrong with it, or None."""
        known = {"now", "advance_s", "faults", "settings", "clear_faults"}
        if not isinstance(command, dict) or set(command) - known:
            return "a control command is an object with %s" % ", ".join(sorted(known))
        now = command.get("now", "")
        if now and parse_iso(now) is None:
            return "now: %r is no time with an offset" % now
        for rule in command.get("faults", []):
            wrong = faults.check_rule(rule, self.providers)
            if wrong:
                return wrong
        for name, values in command.get("settings", {}).items():
            if name not in self.providers:
                return "settings: %r is none of %s" % (name, ", ".join(self.providers))
            unknown = set(values) - set(self.providers[name].SETTINGS)
            if unknown:
                return "settings of %s: no %s" % (name, ", ".join(sorted(unknown)))
        with self.lock:
            if "now" in command:
                self.fixed_now = parse_iso(now) if now else None
            if "advance_s" in command:
                self.fixed_now = self.now() + int(command["advance_s"])
            if command.get("clear_faults"):
                self.rules = []
            for rule in command.get("faults", []):
                self.rules.append(dict(rule))
            for name, values in command.get("settings", {}).items():
                self.settings[name].update(values)
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
        """Counts a request against `limit` in `per_s` seconds (real ones); None: no limit."""
        if limit is None:
            return False
        with self.lock:
            moment = time.monotonic()
            recent = [t for t in self.counts.get(name, []) if t > moment - per_s]
            self.counts[name] = [*recent, moment] if len(recent) < limit else recent
            return len(recent) >= limit
