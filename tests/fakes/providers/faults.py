"""What can be made to go wrong. README.md lists the kinds for those who write scenarios."""

import fnmatch

from wire import http_date

# kind -> its own keys, with those that may be left out in the second set.
# Of the answer as it travels:
TRANSPORT = {
    "status": ({"status"}, {"body", "content_type", "headers"}),
    "rate_limit": (set(), {"retry_after_s", "form", "reset_s"}),
    "bad_key": (set(), set()),
    "not_in_plan": (set(), set()),
    "html_403": (set(), set()),
    "suspended": (set(), set()),
    "headers": ({"headers"}, set()),
    "slow": ({"delay_s"}, {"bytes_per_s"}),
    "cut_off": (set(), {"after_bytes"}),
    "hang_up": (set(), set()),
    "close": (set(), set()),
    "gzip": (set(), set()),
    "chunked": (set(), set()),
    "huge": ({"bytes"}, {"gzip"}),
    "truncated_json": (set(), set()),
    "html": (set(), set()),
    "empty": (set(), set()),
    "bom": (set(), set()),
    "error_in_200": (set(), set()),
    "clock_skew": ({"seconds"}, set()),
    "redirect": (set(), {"location", "to_provider", "status"}),
}
# Of the series in it:
DATA = {
    "null": ({"at"}, set()),
    "gap": ({"at"}, set()),
    "duplicate": ({"at"}, set()),
    "reverse": (set(), set()),
    "zeros": (set(), set()),
    "constant": ({"value"}, set()),
    "short": ({"slots"}, set()),
    "no_data": (set(), set()),
    "stale": ({"hours"}, set()),
    "other_zone": ({"zone"}, set()),
}
RULE_KEYS = {"kind", "provider", "path", "query", "method", "times", "skip"}


def check_rule(rule, providers):
    """None, or what is wrong with it."""
    if not isinstance(rule, dict):
        return "a fault is an object"
    kind = rule.get("kind")
    known = {**TRANSPORT, **DATA}
    if kind not in known:
        return "kind: %r is none of %s" % (kind, ", ".join(sorted(known)))
    needed, optional = known[kind]
    own = set(rule) - RULE_KEYS
    if needed - own or own - needed - optional:
        return "%s: needs %s, may have %s" % (kind, sorted(needed), sorted(optional))
    if rule.get("provider", "*") not in {"*", *providers}:
        return "provider: %r is none of %s" % (rule["provider"], ", ".join(sorted(providers)))
    if rule.get("form", "seconds") not in ("seconds", "date", "none"):
        return "form: seconds, date or none"
    for key in ("times", "skip"):
        if key in rule and (type(rule[key]) is not int or rule[key] < 0):
            return "%s: a whole number" % key
    return None


def matches(rule, request):
    if rule.get("provider", "*") not in ("*", request.provider):
        return False
    if rule.get("method", request.method) != request.method:
        return False
    if not fnmatch.fnmatchcase(request.path, rule.get("path", "*")):
        return False
    return all(str(v) in request.all(k) for k, v in rule.get("query", {}).items())


def shape(slots, request):
    """`slots` with the data faults of the request; positions count from 0, negative from the end."""
    slots = [slot.copy() for slot in slots]
    for fault in request.faults:
        kind = fault["kind"]
        if kind == "short":
            slots = slots[: fault["slots"]]
        elif kind == "no_data":
            slots = []
        elif kind == "zeros":
            for slot in slots:
                slot.value = 0.0
        elif kind == "constant":
            for slot in slots:
                slot.value = fault["value"]
        elif kind == "reverse":
            slots.reverse()
        elif kind in ("null", "gap", "duplicate"):
            at = {i % len(slots) for i in fault["at"] if -len(slots) <= i < len(slots)}
            out = []
            for i, slot in enumerate(slots):
                if i in at and kind == "null":
                    slot.value = None
                if i in at and kind == "gap":
                    continue
                out.append(slot)
                if i in at and kind == "duplicate":
                    out.append(slot.copy())
            slots = out
    return slots


def rate_limit_headers(fault, server_now):
    """`server_now` is what the Date header will say."""
    headers = []
    wait = fault.get("retry_after_s")
    form = fault.get("form", "seconds")
    if wait is not None and form == "seconds":
        headers.append(("Retry-After", str(wait)))
    elif wait is not None and form == "date":
        headers.append(("Retry-After", http_date(server_now + wait)))
    if "reset_s" in fault:
        headers += [("X-RateLimit-Limit", "60"), ("X-RateLimit-Remaining", "0")]
        headers.append(("X-RateLimit-Reset", str(fault["reset_s"])))
    return headers
