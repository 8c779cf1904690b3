"""Electricity Maps, v4 and v3: /v4/{signal}/{temporality} and /v3/..."""

import faults
import places
import series
from series import HOUR
from wire import Refused, iso_millis, json_reply, parse_iso

NAME = "electricity_maps"
SETTINGS = {
    # token: {zone or "*": ["signal/temporality" or "*"]}
    "tokens": {
        "em-full": {"*": ["*"]},
        "em-free": {
            "*": ["carbon-intensity/latest", "carbon-intensity/history", "carbon-intensity/forecast"]
        },
        "em-one-zone": {"DE": ["carbon-intensity/latest", "carbon-intensity/history"]},
    },
    "caller_zone": "US-CAL-CISO",  # where the caller's address points to
    "key_header": "auth-token",
    "renamed": {"US-SW-DEAA": "US-CAL-CISO"},  # retired key: the one that took its place
    "zones_status": 200,  # trial keys have seen 500
    "zones_empty": False,  # and some an empty object
    "limit_per_minute": None,
}

STEPS = {"5_minutes": 300, "15_minutes": 900, "hourly": HOUR, "daily": 24 * HOUR}
LONGEST = {300: 10 * 24 * HOUR, 900: 10 * 24 * HOUR, HOUR: 240 * HOUR, 24 * HOUR: 2400 * HOUR}
HORIZONS = (6, 24, 48, 72)
LOCATION = {"zone", "lat", "lon", "dataCenterProvider", "dataCenterRegion"}
COMMON = LOCATION | {"emissionFactorType", "disableEstimations"}
VALUES = ("carbon-intensity-fossil-only", "renewable-energy", "carbon-free-energy")
LEVELS = ("carbon-intensity-level", "renewable-percentage-level", "carbon-free-percentage-level")
LOADS = ("total-load", "total-reported-load", "net-load")
V3_SIGNALS = ("carbon-intensity", "power-breakdown")
FUELS = ("nuclear", "geothermal", "biomass", "coal", "wind", "solar", "hydro", "gas", "oil", "unknown")


def error(status, text):
    return json_reply(status, {"error": text})


def bad_key():
    return error(401, "Invalid auth-token")


def not_in_plan(request, zone=None, signal="carbon-intensity", temporality="latest"):
    zone = zone or request.get("zone", "DE")
    text = "Request unauthorized for zoneKey=%s,requestType=%s,dataType=%s." % (
        zone,
        temporality,
        signal,
    )
    message = (
        "You do not have access to this specific endpoint for this specific zone. "
        "Please visit https://help.electricitymaps.com if this is a mistake"
    )
    return json_reply(401, {"error": text, "message": message})


def no_route():
    return json_reply(404, {"message": "no Route matched with those values"})


def answer(request, world):
    return Answer(request, world).make()


