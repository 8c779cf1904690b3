"""ENTSO-E's transparency platform: /api, generation per type (A75) and load (A65)."""

import re
from datetime import datetime, timezone
from xml.sax.saxutils import escape

import faults
import places
import series
from series import HOUR
from wire import Reply, iso_millis, iso_minutes, utc

NAME = "entsoe"
SETTINGS = {
    "tokens": ["entsoe-token-0001"],
    "lag_hours": 1,  # of publication; 16 has been measured
    "curve": "A01",  # or A03: positions whose value did not change are left out
    "mixed_resolution": False,  # the second half of the interval in quarter hours
    "negatives": False,  # gas is slightly negative in the first slot of every period
    "no_data_status": 200,  # older servers: 400
    "limit_per_minute": 400,
}
CHOICES = {"curve": ("A01", "A03"), "no_data_status": (200, 400)}
LONGEST = 366 * 24 * HOUR
PSR = {"coal": "B05", "gas": "B04", "hydro": "B12", "nuclear": "B14", "solar": "B16", "wind": "B19"}
KNOWN = {
    "securityToken",
    "documentType",
    "processType",
    "in_Domain",
    "outBiddingZone_Domain",
    "periodStart",
    "periodEnd",
    "psrType",
}
RESOLUTION = {900: "PT15M", 1800: "PT30M", 3600: "PT60M"}
ITEMS = {"A75": "AGGREGATED_GENERATION_PER_TYPE_R3", "A65": "ACTUAL_TOTAL_LOAD_R3"}


def acknowledgement(status, code, text):
    created = utc(0).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = """<?xml version="1.0" encoding="UTF-8"?>
<Acknowledgement_MarketDocument xmlns="urn:iec62325.351:tc57wg16:451-1:acknowledgementdocument:7:0">
  <mRID>00000000-0000-4</mRID>
  <createdDateTime>%s</createdDateTime>
  <sender_MarketParticipant.mRID codingScheme="A01">10X1001A1001A450</sender_MarketParticipant.mRID>
  <sender_MarketParticipant.marketRole.type>A32</sender_MarketParticipant.marketRole.type>
  <receiver_MarketParticipant.mRID codingScheme="A01">10X1001A1001A450</receiver_MarketParticipant.mRID>
  <receiver_MarketParticipant.marketRole.type>A39</receiver_MarketParticipant.marketRole.type>
  <received_MarketDocument.createdDateTime>%s</received_MarketDocument.createdDateTime>
  <Reason>
    <code>%s</code>
    <text>%s</text>
  </Reason>
</Acknowledgement_MarketDocument>
""" % (created, created, code, escape(text))
    name = ("Content-Disposition", 'inline; filename="acknowledgement.xml"')
    return Reply(status, body, "text/xml", [name])


def error(status, text):
    return acknowledgement(status, "999", text)


def bad_key():
    body = "<html><body><h1>401 Unauthorized</h1>Authentication failed.</body></html>"
    return Reply(401, body, "text/html")


def not_in_plan(request):
    return bad_key()


def invalid(text):
    return acknowledgement(400, "999", "Invalid query attributes or parameters: " + text)


def moment(text):
    if not re.fullmatch(r"\d{12}", text or ""):
        return None
    try:
        at = datetime.strptime(text, "%Y%m%d%H%M").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    return int(at.timestamp())


