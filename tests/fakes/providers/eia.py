"""EIA v2: /v2/electricity/rto/fuel-type-data and region-data, with /data/ or as metadata."""

import re
from datetime import datetime, timezone

import faults
import places
import series
from series import HOUR
from wire import Refused, json_reply, utc

NAME = "eia"
SETTINGS = {
    "keys": ["eia-key-0001"],
    "values": "string",  # since 2.1.6; before it: "number"
    "total": "string",  # or "number"
    "lag_hours": 1,
    "page": 5000,
    "limit_per_hour": 9000,
}
CHOICES = {"values": ("string", "number"), "total": ("string", "number")}
FUELS = {  # our name: (code, type-name)
    "coal": ("COL", "Coal"),
    "gas": ("NG", "Natural Gas"),
    "hydro": ("WAT", "Hydro"),
    "nuclear": ("NUC", "Nuclear"),
    "solar": ("SUN", "Solar"),
    "wind": ("WND", "Wind"),
}
TYPES = {
    "D": "Demand",
    "DF": "Day-ahead demand forecast",
    "NG": "Net generation",
    "TI": "Total interchange",
}
ROUTES = {"fuel-type-data": "fueltype", "region-data": "type"}
DESCRIPTION = (
    "Hourly net generation by balancing authority and energy source.  \n"
    "    Source: Form EIA-930\n    Product: Hourly Electric Grid Monitor"
)
WARNING = {
    "warning": "parameter out of range",
    "description": "The API can only return 5000 rows in JSON format. Please consider constraining "
    "your request with facet, start, or end, or using offset to paginate results.",
}


def error(status, text):
    return json_reply(status, {"error": text, "code": status})


def key_error(code, text):
    return json_reply(403, {"error": {"code": code, "message": text}})


def bad_key():
    return key_error(
        "API_KEY_INVALID",
        "An invalid api_key was supplied.  Get one at https://www.eia.gov/opendata/register.php",
    )


def not_in_plan(request):
    return suspended()


def suspended():
    return error(403, "Your api_key has been temporarily suspended: too many requests")


def refuse(text):
    raise Refused(error(400, text))


def period(text, name):
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}T\d{2}", text):
        refuse("Invalid %s '%s' provided. The valid format is 'YYYY-MM-DD\"T\"HH24'." % (name, text))
    try:
        at = datetime.strptime(text, "%Y-%m-%dT%H").replace(tzinfo=timezone.utc)
    except ValueError:
        refuse("Invalid %s '%s' provided." % (name, text))
    return int(at.timestamp())


def whole(request, name, preset):
    text = request.get(name, str(preset))
    if not re.fullmatch(r"[0-9]{1,9}", text):
        refuse("Invalid %s '%s' provided." % (name, text))
    return int(text)


def answer(request, world):
    settings = world.settings[NAME]
    key = request.get("api_key")
    if key is None:
        return key_error(
            "API_KEY_MISSING",
            "No api_key was supplied.  Please register for one at "
            "https://www.eia.gov/opendata/register.php",
        )
    if key not in settings["keys"]:
        return bad_key()
    if world.too_many(NAME, settings["limit_per_hour"], 3600):
        return suspended()
    match = re.fullmatch(r"/v2/electricity/rto/([a-z-]+)(/data)?/?", request.path)
    if not match or match.group(1) not in ROUTES or request.method != "GET":
        return error(404, "Not found.")
    route = match.group(1)
    if not match.group(2):
        return json_reply(200, {"response": metadata(route), "apiVersion": "2.1.10"})
    return json_reply(200, Data(request, settings, route, world.now_of_data(request)).make())


def metadata(route):
    facets = [{"id": "respondent"}, {"id": ROUTES[route]}]
    return {
        "id": route,
        "frequency": [{"id": "hourly", "format": 'YYYY-MM-DD"T"HH24'}],
        "facets": facets,
        "data": {"value": {"units": "megawatthours"}},
    }


