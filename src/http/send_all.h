// Several requests at once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "http/http.h"

namespace lowtide {

// Sends all of them through `transport`, at most `max_parallel` (at least one) at the same time,
// and returns when the last has its answer; the answers are in the order of the requests. The
// calling thread sends, too.
std::vector<Result<HttpResponse>> SendAll(HttpTransport& transport,
                                          std::span<const HttpRequest> requests,
                                          std::size_t max_parallel);

}  // namespace lowtide
