"""The Carbon Intensity API of Great Britain: /intensity/..., /regional/..., /generation/..."""

import re
from datetime import datetime, timezone

import faults
import series
from series import HOUR
from wire import YEARS, Refused, iso_minutes, json_reply, utc

NAME = "uk_carbon_intensity"
SLOT = 1800
LONGEST = 14 * 24 * HOUR
SETTINGS = {
    # "object", as the real one answers a range of one region, or "array", as its documentation says
    "regional_data": "object",
    "actual_lag_minutes": 30,  # after the end of a slot
    "limit_per_minute": None,
}
CHOICES = {"regional_data": ("object", "array")}
REGIONS = {
    1: ("Scottish Hydro Electric Power Distribution", "North Scotland"),
    2: ("SP Distribution", "South Scotland"),
    3: ("Electricity North West", "North West England"),
    4: ("NPG North East", "North East England"),
    5: ("NPG Yorkshire", "Yorkshire"),
    6: ("SP Manweb", "North Wales & Merseyside"),
    7: ("WPD South Wales", "South Wales"),
    8: ("WPD West Midlands", "West Midlands"),
    9: ("WPD East Midlands", "East Midlands"),
    10: ("UKPN East", "East England"),
    11: ("WPD South West", "South West England"),
    12: ("SSE South", "South England"),
    13: ("UKPN London", "London"),
    14: ("UKPN South East", "South East England"),
    15: ("England", "England"),
    16: ("Scotland", "Scotland"),
    17: ("Wales", "Wales"),
}
COUNTRIES = {"england": 15, "scotland": 16, "wales": 17}
POSTCODES = {"RG10": 12, "EC1": 13, "M1": 3, "EH1": 2, "CF10": 7}
FACTORS = {
    "Biomass": 120,
    "Coal": 937,
    "Dutch Imports": 474,
    "French Imports": 53,
    "Gas (Combined Cycle)": 394,
    "Gas (Open Cycle)": 651,
    "Hydro": 0,
    "Irish Imports": 458,
    "Nuclear": 0,
    "Oil": 935,
    "Other": 300,
    "Pumped Storage": 0,
    "Solar": 0,
    "Wind": 0,
}
TIME = r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z)"
END = r"(fw24h|fw48h|pt24h|\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z)"


def error(status, text):
    names = {400: "Bad Request", 404: "Not Found", 429: "Too Many Requests"}
    code = "%d %s" % (status, names.get(status, "Internal Server Error"))
    return json_reply(status, {"error": {"code": code, "message": text}})


def bad_key():  # it has no keys; whoever asks too much is turned away
    return error(403, "Forbidden")


def not_in_plan(request):
    return bad_key()


def refuse(text):
    raise Refused(error(400, text))


def parse(text):
    try:
        at = datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=timezone.utc)
    except ValueError:
        at = None
    if at is None or at.year not in YEARS:
        refuse("Please enter a valid date in ISO8601 format YYYY-MM-DDThh:mmZ")
    return int(at.timestamp())


def index(value):
    for bound, name in ((60, "very low"), (140, "low"), (220, "moderate"), (300, "high")):
        if value < bound:
            return name
    return "very high"


def answer(request, world):
    if world.too_many(NAME, world.settings[NAME]["limit_per_minute"], 60):
        return error(429, "Rate limit exceeded")
    if request.method != "GET":
        return error(400, "Only GET is known")
    if request.query:
        return error(400, "Unknown parameter %s" % request.query[0][0])
    return Answer(request, world).make()


