#include "live_grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <utility>

#include "base/embedded/embedded.h"
#include "base/near_names.h"
#include "environment.h"
#include "forecast/kept_forecast_source.h"
#include "grid/providers/registry.h"
#include "grid/sources/yearly_source.h"
#include "provider_settings.h"
#include "settings.h"
#include "zone_tables.h"

namespace lowtide::cli {
namespace {

constexpr std::string_view kForecast = "forecast";
constexpr std::string_view kYearly = "yearly";
// Of one question with all its attempts: somebody waits for it, or the next source could answer.
constexpr Seconds kPatience{20};

// More than a forecast learns from (forecast/learned_forecast.h); forecasts for a look back at
// them.
constexpr auto kKeptHistory = std::chrono::days(5 * 366);
constexpr auto kKeptForecasts = std::chrono::days(60);

// What another server than the provider's own says is kept apart.
std::string KeptAs(const ProviderSettingsBook& book, const std::string& provider) {
  const auto shown = book.Shown();
  const auto endpoint = std::ranges::find_if(
      shown, [&](const auto& row) { return row.provider == provider && row.key == "endpoint"; });
  const ProviderInfo* info = FindProvider(provider);
  if (endpoint == shown.end() || info == nullptr || endpoint->value == info->endpoint) {
    return provider;
  }
  return provider + "@" + endpoint->value;
}

// For pauses between attempts, so that many who were refused together do not come back together.
std::function<double()> Random() {
  struct Shared {
    std::mutex mutex;
    std::mt19937_64 engine{std::random_device{}()};
  };
  const auto shared = std::make_shared<Shared>();
  return [shared] {
    const std::scoped_lock lock(shared->mutex);
    return std::uniform_real_distribution<double>(0, 1)(shared->engine);
  };
}

Status CheckNames(const std::vector<std::string>& names) {
  for (auto it = names.begin(); it != names.end(); ++it) {
    if (auto status = CheckSourceName(*it); !status) {
      return Annotate(std::move(status).error(), "--sources");
    }
    if (std::find(names.begin(), it, *it) != it) {
      return Fail(Code::kInvalidArgument, fmt::format("--sources: '{}' is given twice", *it));
    }
  }
  return {};
}

Result<std::unique_ptr<Source>> YearlyAverageOf(const Zone& zone) {
  LOWTIDE_TRY(const auto countries, EmbeddedFile("grid/countries.csv"));
  LOWTIDE_TRY(const auto averages, EmbeddedFile("grid/yearly_intensity.csv"));
  LOWTIDE_TRY(const YearlyTable table, YearlyTable::Parse(countries, averages));
  return table.MakeSource(zone);
}

// The zone that a provider means by a name.
const ZoneInfo* ZoneNamed(const ZoneTable& zones, std::string_view provider,
                          const std::string& name) {
  const auto it = std::ranges::find_if(zones.Zones(), [&](const ZoneInfo& zone) {
    const auto found = zone.provider_names.find(provider);
    return found != zone.provider_names.end() && found->second == name;
  });
  return it != zones.Zones().end() ? &*it : zones.Find(name);
}

}  // namespace

Status CheckSourceName(const std::string& name) {
  std::vector<std::string> allowed;
  for (const ProviderInfo& info : lowtide::Providers()) allowed.emplace_back(info.name);
  allowed.emplace_back(kForecast);
  allowed.emplace_back(kYearly);
  if (std::ranges::find(allowed, name) != allowed.end()) return {};
  const std::string near = DidYouMean(name, allowed);
  return Fail(Code::kInvalidArgument,
              fmt::format("no source '{}'; {}{}there are {}", name.substr(0, 60), near,
                          near.empty() ? "" : " ", fmt::join(allowed, ", ")));
}

LiveGrid::~LiveGrid() { stop_.request_stop(); }

Status LiveGrid::ResolveZone(const std::string& text,
                             const std::vector<std::unique_ptr<Provider>>& providers) {
  const auto at = ParseCoordinates(text);
  if (!at) {
    auto zone = zones_.Resolve(text);
    if (!zone) return Annotate(std::move(zone).error(), "--zone");
    zone_ = *std::move(zone);
    return {};
  }
  std::string reasons;
  for (const auto& provider : providers) {
    const auto name = provider->NameAt(*at, clock_.Now());
    if (!name) {
      reasons += (reasons.empty() ? "" : "; ") + name.error().message;
      continue;
    }
    const ZoneInfo* zone = ZoneNamed(zones_, provider->Name(), *name);
    if (zone == nullptr) {
      reasons += fmt::format("{}{} calls it {}, which is no zone that lowtide knows",
                             reasons.empty() ? "" : "; ", provider->Name(), *name);
      continue;
    }
    zone_ = zone->zone;
    remarks_.push_back(fmt::format("{} lies in {}, says {}", text, zone_.key, provider->Name()));
    return {};
  }
  return Fail(Code::kNotFound,
              fmt::format("--zone {}: no source says which zone that is{}{}; 'lowtide zones --near "
                          "{}' lists those near by",
                          text, reasons.empty() ? "" : ": ", reasons, text));
}

Result<std::vector<std::unique_ptr<Provider>>> LiveGrid::MakeProviders(
    const LiveGridRequest& request, const ProviderSettingsBook& book) {
  for (std::string& warning : book.Warnings()) remarks_.push_back(std::move(warning));
  std::vector<std::unique_ptr<Provider>> out;
  for (const std::string& name : request.sources) {
    const ProviderInfo* info = FindProvider(name);
    if (info == nullptr) continue;
    if (const auto missing = book.WhatIsMissing(name)) {
      remarks_.push_back(fmt::format("{} is passed over: it {} ({})", name, *missing, info->page));
      continue;
    }
    LOWTIDE_TRY(ProviderSettings settings, book.For(name));
    const ProviderParts parts{*client_, zones_, factors_};
    auto provider = MakeProvider(name, settings, parts);
    if (request.signal && provider && (*provider)->Abilities().signal != *request.signal) {
      // Where it has the other signal too, that one is meant.
      settings.signal = request.signal;
      if (auto other = MakeProvider(name, settings, parts)) provider = std::move(other);
    }
    if (!provider) return std::unexpected(std::move(provider).error());
    out.push_back(*std::move(provider));
  }
  return out;
}

Status LiveGrid::MakeChain(const LiveGridRequest& request, const ProviderSettingsBook& book,
                           std::vector<std::unique_ptr<Provider>> providers) {
  ChainOptions options;
  options.signal = request.signal;
  if (!options.signal && !providers.empty()) {
    options.signal = providers.front()->Abilities().signal;
  }
  std::vector<ChainLink> links;
  for (auto& provider : providers) {
    std::string name(provider->Name());
    auto source = std::make_unique<ProviderSource>(std::move(provider), zone_, cache_.get(), clock_,
                                                   Freshness{}, KeptAs(book, name));
    if (!options.signal || source->Origin().signal == *options.signal)
      providers_.push_back(source.get());
    links.push_back({std::move(name), std::move(source)});
  }
  for (const std::string& name : request.sources) {
    if (name == kForecast && !providers_.empty()) {
      links.push_back({name,
                       std::make_unique<KeptForecastSource>(
                           std::vector<const Source*>(providers_.begin(), providers_.end())),
                       true});
    } else if (name == kForecast) {
      remarks_.emplace_back("forecast is passed over: there is no source that it could learn from");
    } else if (name == kYearly) {
      auto yearly = YearlyAverageOf(zone_);
      if (yearly) {
        links.push_back({name, *std::move(yearly), true});
      } else {
        remarks_.push_back("yearly is passed over: " + yearly.error().message);
      }
    }
  }
  if (links.empty()) {
    return Fail(Code::kPermissionDenied,
                fmt::format("--sources {}: none of them can be asked: {}",
                            fmt::join(request.sources, ","), fmt::join(remarks_, "; ")));
  }
  options.notices = std::exchange(remarks_, {});
  auto chain = SourceChain::Make(std::move(links), std::move(options));
  if (!chain) return Annotate(std::move(chain).error(), "--sources");
  chain_ = *std::move(chain);
  return {};
}

Result<std::unique_ptr<LiveGrid>> LiveGrid::Open(const LiveGridRequest& request, Clock& clock) {
  LOWTIDE_TRY_STATUS(CheckNames(request.sources));
  if (request.zone.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--sources {}: of which zone? Give --zone: a key such as DE, a cloud "
                            "region such as gcp:europe-north1, or LATITUDE,LONGITUDE",
                            fmt::join(request.sources, ",")));
  }
  std::unique_ptr<LiveGrid> grid(new LiveGrid(clock));
  LOWTIDE_TRY(grid->zones_, EmbeddedZoneTable());
  LOWTIDE_TRY(const auto factors, EmbeddedFile("grid/emission_factors.csv"));
  LOWTIDE_TRY(grid->factors_, EmissionFactors::Parse(factors));
  auto cache = IntensityCache::Open(StorePath());
  if (cache) {
    grid->cache_ = *std::move(cache);
    const TimePoint now = clock.Now();
    // What could not be pruned is pruned another time.
    [[maybe_unused]] const auto pruned =
        grid->cache_->Prune(now - kKeptHistory, now - kKeptForecasts);
  } else {
    grid->remarks_.push_back("intensities are not kept: " + cache.error().message);
  }
  CurlOptions curl;
  curl.timeout = kPatience / 2;
  curl.connect_timeout = kPatience / 4;
  curl.user_agent = "lowtide/" LOWTIDE_VERSION;
  curl.stop = grid->stop_.get_token();
  grid->transport_ = std::make_unique<CurlTransport>(clock, std::move(curl));
  ClientOptions client;
  client.deadline = kPatience;
  client.stop = grid->stop_.get_token();
  grid->client_ = std::make_unique<HttpClient>(*grid->transport_, clock, Random(), client);

  LOWTIDE_TRY(const ProviderSettingsBook book, LoadProviderSettings(DefaultSettingsSources()));
  LOWTIDE_TRY(auto providers, grid->MakeProviders(request, book));
  LOWTIDE_TRY_STATUS(grid->ResolveZone(request.zone, providers));
  LOWTIDE_TRY_STATUS(grid->MakeChain(request, book, std::move(providers)));
  return grid;
}

const Source& LiveGrid::Watch(const BackgroundOptions& options, Seconds patience) {
  background_ = std::make_unique<BackgroundSource>(*chain_, clock_, options);
  background_->WaitForFirst(patience);
  return *background_;
}

}  // namespace lowtide::cli
