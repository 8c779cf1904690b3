#include "grid/provider.h"

#include <fmt/format.h>

namespace lowtide {

Result<std::vector<ProviderAnswer>> Provider::PastForecasts(const Zone& /*zone*/,
                                                            TimePoint /*from*/, TimePoint /*to*/,
                                                            TimePoint /*now*/) {
  return Fail(Code::kUnimplemented, fmt::format("{} keeps no past forecasts", Name()));
}

Result<std::string> Provider::NameAt(const Coordinates& /*at*/, TimePoint /*now*/) {
  return Fail(Code::kUnimplemented, fmt::format("{} resolves no coordinates", Name()));
}

}  // namespace lowtide