class Data:
    def __init__(self, request, settings, route, now):
        self.request, self.settings, self.route, self.now = request, settings, route, now
        self.kind = ROUTES[route]

    def make(self):
        self.check_parameters()
        rows = self.rows()
        for index in (2, 1, 0):
            column = self.request.get("sort[%d][column]" % index)
            if column is None:
                continue
            if column not in ("period", "respondent", self.kind, "value"):
                refuse("Invalid sort column '%s' provided." % column)
            direction = self.request.get("sort[%d][direction]" % index, "asc")
            if direction not in ("asc", "desc"):
                refuse("Invalid sort direction '%s' provided." % direction)
            rows.sort(key=lambda row: str(row[column]), reverse=direction == "desc")
        total = len(rows)
        offset, page = whole(self.request, "offset", 0), self.settings["page"]
        wanted = whole(self.request, "length", page)
        rows = rows[offset : offset + min(wanted, page)]
        response = {
            "query execution": 0.001,
            "count query execution": 0.002,
            "total": str(total) if self.settings["total"] == "string" else total,
            "dateFormat": 'YYYY-MM-DD"T"HH24',
            "frequency": "hourly",
            "data": rows,
            "description": DESCRIPTION,
        }
        if total - offset > page or wanted > page:
            response["warnings"] = [WARNING]
        return {"response": response, "apiVersion": "2.1.10"}

    def check_parameters(self):
        known = {"api_key", "frequency", "start", "end", "offset", "length", "data[]", "data[0]"}
        known |= {"facets[respondent][]", "facets[%s][]" % self.kind}
        for name, _ in self.request.query:
            if name not in known and not re.fullmatch(r"sort\[[0-2]\]\[(column|direction)\]", name):
                refuse("Invalid parameter '%s' provided." % name)
        frequency = self.request.get("frequency", "hourly")
        if frequency != "hourly":
            refuse(
                "Invalid frequency '%s' provided. The only valid frequencies are 'hourly' and "
                "'local-hourly'." % frequency
            )
        self.columns = self.request.all("data[]") + self.request.all("data[0]")
        for column in self.columns:
            if column != "value":
                refuse("Invalid data '%s' provided. The only valid data are 'value'." % column)

    def rows(self):
        # A period is the end of its hour; both bounds count.
        known_until = series.floor_to(self.now - self.settings["lag_hours"] * HOUR, HOUR)
        start = self.request.get("start")
        end = self.request.get("end")
        last = min(period(end, "end"), known_until) if end else known_until
        first = period(start, "start") if start else last - 47 * HOUR
        if first > last:
            return []
        wanted = self.request.all("facets[%s][]" % self.kind)
        out = []
        # A facet that does not exist is no error: it has no rows.
        for respondent in self.request.all("facets[respondent][]") or places.EIA:
            if respondent not in places.EIA:
                continue
            zone, name = places.EIA[respondent]
            slots = series.slots(zone, first - HOUR, last, HOUR)
            for slot in faults.shape(slots, self.request):
                out += self.rows_of(slot, respondent, name, wanted)
        return out

    def rows_of(self, slot, respondent, name, wanted):
        other = self.request.fault("other_zone")
        head = {
            "period": utc(slot.end).strftime("%Y-%m-%dT%H"),
            "respondent": other["zone"] if other else respondent,
            "respondent-name": name,
        }
        values = {code: None for code, _ in FUELS.values()}
        if self.kind == "type":
            values = {code: None for code in TYPES}
        if slot.value is not None:
            amounts = dict.fromkeys(FUELS, 0) if slot.value == 0 else series.generation(slot.value)
            values = {FUELS[fuel][0]: amount for fuel, amount in amounts.items()}
            if self.kind == "type":
                total = sum(amounts.values())
                values = {"D": total, "DF": total + 100, "NG": total, "TI": 0}
        names = TYPES if self.kind == "type" else dict(FUELS.values())
        rows = []
        for code, amount in sorted(values.items()):
            if wanted and code not in wanted:
                continue
            row = {**head, self.kind: code, "type-name": names[code]}
            if self.columns:
                value = series.rounded(amount)
                as_text = value is not None and self.settings["values"] == "string"
                row["value"] = str(value) if as_text else value
                row["value-units"] = "megawatthours"
            rows.append(row)
        return rows
