#include "http/send_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "base/log.h"
#include "base/thread_name.h"

namespace lowtide {

std::vector<Result<HttpResponse>> SendAll(HttpTransport& transport,
                                          std::span<const HttpRequest> requests,
                                          std::size_t max_parallel) {
  std::vector<Result<HttpResponse>> answers(requests.size(), Fail(Code::kInternal, "not sent"));
  std::atomic<std::size_t> next{0};
  const auto send = [&] {
    for (std::size_t i = next++; i < requests.size(); i = next++) {
      answers[i] = transport.Send(requests[i]);
    }
  };
  std::vector<std::jthread> helpers;
  try {
    while (helpers.size() + 1 < std::min(max_parallel, requests.size())) {
      helpers.emplace_back([&send] {
        NameThisThread("http");
        send();
      });
    }
  } catch (const std::system_error& error) {
    // Those there are send all.
    LogDebug(
        fmt::format("{} threads send requests, no more: {}", helpers.size() + 1, error.what()));
  }
  send();
  helpers.clear();
  return answers;
}

}  // namespace lowtide
