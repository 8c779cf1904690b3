"""The Carbon Aware SDK's WebAPI, 1.8: /emissions/..., /locations, /health."""

import json
import re

import faults
import places
import series
from series import HOUR
from wire import Refused, Reply, iso_offset, json_reply, parse_iso

NAME = "carbon_aware_sdk"
SETTINGS = {
    "source": "electricity_maps",  # or "watttime", marginal and in steps of five minutes
    "forecast_source": True,
    "null_as_minus_one": True,  # what version 1.8 makes of a null
}
CHOICES = {"source": ("electricity_maps", "watttime")}
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"


def problem(status, title, detail=None, errors=None):
    body = {"title": title, "status": status}
    if detail is not None:
        body["detail"] = detail
    body.update(traceId=TRACE, errors=errors or {})
    return json_reply(status, body, "application/problem+json; charset=utf-8")


def error(status, text):
    if status >= 500:
        return problem(status, "InternalServerError")
    return problem(status, "ElectricityMapsClientHttpException", text)


def bad_key():
    return problem(401, "ElectricityMapsClientHttpException", "Error requesting v3/zones - Content: "
                   '{"error":"Invalid auth-token"}')


def not_in_plan(request):
    return problem(403, "WattTimeClientHttpException", "Error requesting v3/forecast")


def invalid(name, text):
    raise Refused(problem(400, "ArgumentException", "Invalid parameters", {name: [text]}))


def answer(request, world):
    method = ROUTES.get((request.method, request.path.rstrip("/")))
    if method is None:
        return Reply(404)
    return method(Answer(request, world))


def lenient_time(text):
    """As .NET reads a query: one digit will do, and a time without a zone is the server's own."""
    padded = re.sub(r"(?<=[-T:])(\d)(?=[-T:Z+.]|$)", r"0\1", text)
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", padded):
        padded += "T00:00"
    return parse_iso(padded, offset_required=False)