def answer(request, world):
    settings = world.settings[NAME]
    if request.path != "/api" or request.method != "GET":
        return Reply(404, "<html><body>Not Found</body></html>", "text/html")
    if request.get("securityToken") not in settings["tokens"]:
        return bad_key()
    if world.too_many(NAME, settings["limit_per_minute"], 60):
        return Reply(429, "<html><body>Too many requests</body></html>", "text/html")
    names = [name for name, _ in request.query]
    for name in names:
        if name not in KNOWN or names.count(name) > 1:
            return invalid("%s is not expected" % name)
    kind, process = request.get("documentType"), request.get("processType")
    if (kind, process) not in (("A75", "A16"), ("A65", "A16")):
        return error(400, "The combination of documentType %s and processType %s is not valid; "
                     "check you request against dependency tables" % (kind, process))
    domain = "in_Domain" if kind == "A75" else "outBiddingZone_Domain"
    other = {"in_Domain", "outBiddingZone_Domain"} - {domain}
    if domain not in names or other & set(names):
        return invalid("%s is needed" % domain)
    start, end = moment(request.get("periodStart")), moment(request.get("periodEnd"))
    if start is None or end is None or end <= start:
        return invalid("periodStart and periodEnd as yyyyMMddHHmm")
    if end - start > LONGEST:
        return error(400, "The amount of requested data exceeds allowed limit, requested/allowed: "
                     "%d/366 days" % ((end - start) // 86400))
    return Document(request, settings, kind, domain, start, end, world.now_of_data(request)).make()


class Document:
    def __init__(self, request, settings, kind, domain, start, end, now):
        self.request = request
        self.settings = settings
        self.kind = kind
        self.area = request.get(domain)
        self.start, self.end, self.now = start, end, now

    def no_data(self):
        span = "%s/%s" % (iso_millis(self.start), iso_millis(self.end))
        text = "No matching data found for Data item %s [%s] and interval %s." % (
            ITEMS[self.kind],
            self.area,
            span,
        )
        return acknowledgement(self.settings["no_data_status"], "999", text)

    def make(self):
        # A party's code is no area: no data, and no error either.
        if self.area not in places.ENTSOE:
            return self.no_data()
        zone, step = places.ENTSOE[self.area]
        known = series.floor_to(self.now - self.settings["lag_hours"] * HOUR, step)
        first = series.floor_to(self.start, step)
        last = min(series.ceil_to(self.end, step), known)
        if last <= first:
            return self.no_data()
        pieces = [(first, last, step)]
        middle = series.floor_to((first + last) // 2, HOUR)
        if self.settings["mixed_resolution"] and first < middle < last:
            pieces = [(first, middle, HOUR), (middle, last, 900)]
            pieces[0] = (series.floor_to(first, HOUR), middle, HOUR)
        periods = []
        for piece_start, piece_end, piece_step in pieces:
            slots = series.slots(zone, piece_start, piece_end, piece_step)
            slots = faults.shape(slots, self.request)
            if slots:
                periods.append((piece_start, piece_end, piece_step, slots))
        if not periods:
            return self.no_data()
        if self.kind == "A65":
            made = [self.load(periods)]
        else:
            wanted = self.request.get("psrType")
            fuels = [f for f in PSR if wanted in (None, PSR[f])]
            if not fuels:
                return self.no_data()
            made = [self.fuel(i + 1, f, periods) for i, f in enumerate(fuels)]
            if "hydro" in fuels:
                made.append(self.pumping(len(made) + 1, periods))
        return Reply(200, self.envelope("".join(made)), "text/xml")

    def envelope(self, series_text):
        created = utc(self.now).strftime("%Y-%m-%dT%H:%M:%SZ")
        return """<?xml version="1.0" encoding="UTF-8"?>
<GL_MarketDocument xmlns="urn:iec62325.351:tc57wg16:451-6:generationloaddocument:3:0">
  <mRID>00000000000000000000000000000000</mRID>
  <revisionNumber>1</revisionNumber>
  <type>%s</type>
  <process.processType>A16</process.processType>
  <sender_MarketParticipant.mRID codingScheme="A01">10X1001A1001A450</sender_MarketParticipant.mRID>
  <sender_MarketParticipant.marketRole.type>A32</sender_MarketParticipant.marketRole.type>
  <receiver_MarketParticipant.mRID codingScheme="A01">10X1001A1001A450</receiver_MarketParticipant.mRID>
  <receiver_MarketParticipant.marketRole.type>A33</receiver_MarketParticipant.marketRole.type>
  <createdDateTime>%s</createdDateTime>
  <time_Period.timeInterval><start>%s</start><end>%s</end></time_Period.timeInterval>
%s</GL_MarketDocument>
""" % (self.kind, created, iso_minutes(self.start), iso_minutes(self.end), series_text)

    def time_series(self, number, business, aggregation, direction, psr, periods, value):
        other = self.request.fault("other_zone")
        area = other["zone"] if other else self.area
        psr_text = "<MktPSRType><psrType>%s</psrType></MktPSRType>" % psr if psr else ""
        return """  <TimeSeries>
    <mRID>%d</mRID>
    <businessType>%s</businessType>
    <objectAggregation>%s</objectAggregation>
    <%sBiddingZone_Domain.mRID codingScheme="A01">%s</%sBiddingZone_Domain.mRID>
    <quantity_Measure_Unit.name>MAW</quantity_Measure_Unit.name>
    <curveType>%s</curveType>
    %s
%s  </TimeSeries>
""" % (
            number,
            business,
            aggregation,
            direction,
            escape(area),
            direction,
            self.settings["curve"],
            psr_text,
            "".join(self.period(period, value) for period in periods),
        )

    def period(self, period, value):
        start, end, step, slots = period
        points, before = [], None
        for slot in slots:
            if slot.value is None:
                continue  # ENTSO-E knows no null: the position is not there
            quantity = ("%.2f" % value(slot)).rstrip("0").rstrip(".")
            if self.settings["curve"] == "A03" and quantity == before:
                continue
            before = quantity
            position = (slot.start - start) // step + 1
            points.append(
                "      <Point><position>%d</position><quantity>%s</quantity></Point>\n"
                % (position, quantity)
            )
        return """    <Period>
      <timeInterval><start>%s</start><end>%s</end></timeInterval>
      <resolution>%s</resolution>
%s    </Period>
""" % (iso_minutes(start), iso_minutes(end), RESOLUTION[step], "".join(points))

    def fuel(self, number, fuel, periods):
        def value(slot):
            if slot.value == 0:
                return 0
            if self.settings["negatives"] and fuel == "gas" and slot is periods[0][3][0]:
                return -0.4
            return series.rounded(series.generation(slot.value)[fuel], 2)

        return self.time_series(number, "A01", "A08", "in", PSR[fuel], periods, value)

    def pumping(self, number, periods):
        """Pumped storage fills up: consumption, which is no generation."""
        return self.time_series(number, "A01", "A08", "out", "B10", periods, lambda slot: 120)

    def load(self, periods):
        total = lambda slot: 0 if slot.value == 0 else series.TOTAL_MW  # noqa: E731
        return self.time_series(1, "A04", "A01", "out", None, periods, total)
