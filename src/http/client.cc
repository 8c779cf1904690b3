#include "http/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "http/redact.h"
#include "http/retry.h"
#include "http/url.h"

namespace lowtide {
namespace {

constexpr int kNotModified = 304;
constexpr int kTooManyRequests = 429;

// What makes two requests the same question; with lengths, so that no value passes for another
// part.
std::string KeyOf(const HttpRequest& request) {
  std::string key = request.method + " " + request.url;
  const auto add = [&key](char kind, const std::string& name, const std::string& value) {
    key += fmt::format("\n{}{} {} {}={}", kind, name.size(), value.size(), name, value);
  };
  for (const auto& [name, value] : request.query) add('?', name, value);
  for (const HttpHeader& header : request.headers) add(':', header.name, header.value);
  return key;
}

bool MayPass(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kDeadlineExceeded;
}

}  // namespace

struct HttpClient::Flight {
  bool landed = false;
  std::optional<Result<HttpResponse>> result;
};

struct HttpClient::State {
  struct Host {
    std::int64_t sent = 0;
    int failures = 0;          // calls in a row that came to nothing
    bool being_tried = false;  // by one call, after it was left alone
    Seconds cool_down{0};
    std::optional<MonoTime> not_before;
    std::string why;
  };
  struct Kept {
    std::string key;
    HttpResponse response;
  };

  std::mutex mutex;
  std::condition_variable landed;
  std::map<std::string, Host, std::less<>> hosts;
  std::map<std::string, std::shared_ptr<Flight>> flights;
  std::list<Kept> kept;  // the latest first

  const HttpResponse* Find(const std::string& key) {
    const auto it = std::ranges::find(kept, key, &Kept::key);
    if (it == kept.end()) return nullptr;
    kept.splice(kept.begin(), kept, it);
    return &kept.front().response;
  }

