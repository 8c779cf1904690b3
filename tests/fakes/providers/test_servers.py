"""What the fake servers accept, refuse and do on demand."""

import gzip
import http.client
import json

import pytest
import series
from conftest import NOW
from wire import parse_iso

HOUR = 3600
NOW_UNIX = parse_iso(NOW)
THE_HOUR = NOW_UNIX // HOUR * HOUR
CI = "/v4/carbon-intensity/"
FORECAST = "/v3/forecast?region=CAISO_NORTH&signal_type=co2_moer"


def em(fakes, path, token="em-full"):
    return fakes.json("electricity_maps", path, {"auth-token": token})


# The series.


def test_the_hash_is_fnv_1a():
    assert series.fnv1a32("foobar") == 0xBF9CF968


def test_the_mix_comes_to_the_intensity_it_is_made_for():
    for intensity in (120, 250.5, 411):
        fuels = series.generation(intensity)
        assert min(fuels.values()) >= 0
        grams = sum(series.FACTORS[fuel] * mw for fuel, mw in fuels.items())
        assert sum(fuels.values()) == pytest.approx(20000)
        assert grams / 20000 == pytest.approx(intensity)


def test_every_value_is_in_the_range_that_the_mix_can_give():
    values = [series.lifecycle(key, n * 300, (n + 1) * 300) for key in ("DE", "x") for n in range(600)]
    assert 120 <= min(values) and max(values) <= 411


# Electricity Maps.


def test_one_series_in_all_temporalities(fakes):
    _, history = em(fakes, CI + "history?zone=DE")
    _, latest = em(fakes, CI + "latest?zone=DE")
    _, ranged = em(fakes, CI + "past-range?zone=DE&start=2026-08-21T18:00:00Z&end=2026-08-22T18:00:00Z")
    _, past = em(fakes, CI + "past?zone=DE&datetime=2026-08-22T03:59:00Z")
    assert history["history"] == ranged["data"]
    assert history["history"][-1].items() <= latest.items()
    assert past["carbonIntensity"] == history["history"][9]["carbonIntensity"]
    assert past["datetime"] == "2026-08-22T03:00:00.000Z"
    expected = series.rounded(series.lifecycle("DE", THE_HOUR - 9 * HOUR, THE_HOUR - 8 * HOUR))
    assert history["history"][14]["carbonIntensity"] == expected


@pytest.mark.parametrize("hours,rows", [(6, 7), (24, 25), (48, 49), (72, 73)])
def test_a_horizon_of_n_hours_has_one_row_more(fakes, hours, rows):
    _, answer = em(fakes, CI + "forecast?zone=DE&horizonHours=%d" % hours)
    assert len(answer["forecast"]) == rows


@pytest.mark.parametrize(
    "path,status,text",
    [
        ("forecast?zone=DE&horizonHours=12", 400, "Valid horizons"),
        ("latest?zone=DE&zones=FR", 400, "Unknown argument"),
        ("latest?zone=DE&disableEstimations=True", 400, "true or false"),
        ("latest?zone=DE&emissionFactorType=Direct", 400, "lifecycle, direct"),
        ("past-range?zone=DE&start=2026-08-01&end=2026-08-02T00:00:00Z", 400, '"start"'),
        ("past-range?zone=DE&start=2026-08-01T00:00:00Z&end=2026-08-11T01:00:00Z", 400, '"end"'),
        ("past-range?zone=DE&end=2026-08-11T01:00:00Z", 400, '"start"'),
        ("sometime?zone=DE", 400, "Expected one of latest, past, past-range"),
        ("latest?disableCallerLookup=true", 400, 'Missing arguments "node"'),
        ("latest?zone=US-SW-DEAA", 404, "No recent data for zone US-SW-DEAA"),
        ("latest?zone=de&disableCallerLookup=true", 404, "No recent data for zone de"),
        ("latest?lat=51,2&lon=10,4", 500, "Internal"),
        ("history?zone=DE&temporalGranularity=daily", 400, "past, past-range"),
    ],
)
def test_electricity_maps_refuses(fakes, path, status, text):
    got, answer = em(fakes, CI + path)
    assert (got, text in answer["error"]) == (status, True), answer


