"""Zones that the fakes know: Electricity Maps' key, its name, and what others call it."""

# key: (name, country, tier, latitude, longitude)
ZONES = {
    "AT": ("Austria", "AT", "TIER_A", 47.6, 14.1),
    "CH": ("Switzerland", "CH", "TIER_A", 46.8, 8.2),
    "DE": ("Germany", "DE", "TIER_A", 51.2, 10.4),
    "DK-DK1": ("West Denmark", "DK", "TIER_A", 56.1, 9.0),
    "DK-DK2": ("East Denmark", "DK", "TIER_A", 55.5, 12.0),
    "ES": ("Spain", "ES", "TIER_A", 40.0, -3.7),
    "FI": ("Finland", "FI", "TIER_A", 64.0, 26.0),
    "FR": ("France", "FR", "TIER_A", 46.6, 2.5),
    "GB": ("Great Britain", "GB", "TIER_A", 53.0, -1.5),
    "IE": ("Ireland", "IE", "TIER_A", 53.2, -8.0),
    "KE": ("Kenya", "KE", "TIER_C", 0.0, 37.9),
    "NL": ("Netherlands", "NL", "TIER_A", 52.2, 5.3),
    "NO-NO1": ("Southeast Norway", "NO", "TIER_A", 60.5, 10.8),
    "NO-NO5": ("West Norway", "NO", "TIER_A", 60.6, 6.0),
    "PL": ("Poland", "PL", "TIER_A", 52.1, 19.4),
    "PT": ("Portugal", "PT", "TIER_A", 39.6, -8.0),
    "SE-SE1": ("North Sweden", "SE", "TIER_A", 66.5, 20.0),
    "SE-SE3": ("South Central Sweden", "SE", "TIER_A", 59.3, 16.0),
    "US-CAL-CISO": ("CAISO", "US", "TIER_A", 37.5, -120.5),
    "US-CAR-DUK": ("Duke Energy Carolinas", "US", "TIER_A", 35.3, -80.9),
    "US-MIDA-PJM": ("PJM", "US", "TIER_A", 39.9, -78.0),
    "US-MIDW-MISO": ("MISO", "US", "TIER_A", 42.0, -92.0),
    "US-NE-ISNE": ("ISO New England", "US", "TIER_A", 43.5, -71.5),
    "US-NW-BPAT": ("Bonneville", "US", "TIER_A", 46.5, -120.0),
    "US-NW-PSCO": ("Public Service Co of Colorado", "US", "TIER_B", 39.6, -104.9),
    "US-TEX-ERCO": ("ERCOT", "US", "TIER_A", 31.0, -99.0),
}

# WattTime's region: (zone, its full name, data_point_period_seconds)
WATTTIME = {
    "CAISO_NORTH": ("US-CAL-CISO", "California ISO Northern", 300),
    "PSCO": ("US-NW-PSCO", "Public Service Co of Colorado", 300),
    "PJM_DC": ("US-MIDA-PJM", "PJM DC", 300),
    "ISONE_WCMA": ("US-NE-ISNE", "ISONE Western/Central Massachusetts", 300),
    "ERCOT_NORTHCENTRAL": ("US-TEX-ERCO", "ERCOT North Central", 300),
    "DE": ("DE", "Germany", 3600),
    "FR": ("FR", "France", 3600),
}

# energy-charts' country: (zone, seconds of a slot)
ENERGY_CHARTS = {
    "de": ("DE", 900),
    "at": ("AT", 900),
    "fr": ("FR", 3600),
    "ch": ("CH", 3600),
}

# ENTSO-E's area: (zone, resolution in seconds)
ENTSOE = {
    "10Y1001A1001A83F": ("DE", 900),
    "10Y1001A1001A82H": ("DE", 900),
    "10YAT-APG------L": ("AT", 900),
    "10YCH-SWISSGRIDZ": ("CH", 3600),
    "10YDK-1--------W": ("DK-DK1", 3600),
    "10YDK-2--------M": ("DK-DK2", 3600),
    "10YES-REE------0": ("ES", 900),
    "10YFI-1--------U": ("FI", 900),
    "10YFR-RTE------C": ("FR", 3600),
    "10YNL----------L": ("NL", 900),
    "10YNO-1--------2": ("NO-NO1", 3600),
    "10Y1001A1001A48H": ("NO-NO5", 3600),
    "10YPL-AREA-----S": ("PL", 900),
    "10YPT-REN------W": ("PT", 3600),
    "10Y1001A1001A44P": ("SE-SE1", 3600),
    "10Y1001A1001A46L": ("SE-SE3", 3600),
}

# EIA's respondent: (zone, its name)
EIA = {
    "CISO": ("US-CAL-CISO", "California Independent System Operator"),
    "PJM": ("US-MIDA-PJM", "PJM Interconnection, LLC"),
    "ERCO": ("US-TEX-ERCO", "Electric Reliability Council of Texas, Inc."),
    "ISNE": ("US-NE-ISNE", "ISO New England"),
    "MISO": ("US-MIDW-MISO", "Midcontinent Independent System Operator, Inc."),
    "BPAT": ("US-NW-BPAT", "Bonneville Power Administration"),
    "DUK": ("US-CAR-DUK", "Duke Energy Carolinas"),
    "PSCO": ("US-NW-PSCO", "Public Service Company of Colorado"),
}

# A cloud's region: (zone, latitude, longitude)
CLOUD = {
    ("azure", "westus"): ("US-CAL-CISO", 37.783, -122.417),
    ("azure", "eastus"): ("US-MIDA-PJM", 37.3719, -79.8164),
    ("azure", "northeurope"): ("IE", 53.3478, -6.2597),
    ("azure", "germanywestcentral"): ("DE", 50.1109, 8.6821),
    ("gcp", "europe-west3"): ("DE", 50.1109, 8.6821),
    ("gcp", "europe-north1"): ("FI", 60.5693, 27.1878),
    ("aws", "eu-west-1"): ("IE", 53.0, -8.0),
    ("aws", "us-west-1"): ("US-CAL-CISO", 37.35, -121.96),
}


def nearest(latitude, longitude, zones=ZONES, within_degrees=8):
    """The key of `zones` whose centre is nearest, or None."""
    best, best_distance = None, within_degrees**2
    for key, (_, _, _, zone_latitude, zone_longitude) in zones.items():
        distance = (latitude - zone_latitude) ** 2 + (longitude - zone_longitude) ** 2
        if distance <= best_distance:
            best, best_distance = key, distance
    return best
