"""WattTime v3: /login, /register, /password, /v3/..."""

import base64
import binascii
import json
import re

import faults
import places
import series
from series import HOUR
from wire import Refused, Reply, iso_offset, json_reply, parse_iso

NAME = "watttime"
DAY = 24 * HOUR
SETTINGS = {
    # user: [password, regions]; "*": all
    "users": {"ada": ["lovelace-1815", ["*"]], "free": ["free-of-charge", ["CAISO_NORTH"]]},
    "token_minutes": 30,
    "refusal": "json",  # of a token or login: "json" is a 401, "html" the 403 of a proxy in front
    "limit_per_5_minutes": 3000,
    "logins_per_5_minutes": 100,
    "model": "2023-03-01",
    "lag_minutes": 30,  # of /v3/historical
    "warnings": [],  # in meta: {"type", "message"}
}

GRAMS_PER_POUND_PER_MWH = 453.59237 / 1000  # g/kWh of 1 lb/MWh
CHOICES = {"refusal": ("json", "html")}
SIGNALS = ("co2_moer", "co2_aoer", "health_damage")
LONGEST_HISTORY = 32 * DAY
SCOPE = (
    "Invalid scope. You do not have sufficient access to this resource. See "
    "https://api.watttime.org/plans/ for more information or email contact@watttime.org for pricing. "
    "Please note that all users are allowed free access to CAISO_ZP26."
)
HTML_403 = (
    "<html>\r\n<head><title>403 Forbidden</title></head>\r\n<body>\r\n"
    "<center><h1>403 Forbidden</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
)
QUERIES = {  # path: (required, optional)
    "/v3/region-from-loc": ({"latitude", "longitude", "signal_type"}, set()),
    "/v3/signal-index": ({"region"}, {"signal_type"}),
    "/v3/forecast": ({"region", "signal_type"}, {"model", "horizon_hours"}),
    "/v3/forecast/historical": (
        {"start", "end", "region", "signal_type"},
        {"model", "horizon_hours"},
    ),
    "/v3/historical": (
        {"start", "end", "region", "signal_type"},
        {"model", "include_imputed_marker", "updated_since"},
    ),
    "/v3/my-access": (set(), {"region", "signal_type"}),
    "/v3/maps": ({"signal_type"}, set()),
    "/v3/fuel-mix": ({"start", "end", "region"}, {"signal_type"}),
}


def error(status, text):
    docs = "https://docs.watttime.org/"
    return json_reply(status, {"error": "ERROR_%d" % status, "message": text, "docs": docs})


def bad_key():
    return json_reply(401, {"error": "UNAUTHORIZED", "message": "Could not validate credentials"})


def not_in_plan(request):
    return json_reply(403, {"error": "Invalid query parameters", "message": SCOPE})


def invalid(location, text, kind="value_error"):
    return json_reply(422, {"detail": [{"loc": ["query", location], "msg": text, "type": kind}]})


def answer(request, world):
    return Answer(request, world).make()