class Answer:
    def __init__(self, request, world):
        self.request = request
        self.now = world.now_of_data(request)
        self.real_now = world.now()
        self.settings = world.settings[NAME]
        self.marginal = self.settings["source"] == "watttime"
        self.step = 300 if self.marginal else HOUR
        # Names in any case; empty values count as absent.
        self.query = {}
        for name, value in request.query:
            if value:
                self.query.setdefault(name.lower(), []).append(value)

    # Parameters.

    def check(self, known):
        for name in self.query:
            if name not in known:
                invalid(name, "unknown parameter")  # the real one ignores it

    def locations(self, only_one=False):
        names = self.query.get("location", [])
        if not names:
            invalid("location", "location is not set")
        if only_one and len(names) > 1:
            invalid("location", "only one location is allowed")
        return [self.locate(name) for name in names]

    def locate(self, name):
        for (_, region), (zone, _, _) in places.CLOUD.items():
            if region == name:
                return name, zone
        if isinstance(name, str) and name in places.ZONES:
            return name, name
        detail = "Unknown Location: '%s' not found" % name
        raise Refused(problem(400, "ArgumentException", detail))

    def time(self, name, required=False):
        text = self.query.get(name.lower(), [None])[0]
        if text is None:
            if required:
                invalid(name, "%s is not set" % name)
            return None
        value = lenient_time(text)
        if value is None:
            errors = {name: ["The value '%s' is not valid." % text]}
            title = "One or more validation errors occurred."
            raise Refused(problem(400, title, None, errors))
        return value

    # Rows.

    def convert(self, x):
        return series.marginal(x) if self.marginal else x

    def row_name(self, name, zone):
        other = self.request.fault("other_zone")
        if other:
            return other["zone"]
        if not self.marginal:
            return name
        return next((r for r, (z, _, _) in places.WATTTIME.items() if z == zone), name)

    def rows(self, name, zone, start, end):
        """A row is kept when its end is after `start` and its start not after `end`."""
        last = min(end, self.now)
        if last < start:
            return []
        slots = series.slots(zone, start, last + 1, self.step, self.convert)
        slots = faults.shape(slots, self.request)
        out = []
        for slot in slots:
            value = slot.value
            if value is None:
                if not self.settings["null_as_minus_one"]:
                    continue
                value = -1
            span = "%02d:%02d:00" % divmod((slot.end - slot.start) // 60, 60)
            row = {"location": self.row_name(name, zone), "time": iso_offset(slot.start)}
            out.append({**row, "rating": value, "duration": span})
        return out

    def emissions(self):
        self.check({"location", "time", "totime"})
        start, end = self.time("time"), self.time("toTime")
        if start is None and end is not None:
            invalid("time", "time must be defined if toTime is defined")
        if start is None:
            start = end = self.now
        end = start if end is None else end
        if end < start:
            invalid("time", "time must be before toTime")
        names = self.locations(only_one=self.request.path.endswith("/bylocation"))
        return [row for name, zone in names for row in self.rows(name, zone, start, end)]

    def by_location(self):
        rows = self.emissions()
        return json_reply(200, rows) if rows else Reply(204)

    def best(self):
        rows = self.emissions()
        if not rows:
            return Reply(204)
        least = min(row["rating"] for row in rows)
        return json_reply(200, [row for row in rows if row["rating"] == least])

    # Averages: weighted by overlap.

    def average_of(self, name, start, end):
        name, zone = self.locate(name)
        if end <= start:
            invalid("startTime", "startTime must be before endTime")
        out = {"location": name, "startTime": iso_offset(start), "endTime": iso_offset(end)}
        until = min(end, self.now)
        slots = series.slots(zone, start, until, self.step, self.convert) if until > start else []
        slots = [s for s in faults.shape(slots, self.request) if s.value is not None]
        if not slots:
            return {**out, "carbonIntensity": 0.0}  # as version 1.8 does
        grams = covered = 0
        for slot in slots:
            overlap = min(slot.end, end) - max(slot.start, start)
            grams += slot.value * overlap
            covered += overlap
        if covered < end - start:
            detail = "Period out of range. Data points did not cover the requested average period: "
            raise Refused(problem(400, "InvalidOperationException", detail))
        return {**out, "carbonIntensity": grams / covered}

    def average(self):
        self.check({"location", "starttime", "endtime"})
        (name, _), = self.locations(only_one=True)
        start, end = self.time("startTime", True), self.time("endTime", True)
        return json_reply(200, self.average_of(name, start, end))

    def body(self):
        try:
            rows = json.loads(self.request.body)
        except ValueError:
            rows = None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            title = "One or more validation errors occurred."
            raise Refused(problem(400, title, None, {"$": ["expected an array of objects"]}))
        return rows

    def strict_time(self, row, name, required=True):
        if row.get(name) is None and not required:
            return None
        value = parse_iso(row.get(name), offset_required=False)
        if value is None:
            title = "One or more validation errors occurred."
            errors = {"$[0].%s" % name: ["The JSON value could not be converted."]}
            raise Refused(problem(400, title, None, errors))
        return value

    def average_batch(self):
        return json_reply(
            200,
            [
                self.average_of(
                    row.get("location"),
                    self.strict_time(row, "startTime"),
                    self.strict_time(row, "endTime"),
                )
                for row in self.body()
            ],
        )

    # Forecasts.

    def forecast(self, location, issued, requested, start, end, window):
        name, zone = location
        if not self.settings["forecast_source"]:
            detail = "ForecastDataSource is not configured"
            raise Refused(problem(400, "ArgumentException", detail))
        hours = 24
        last = issued + hours * HOUR + (0 if self.marginal else self.step)
        slots = series.forecast(zone, issued, issued, last, self.step, self.convert)
        slots = faults.shape(slots, self.request)
        if not slots:
            detail = "No forecast was generated at the requested time"
            raise Refused(problem(400, "ArgumentException", detail))
        first, final = slots[0].start, slots[-1].start
        for key, at in (("dataStartAt", start), ("dataEndAt", end)):
            if at is not None and not first <= at <= final + self.step:
                span = "'%s' through '%s'" % (iso_offset(first), iso_offset(final + self.step))
                text = "must be within time range of the forecasted data, " + span
                raise Refused(
                    problem(400, "ArgumentException", "Invalid EmissionsForecast", {key: [text]})
                )
        begin = first if start is None else start
        finish = final if end is None else end
        rows = self.windows(slots, begin, finish + (self.step if end is None else 0), window)
        label = self.row_name(name, zone)
        points = [
            {"location": label, "timestamp": iso_offset(at), "duration": minutes, "value": value}
            for at, minutes, value in rows
        ]
        least = min((p["value"] for p in points), default=None)
        return {
            "generatedAt": iso_offset(issued),
            "requestedAt": iso_offset(requested),
            "location": name,
            "dataStartAt": iso_offset(begin),
            "dataEndAt": iso_offset(finish),
            "windowSize": window,
            "optimalDataPoints": [p for p in points if p["value"] == least],
            "forecastData": points,
        }

    def windows(self, slots, begin, finish, window):
        """Rolling means over `window` minutes that begin with each row."""
        slots = [s for s in slots if s.value is not None]
        slots = [s for s in slots if s.end > begin and s.start < finish]
        count = max(1, -(-window * 60 // self.step))
        out = []
        for i in range(len(slots) - count + 1):
            part = slots[i : i + count]
            mean = sum(s.value for s in part) / count
            out.append((part[0].start, window or self.step // 60, mean))
        return out

    def window(self, text):
        if not re.fullmatch(r"[0-9]{1,4}", str(text)):
            invalid("windowSize", "The value '%s' is not valid." % text)
        return int(text)

    def current(self):
        self.check({"location", "datastartat", "dataendat", "windowsize"})
        start, end = self.time("dataStartAt"), self.time("dataEndAt")
        window = self.window(self.query.get("windowsize", ["0"])[0])
        issued = series.floor_to(self.now, self.step)
        return json_reply(
            200,
            [
                self.forecast(location, issued, self.real_now, start, end, window)
                for location in self.locations()
            ],
        )

    def batch(self):
        if not self.marginal:
            return problem(501, "NotImplementedException", "The method or operation is not implemented.")
        out = []
        for row in self.body():
            requested = self.strict_time(row, "requestedAt")
            start = self.strict_time(row, "dataStartAt", False)
            end = self.strict_time(row, "dataEndAt", False)
            window = self.window(row.get("windowSize", 0))
            issued = series.floor_to(requested, 300)
            location = self.locate(row.get("location"))
            out.append(self.forecast(location, issued, requested, start, end, window))
        return json_reply(200, out)

    def all_locations(self):
        out = {}
        for (_, region), (_, latitude, longitude) in places.CLOUD.items():
            out[region] = {"latitude": latitude, "longitude": longitude, "name": region}
        return json_reply(200, out)

    def health(self):
        return Reply(200, "Healthy", "text/plain")


ROUTES = {
    ("GET", "/emissions/bylocation"): Answer.by_location,
    ("GET", "/emissions/bylocations"): Answer.by_location,
    ("GET", "/emissions/bylocations/best"): Answer.best,
    ("GET", "/emissions/forecasts/current"): Answer.current,
    ("POST", "/emissions/forecasts/batch"): Answer.batch,
    ("GET", "/emissions/average-carbon-intensity"): Answer.average,
    ("POST", "/emissions/average-carbon-intensity/batch"): Answer.average_batch,
    ("GET", "/locations"): Answer.all_locations,
    ("GET", "/health"): Answer.health,
}