@pytest.mark.parametrize("granularity,rows", [("5_minutes", 288), ("15_minutes", 96), ("hourly", 24)])
def test_a_history_is_a_day_in_any_step(fakes, granularity, rows):
    _, answer = em(fakes, CI + "history?zone=DE&temporalGranularity=" + granularity)
    assert len(answer["history"]) == rows
    latest = em(fakes, CI + "latest?zone=DE&temporalGranularity=" + granularity)[1]
    assert answer["history"][-1]["datetime"] == latest["datetime"]


@pytest.mark.parametrize("place", ["lat=nan&lon=10", "lat=51&lon=inf", "lat=-90.1&lon=10"])
def test_what_is_no_place_is_refused(fakes, place):
    assert em(fakes, CI + "latest?" + place)[0] == 400
    assert em(fakes, CI + "latest?lat=0&lon=37.9")[1]["zone"] == "KE"  # 0 is one


def test_a_range_of_240_hours_is_the_longest(fakes):
    path = CI + "past-range?zone=DE&start=2026-08-01T00:00:00Z&end=2026-08-11T00:00:00Z"
    status, answer = em(fakes, path)
    assert status == 200 and len(answer["data"]) == 240


def test_the_times_of_the_carbon_aware_sdk_are_understood(fakes):
    start, end = "2026-08-20T00%3a00%3a00.0000000%2b00%3a00", "2026-08-20T04%3a00%3a00.0000000%2b02%3a00"
    status, answer = em(fakes, CI + "past-range?zone=DE&start=%s&end=%s" % (start, end))
    assert status == 200 and len(answer["data"]) == 2


def test_without_a_place_the_caller_is_looked_up(fakes):
    for path in ("latest", "latest?zone=ZZ", "latest?lat=-50&lon=-140"):
        assert em(fakes, CI + path)[1]["zone"] == "US-CAL-CISO"
    assert em(fakes, CI + "latest?lat=0&lon=37")[1]["zone"] == "KE"
    centre = "latest?dataCenterProvider=gcp&dataCenterRegion=europe-west3"
    assert em(fakes, CI + centre)[1]["zone"] == "DE"


def test_plans(fakes):
    for path, status in (("latest", 200), ("history", 200), ("forecast", 401)):
        assert em(fakes, CI + path + "?zone=DE", "em-one-zone")[0] == status
    assert em(fakes, CI + "latest?zone=FR", "em-one-zone")[0] == 401
    assert em(fakes, "/v4/zones", "em-one-zone")[1]["FR"]["access"] == []
    assert "access" not in json.loads(
        fakes.ask("http://127.0.0.1:%d/v4/zones" % fakes.ports["electricity_maps"])[2]
    )["FR"]


def test_estimates_can_be_left_out(fakes):
    _, answer = em(fakes, CI + "history?zone=DE&disableEstimations=true")
    assert len(answer["history"]) == 22


# WattTime.


def test_a_token_ends(fakes):
    assert fakes.json("watttime", FORECAST)[0] == 200
    fakes.control(advance_s=1799)
    assert fakes.json("watttime", FORECAST)[0] == 200
    fakes.control(advance_s=1)
    assert fakes.json("watttime", FORECAST)[0] == 401
    fakes.control(settings={"watttime": {"refusal": "html"}})
    status, headers, _ = fakes.get("watttime", FORECAST)
    assert status == 403 and headers["Content-Type"] == "text/html"


def test_watttime_validates(fakes):
    for path, status in (
        ("/v3/forecast?region=CAISO_NORTH", 422),
        (FORECAST + "&horizon_hours=73", 422),
        (FORECAST + "&horizon=24", 422),
        (FORECAST.replace("CAISO_NORTH", "NOWHERE"), 400),
        (FORECAST.replace("co2_moer", "co2_aoer"), 400),
        (FORECAST + "&model=1999-01-01", 400),
        ("/v5/forecast", 404),
    ):
        assert fakes.json("watttime", path)[0] == status, path
    _, answer = fakes.json("watttime", "/v3/historical?region=CAISO_NORTH&signal_type=co2_moer&end=x")
    assert answer["detail"][0]["loc"] == ["query", "start"]


def test_watttime_beyond_most_plans(fakes):
    status, headers, body = fakes.get("watttime", "/v2/forecast?ba=CAISO_NORTH")
    assert (status, headers["Content-Type"]) == (403, "text/html")
    assert b"403 Forbidden" in body
    path = "/v3/fuel-mix?region=CAISO_NORTH&start=2026-08-01T00:00:00Z&end=2026-08-02T00:00:00Z"
    for path in (path, "/v3/maps?signal_type=co2_moer"):
        status, answer = fakes.json("watttime", path)
        assert status == 403 and answer["message"].startswith("Invalid scope"), path