class Answer:
    def __init__(self, request, world):
        self.request = request
        self.now = world.now_of_data(request)
        self.settings = world.settings[NAME]

    def make(self):
        for pattern, method in ROUTES:
            match = re.fullmatch(pattern, self.request.path)
            if match:
                return method(self, *match.groups())
        if re.match(r"/(intensity|regional|generation)(/|$)", self.request.path):
            return error(400, "Please enter a valid path, with dates as YYYY-MM-DDThh:mmZ")
        return error(404, "Requested resource not found.")

    def interval(self, start, end):
        """The slots from the one that covers `start`, as its documentation says."""
        at = parse(start)
        hours = {"fw24h": 24, "fw48h": 48, "pt24h": -24}.get(end)
        if hours is not None and hours < 0:
            return series.floor_to(at + hours * HOUR, SLOT), series.floor_to(at, SLOT) + SLOT
        until = at + hours * HOUR if hours is not None else parse(end)
        if until <= at:
            refuse("The to date must be after the from date")
        if until - at > LONGEST:
            refuse("Please choose a range of less than 14 days")
        return series.floor_to(at, SLOT), series.ceil_to(until, SLOT)

    def slots(self, key, start, end):
        end = min(end, series.ceil_to(self.now + 48 * HOUR, SLOT))
        if end <= start:
            return []
        slots = series.forecast(key, 0, start, end, SLOT, series.direct)
        return faults.shape(slots, self.request)

    # National.

    def row(self, slot):
        return {"from": iso_minutes(slot.start), "to": iso_minutes(slot.end)}

    def national_row(self, slot):
        forecast = series.rounded(slot.value)
        actual = None
        if slot.end + 60 * self.settings["actual_lag_minutes"] <= self.now and forecast is not None:
            actual = series.rounded(series.direct(series.lifecycle("GB", slot.start, slot.end)))
            for kind in ("zeros", "constant"):
                if self.request.fault(kind):
                    actual = forecast
        word = index(forecast or 0)
        intensity = {"forecast": forecast, "actual": actual, "index": word}
        return {**self.row(slot), "intensity": intensity}

    def national(self, start, end):
        rows = [self.national_row(slot) for slot in self.slots("GB", start, end)]
        return json_reply(200, {"data": rows})

    def national_now(self):
        at = series.floor_to(self.now, SLOT)
        return self.national(at, at + SLOT)

    def national_at(self, time):
        at = series.floor_to(parse(time), SLOT)
        return self.national(at, at + SLOT)

    def national_range(self, start, end):
        return self.national(*self.interval(start, end))

    def national_date(self, date=None, period=None):
        text = date or utc(self.now).strftime("%Y-%m-%d")
        midnight = parse(text + "T00:00Z")
        if period is None:
            return self.national(midnight, midnight + 24 * HOUR)
        if not 1 <= int(period) <= 48:
            refuse("Please enter a valid period 1 to 48")
        at = midnight + (int(period) - 1) * SLOT
        return self.national(at, at + SLOT)

    def factors(self):
        return json_reply(200, {"data": [FACTORS]})

    def stats(self, start, end, block=None):
        start, end = self.interval(start, end)
        step = int(block) * HOUR if block else end - start
        if step <= 0 or step > 24 * HOUR and block:
            refuse("Please enter a valid block length 1 to 24")
        rows = []
        for at in range(start, end, step):
            until = min(at + step, end)
            values = [s.value for s in self.slots("GB", at, until) if s.value is not None]
            if not values:
                continue
            mean = series.rounded(sum(values) / len(values))
            most, least = series.rounded(max(values)), series.rounded(min(values))
            intensity = {"max": most, "average": mean, "min": least, "index": index(mean)}
            span = {"from": iso_minutes(at), "to": iso_minutes(until)}
            rows.append({**span, "intensity": intensity})
        return json_reply(200, {"data": rows})

    # The mix, in percent.

    def mix(self, key, slot):
        fuels = series.generation(series.lifecycle(key, slot.start, slot.end))
        percent = {f: series.rounded(100 * mw / series.TOTAL_MW, 1) for f, mw in fuels.items()}
        names = ("biomass", "coal", "imports", "gas", "nuclear", "other", "hydro", "solar", "wind")
        return [{"fuel": name, "perc": percent.get(name, 0)} for name in names]

    def generation(self, start=None, end=None):
        if start is None:
            at = series.floor_to(self.now, SLOT)
            slot = self.slots("GB", at, at + SLOT)
            rows = [{**self.row(s), "generationmix": self.mix("GB", s)} for s in slot]
            return json_reply(200, {"data": rows[0] if rows else {}})
        slots = self.slots("GB", *self.interval(start, end))
        rows = [{**self.row(s), "generationmix": self.mix("GB", s)} for s in slots]
        return json_reply(200, {"data": rows})

    # Regional.

    def region_value(self, region, slot):
        value = series.rounded(slot.value)
        intensity = {"forecast": value, "index": index(value or 0)}
        return {"intensity": intensity, "generationmix": self.mix("GB-%d" % region, slot)}

    def region_head(self, region, postcode=None):
        other = self.request.fault("other_zone")
        region = int(other["zone"]) if other else region
        network, name = REGIONS[region]
        head = {"regionid": region, "dnoregion": network, "shortname": name}
        return {**head, "postcode": postcode} if postcode else head

    def all_regions(self, start, end, regions=REGIONS):
        by_region = {r: self.slots("GB-%d" % r, start, end) for r in regions}
        rows = []
        for i, slot in enumerate(next(iter(by_region.values()))):
            values = [
                {**self.region_head(r), **self.region_value(r, slots[i])}
                for r, slots in by_region.items()
            ]
            rows.append({**self.row(slot), "regions": values})
        return json_reply(200, {"data": rows} if rows else {})

    def regional_now(self):
        at = series.floor_to(self.now, SLOT)
        return self.all_regions(at, at + SLOT)

    def regional_range(self, start, end):
        return self.all_regions(*self.interval(start, end))

    def country(self, name):
        at = series.floor_to(self.now, SLOT)
        return self.all_regions(at, at + SLOT, [COUNTRIES[name]])

    def one_region(self, region, start, end, postcode, as_array):
        slots = self.slots("GB-%d" % region, start, end)
        if not slots:
            return json_reply(200, {})
        rows = [{**self.row(s), **self.region_value(region, s)} for s in slots]
        value = {**self.region_head(region, postcode), "data": rows}
        return json_reply(200, {"data": [value] if as_array else value})

    def find(self, kind, name):
        if kind == "regionid":
            if not re.fullmatch(r"[0-9]{1,2}", name) or int(name) not in REGIONS:
                refuse("Please enter a valid region id 1 to 17")
            return int(name), None
        if name.upper() not in POSTCODES:
            refuse("Please enter a valid outward postcode")
        return POSTCODES[name.upper()], name.upper()

    def region_now(self, kind, name):
        region, postcode = self.find(kind, name)
        at = series.floor_to(self.now, SLOT)
        return self.one_region(region, at, at + SLOT, postcode, as_array=True)

    def region_range(self, start, end, kind, name):
        region, postcode = self.find(kind, name)
        start, end = self.interval(start, end)
        as_array = self.settings["regional_data"] == "array"
        return self.one_region(region, start, end, postcode, as_array)


