"""energy-charts of Fraunhofer ISE: /co2eq."""

import re
from datetime import datetime, timedelta, timezone

import faults
import places
import series
from series import HOUR
from wire import YEARS, Refused, json_reply, parse_iso, utc

NAME = "energy_charts"
SETTINGS = {
    "deprecated": False,  # None: leave the key out, as old answers do
    "overlap_slots": 0,  # so many of the last measured slots have a forecast, too
    "measured_lag_minutes": 30,
    "limit_per_minute": None,
}
LONGEST = 366 * 24 * HOUR


def error(status, text):
    return json_reply(status, {"detail": text})


def bad_key():  # it has no keys
    return error(403, "Forbidden")


def not_in_plan(request):
    return bad_key()


def invalid(name, text):
    return json_reply(422, {"detail": [{"loc": ["query", name], "msg": text, "type": "value_error"}]})


def last_sunday(year, month):
    """01:00 UTC of it, when clocks change in the EU; the month has 31 days."""
    last = datetime(year, month, 31, 1, tzinfo=timezone.utc)
    return int((last - timedelta(days=(last.weekday() + 1) % 7)).timestamp())


def local_offset(unix):
    """Of Berlin, by the rule in force since 1996: no time zone data are needed."""
    year = utc(unix).year
    return HOUR * (2 if last_sunday(year, 3) <= unix < last_sunday(year, 10) else 1)


def local_midnight(day):
    unix = int(datetime(day.year, day.month, day.day, tzinfo=timezone.utc).timestamp())
    return unix - local_offset(unix - 2 * HOUR)  # clocks change later in the night


def moment(request, name, is_end):
    """A time with a zone, a local day or Unix seconds; a day as `end` goes to its last second."""
    text = request.get(name)
    if text is None:
        return None
    if re.fullmatch(r"[0-9]{1,10}", text):
        return int(text)
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        try:
            day = datetime.strptime(text, "%Y-%m-%d").date()
        except ValueError:
            day = None
        if day is None or day.year not in YEARS:
            raise Refused(invalid(name, "invalid date"))
        return local_midnight(day + timedelta(days=1)) - 1 if is_end else local_midnight(day)
    value = parse_iso(text)
    if value is None:
        raise Refused(invalid(name, "invalid datetime: a date, a time with its zone, or a timestamp"))
    return value


def forecast_ends(now):
    """The end of the day, or from 19:00 local time on that of the next one."""
    local = utc(now + local_offset(now))
    return local_midnight(local.date() + timedelta(days=2 if local.hour >= 19 else 1))


def answer(request, world):
    settings = world.settings[NAME]
    if world.too_many(NAME, settings["limit_per_minute"], 60):
        return error(429, "Too Many Requests")
    if request.path != "/co2eq":
        return error(404, "Not Found")
    if request.method != "GET":
        return error(405, "Method Not Allowed")
    names = [name for name, _ in request.query]
    for name in names:
        if name not in ("country", "start", "end") or names.count(name) > 1:
            return invalid(name, "unexpected parameter")
    country = request.get("country", "de")
    if country not in places.ENERGY_CHARTS:
        return invalid("country", "value is not a valid enumeration member")
    zone, step = places.ENERGY_CHARTS[country]
    now = world.now_of_data(request)
    start, end = moment(request, "start", False), moment(request, "end", True)
    if start is None:
        start = local_midnight(utc(now + local_offset(now)).date())
    if end is None:
        end = forecast_ends(now) - 1
    if end <= start or end - start > LONGEST:
        return invalid("end", "end must be after start, by at most a year")
    return json_reply(200, body(request, settings, zone, step, now, start, end))


def body(request, settings, zone, step, now, start, end):
    measured_until = series.floor_to(now - 60 * settings["measured_lag_minutes"], step)
    forecast_from = measured_until - step * settings["overlap_slots"]
    # Slots that begin in [start, end].
    first, last = series.ceil_to(start, step), min(end, forecast_ends(now) - 1)
    slots = []
    if last >= first:
        slots = faults.shape(series.slots(zone, first, last + 1, step), request)
    out = {"unix_seconds": [], "co2eq": [], "co2eq_forecast": []}
    for slot in slots:
        measured = forecast = None
        if slot.value is not None and slot.end <= measured_until:
            measured = series.rounded(slot.value, 1)
        if slot.value is not None and slot.start >= forecast_from:
            wrong = 0 if slot.value == 0 else series.forecast_error(slot.start, 0, step)
            forecast = series.rounded(slot.value + wrong, 1)
        out["unix_seconds"].append(slot.start)
        out["co2eq"].append(measured)
        out["co2eq_forecast"].append(forecast)
    if settings["deprecated"] is not None:
        out["deprecated"] = settings["deprecated"]
    return out