def test_watttime_bounds_its_ranges(fakes):
    base = "/v3/historical?region=CAISO_NORTH&signal_type=co2_moer&start=2026-07-01T00:00:00Z&end="
    assert fakes.json("watttime", base + "2026-08-02T00:00:00Z")[0] == 200
    assert fakes.json("watttime", base + "2026-08-02T00:05:00Z")[0] == 400
    status, answer = fakes.json("watttime", base + "2026-07-01T01:00:00Z")
    assert status == 200 and len(answer["data"]) == 13  # both ends count
    past = base.replace("/v3/historical", "/v3/forecast/historical")
    assert fakes.json("watttime", past + "2026-07-02T00:00:00Z&horizon_hours=0")[0] == 200
    assert fakes.json("watttime", past + "2026-07-02T00:05:00Z")[0] == 400
    zone_less = base.replace("00:00:00Z", "00:00:00") + "2026-07-02T00:00:00Z"
    assert fakes.json("watttime", zone_less)[0] == 422


def test_watttime_counts(fakes):
    fakes.control(settings={"watttime": {"limit_per_5_minutes": 3}})
    assert [fakes.get("watttime", FORECAST)[0] for _ in range(4)] == [200, 200, 429, 429]
    fakes.control(advance_s=299)
    assert fakes.get("watttime", FORECAST)[0] == 429
    fakes.control(advance_s=1)
    assert [fakes.get("watttime", FORECAST)[0] for _ in range(4)] == [200, 200, 200, 429]


def test_a_new_user(fakes):
    body = json.dumps({"username": "grace", "password": "hopper-1906", "email": "g@example.org"})
    assert fakes.json("watttime", "/register", body=body) == (
        200,
        {"ok": "User created", "user": "grace"},
    )
    assert "taken" in fakes.json("watttime", "/register", body=body)[1]["error"]


# The others.


def test_great_britain(fakes):
    _, answer = fakes.json("uk_carbon_intensity", "/intensity/2026-08-22T10:30Z/fw24h")
    rows = answer["data"]
    assert rows[0]["from"] == "2026-08-22T10:30Z" and len(rows) == 48
    actual = [row["intensity"]["actual"] for row in rows]
    assert actual.index(None) == 12 and not any(actual[12:])  # the slot to 17:00 waits half an hour
    for path in ("/intensity/2026-08-22", "/intensity/2026-08-22T10:30:00Z", "/intensity?zone=GB",
                 "/intensity/2026-08-22T10:30Z/2026-09-22T10:30Z", "/regional/regionid/18"):
        assert fakes.json("uk_carbon_intensity", path)[0] == 400, path
    fakes.control(settings={"uk_carbon_intensity": {"regional_data": "array"}})
    path = "/regional/intensity/2026-08-22T17:00Z/fw24h/regionid/13"
    assert isinstance(fakes.json("uk_carbon_intensity", path)[1]["data"], list)


@pytest.mark.parametrize("day,rows", [("2026-03-29", 23), ("2026-10-25", 25), ("2026-05-01", 24)])
def test_a_local_day_has_as_many_hours_as_clocks_make_it(fakes, day, rows):
    fakes.control(now="2026-11-01T12:00:00Z")
    _, answer = fakes.json("energy_charts", "/co2eq?country=fr&start=%s&end=%s" % (day, day))
    assert len(answer["unix_seconds"]) == len(answer["co2eq"]) == rows
    steps = {b - a for a, b in zip(answer["unix_seconds"], answer["unix_seconds"][1:])}
    assert steps == {HOUR}


def test_the_local_days_are_those_of_the_time_zone_data():
    zoneinfo = pytest.importorskip("zoneinfo")
    from datetime import date, datetime, timedelta

    import energy_charts

    try:
        berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    except zoneinfo.ZoneInfoNotFoundError:
        pytest.skip("this system has no time zone data")
    for n in range(0, 3650):
        day = date(2020, 1, 1) + timedelta(days=n)
        expected = datetime(day.year, day.month, day.day, tzinfo=berlin).timestamp()
        assert energy_charts.local_midnight(day) == expected, day


