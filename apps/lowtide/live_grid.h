// A zone's carbon intensity from the sources that the settings list, with everything they need: the
// network, what is kept, keys.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "grid/background_source.h"
#include "grid/provider.h"
#include "grid/provider_source.h"
#include "grid/providers/generation_mix.h"
#include "grid/source_chain.h"
#include "grid/zone_table.h"
#include "http/client.h"
#include "http/curl_transport.h"
#include "provider_settings.h"
#include "store/intensity_cache.h"

namespace lowtide::cli {

// kInvalidArgument unless --sources may name it; the message lists what may be named.
Status CheckSourceName(const std::string& name);

struct LiveGridRequest {
  // In the order in which they are asked: names of providers (grid/providers/registry.h),
  // "forecast" (of what the others have said before), "yearly" (the country's average).
  std::vector<std::string> sources;
  std::optional<Signal> signal;  // nothing: that of the first source
  std::string zone;  // a key, a cloud region ("gcp:europe-north1"), or LATITUDE,LONGITUDE
};

class LiveGrid {
 public:
  // Errors name the option: kInvalidArgument for a source that there is not, one given twice, a
  // zone of a wrong form, settings that cannot work; kNotFound for a zone that there is not;
  // kPermissionDenied when no source can be asked as things are (keys are missing). A source that
  // cannot be asked while others can is a notice of the chain. Coordinates are looked up over the
  // network; everything else asks nobody.
  static Result<std::unique_ptr<LiveGrid>> Open(const LiveGridRequest& request, Clock& clock);
  // Ends what is under way.
  ~LiveGrid();
  LiveGrid(const LiveGrid&) = delete;
  LiveGrid& operator=(const LiveGrid&) = delete;

  const Zone& ZoneUsed() const { return zone_; }
  const ZoneInfo* Info() const { return zones_.Find(zone_.key); }  // nullptr: not in the table

  // Asks when it is asked, and may wait for the network.
  const Source& Chain() const { return *chain_; }

  // The sources of the chain that give data of its signal, in its order.
  const std::vector<const ProviderSource*>& Providers() const { return providers_; }

  // From now on asks on a thread of its own; what it gives never waits. Waits for the first answer,
  // at most `patience`. Once.
  const Source& Watch(const BackgroundOptions& options, Seconds patience);

 private:
  explicit LiveGrid(Clock& clock) : clock_(clock) {}
  // Those of the request that can be asked.
  Result<std::vector<std::unique_ptr<Provider>>> MakeProviders(const LiveGridRequest& request,
                                                               const ProviderSettingsBook& book);
  Status ResolveZone(const std::string& text,
                     const std::vector<std::unique_ptr<Provider>>& providers);
  Status MakeChain(const LiveGridRequest& request, const ProviderSettingsBook& book,
                   std::vector<std::unique_ptr<Provider>> providers);

  Clock& clock_;
  std::stop_source stop_;
  Zone zone_;
  ZoneTable zones_;
  EmissionFactors factors_;
  std::unique_ptr<IntensityCache> cache_;  // null: nothing is kept
  std::vector<std::string> remarks_;       // of the start
  std::unique_ptr<CurlTransport> transport_;
  std::unique_ptr<HttpClient> client_;
  std::unique_ptr<Source> chain_;
  std::vector<const ProviderSource*> providers_;  // of the chain
  std::unique_ptr<BackgroundSource> background_;
};

}  // namespace lowtide::cli