  void Keep(Kept answer, std::size_t most, std::size_t most_bytes) {
    std::erase_if(kept, [&](const Kept& k) { return k.key == answer.key; });
    if (answer.response.body.size() > most_bytes) return;
    kept.push_front(std::move(answer));
    std::size_t count = 0;
    std::size_t bytes = 0;
    std::erase_if(kept, [&](const Kept& k) {
      bytes += k.response.body.size();
      return ++count > most || bytes > most_bytes;
    });
  }
};

HttpClient::HttpClient(HttpTransport& transport, Clock& clock, std::function<double()> random,
                       ClientOptions options)
    : transport_(transport),
      clock_(clock),
      random_(std::move(random)),
      options_(std::move(options)),
      state_(std::make_unique<State>()) {}

HttpClient::~HttpClient() = default;

std::int64_t HttpClient::Sent(std::string_view origin) const {
  const std::scoped_lock lock(state_->mutex);
  const auto it = state_->hosts.find(origin);
  return it == state_->hosts.end() ? 0 : it->second.sent;
}

Result<HttpResponse> HttpClient::Send(const HttpRequest& request) {
  if (request.method != "GET") return SendAlone(request);
  const std::string key = KeyOf(request);
  std::shared_ptr<Flight> flight;
  {
    std::unique_lock lock(state_->mutex);
    if (const auto it = state_->flights.find(key); it != state_->flights.end()) {
      flight = it->second;
      state_->landed.wait(lock, [&] { return flight->landed; });
      return *flight->result;
    }
    flight = std::make_shared<Flight>();
    state_->flights.emplace(key, flight);
  }
  auto result = SendAlone(request);
  {
    const std::scoped_lock lock(state_->mutex);
    flight->result = result;
    flight->landed = true;
    state_->flights.erase(key);
  }
  state_->landed.notify_all();
  return result;
}

Status HttpClient::MayAsk(const HttpRequest& request, const std::string& origin) {
  if (options_.stop.stop_requested()) {
    return Fail(Code::kUnavailable, fmt::format("{}: stopped", Describe(request)));
  }
  const std::scoped_lock lock(state_->mutex);
  State::Host& host = state_->hosts[origin];
  if (host.not_before && clock_.Monotonic() < *host.not_before) {
    const Seconds left = ToSeconds(*host.not_before - clock_.Monotonic());
    return Fail(Code::kUnavailable, fmt::format("{}: not asked for another {:.0f} s: {}",
                                                Describe(request), left.count(), host.why));
  }
  if (host.failures < options_.failures_to_cool_down) return {};
  if (host.being_tried) {
    return Fail(Code::kUnavailable, fmt::format("{}: not asked while another request tries it: {}",
                                                Describe(request), host.why));
  }
  host.being_tried = true;
  return {};
}

Seconds HttpClient::BanLeft(const std::string& origin) {
  const std::scoped_lock lock(state_->mutex);
  const State::Host& host = state_->hosts[origin];
  if (!host.not_before) return Seconds(0);
  return std::max(Seconds(0), ToSeconds(*host.not_before - clock_.Monotonic()));
}

bool HttpClient::Wait(Seconds pause, MonoTime until) {
  const MonoTime at = clock_.Monotonic() + ToNanoseconds(pause);
  return at < until && clock_.SleepUntil(at, options_.stop);
}

Result<HttpResponse> HttpClient::Attempt(const HttpRequest& request, const std::string& origin) {
  HttpRequest asked = request;
  std::optional<HttpResponse> known;
  const std::string key = KeyOf(request);
  {
    const std::scoped_lock lock(state_->mutex);
    ++state_->hosts[origin].sent;
    if (request.method == "GET") {
      if (const HttpResponse* const kept = state_->Find(key)) known = *kept;
    }
  }
  if (known) {
    if (const auto tag = known->Header("etag")) {
      asked.headers.push_back({"If-None-Match", std::string(*tag)});
    } else if (const auto date = known->Header("last-modified")) {
      asked.headers.push_back({"If-Modified-Since", std::string(*date)});
    }
  }
  auto response = transport_.Send(asked);
  if (!response) return response;

  const std::scoped_lock lock(state_->mutex);
  // What is kept serves as the answer, as fresh as this one.
  if (response->status == kNotModified && known) {
    known->received_at = response->received_at;
    return *std::move(known);
  }
  State::Host& host = state_->hosts[origin];
  auto wait = RetryAfter(*response);
  if (!IsTransient(response->status)) wait.reset();
  if (!wait) wait = RateLimitWait(*response);
  if (wait && *wait > Seconds(0)) {
    host.not_before = clock_.Monotonic() + ToNanoseconds(std::min(*wait, options_.longest_ban));
    host.why = fmt::format("it has asked for that (HTTP {})", response->status);
  }
  const bool validator = response->Header("etag") || response->Header("last-modified");
  if (request.method == "GET" && response->status == 200 && validator) {
    state_->Keep({key, *response}, options_.kept_answers, options_.kept_bytes);
  }
  return response;
}

bool HttpClient::MayRepeat(const HttpRequest& request, const Result<HttpResponse>& result) const {
  const bool may_pass = result ? IsTransient(result->status) : MayPass(result.error());
  if (request.method == "POST" || request.method == "PATCH") {
    return result && result->status == kTooManyRequests;
  }
  return may_pass;
}

Result<HttpResponse> HttpClient::SendAlone(const HttpRequest& request) {
  const std::string origin = Origin(request.url);
  LOWTIDE_TRY_STATUS(MayAsk(request, origin));
  const MonoTime until = clock_.Monotonic() + ToNanoseconds(options_.deadline);
  Result<HttpResponse> result = Fail(Code::kInternal, "not asked");
  for (int attempt = 1;; ++attempt) {
    result = Attempt(request, origin);
    if (!MayRepeat(request, result) || attempt >= options_.attempts) break;
    Seconds pause = Backoff(attempt, options_.first_pause, options_.longest_pause, random_());
    // What the host has asked for, in this answer or to another caller.
    if (const Seconds ban = BanLeft(origin); ban > Seconds(0)) {
      pause = std::max(pause, ban + options_.first_pause * random_());
    }
    if (pause > options_.longest_pause) break;  // the host's entry keeps others away meanwhile
    LogDebug(fmt::format("{}; asked again in {}",
                         result ? DescribeAnswer(request, *result) : result.error().message,
                         FormatDuration(pause)));
    if (!Wait(pause, until) || BanLeft(origin) > Seconds(0)) break;
  }
  Note(origin, result);
  return result;
}

void HttpClient::Note(const std::string& origin, const Result<HttpResponse>& result) {
  const std::scoped_lock lock(state_->mutex);
  State::Host& host = state_->hosts[origin];
  host.being_tried = false;
  const bool answered = result && !IsTransient(result->status);
  if (answered) {
    host.failures = 0;
    host.cool_down = Seconds(0);
    return;
  }
  // A request that cannot be sent says nothing of the host.
  if (!result && result.error().code == Code::kInvalidArgument) return;
  if (++host.failures < options_.failures_to_cool_down) return;
  host.cool_down = host.cool_down == Seconds(0)
                       ? options_.cool_down
                       : std::min(host.cool_down * 2, options_.longest_cool_down);
  const MonoTime again = clock_.Monotonic() + ToNanoseconds(host.cool_down);
  if (!host.not_before || *host.not_before < again) {
    host.not_before = again;
    host.why = fmt::format("{} requests in a row have failed", host.failures);
  }
}

}  // namespace lowtide