def test_energy_charts(fakes):
    _, answer = fakes.json("energy_charts", "/co2eq?country=de")
    first = answer["co2eq"].index(None)
    assert answer["co2eq_forecast"][:first] == [None] * first
    assert None not in answer["co2eq_forecast"][first:]
    fakes.control(settings={"energy_charts": {"overlap_slots": 13, "deprecated": None}})
    _, answer = fakes.json("energy_charts", "/co2eq?country=ch")
    both = sum(None not in pair for pair in zip(answer["co2eq"], answer["co2eq_forecast"]))
    assert both == 13 and "deprecated" not in answer
    assert fakes.json("energy_charts", "/co2eq?country=DE")[0] == 422
    assert fakes.json("energy_charts", "/co2eq?country=de&start=2026-08-22T00:00:00")[0] == 422


ENTSOE = (
    "/api?securityToken=entsoe-token-0001&documentType=A75&processType=A16"
    "&in_Domain=10YFI-1--------U&periodStart=202608220000&periodEnd=202608221200"
)


def test_entsoe(fakes):
    def ask(old="", new=""):
        status, _, body = fakes.get("entsoe", ENTSOE.replace(old, new) if old else ENTSOE)
        return status, body.decode()

    status, whole = ask()
    assert status == 200 and whole.count("<Point>") == 7 * 48
    assert "outBiddingZone_Domain" in whole  # pumping is no generation
    fakes.control(settings={"entsoe": {"curve": "A03"}})
    assert ask()[1].count("<Point>") < 7 * 48
    fakes.control(settings={"entsoe": {"lag_hours": 16, "no_data_status": 400}})
    status, text = ask("periodStart=202608220000", "periodStart=202608221100")
    assert status == 400 and "No matching data found" in text and "<code>999</code>" in text
    assert ask("entsoe-token-0001", "x")[0] == 401
    assert "dependency tables" in ask("A16", "A01")[1]
    assert "exceeds allowed limit" in ask("202608220000", "202408220000")[1]
    assert "Invalid query" in ask("202608220000", "2026-08-22T00:00Z")[1]
    fakes.control(settings={"entsoe": {"limit_per_minute": 1}})
    assert [ask()[0], ask()[0]][-1] == 429


EIA = (
    "/v2/electricity/rto/fuel-type-data/data/?api_key=eia-key-0001&frequency=hourly&data[]=value"
    "&facets[respondent][]=CISO&start=2026-08-20T01&end=2026-08-20T02"
)


def test_eia(fakes):
    def rows(path=EIA):
        return fakes.json("eia", path)[1]["response"]

    answer = rows()
    assert answer["total"] == "12" and isinstance(answer["data"][0]["value"], str)
    first_hour = [r for r in answer["data"] if r["period"] == "2026-08-20T01"]
    coal = next(int(r["value"]) for r in first_hour if r["fueltype"] == "COL")
    start = parse_iso("2026-08-20T00:00:00Z")  # the period is the end of its hour
    expected = series.generation(series.lifecycle("US-CAL-CISO", start, start + HOUR))["coal"]
    assert coal == series.rounded(expected)
    assert "value" not in rows(EIA.replace("&data[]=value", ""))["data"][0]
    assert rows(EIA.replace("CISO", "NOWHERE"))["data"] == []
    fakes.control(settings={"eia": {"page": 5}})
    answer = rows()
    assert len(answer["data"]) == 5 and "5000 rows" in answer["warnings"][0]["description"]
    assert len(rows(EIA + "&offset=10")["data"]) == 2
    assert fakes.json("eia", EIA.replace("hourly", "daily"))[0] == 400
    assert fakes.json("eia", EIA.replace("eia-key-0001", "x"))[1]["error"]["code"] == "API_KEY_INVALID"
    fakes.control(settings={"eia": {"limit_per_hour": 0}})
    assert fakes.json("eia", EIA)[0] == 403


