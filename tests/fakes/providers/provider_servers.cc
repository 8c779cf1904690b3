#include "fakes/providers/provider_servers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

extern char** environ;

namespace lowtide {
namespace {

[[noreturn]] void Give(const std::string& what) {
  throw std::runtime_error("fake provider servers: " + what);
}

std::string Find(const std::vector<std::pair<std::string, std::string>>& pairs,
                 std::string_view name) {
  const auto it = std::ranges::find(pairs, name, &std::pair<std::string, std::string>::first);
  return it == pairs.end() ? "" : it->second;
}

std::string ReadLine(int fd) {
  std::string line;
  for (char c = 0; ::read(fd, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

}  // namespace

std::string FakeRequest::Query(std::string_view name) const { return Find(query, name); }
std::string FakeRequest::Header(std::string_view name) const { return Find(headers, name); }

ProviderServers::ProviderServers(const ProviderServersOptions& options) {
  int to[2];
  int from[2];
  if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) Give("no pipe");
  const UniqueFd their_input(to[0]);
  input_ = UniqueFd(to[1]);
  const UniqueFd output(from[0]);
  UniqueFd their_output(from[1]);

  std::vector<std::string> words = {LOWTIDE_FAKE_PROVIDERS_PYTHON, "-B",
                                    LOWTIDE_FAKE_PROVIDERS_SERVE};
  if (options.now) words.insert(words.end(), {"--now", FormatTime(*options.now)});
  const bool tls = !options.certificate_file.empty();
  if (tls) words.insert(words.end(), {"--tls", options.certificate_file, options.key_file});
  scheme_ = tls ? "https" : "http";
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, their_input.Get(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, their_output.Get(), 1);
  const int failed =
      ::posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) Give("cannot start " + words[0]);
  their_output.Reset();

  port_ = std::atoi(ReadLine(output.Get()).c_str());
  const auto ports = ParseJson(ReadLine(output.Get()), "ports");
  if (port_ <= 0 || !ports || !ports->is_object()) Give("they did not start");
  for (const auto& [name, port] : ports->items()) ports_.emplace_back(name, port.get<int>());
  control_port_ = tls ? std::atoi(ReadLine(output.Get()).c_str()) : port_;
}

ProviderServers::~ProviderServers() {
  input_.Reset();
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

std::string ProviderServers::Url(std::string_view provider) const {
  const auto it = std::ranges::find(ports_, provider, &std::pair<std::string, int>::first);
  if (it == ports_.end()) Give("no provider '" + std::string(provider) + "'");
  return scheme_ + "://127.0.0.1:" + std::to_string(it->second);
}

void ProviderServers::SetNow(TimePoint now) { Control({{"now", FormatTime(now)}}); }
void ProviderServers::Advance(Seconds by) {
  Control({{"advance_s", static_cast<std::int64_t>(by.count())}});
}
void ProviderServers::Fault(const Json& rule) { Control({{"faults", Json::array({rule})}}); }
void ProviderServers::ClearFaults() { Control({{"clear_faults", true}}); }
void ProviderServers::Set(std::string_view provider, std::string_view setting, const Json& value) {
  Json values = Json::object();
  values[std::string(setting)] = value;
  Json settings = Json::object();
  settings[std::string(provider)] = std::move(values);
  Control({{"settings", std::move(settings)}});
}
void ProviderServers::Unplug(std::string_view provider) {
  Control({{"unplug", Json::array({provider})}});
}
void ProviderServers::Plug(std::string_view provider) {
  Control({{"plug", Json::array({provider})}});
}
void ProviderServers::Reset() { Ask("POST", "/_reset", ""); }

std::vector<FakeRequest> ProviderServers::Requests(std::string_view provider) const {
  const auto log = ParseJson(Ask("GET", "/_requests", ""), "requests");
  if (!log) Give(log.error().message);
  std::vector<FakeRequest> out;
  for (const Json& entry : *log) {
    FakeRequest request;
    request.provider = entry.at("provider").get<std::string>();
    if (!provider.empty() && request.provider != provider) continue;
    request.method = entry.at("method").get<std::string>();
    request.path = entry.at("path").get<std::string>();
    for (const Json& pair : entry.at("query")) {
      request.query.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
    }
    for (const auto& [name, value] : entry.at("headers").items()) {
      request.headers.emplace_back(name, value.get<std::string>());
    }
    request.body = entry.at("body").get<std::string>();
    request.status = entry.at("status").get<int>();
    request.connection = entry.at("connection").get<int>();
    out.push_back(std::move(request));
  }
  return out;
}

void ProviderServers::Control(const Json& command) const {
  Ask("POST", "/_control", DumpJson(command));
}

std::string ProviderServers::Ask(std::string_view method, std::string_view path,
                                 std::string_view body) const {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.Valid()) Give("no socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(control_port_));
  if (::connect(fd.Get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    Give("they are gone");
  }
  const std::string request = std::string(method) + " " + std::string(path) +
                              " HTTP/1.0\r\nContent-Length: " + std::to_string(body.size()) +
                              "\r\n\r\n" + std::string(body);
  for (std::string_view left = request; !left.empty();) {
    const ssize_t n = ::send(fd.Get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (n <= 0) Give("they do not listen");
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  std::string answer;
  char buffer[16384];
  for (ssize_t n = 0; (n = ::read(fd.Get(), buffer, sizeof buffer)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(n));
  }
  const auto head = answer.find("\r\n\r\n");
  if (head == std::string::npos) Give("no answer to " + std::string(path));
  std::string text = answer.substr(head + 4);
  if (answer.find(" 200 ") > answer.find('\r')) Give(text);
  return text;
}

}  // namespace lowtide
