"""Every member of a recorded answer is in the fake's answer, with the same type."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

# Objects whose keys are data: zones, regions, fuels of a market.
OPEN = {"powerImportBreakdown", "powerExportBreakdown", "import", "export"}


def kind(value):
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    return {str: "text", dict: "object", list: "array", type(None): "null"}[type(value)]


def missing(recorded, fake, path=""):
    """What of `recorded` is not in `fake`, as texts."""
    if recorded is None or fake is None:
        return []
    if kind(recorded) != kind(fake):
        return ["%s: %s, not %s" % (path, kind(recorded), kind(fake))]
    out = []
    if isinstance(recorded, dict):
        for key, value in recorded.items():
            if key not in fake:
                out.append("%s.%s" % (path, key))
            else:
                inner_open = key in OPEN
                other = fake[key]
                if inner_open and value and other:
                    value, other = list(value.values())[:1], list(other.values())[:1]
                out += missing(value, other, "%s.%s" % (path, key))
    elif isinstance(recorded, list) and recorded:
        if not fake:
            return ["%s: nothing in it" % path]
        for i, value in enumerate(recorded):
            out += missing(value, fake[min(i, len(fake) - 1)], "%s[%d]" % (path, i))
    return out


EM = "electricitymaps/"
DE = "?zone=DK-DK2"
JSON = [
    (EM + "v4/carbon-intensity_latest_DK-DK2.json", "/v4/carbon-intensity/latest" + DE),
    (EM + "v4/carbon-intensity_history_DK-DK2.json", "/v4/carbon-intensity/history" + DE),
    (EM + "v4/carbon-intensity_forecast_DK-DK2.json", "/v4/carbon-intensity/forecast" + DE),
    (EM + "v4/carbon-intensity-level_latest_DK-DK2.json", "/v4/carbon-intensity-level/latest" + DE),
    (EM + "v4/electricity-flows_latest_DK-DK2.json", "/v4/electricity-flows/latest" + DE),
    (
        EM + "v4/electricity-mix_latest_flow-traced_DK-DK2.json",
        "/v4/electricity-mix/latest" + DE + "&breakdownType=flow-traced",
    ),
    (
        EM + "v4/electricity-source_wind_latest_DK-DK2.json",
        "/v4/electricity-source/wind/latest" + DE,
    ),
    (EM + "v4/net-load_forecast_DK-DK2_trimmed3.json", "/v4/net-load/forecast" + DE),
    (EM + "v4/power-breakdown_latest_DK-DK2.json", "/v4/power-breakdown/latest" + DE),
    (EM + "v4/price-day-ahead_combined_DK-DK2.json", "/v4/price-day-ahead/combined" + DE),
    (EM + "v4/renewable-energy_latest_DK-DK2.json", "/v4/renewable-energy/latest" + DE),
    (EM + "v3/latest_carbon_intensity.json", "/v3/carbon-intensity/latest?zone=US-CAR-DUK"),
    (EM + "v3/carbon_intensity_history.json", "/v3/carbon-intensity/history?zone=DE"),
    (EM + "v3/latest_power_breakdown.json", "/v3/power-breakdown/latest?zone=DE"),
    (EM + "v3/power_breakdown_history.json", "/v3/power-breakdown/history?zone=DE"),
    (EM + "errors/400_bad_breakdown.json", "/v4/electricity-mix/latest?breakdownType=x"),
    (EM + "errors/404_no_route.json", "/v5/nothing"),
    ("watttime/grid_region_response.json", "/v3/region-from-loc?latitude=39.7&longitude=-105"
     "&signal_type=co2_moer"),
    ("watttime/coordinates_not_found_response.json", "/v3/region-from-loc?latitude=0&longitude=0"
     "&signal_type=co2_moer"),
    ("watttime/realtime_emissions_response.json", "/v3/signal-index?region=PSCO"),
    ("watttime/openapi_V3SingleForecastResponse.json", "/v3/forecast?region=CAISO_NORTH"
     "&signal_type=co2_moer"),
    ("watttime/historical_emissions_response.json", "/v3/historical?region=CAISO_NORTH"
     "&signal_type=co2_moer&start=2026-08-22T00:00:00Z&end=2026-08-22T01:00:00Z"
     "&include_imputed_marker=true"),
    ("watttime/forecasted_emissions_response.json", "/v3/forecast/historical?region=CAISO_NORTH"
     "&signal_type=co2_moer&start=2026-08-22T00:00:00Z&end=2026-08-22T01:00:00Z"),
    ("watttime/openapi_PasswordResponse.json", "/password?username=ada"),
    ("watttime/password_reset_fail_response.json", "/password?username=nobody"),
    ("uk/docs_intensity.json", "/intensity/2026-08-22T12:00Z"),
    ("uk/docs_intensity_date_date.json", "/intensity/date/2026-08-22"),
    ("uk/docs_intensity_factors.json", "/intensity/factors"),
    ("uk/docs_intensity_stats_from_to.json", "/intensity/stats/2026-08-22T12:00Z/2026-08-22T13:00Z"),
    ("uk/docs_intensity_stats_from_to_block.json",
     "/intensity/stats/2026-08-22T12:00Z/2026-08-22T14:00Z/1"),
    ("uk/docs_generation_from_to.json", "/generation/2026-08-22T12:00Z/2026-08-22T13:00Z"),
    ("uk/docs_generation.json", "/generation/2026-08-22T12:00Z/pt24h"),
    ("uk/docs_regional_comma-fixed.json", "/regional"),
    ("uk/docs_regional_england_comma-fixed.json", "/regional/england"),
    ("uk/docs_regional_regionid_regionid_comma-fixed.json", "/regional/regionid/3"),
    ("uk/docs_regional_postcode_postcode_comma-fixed.json", "/regional/postcode/RG10"),
    ("uk/docs_regional_intensity_from_fw24h_comma-fixed.json",
     "/regional/intensity/2026-08-22T12:00Z/fw24h"),
    ("uk/intensity_fw48h_national.json", "/intensity/2026-08-22T17:00Z/fw48h"),
    ("uk/regional_fw48h_regionid13_trimmed12.json",
     "/regional/intensity/2026-08-22T17:00Z/fw48h/regionid/13"),
    ("uk/error_400_shape.json", "/intensity/2026-08-22"),
    ("uk/error_500_live.json", "/nothing"),
    ("energy-charts/co2eq_de.json", "/co2eq?country=de"),
    ("energy-charts/co2eq_at.json", "/co2eq?country=at"),
    ("energy-charts/co2eq_fr.json", "/co2eq?country=fr"),
    ("energy-charts/co2eq_ch.json", "/co2eq?country=ch"),
    ("eia/errors_403_missing.json", "/v2/electricity/rto/fuel-type-data/data/"),
    ("eia/errors_400_frequency.json",
     "/v2/electricity/rto/fuel-type-data/data/?api_key=eia-key-0001&frequency=millenially"),
    ("eia/errors_404.json", "/v2/nothing?api_key=eia-key-0001"),
    ("carbon-aware-sdk/webapi_emissions_bylocation.json", "/emissions/bylocation?location=eastus"),
    ("carbon-aware-sdk/webapi_average.json", "/emissions/average-carbon-intensity?location=eastus"
     "&startTime=2026-08-22T10:00:00Z&endTime=2026-08-22T12:00:00Z"),
    ("carbon-aware-sdk/webapi_forecasts_current.json",
     "/emissions/forecasts/current?location=northeurope&windowSize=10"),
    ("carbon-aware-sdk/webapi_locations_excerpt.json", "/locations"),
    ("carbon-aware-sdk/webapi_error_400_shape_from_filter.json", "/emissions/bylocation"),
]
PROVIDER = {
    "electricitymaps": "electricity_maps",
    "watttime": "watttime",
    "uk": "uk_carbon_intensity",
    "energy-charts": "energy_charts",
    "entsoe": "entsoe",
    "eia": "eia",
    "carbon-aware-sdk": "carbon_aware_sdk",
}


@pytest.mark.parametrize("name,path", JSON, ids=[name for name, _ in JSON])
def test_json(fakes, recordings, name, path):
    recorded = json.loads((recordings / name).read_bytes())
    warning = {"type": "EXAMPLE_WARNING", "message": "This is just an example"}
    fakes.control(settings={"watttime": {"warnings": [warning]}})
    _, answer = fakes.json(PROVIDER[name.partition("/")[0]], path)
    assert missing(recorded, answer) == []


def test_a_forecast_has_as_many_rows_as_the_recorded_one(fakes, recordings):
    recorded = json.loads((recordings / EM / "v4/carbon-intensity_forecast_DK-DK2.json").read_bytes())
    _, answer = fakes.json("electricity_maps", "/v4/carbon-intensity/forecast" + DE)
    assert len(answer["forecast"]) == len(recorded["forecast"]) == 25
    recorded = json.loads((recordings / EM / "v4/carbon-intensity_history_DK-DK2.json").read_bytes())
    _, answer = fakes.json("electricity_maps", "/v4/carbon-intensity/history" + DE)
    assert [r["isEstimated"] for r in answer["history"]] == [
        r["isEstimated"] for r in recorded["history"]
    ]
    recorded = json.loads((recordings / "uk/intensity_fw48h_national.json").read_bytes())
    _, answer = fakes.json("uk_carbon_intensity", "/intensity/2026-08-22T17:00Z/fw48h")
    assert len(answer["data"]) == len(recorded["data"]) == 96
    recorded = json.loads((recordings / "watttime/openapi_V3SingleForecastResponse.json").read_bytes())
    _, answer = fakes.json("watttime", "/v3/forecast?region=CAISO_NORTH&signal_type=co2_moer")
    assert len(answer["data"]) == len(recorded["data"]) == 288


def test_zones(fakes, recordings):
    recorded = json.loads((recordings / EM / "v4/zones_authenticated_trimmed.json").read_bytes())
    _, answer = fakes.json("electricity_maps", "/v4/zones")
    for value in recorded.values():
        assert missing(value, answer["DK-DK2"]) == []
    recorded = json.loads((recordings / EM / "v3/zones.json").read_bytes())
    status, _, body = fakes.get("electricity_maps", "/v3/zones", {"auth-token": "em-full"})
    assert status == 200
    assert missing(recorded["DE"], json.loads(body)["DE"]) == []


def test_refusals(fakes, recordings):
    def recorded(name):
        return json.loads((recordings / name).read_bytes())

    path = "/v4/carbon-intensity/latest?zone=PT"
    _, answer = fakes.json("electricity_maps", path, {"auth-token": "x"})
    assert answer == recorded(EM + "errors/401_invalid_token.json")
    past = "/v3/power-breakdown/past?zone=PT&datetime=2026-08-20T00:00:00Z"
    _, answer = fakes.json("electricity_maps", past, {"auth-token": "em-free"})
    assert answer == recorded(EM + "errors/401_not_in_plan.json")
    fakes.control(faults=[{"kind": "not_in_plan", "path": "/v3/*"}])
    _, answer = fakes.json("watttime", "/v3/forecast?region=PSCO&signal_type=co2_moer")
    assert answer == recorded("watttime/invalid_scope_response.json")
    fakes.control(clear_faults=True, faults=[{"kind": "html_403", "path": "/v3/*"}])
    _, _, body = fakes.get("watttime", "/v3/forecast?region=PSCO&signal_type=co2_moer")
    assert b"<title>403 Forbidden</title>" in body
    assert "<title>403 Forbidden</title>" in (
        recordings / "watttime/403_forbidden_response.html"
    ).read_text()
    fakes.control(clear_faults=True, faults=[{"kind": "no_data"}])
    _, answer = fakes.json("uk_carbon_intensity", "/intensity")
    assert answer == recorded("uk/nodata_national.json")
    _, answer = fakes.json("uk_carbon_intensity", "/regional/regionid/13")
    assert answer == recorded("uk/nodata_regional.json")


EIA_FUELS = (
    "/v2/electricity/rto/fuel-type-data/data/?api_key=eia-key-0001&frequency=hourly&data[]=value"
    "&facets[respondent][]=BPAT&start=2026-08-20T01&end=2026-08-20T04"
)


@pytest.mark.parametrize(
    "name,route",
    [
        ("US-NW-PGE-with-nulls.json", "fuel-type-data"),
        ("US_NW_BPAT-wind.json", "fuel-type-data"),
        ("US_NW_BPAT-consumption.json", "region-data"),
    ],
)
def test_eia(fakes, recordings, name, route):
    fakes.control(settings={"eia": {"values": "number", "total": "number"}})
    recorded = json.loads((recordings / "eia" / name).read_bytes())
    _, answer = fakes.json("eia", EIA_FUELS.replace("fuel-type-data", route))
    assert missing(recorded, answer) == []


def elements(text):
    """Paths of elements, and of their attributes, without name spaces' prefixes."""
    out = set()

    def walk(element, path):
        path = "%s/%s" % (path, element.tag)
        out.add(path)
        out.update("%s@%s" % (path, name) for name in element.attrib)
        for child in element:
            walk(child, path)

    walk(ElementTree.fromstring(text), "")
    return out


ENTSOE = "/api?securityToken=entsoe-token-0001&periodStart=202608220000&periodEnd=202608221200"


@pytest.mark.parametrize(
    "name,query",
    [
        ("NO-NO5_production-negatives.xml", "documentType=A75&processType=A16&in_Domain=10Y1001A1001A48H"),
        (
            "FI_production_A03_trimmed_B04_B06_B15.xml",
            "documentType=A75&processType=A16&in_Domain=10YFI-1--------U",
        ),
        ("DK-DK1_consumption.xml", "documentType=A65&processType=A16&outBiddingZone_Domain=10YDK-1--------W"),
        ("acknowledgement_999_nodata.xml", "documentType=A75&processType=A16&in_Domain=10YBE----------X"),
    ],
)
def test_entsoe(fakes, recordings, name, query):
    recorded = elements((recordings / "entsoe" / name).read_bytes())
    status, headers, body = fakes.get("entsoe", ENTSOE + "&" + query)
    assert status == 200 and headers["Content-Type"].startswith("text/xml")
    assert recorded - elements(body) == set()
