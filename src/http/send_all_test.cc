#include "http/send_all.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace lowtide {
namespace {

// Answers with the address, after a while; knows how many it served at the same time.
class CountingTransport final : public HttpTransport {
 public:
  Result<HttpResponse> Send(const HttpRequest& request) override {
    const int here = ++now_;
    for (int seen = most; here > seen && !most.compare_exchange_weak(seen, here);) {
    }
    for (int i = 0; i < 200; ++i) std::this_thread::yield();
    --now_;
    if (request.url == "bad") return Fail(Code::kUnavailable, "bad");
    HttpResponse response;
    response.body = request.url;
    return response;
  }
  std::atomic<int> most{0};

 private:
  std::atomic<int> now_{0};
};

std::vector<HttpRequest> Requests(std::size_t count) {
  std::vector<HttpRequest> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i].url = std::to_string(i);
  return out;
}

TEST(SendAll, AnswersInOrderAndNeverMoreThanAllowedAtOnce) {
  for (const std::size_t parallel : {0U, 1U, 3U, 100U}) {
    CountingTransport transport;
    auto requests = Requests(40);
    requests[7].url = "bad";
    const auto answers = SendAll(transport, requests, parallel);
    ASSERT_EQ(answers.size(), 40U);
    for (std::size_t i = 0; i < 40; ++i) {
      if (i == 7) {
        EXPECT_EQ(answers[i].error().code, Code::kUnavailable);
      } else {
        EXPECT_EQ(answers[i]->body, std::to_string(i));
      }
    }
    EXPECT_LE(transport.most, static_cast<int>(std::max<std::size_t>(parallel, 1)));
  }
}

TEST(SendAll, OfNothingIsNothing) {
  CountingTransport transport;
  EXPECT_TRUE(SendAll(transport, {}, 4).empty());
  EXPECT_EQ(transport.most, 0);
}

}  // namespace
}  // namespace lowtide