def test_the_sdk(fakes):
    def ask(path, **more):
        return fakes.get("carbon_aware_sdk", path, **more)

    assert ask("/emissions/bylocation?location=&LOCATION=eastus")[0] == 200
    status, headers, body = ask("/emissions/bylocation?location=mars")
    assert status == 400 and headers["Content-Type"].startswith("application/problem+json")
    assert json.loads(body)["detail"] == "Unknown Location: 'mars' not found"
    assert ask("/emissions/bylocation?location=eastus&toTime=2026-08-22T10:00:00Z")[0] == 400
    later = "/emissions/bylocation?location=eastus&time=2026-08-25T00:00:00Z"
    assert ask(later)[0] == 204
    assert ask("/emissions/bylocation?location=eastus&time=2026-8-22T1:00:00Z")[0] == 200
    batch = [{"location": "eastus", "requestedAt": "2026-08-20T06:05:00Z"}]
    path = "/emissions/forecasts/batch"
    assert ask(path, body=json.dumps(batch))[0] == 501
    fakes.control(settings={"carbon_aware_sdk": {"source": "watttime"}})
    assert ask(path, body=json.dumps(batch))[0] == 200
    batch[0]["requestedAt"] = "2026-08-20T6:05:00Z"
    assert ask(path, body=json.dumps(batch))[0] == 400
    fakes.control(settings={"carbon_aware_sdk": {"forecast_source": False}})
    _, _, body = ask("/emissions/forecasts/current?location=eastus")
    assert json.loads(body)["detail"] == "ForecastDataSource is not configured"
    outside = "&dataStartAt=2026-08-20T00:00:00Z"
    fakes.control(settings={"carbon_aware_sdk": {"forecast_source": True}})
    _, _, body = ask("/emissions/forecasts/current?location=eastus" + outside)
    assert "must be within time range" in json.loads(body)["errors"]["dataStartAt"][0]


# Faults.


def fault(fakes, **rule):
    fakes.control(faults=[{"times": 1, **rule}])
    return fakes.get("uk_carbon_intensity", "/intensity")


def test_rate_limits(fakes):
    status, headers, _ = fault(fakes, kind="rate_limit", retry_after_s=7)
    assert (status, headers["Retry-After"]) == (429, "7")
    _, headers, _ = fault(fakes, kind="rate_limit", retry_after_s=7, form="date")
    assert headers["Retry-After"] == "Sat, 22 Aug 2026 17:24:07 GMT"
    fakes.control(faults=[{"kind": "clock_skew", "seconds": 86400, "times": 1}])
    _, headers, _ = fault(fakes, kind="rate_limit", retry_after_s=7, form="date")
    assert headers["Date"] == "Sun, 23 Aug 2026 17:24:00 GMT"
    assert headers["Retry-After"] == "Sun, 23 Aug 2026 17:24:07 GMT"
    _, headers, _ = fault(fakes, kind="rate_limit", reset_s=30)
    assert (headers["X-RateLimit-Remaining"], headers["X-RateLimit-Reset"]) == ("0", "30")
    assert headers["Retry-After"] is None


def test_bodies(fakes):
    _, _, plain = fakes.get("uk_carbon_intensity", "/intensity")
    _, headers, body = fault(fakes, kind="gzip")
    assert headers["Content-Encoding"] == "gzip" and gzip.decompress(body) == plain
    _, headers, body = fault(fakes, kind="chunked")
    assert headers["Transfer-Encoding"] == "chunked" and body == plain
    assert fault(fakes, kind="bom")[2] == b"\xef\xbb\xbf" + plain
    assert fault(fakes, kind="truncated_json")[2] == plain[: len(plain) * 2 // 3]
    assert len(fault(fakes, kind="huge", bytes=3000000)[2]) == 3000000
    assert fault(fakes, kind="empty")[2] == b""
    assert b"<html>" in fault(fakes, kind="html")[2]
    assert fault(fakes, kind="error_in_200")[0] == 200
    assert fault(fakes, kind="status", status=502, body="x")[::2] == (502, b"x")
    with pytest.raises(http.client.IncompleteRead):
        fault(fakes, kind="cut_off")
    with pytest.raises(OSError):
        fault(fakes, kind="hang_up")
    assert fakes.get("uk_carbon_intensity", "/intensity")[2] == plain


def test_a_redirect_to_another_host(fakes):
    status, headers, _ = fault(fakes, kind="redirect", to_provider="eia")
    assert status == 302
    assert headers["Location"] == "http://127.0.0.1:%d/intensity" % fakes.ports["eia"]


def test_rules_choose_their_requests(fakes):
    rule = {"kind": "status", "status": 500, "provider": "electricity_maps", "times": 2, "skip": 1}
    fakes.control(faults=[{**rule, "path": "/v4/*/latest", "query": {"zone": "FR"}}])
    french = [em(fakes, CI + "latest?zone=FR")[0] for _ in range(4)]
    assert french == [200, 500, 500, 200]
    fakes.control(faults=[{**rule, "path": "/v4/*/latest", "query": {"zone": "FR"}}])
    assert em(fakes, CI + "latest?zone=DE")[0] == 200
    assert em(fakes, CI + "history?zone=FR")[0] == 200