class Answer:
    def __init__(self, request, world):
        self.request = request
        self.world = world
        self.now = world.now_of_data(request)
        self.settings = world.settings[NAME]

    def make(self):
        request = self.request
        limit = self.settings["limit_per_5_minutes"]
        if self.world.too_many(NAME, limit, 300):
            return error(429, "Too many requests")
        if request.path == "/login":
            return self.login()
        if request.path == "/register":
            return self.register()
        if request.path == "/password":
            known = request.get("username") in self.settings["users"]
            if not known:
                text = "A problem occurred, your request could not be processed"
                return json_reply(400, {"error": text})
            ok = "Please check your email for the password reset link"
            return json_reply(200, {"ok": ok})
        if request.path.startswith("/v2/"):  # gone since the middle of 2024
            return Reply(403, HTML_403, "text/html")
        if request.path not in QUERIES:
            return json_reply(404, {"detail": "Not Found"})
        if request.method != "GET":
            return json_reply(405, {"detail": "Method Not Allowed"})
        self.regions = self.authorised()
        self.check_query(*QUERIES[request.path])
        return {
            "/v3/region-from-loc": self.region_from_loc,
            "/v3/signal-index": self.signal_index,
            "/v3/forecast": self.forecast,
            "/v3/forecast/historical": self.past_forecasts,
            "/v3/historical": self.historical,
            "/v3/my-access": self.my_access,
            "/v3/maps": lambda: not_in_plan(request),
            "/v3/fuel-mix": lambda: not_in_plan(request),
        }[request.path]()

    # Who asks.

    def refusal(self):
        if self.settings["refusal"] == "html":
            return Reply(403, HTML_403, "text/html")
        return bad_key()

    def login(self):
        if self.world.too_many("watttime login", self.settings["logins_per_5_minutes"], 300):
            return error(429, "Too many requests")
        scheme, _, encoded = self.request.headers.get("authorization", "").partition(" ")
        try:
            user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return self.refusal()
        known = self.settings["users"].get(user)
        if scheme != "Basic" or known is None or known[0] != password:
            return self.refusal()
        with self.world.lock:
            tokens = self.world.sessions
            token = "wt-%06d-%08x" % (len(tokens) + 1, series.fnv1a32(user + str(len(tokens))))
            tokens[token] = (user, self.world.now())
        return json_reply(200, {"token": token})

    def authorised(self):
        """The regions that the one who asks may see."""
        scheme, _, token = self.request.headers.get("authorization", "").partition(" ")
        user, since = self.world.sessions.get(token, (None, 0))
        age = self.world.now() - since
        if scheme != "Bearer" or user is None or age >= 60 * self.settings["token_minutes"]:
            raise Refused(self.refusal())
        return self.settings["users"][user][1]

    def register(self):
        try:
            body = json.loads(self.request.body)
            user = body["username"]
            password, _ = body["password"], body["email"]
        except (ValueError, KeyError, TypeError):
            return invalid("body", "field required", "value_error.missing")
        if not isinstance(user, str) or not isinstance(password, str):
            return invalid("body", "str type expected", "type_error.str")
        if user in self.settings["users"]:
            text = "That username is taken. Please choose another."
            return json_reply(400, {"error": text})
        self.settings["users"][user] = [password, ["CAISO_NORTH"]]
        return json_reply(200, {"ok": "User created", "user": user})

    # What is asked.

    def check_query(self, required, optional):
        names = [name for name, _ in self.request.query]
        for name in sorted(required - set(names)):
            raise Refused(invalid(name, "field required", "value_error.missing"))
        for name in names:
            if name not in required | optional:
                raise Refused(invalid(name, "extra fields not permitted", "value_error.extra"))
            if names.count(name) > 1:
                raise Refused(invalid(name, "given more than once"))
        self.signal = self.request.get("signal_type", "co2_moer")
        if self.signal not in SIGNALS:
            raise Refused(invalid("signal_type", "value is not a valid enumeration member"))

    def region(self):
        name = self.request.get("region")
        if name not in places.WATTTIME:
            raise Refused(error(400, "You've provided an invalid region: %s" % name))
        if "*" not in self.regions and name not in self.regions:
            raise Refused(not_in_plan(self.request))
        self.zone, _, self.step = places.WATTTIME[name]
        return name

    def time(self, name):
        value = parse_iso(self.request.get(name))
        if value is None:
            raise Refused(invalid(name, "invalid datetime format: a time zone is required"))
        return value

    def number(self, name, preset, low, high):
        text = self.request.get(name, str(preset))
        if not re.fullmatch(r"[0-9]{1,3}", text) or not low <= int(text) <= high:
            raise Refused(invalid(name, "expected a whole number from %d to %d" % (low, high)))
        return int(text)

    def check_model(self):
        model = self.request.get("model", self.settings["model"])
        if model != self.settings["model"]:
            raise Refused(error(400, "There is no model %s" % model))

    def convert(self, x):
        grams = {"co2_moer": series.marginal, "co2_aoer": series.direct}.get(
            self.signal, lambda lifecycle: lifecycle / 10
        )(x)
        return grams / GRAMS_PER_POUND_PER_MWH

    def meta(self, region, **more):
        other = self.request.fault("other_zone")
        return {
            "data_point_period_seconds": self.step,
            "region": other["zone"] if other else region,
            "warnings": self.settings["warnings"],
            "signal_type": self.signal,
            "model": {"type": "binned_regression", "date": self.settings["model"]},
            "units": "USD" if self.signal == "health_damage" else "lbs_co2_per_mwh",
            **more,
        }

    # The answers.

    def region_from_loc(self):
        try:
            latitude = float(self.request.get("latitude"))
            longitude = float(self.request.get("longitude"))
        except ValueError:
            return invalid("latitude", "value is not a valid float", "type_error.float")
        zone = places.nearest(latitude, longitude)
        for name, (key, full_name, _) in places.WATTTIME.items():
            if key == zone:
                found = {"region": name, "region_full_name": full_name}
                return json_reply(200, {**found, "signal_type": self.signal})
        return json_reply(
            404,
            {
                "error": "No coverage available for these coordinates and signal_type",
                "latitude": self.request.get("latitude"),
                "longitude": self.request.get("longitude"),
                "signal_type": self.signal,
            },
        )

    def signal_index(self):
        name = self.request.get("region")
        if name not in places.WATTTIME:
            return error(400, "You've provided an invalid region: %s" % name)
        self.zone, _, self.step = places.WATTTIME[name]  # free for all regions
        at = series.floor_to(self.now, self.step)
        ahead = series.slots(self.zone, at, at + DAY, self.step)
        rank = sum(slot.value < ahead[0].value for slot in ahead)
        point = series.Slot(at, at + self.step, series.rounded(100 * rank / len(ahead), 1))
        meta = {**self.meta(name), "units": "percentile", "model": {"date": self.settings["model"]}}
        return json_reply(200, {"data": self.points([point]), "meta": meta})

    def points(self, slots):
        slots = faults.shape(slots, self.request)
        return [
            {"point_time": iso_offset(s.start), "value": series.rounded(s.value, 1)} for s in slots
        ]

    def forecast_slots(self, issued, hours):
        end = issued + max(hours * HOUR, self.step)
        return series.forecast(self.zone, issued, issued, end, self.step, self.convert)

    def forecastable(self):
        if self.signal == "co2_aoer":
            raise Refused(error(400, "There is no forecast of co2_aoer"))

    def forecast(self):
        region = self.region()
        self.forecastable()
        self.check_model()
        hours = self.number("horizon_hours", 24, 0, 72)
        issued = series.floor_to(self.now, self.step)
        points = self.points(self.forecast_slots(issued, hours))
        meta = self.meta(
            region, generated_at_period_seconds=300, generated_at=iso_offset(issued)
        )
        meta["model"] = {"date": self.settings["model"]}
        return json_reply(200, {"data": points, "meta": meta})

    def past_forecasts(self):
        region = self.region()
        self.forecastable()
        self.check_model()
        start, end = self.time("start"), self.time("end")
        if end < start:
            return error(400, "start must be before end")
        if end - start > DAY:
            return error(400, "At most 24 hours of forecasts can be asked for at once")
        hours = self.number("horizon_hours", 24, 0, 72)
        data = []
        last = min(end, series.floor_to(self.now, self.step))
        for issued in range(series.ceil_to(start, self.step), last + 1, self.step):
            points = self.points(self.forecast_slots(issued, hours))
            data.append({"generated_at": iso_offset(issued), "forecast": points})
        meta = self.meta(region, generated_at_period_seconds=300)
        return json_reply(200, {"data": data, "meta": meta})

    def historical(self):
        region = self.region()
        self.check_model()
        start, end = self.time("start"), self.time("end")
        if end < start:
            return error(400, "start must be before end")
        if end - start > LONGEST_HISTORY:
            return error(400, "At most 32 days can be asked for at once")
        since = self.time("updated_since") if self.request.get("updated_since") else None
        marker = self.request.get("include_imputed_marker", "false")
        if marker not in ("true", "false"):
            return invalid("include_imputed_marker", "value could not be parsed to a boolean")
        known_until = self.now - 60 * self.settings["lag_minutes"]
        first = series.ceil_to(start, self.step)
        until = min(end + 1, known_until)  # both ends count
        imputed_from = series.floor_to(known_until - HOUR, self.step)
        slots = []
        if until > first:
            slots = series.slots(
                self.zone, first, until, self.step, self.convert, imputed_from
            )
        rows = []
        for slot in faults.shape(slots, self.request):
            updated = slot.end + 3 * HOUR
            if since is not None and updated < since:
                continue
            row = {"point_time": iso_offset(slot.start), "value": series.rounded(slot.value, 1)}
            row["last_updated"] = iso_offset(updated)
            if marker == "true":
                row["imputed_data_used"] = slot.estimated
            rows.append(row)
        return json_reply(200, {"data": rows, "meta": self.meta(region)})

    def my_access(self):
        types = []
        for signal in SIGNALS:
            if self.request.get("signal_type", signal) != signal:
                continue
            regions = []
            for name, (_, full_name, step) in places.WATTTIME.items():
                if "*" not in self.regions and name not in self.regions:
                    continue
                if self.request.get("region", name) != name:
                    continue
                models = [{"model": self.settings["model"], "data_start": "2021-01-01"}]
                ends = ["v3/historical"]
                if signal != "co2_aoer":
                    ends += ["v3/forecast", "v3/forecast/historical"]
                row = {"region": name, "region_full_name": full_name, "parent": None}
                row["data_point_period_seconds"] = step
                row["endpoints"] = [{"endpoint": e, "models": models} for e in ends]
                regions.append(row)
            types.append({"signal_type": signal, "regions": regions})
        return json_reply(200, {"signal_types": types})
