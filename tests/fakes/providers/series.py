"""The numbers that the fake providers serve: a deterministic function of zone and time.

provider_servers.h computes the same in C++, so that tests know what must come out. With n the number
of the five-minute slot (Unix time / 300) and key the zone's name (FNV-1a, 32 bit, of its bytes):

    L5(key, n) = 120 + fnv1a32(key) % 200 + |n % 288 - 144| / 2 + 7 n % 13      g/kWh, lifecycle
    L(key, from, to)     the mean of L5 over the slots in [from, to)
    direct               3/4 of L
    marginal             L + 150
    estimated            L + 3 (before the proportions above)
    forecast             the value + ((5 k + 3) % 11 - 5), with k = (from - issued) / step
    generation           20000 MW in all, whose lifecycle average is L: see generation()
"""

HOUR = 3600
STEP = 300
ESTIMATE_ERROR = 3
MARGINAL_ABOVE = 150
DIRECT_SHARE = 0.75
TOTAL_MW = 20000

# Factors in g/kWh, lifecycle, of the fuels in generation(): Electricity Maps' defaults.
FACTORS = {"coal": 820, "gas": 490, "hydro": 24, "nuclear": 12, "solar": 45, "wind": 11}
_FIXED_MW = {"gas": 3000, "hydro": 2000, "nuclear": 3000, "solar": 1000}


def fnv1a32(text):
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def lifecycle(key, start, end):
    base = 120 + fnv1a32(key) % 200
    slots = range(start // STEP, end // STEP)
    return base + sum(abs(n % 288 - 144) / 2 + 7 * n % 13 for n in slots) / len(slots)


def forecast_error(start, issued, step):
    return (5 * ((start - issued) // step) + 3) % 11 - 5


def generation(intensity):
    """MW of each fuel; their average with FACTORS is `intensity`, which is 120 to 411."""
    fuels = dict(_FIXED_MW)
    rest = TOTAL_MW - sum(fuels.values())
    grams = TOTAL_MW * intensity - sum(FACTORS[fuel] * mw for fuel, mw in fuels.items())
    fuels["coal"] = (grams - FACTORS["wind"] * rest) / (FACTORS["coal"] - FACTORS["wind"])
    fuels["wind"] = rest - fuels["coal"]
    return fuels


class Slot:
    """One value of a series as an answer is going to hold it; faults change, drop and repeat them."""

    def __init__(self, start, end, value, estimated=False):
        self.start = start
        self.end = end
        self.value = value  # None: null
        self.estimated = estimated

    def copy(self):
        return Slot(self.start, self.end, self.value, self.estimated)


def floor_to(time, step):
    return time // step * step


def ceil_to(time, step):
    return -(-time // step) * step


def slots(key, start, end, step, convert=lambda x: x, estimated_from=None):
    """The slots of `step` seconds that touch [start, end); `convert` is applied to the L of each."""
    out = []
    for at in range(floor_to(start, step), ceil_to(end, step), step):
        value = lifecycle(key, at, at + step)
        estimated = estimated_from is not None and at >= estimated_from
        out.append(Slot(at, at + step, convert(value + ESTIMATE_ERROR * estimated), estimated))
    return out


def forecast(key, issued, start, end, step, convert=lambda x: x):
    """As slots(), forecast at `issued`, which is on a step."""
    out = slots(key, start, end, step, convert)
    for slot in out:
        slot.value += forecast_error(slot.start, issued, step)
    return out


def direct(x):
    return x * DIRECT_SHARE


def marginal(x):
    return x + MARGINAL_ABOVE


def rounded(value, digits=0):
    """Half away from zero, as people round and Python does not."""
    if value is None:
        return None
    scaled = abs(value) * 10**digits + 0.5 + 1e-9
    out = int(scaled) / 10**digits * (1 if value >= 0 else -1)
    return int(out) if digits == 0 else out
