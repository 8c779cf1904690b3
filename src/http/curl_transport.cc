#include "http/curl_transport.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

#include "http/redact.h"
#include "http/url.h"

namespace lowtide {
namespace {

constexpr int kMostRedirects = 3;

struct CurlFree {
  void operator()(CURL* handle) const { ::curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { ::curl_slist_free_all(list); }
  void operator()(CURLU* url) const { ::curl_url_cleanup(url); }
};
using Handle = std::unique_ptr<CURL, CurlFree>;
using HeaderList = std::unique_ptr<curl_slist, CurlFree>;

// Of all headers of an answer; libcurl's own bound came with later versions.
constexpr std::size_t kMostHeaderBytes = 256U << 10U;

// Nobody ends this process by closing a connection: with CURLOPT_NOSIGNAL libcurl leaves SIGPIPE to
// us, and not all that writes for it asks the system to send none.
class NoSigpipe {
 public:
  NoSigpipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    constexpr timespec kNoWait{};
    if (!was_pending_) {
      while (::sigtimedwait(&pipe_, nullptr, &kNoWait) == -1 && errno == EINTR) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

// What the callbacks of one transfer fill.
struct Transfer {
  HttpResponse response;
  std::size_t header_bytes = 0;
  std::size_t max_bytes = 0;
  bool too_large = false;
  std::stop_token stop;
};

std::size_t OnBody(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::size_t bytes = size * count;
  if (transfer.response.body.size() + bytes > transfer.max_bytes) {
    transfer.too_large = true;
    return 0;
  }
  transfer.response.body.append(data, bytes);
  return bytes;
}

std::string_view Trim(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\r\n");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1);
}

std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(data, size * count);
  transfer.header_bytes += line.size();
  if (transfer.header_bytes > kMostHeaderBytes) {
    transfer.too_large = true;
    return 0;
  }
  if (line.starts_with("HTTP/")) {  // of an interim answer (100, 103) or of the last one
    transfer.response.headers.clear();
  } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
    std::string name(Trim(line.substr(0, colon)));
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    transfer.response.headers.push_back(
        {std::move(name), std::string(Trim(line.substr(colon + 1)))});
  }
  return size * count;
}

int OnProgress(void* user, curl_off_t /*total*/, curl_off_t /*now*/, curl_off_t /*to_send*/,
               curl_off_t /*sent*/) {
  return static_cast<Transfer*>(user)->stop.stop_requested() ? 1 : 0;
}

Code CodeOf(CURLcode code) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT: return Code::kDeadlineExceeded;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CERTPROBLEM: return Code::kPermissionDenied;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return Code::kInvalidArgument;
    case CURLE_OUT_OF_MEMORY: return Code::kResourceExhausted;
    default: return Code::kUnavailable;
  }
}

bool HasLineBreak(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

Result<HeaderList> MakeHeaders(const HttpRequest& request) {
  HeaderList list;
  for (const HttpHeader& header : request.headers) {
    if (header.name.empty() || HasLineBreak(header.name) || HasLineBreak(header.value)) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format("{}: the header '{}' holds a line break or has no name", Describe(request),
                      header.name.substr(0, header.name.find_first_of("\r\n"))));
    }
    // "Name;" is curl's way to send a header without a value.
    const std::string line =
        header.value.empty() ? header.name + ";" : header.name + ": " + header.value;
    // It returns the list, now longer, or null and leaves the list as it was.
    curl_slist* const before = list.release();
    curl_slist* const longer = ::curl_slist_append(before, line.c_str());
    list.reset(longer != nullptr ? longer : before);
    if (longer == nullptr) return Fail(Code::kResourceExhausted, "no memory for a request");
  }
  return list;
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// `location` as seen from `url`; nothing when it is no address.
std::optional<std::string> Resolve(const std::string& url, const std::string& location) {
  const std::unique_ptr<CURLU, CurlFree> parsed(::curl_url());
  if (!parsed || ::curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK ||
      ::curl_url_set(parsed.get(), CURLUPART_URL, location.c_str(), 0) != CURLUE_OK) {
    return std::nullopt;
  }
  char* text = nullptr;
  if (::curl_url_get(parsed.get(), CURLUPART_URL, &text, 0) != CURLUE_OK) return std::nullopt;
  std::string out(text);
  ::curl_free(text);
  return out;
}

std::string_view HostOf(std::string_view origin) {
  origin.remove_prefix(std::min(origin.find("://") + 3, origin.size()));
  return origin.substr(0, origin.find(':', origin.starts_with('[') ? origin.find(']') : 0));
}

// The same host and port, or the same host's https instead of its http.
bool MayFollow(const std::string& from, const std::string& to) {
  const std::string a = Origin(from);
  const std::string b = Origin(to);
  return a == b ||
         (a.starts_with("http://") && b.starts_with("https://") && HostOf(a) == HostOf(b));
}

bool HasSecrets(const HttpRequest& request) {
  if (!request.secrets.empty() || !request.secret_names.empty()) return true;
  const auto secret = [](const auto& name) { return IsSecretName(name); };
  return std::ranges::any_of(request.headers, secret, &HttpHeader::name) ||
         std::ranges::any_of(request.query, secret, [](const auto& q) { return q.first; });
}

}  // namespace