ROUTES = [
    (r"/intensity", Answer.national_now),
    (r"/intensity/date", Answer.national_date),
    (r"/intensity/date/(\d{4}-\d{2}-\d{2})", Answer.national_date),
    (r"/intensity/date/(\d{4}-\d{2}-\d{2})/(\d{1,2})", Answer.national_date),
    (r"/intensity/factors", Answer.factors),
    (r"/intensity/" + TIME, Answer.national_at),
    (r"/intensity/" + TIME + "/" + END, Answer.national_range),
    (r"/intensity/stats/" + TIME + "/" + TIME, Answer.stats),
    (r"/intensity/stats/" + TIME + "/" + TIME + r"/(\d{1,2})", Answer.stats),
    (r"/generation", Answer.generation),
    (r"/generation/" + TIME + "/(pt24h|" + TIME[1:], Answer.generation),
    (r"/regional", Answer.regional_now),
    (r"/regional/(england|scotland|wales)", Answer.country),
    (r"/regional/(regionid|postcode)/([A-Za-z0-9]+)", Answer.region_now),
    (r"/regional/intensity/" + TIME + "/" + END, Answer.regional_range),
    (
        r"/regional/intensity/" + TIME + "/" + END + r"/(regionid|postcode)/([A-Za-z0-9]+)",
        Answer.region_range,
    ),
]