class Answer:
    def __init__(self, request, world):
        self.request = request
        self.now = world.now_of_data(request)
        self.settings = world.settings[NAME]
        self.world = world

    def refuse(self, status, text):
        raise Refused(error(status, text))

    def make(self):
        request = self.request
        if self.world.too_many(NAME, self.settings["limit_per_minute"], 60):
            return error(429, "Too many requests")
        parts = request.path.strip("/").split("/")
        if request.method != "GET" or parts[0] not in ("v3", "v4") or len(parts) < 2:
            return no_route()
        self.v4 = parts[0] == "v4"
        if parts[1:] == ["health"]:
            return json_reply(200, {"monitors": {"state": "ok"}, "status": "ok"})
        if parts[1:] == ["zones"]:
            return self.zones()
        signal, temporality = "/".join(parts[1:-1]), parts[-1]
        if not self.known(signal):
            return no_route()
        access = self.access()
        self.check_parameters(temporality)
        self.zone = self.locate()
        allowed = access.get("*", []) + access.get(self.zone, [])
        if "*" not in allowed and "%s/%s" % (signal, temporality) not in allowed:
            return not_in_plan(request, self.zone, signal, temporality)
        return self.data(signal, temporality)

    def known(self, signal):
        if not self.v4:
            return signal in V3_SIGNALS
        if signal in V3_SIGNALS + VALUES + LEVELS + LOADS:
            return True
        if signal.startswith("electricity-source/"):
            return signal.removeprefix("electricity-source/") in FUELS
        return signal in ("electricity-mix", "electricity-flows", "price-day-ahead")

    def access(self):
        token = self.request.headers.get(self.settings["key_header"].lower())
        if token not in self.settings["tokens"]:
            raise Refused(bad_key())
        return self.settings["tokens"][token]

    def zones(self):
        if self.settings["zones_status"] != 200:
            return error(self.settings["zones_status"], "Internal server error")
        if self.settings["zones_empty"]:
            return json_reply(200, {})
        token = self.request.headers.get(self.settings["key_header"].lower())
        if token is not None:
            self.access()
        out = {}
        for key, (name, country, tier, _, _) in places.ZONES.items():
            row = {"zoneName": name}
            if self.v4:
                row.update(
                    countryName=places.ZONES.get(country, (country,))[0],
                    zoneKey=key,
                    countryCode=country,
                    zoneParentKey=None if key == country else country,
                    subZoneKeys=[],
                    isCommerciallyAvailable=True,
                    tier=tier,
                )
            if token is not None:
                granted = self.settings["tokens"][token]
                row["access"] = granted.get("*", []) + granted.get(key, [])
            out[key] = row
        return json_reply(200, out)

    def check_parameters(self, temporality):
        request = self.request
        lookup = "disableCallerLookup" if self.v4 else "shouldUseFallbackCallerLookup"
        known = COMMON | {lookup}
        if self.v4:
            known |= {"temporalGranularity", "flowTraced", "breakdownType"}
        known |= {
            "past": {"datetime"},
            "past-range": {"start", "end"},
            "forecast": {"horizonHours", "start", "end"},
        }.get(temporality, set())
        names = [name for name, _ in request.query]
        for name in names:
            if name not in known:
                self.refuse(400, 'Unknown argument "%s"' % name)
            if names.count(name) > 1:
                self.refuse(400, 'Argument "%s" is there twice' % name)
        for name in (lookup, "disableEstimations", "flowTraced"):
            if request.get(name, "true") not in ("true", "false"):
                self.refuse(400, 'Invalid argument "%s": expected true or false' % name)
        if request.get("emissionFactorType", "direct") not in ("lifecycle", "direct"):
            self.refuse(400, "Valid emission factor types are: lifecycle, direct")
        if request.get("breakdownType", "normal") not in ("normal", "flow-traced"):
            self.refuse(400, "Valid breakdown types are: normal, flow-traced")
        granularity = request.get("temporalGranularity", "hourly")
        if granularity not in STEPS:
            self.refuse(400, "Valid temporal granularities are: %s" % ", ".join(STEPS))
        self.granularity = granularity
        self.step = STEPS[granularity]
        if self.step > HOUR and temporality not in ("past", "past-range"):
            self.refuse(400, "Expected one of past, past-range for granularity %s" % granularity)
        fallback = request.get(lookup)
        self.caller_lookup = fallback != "true" if self.v4 else fallback != "false"

    def locate(self):
        request = self.request
        zone = request.get("zone")
        if zone in self.settings["renamed"]:
            self.refuse(404, "No recent data for zone %s" % zone)
        if zone in places.ZONES:
            return zone
        degrees = [request.get("lat"), request.get("lon")]
        if None not in degrees:
            try:
                latitude, longitude = (float(text) for text in degrees)
            except ValueError:  # a decimal comma, for one
                self.refuse(500, "Internal server error")
            if not (abs(latitude) <= 90 and abs(longitude) <= 180):  # nor what is no number
                self.refuse(400, 'Missing arguments "node"')
            found = places.nearest(latitude, longitude)
            if found:
                return found
        centre = (request.get("dataCenterProvider"), request.get("dataCenterRegion"))
        if centre in places.CLOUD:
            return places.CLOUD[centre][0]
        if self.caller_lookup:
            return self.settings["caller_zone"]
        if zone is not None:
            self.refuse(404, "No recent data for zone %s" % zone)
        return self.refuse(400, 'Missing arguments "node"')

    def time(self, name):
        value = parse_iso(self.request.get(name))
        if value is None:
            self.refuse(400, 'Missing or invalid date parameter "%s"' % name)
        return value

    def data(self, signal, temporality):
        hour = series.floor_to(self.now, HOUR)
        here = series.floor_to(self.now, self.step)
        levels = signal in LEVELS
        if temporality == "latest":
            slots, is_forecast = self.slots(here, here + self.step), False
        elif temporality == "past":
            at = series.floor_to(self.time("datetime"), self.step)
            slots, is_forecast = self.slots(at, at + self.step), False
        elif temporality == "past-range":
            start, end = self.time("start"), self.time("end")
            if end <= start or end - start > LONGEST[self.step]:
                self.refuse(400, 'Missing or invalid date parameter "end"')
            slots, is_forecast = self.slots(start, min(end, self.now + self.step)), False
        elif temporality == "history" and not levels:
            end = here + self.step
            slots, is_forecast = self.slots(end - 24 * HOUR, end), False
        elif temporality == "forecast" and not levels:
            slots, is_forecast = self.forecast(signal, hour), True
        elif temporality in ("combined", "actual") and signal == "price-day-ahead":
            slots, is_forecast = self.slots(hour, hour + 25 * HOUR), True
        else:
            self.refuse(400, "Expected one of latest, past, past-range")
        slots = faults.shape(slots, self.request)
        if not slots:
            self.refuse(404, "No recent data for zone %s" % self.zone)
        other = self.request.fault("other_zone")
        if other:
            self.zone = other["zone"]
        return self.body(signal, temporality, slots, is_forecast)

    def factor(self):
        return self.request.get("emissionFactorType", "lifecycle")

    def convert(self, x):
        return x * (series.DIRECT_SHARE if self.factor() == "direct" else 1)

    def slots(self, start, end):
        estimated_from = series.floor_to(self.now, HOUR) - HOUR
        slots = series.slots(self.zone, start, end, self.step, self.convert, estimated_from)
        if self.request.get("disableEstimations") == "true":
            slots = [slot for slot in slots if not slot.estimated]
        return slots

    def forecast(self, signal, hour):
        horizon = self.request.get("horizonHours", "24")
        if horizon not in [str(h) for h in HORIZONS]:
            self.refuse(400, "Valid horizons are: 6, 24, 48, 72")
        if horizon != "24" and signal not in ("carbon-intensity", *VALUES):
            self.refuse(400, "Valid horizons are: 24")
        if signal == "price-day-ahead":
            return self.slots(self.time("start"), self.time("end"))
        end = hour + int(horizon) * HOUR + self.step
        return series.forecast(self.zone, hour, hour, end, self.step, self.convert)

    # The bodies.

    def stamps(self, slot):
        updated = self.now if slot.estimated else min(self.now, slot.end + 20 * HOUR)
        return {
            "datetime": iso_millis(slot.start),
            "updatedAt": iso_millis(updated),
            "createdAt": iso_millis(slot.start - 19 * HOUR),
        }

    def flags(self, slot):
        method = "FORECASTS_HIERARCHY" if slot.estimated else None
        return {"isEstimated": slot.estimated, "estimationMethod": method}

    def body(self, signal, temporality, slots, is_forecast):
        if signal == "carbon-intensity":
            return json_reply(200, self.carbon_intensity(temporality, slots, is_forecast))
        if signal in VALUES or signal == "power-breakdown":
            make = self.breakdown if signal == "power-breakdown" else self.percent
            rows = [make(slot) for slot in slots]
            if temporality in ("latest", "past"):
                return json_reply(200, {**rows[0], **self.granular()})
            key = "data"
            if signal == "power-breakdown":
                key = {"history": "history", "forecast": "forecast"}.get(temporality, "data")
            return json_reply(200, {"zone": self.zone, key: rows, **self.granular()})
        out = {"zone": self.zone}
        if signal in LEVELS:
            rows = [{"level": self.level(s), "datetime": iso_millis(s.start)} for s in slots]
            return json_reply(200, {**out, "data": rows})
        if signal in LOADS:
            rows = [self.load(slot) for slot in slots]
            return json_reply(200, {**out, "data": rows, **self.granular()})
        if signal == "price-day-ahead":
            rows = [self.price(slot) for slot in slots]
            return json_reply(200, {**out, "data": rows, **self.granular()})
        out.update(self.granular(), unit="MW")
        if signal == "electricity-flows":
            out["data"] = [self.flows(slot) for slot in slots]
        elif signal == "electricity-mix":
            out["data"] = [self.mix(slot) for slot in slots]
        else:
            fuel = signal.removeprefix("electricity-source/")
            out["data"] = [self.source(slot, fuel) for slot in slots]
            out["source"] = fuel
        return json_reply(200, out)

    def granular(self):
        return {"temporalGranularity": self.granularity} if self.v4 else {}

    def carbon_intensity(self, temporality, slots, is_forecast):
        if is_forecast:
            rows = [
                {"carbonIntensity": series.rounded(s.value), "datetime": iso_millis(s.start)}
                for s in slots
            ]
            out = {"zone": self.zone, "forecast": rows, "updatedAt": iso_millis(self.now)}
            return {**out, **self.granular()}
        rows = []
        for slot in slots:
            row = {"zone": self.zone, "carbonIntensity": series.rounded(slot.value)}
            row.update(self.stamps(slot), emissionFactorType=self.factor())
            if self.v4:
                row["flowTraced"] = self.request.get("flowTraced", "true") == "true"
            row.update(self.flags(slot))
            rows.append(row)
        if temporality in ("latest", "past"):
            return {**rows[0], **self.granular()}
        key = "history" if temporality == "history" else "data"
        return {"zone": self.zone, key: rows, **self.granular()}

    def fuels(self, slot):
        lifecycle = series.lifecycle(self.zone, slot.start, slot.end)
        return {f: series.rounded(mw, 2) for f, mw in series.generation(lifecycle).items()}

    def percent(self, slot):
        fuels = self.fuels(slot)
        clean = sum(fuels[f] for f in ("hydro", "nuclear", "solar", "wind")) / series.TOTAL_MW
        value = None if slot.value is None else series.rounded(100 * clean)
        row = {"zone": self.zone, **self.stamps(slot), "unit": "%", "value": value}
        return {**row, "flowTraced": True, **self.flags(slot)}

    def level(self, slot):
        days = 10 * 24 * HOUR
        mean = series.lifecycle(self.zone, slot.start - days, slot.start)
        ratio = series.lifecycle(self.zone, slot.start, slot.end) / mean
        return "low" if ratio < 0.85 else "high" if ratio > 1.15 else "moderate"

    def load(self, slot):
        value = None if slot.value is None else float(series.TOTAL_MW)
        row = {"zone": self.zone, **self.stamps(slot), "value": value, "unit": "MW"}
        row.update(source="synthetic", flowTraced=True, isEstimated=False, estimationMethod=None)
        return row

    def price(self, slot):
        value = None if slot.value is None else series.rounded(slot.value / 4, 2)
        row = {"zone": self.zone, **self.stamps(slot), "value": value}
        return {**row, "unit": "EUR/MWh", "source": "synthetic"}

    def flows(self, slot):
        row = {"datetime": iso_millis(slot.start), "updatedAt": iso_millis(self.now)}
        neighbour = "FR" if self.zone == "DE" else "DE"
        return {**row, "import": {neighbour: 36}, "export": {"NL": 450}}

    def mix(self, slot):
        fuels = self.fuels(slot)
        traced = self.request.get("breakdownType", "normal") == "flow-traced"
        row = {"datetime": iso_millis(slot.start), "updatedAt": iso_millis(self.now)}
        row.update(self.flags(slot), breakdownType="flow-traced" if traced else "normal")
        mix = {f: fuels.get(f, 0 if traced else None) for f in FUELS}
        if traced:
            mix["hydro storage"] = {"discharge": 0}
            mix["battery storage"] = {"discharge": 0}
        else:
            mix["hydro storage"] = {"charge": 0, "discharge": None}
            mix["battery storage"] = {"charge": None, "discharge": None}
            mix["flows"] = {"exports": 450, "imports": 36}
        return {**row, "mix": mix}

    def source(self, slot, fuel):
        row = {"datetime": iso_millis(slot.start), "updatedAt": iso_millis(self.now)}
        value = None if slot.value is None else self.fuels(slot).get(fuel, 0)
        return {**row, **self.flags(slot), "value": value, "flowTraced": True}

    def breakdown(self, slot):
        fuels = self.fuels(slot)
        discharge = ("hydro discharge", "battery discharge")
        consumed = {f: series.rounded(fuels.get(f, 0)) for f in (*FUELS, *discharge)}
        produced = {f: series.rounded(fuels.get(f)) for f in (*FUELS, *discharge)}
        clean = sum(fuels[f] for f in ("hydro", "nuclear", "solar", "wind")) / series.TOTAL_MW
        green = clean - fuels["nuclear"] / series.TOTAL_MW
        return {
            "zone": self.zone,
            **self.stamps(slot),
            "powerConsumptionBreakdown": consumed,
            "powerProductionBreakdown": produced,
            "powerImportBreakdown": {"FR": 36},
            "powerExportBreakdown": {"NL": 450},
            "fossilFreePercentage": series.rounded(100 * clean),
            "renewablePercentage": series.rounded(100 * green),
            "powerConsumptionTotal": series.TOTAL_MW,
            "powerProductionTotal": series.TOTAL_MW + 414,
            "powerImportTotal": 36,
            "powerExportTotal": 450,
            **self.flags(slot),
        }