// Handles that are not in use; each keeps its connections.
class CurlTransport::Pool {
 public:
  Handle Take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_.empty()) {
        Handle handle = std::move(idle_.back());
        idle_.pop_back();
        return handle;
      }
    }
    return Handle(::curl_easy_init());
  }
  void Give(Handle handle) {
    ::curl_easy_reset(handle.get());
    const std::scoped_lock lock(mutex_);
    if (idle_.size() < kMostIdle) idle_.push_back(std::move(handle));
  }

 private:
  static constexpr std::size_t kMostIdle = 8;
  std::mutex mutex_;
  std::vector<Handle> idle_;
};

CurlTransport::CurlTransport(Clock& clock, CurlOptions options)
    : clock_(clock), options_(std::move(options)), pool_(std::make_unique<Pool>()) {
  static std::once_flag once;
  std::call_once(once, [] { ::curl_global_init(CURL_GLOBAL_DEFAULT); });
}

CurlTransport::~CurlTransport() = default;

Result<HttpResponse> CurlTransport::Send(const HttpRequest& request) {
  auto made = FullUrl(request);
  if (!made) return Annotate(made.error(), Describe(request));
  std::string url = *std::move(made);
  if (HasSecrets(request) && !url.starts_with("https://") && !IsLoopback(url)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: a key would travel unencrypted; the address must begin with "
                            "https://",
                            Describe(request)));
  }
  if (options_.stop.stop_requested()) {
    return Fail(Code::kUnavailable, fmt::format("{}: stopped", Describe(request)));
  }
  LOWTIDE_TRY(const HeaderList headers, MakeHeaders(request));
  const MonoTime deadline = clock_.Monotonic() + ToNanoseconds(options_.timeout);

  Handle handle = pool_->Take();
  if (!handle) return Fail(Code::kResourceExhausted, "no memory for a request");
  CURL* const curl = handle.get();
  std::array<char, CURL_ERROR_SIZE> text{};
  Transfer transfer;
  transfer.max_bytes = options_.max_bytes;
  transfer.stop = options_.stop;
  ::curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  ::curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  ::curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!options_.ca_file.empty()) {
    ::curl_easy_setopt(curl, CURLOPT_CAINFO, options_.ca_file.c_str());
  }
  ::curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  if (!options_.user_agent.empty()) {
    ::curl_easy_setopt(curl, CURLOPT_USERAGENT, options_.user_agent.c_str());
  }
  ::curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(ToMilliseconds(options_.connect_timeout).count()));
  ::curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, text.data());
  ::curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBody);
  ::curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  ::curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, OnHeader);
  ::curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  ::curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  ::curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, OnProgress);
  ::curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  ::curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  if (request.method != "GET") {
    ::curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
    ::curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.c_str());
    ::curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }

  for (int redirects = 0;; ++redirects) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - clock_.Monotonic()).count();
    if (left <= 0) {
      return Fail(Code::kDeadlineExceeded, fmt::format("{}: no answer within {}", Origin(url),
                                                       FormatDuration(options_.timeout)));
    }
    transfer.response = {};
    transfer.header_bytes = 0;
    // What is meant for this machine stays on it: a key may go there unencrypted.
    ::curl_easy_setopt(curl, CURLOPT_NOPROXY, IsLoopback(url) ? "*" : nullptr);
    ::curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    ::curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(left));
    const CURLcode code = [curl] {
      const NoSigpipe no_signal;
      return ::curl_easy_perform(curl);
    }();
    if (code != CURLE_OK) {
      if (transfer.too_large) {
        return Fail(Code::kResourceExhausted, fmt::format("{}: the answer is larger than {} bytes",
                                                          Describe(request), options_.max_bytes));
      }
      // The host, and not the question: it would have been the same for any.
      const std::string why = text[0] != '\0' ? text.data() : ::curl_easy_strerror(code);
      return Fail(CodeOf(code), fmt::format("{}: {}", Origin(url), Excerpt(why, request)));
    }
    long status = 0;
    ::curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    transfer.response.status = static_cast<int>(status);
    const auto location = transfer.response.Header("location");
    if (!IsRedirect(transfer.response.status) || !location || request.method != "GET") break;
    const auto next = Resolve(url, std::string(*location));
    if (!next || !MayFollow(url, *next)) {
      return Fail(
          Code::kUnavailable,
          fmt::format("{}: sent on to {}, where keys are not taken; if this is right, give "
                      "that address as the endpoint",
                      Describe(request), next ? Excerpt(Origin(*next), request) : "no address"));
    }
    if (redirects >= kMostRedirects) {
      return Fail(Code::kUnavailable,
                  fmt::format("{}: sent on more than {} times", Describe(request), kMostRedirects));
    }
    url = *next;
  }
  transfer.response.received_at = clock_.Now();
  pool_->Give(std::move(handle));
  return std::move(transfer.response);
}

}  // namespace lowtide
