"""What can be made to go wrong. README.md lists the kinds for those who write scenarios."""

import fnmatch

from wire import http_date

def text(value):
    return isinstance(value, str)


def whole(value):
    return type(value) is int


def count(value):
    return whole(value) and value >= 0


def seconds(value):
    return type(value) in (int, float) and 0 <= value <= 3600


def flag(value):
    return isinstance(value, bool)


def positions(value):
    return isinstance(value, list) and all(whole(i) for i in value)


def status(value):
    return whole(value) and 200 <= value <= 599


def number(value):
    return type(value) in (int, float)


def form(value):
    return value in ("seconds", "date", "none")


def validator(value):
    return value in ("etag", "date")


def strings(value):
    return isinstance(value, dict) and all(text(v) for v in value.values())


# kind -> its own keys, with those that may be left out in the second object; each with what it must be.
# Of the answer as it travels:
TRANSPORT = {
    "status": ({"status": status}, {"body": text, "content_type": text, "headers": strings}),
    "rate_limit": ({}, {"retry_after_s": whole, "form": form, "reset_s": whole}),
    "bad_key": ({}, {}),
    "not_in_plan": ({}, {}),
    "html_403": ({}, {}),
    "suspended": ({}, {}),
    "headers": ({"headers": strings}, {}),
    "validators": ({}, {"by": validator}),
    "slow": ({"delay_s": seconds}, {"bytes_per_s": count}),
    "cut_off": ({}, {"after_bytes": count}),
    "hang_up": ({}, {}),
    "close": ({}, {}),
    "gzip": ({}, {}),
    "chunked": ({}, {}),
    "huge": ({"bytes": count}, {"gzip": flag}),
    "truncated_json": ({}, {}),
    "html": ({}, {}),
    "empty": ({}, {}),
    "bom": ({}, {}),
    "error_in_200": ({}, {}),
    "clock_skew": ({"seconds": whole}, {}),
    "redirect": ({}, {"location": text, "to_provider": text, "status": status}),
}
# Of the series in it:
DATA = {
    "null": ({"at": positions}, {}),
    "gap": ({"at": positions}, {}),
    "duplicate": ({"at": positions}, {}),
    "reverse": ({}, {}),
    "zeros": ({}, {}),
    "constant": ({"value": number}, {}),
    "short": ({"slots": count}, {}),
    "no_data": ({}, {}),
    "stale": ({"hours": count}, {}),
    "other_zone": ({"zone": text}, {}),
}
CHOICE = {
    "provider": text,
    "path": text,
    "query": lambda value: isinstance(value, dict),
    "method": text,
    "times": count,
    "skip": count,
}


def check_rule(rule, providers):
    """None, or what is wrong with it."""
    if not isinstance(rule, dict):
        return "a fault is an object"
    kind = rule.get("kind")
    known = {**TRANSPORT, **DATA}
    if not isinstance(kind, str) or kind not in known:
        return "kind: %r is none of %s" % (kind, ", ".join(sorted(known)))
    needed, optional = known[kind]
    own = set(rule) - {"kind", *CHOICE}
    if set(needed) - own or own - set(needed) - set(optional):
        return "%s: needs %s, may have %s" % (kind, sorted(needed), sorted(optional))
    for key, is_right in {**needed, **optional, **CHOICE}.items():
        if key in rule and not is_right(rule[key]):
            return "%s: %s: %r is not allowed" % (kind, key, rule[key])
    if kind == "redirect" and ("location" in rule) == ("to_provider" in rule):
        return "redirect: either location or to_provider"
    allowed = {"provider": {"*", *providers}, "to_provider": set(providers)}
    for key in allowed:
        if key in rule and rule[key] not in allowed[key]:
            return "%s: %r is none of %s" % (key, rule[key], ", ".join(sorted(providers)))
    if kind == "other_zone" and rule.get("provider") == "uk_carbon_intensity":
        if not (rule["zone"].isascii() and rule["zone"].isdigit() and 1 <= int(rule["zone"]) <= 17):
            return "other_zone: %r is no region from 1 to 17" % rule["zone"]
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
