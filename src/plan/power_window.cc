#include "plan/power_window.h"

namespace lowtide {
namespace {

struct Pool {
  double amount = 0;
  double time_s = 0;
  std::size_t windows = 0;

  double Rate() const { return amount / time_s; }
};

// amount / time of each window, pooled so that it never rises.
template <class Amount>
std::vector<double> FallingRates(std::span<const PowerWindow> windows, Amount amount) {
  std::vector<Pool> pools;
  for (const PowerWindow& window : windows) {
    Pool pool{amount(window), window.time.count(), 1};
    while (!pools.empty() && pools.back().Rate() < pool.Rate()) {
      pool = {pools.back().amount + pool.amount, pools.back().time_s + pool.time_s,
              pools.back().windows + pool.windows};
      pools.pop_back();
    }
    pools.push_back(pool);
  }
  std::vector<double> rates;
  for (const Pool& pool : pools) rates.insert(rates.end(), pool.windows, pool.Rate());
  return rates;
}

}  // namespace

PowerPoint PointOf(const PowerWindow& window) {
  return {window.limit, static_cast<double>(window.steps) / window.time.count(),
          window.energy / window.time};
}

std::vector<PowerPoint> MonotonePoints(std::span<const PowerWindow> windows) {
  const auto throughputs = FallingRates(
      windows, [](const PowerWindow& window) { return static_cast<double>(window.steps); });
  const auto draws =
      FallingRates(windows, [](const PowerWindow& window) { return window.energy.v; });
  std::vector<PowerPoint> points;
  points.reserve(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    points.push_back({windows[i].limit, throughputs[i], Watts(draws[i])});
  }
  return points;
}

}  // namespace lowtide
