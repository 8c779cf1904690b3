#include "run/marks_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"

namespace lowtide {
namespace {

constexpr ConnectionId kListenerId = 0;
constexpr int kBacklog = 64;
constexpr std::size_t kReadBytes = kMaxMarkBytes;
// A peer that does not read its replies is not read from either.
constexpr std::size_t kMaxUnsentBytes = kMaxMarkBytes;

Result<sockaddr_un> Address(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& text = path.native();
  if (text.size() >= sizeof(address.sun_path)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: a socket's path has at most {} bytes, this one has {}", text,
                            sizeof(address.sun_path) - 1, text.size()));
  }
  std::memcpy(address.sun_path, text.data(), text.size());
  return address;
}

const sockaddr* Generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Status RequirePrivate(const std::filesystem::path& dir) {
  struct stat info{};
  if (::lstat(dir.c_str(), &info) != 0) return FailErrno(errno, dir.native());
  if (!S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 077U) != 0) {
    return Fail(Code::kPermissionDenied,
                fmt::format("{}: must be a folder of this user with mode 0700", dir.native()));
  }
  return {};
}

// Removes the socket of a run that died; refuses when somebody answers on it.
Status RemoveStale(const std::filesystem::path& path, const sockaddr_un& address) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return FailErrno(errno, path.native());
  }
  if (!S_ISSOCK(info.st_mode)) {
    return Fail(Code::kUnavailable, fmt::format("{}: is there and is not a socket", path.native()));
  }
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe.Valid()) return FailErrno(errno, "socket");
  if (::connect(probe.Get(), Generic(address), sizeof(address)) == 0 || errno == EAGAIN) {
    return Fail(Code::kUnavailable,
                fmt::format("{}: another process listens on it", path.native()));
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return FailErrno(errno, path.native());
  return {};
}

UniqueFd OpenSpare() { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

Result<std::unique_ptr<MarksSocket>> MarksSocket::Open(const std::filesystem::path& dir) {
  const auto path = dir / "marks.sock";
  LOWTIDE_TRY(const auto address, Address(path));
  std::unique_ptr<MarksSocket> self(new MarksSocket());

  struct stat info{};
  const bool absent = ::lstat(dir.c_str(), &info) != 0 && errno == ENOENT;
  LOWTIDE_TRY_STATUS(MakeDirectories(dir));
  if (absent) self->made_dir_ = dir;
  LOWTIDE_TRY_STATUS(RequirePrivate(dir));
  LOWTIDE_TRY_STATUS(RemoveStale(path, address));

  self->listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!self->listener_.Valid()) return FailErrno(errno, "socket");
  // Linux gives the file the mode of the unbound socket, so it is never open to others.
  if (::fchmod(self->listener_.Get(), 0600) != 0) return FailErrno(errno, "fchmod of a socket");
  if (::bind(self->listener_.Get(), Generic(address), sizeof(address)) != 0) {
    return FailErrno(errno, fmt::format("bind {}", path.native()));
  }
  self->path_ = path;
  if (::listen(self->listener_.Get(), kBacklog) != 0) {
    return FailErrno(errno, fmt::format("listen on {}", path.native()));
  }
  self->epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!self->epoll_.Valid()) return FailErrno(errno, "epoll_create1");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kListenerId;
  if (::epoll_ctl(self->epoll_.Get(), EPOLL_CTL_ADD, self->listener_.Get(), &event) != 0) {
    return FailErrno(errno, "epoll_ctl");
  }
  self->spare_ = OpenSpare();
  return self;
}

MarksSocket::~MarksSocket() {
  if (!path_.empty()) ::unlink(path_.c_str());
  if (!made_dir_.empty()) ::rmdir(made_dir_.c_str());
}

void MarksSocket::Pump(MarksHandler& handler) {
  std::array<epoll_event, kMaxConnections + 1> ready{};
  const int count =
      ::epoll_wait(epoll_.Get(), ready.data(), static_cast<int>(ready.size()), /*timeout=*/0);
  for (int i = 0; i < count; ++i) {
    const ConnectionId id = ready.at(static_cast<std::size_t>(i)).data.u64;
    if (id == kListenerId) {
      Accept();
      continue;
    }
    const auto it = connections_.find(id);
    if (it == connections_.end()) continue;
    if (!Serve(id, it->second, handler)) {
      connections_.erase(it);
      handler.OnClose(id);
    }
  }
}

void MarksSocket::Accept() {
  for (int i = 0; i < kBacklog; ++i) {
    UniqueFd fd(::accept4(listener_.Get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.Valid() && (errno == EMFILE || errno == ENFILE) && spare_.Valid()) {
      // Left in the queue, the peer would keep the poll loop spinning.
      spare_.Reset();
      const UniqueFd refused(::accept4(listener_.Get(), nullptr, nullptr, SOCK_CLOEXEC));
      spare_ = OpenSpare();
      return;
    }
    if (!fd.Valid()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    if (connections_.size() >= kMaxConnections) {
      AcceptBeyondLimit(fd.Get());
      continue;
    }
    const ConnectionId id = next_id_++;
    auto& connection = connections_[id];
    connection.fd = std::move(fd);
    connection.events = EPOLLIN;
    epoll_event event{};
    event.events = connection.events;
    event.data.u64 = id;
    if (::epoll_ctl(epoll_.Get(), EPOLL_CTL_ADD, connection.fd.Get(), &event) != 0) {
      connections_.erase(id);
    }
  }
}

void MarksSocket::AcceptBeyondLimit(int fd) {
  const std::string line =
      FormatReply({.error = fmt::format("{} connections are open already", kMaxConnections),
                   .run_id = {},
                   .delay = {}});
  // The buffer of a fresh socket takes it; if not, the close says as much.
  [[maybe_unused]] const auto sent =
      ::send(fd, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool MarksSocket::Serve(ConnectionId id, Connection& connection, MarksHandler& handler) {
  if (!connection.ending && connection.out.size() < kMaxUnsentBytes && !Receive(connection)) {
    return false;
  }
  for (;;) {
    if (!Send(connection)) return false;
    if (connection.out.size() >= kMaxUnsentBytes) break;
    if (connection.in.find('\n') == std::string::npos && connection.in.size() < kMaxMarkBytes)
      break;
    Answer(id, connection, handler);
  }
  if (connection.ending && connection.out.empty()) return false;
  return Watch(id, connection);
}

// False on an error of the socket; the end of the peer's bytes sets `ending`.
bool MarksSocket::Receive(Connection& connection) {
  std::array<char, 4096> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  std::size_t total = 0;
  while (total < kReadBytes && connection.in.size() < kMaxMarkBytes + buffer.size()) {
    const auto n = ::recv(connection.fd.Get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0) {
      connection.in.append(buffer.data(), static_cast<std::size_t>(n));
      total += static_cast<std::size_t>(n);
    } else if (n == 0) {
      connection.ending = true;
      return true;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
  return true;
}

void MarksSocket::Answer(ConnectionId id, Connection& connection, MarksHandler& handler) {
  std::size_t start = 0;
  while (connection.out.size() < kMaxUnsentBytes) {
    const auto end = connection.in.find('\n', start);
    if (end == std::string::npos) break;
    const auto mark = ParseMark(std::string_view(connection.in).substr(start, end - start));
    MarkReply reply;
    if (mark) {
      reply = handler.OnMark(id, *mark);
    } else {
      reply.error = mark.error().message;
    }
    connection.out += FormatReply(reply);
    start = end + 1;
  }
  connection.in.erase(0, start);
  if (connection.in.size() >= kMaxMarkBytes && connection.in.find('\n') == std::string::npos) {
    // Where the next line begins cannot be known: say so and hang up.
    MarkReply reply;
    reply.error = fmt::format("a line has at most {} bytes with its newline", kMaxMarkBytes);
    connection.out += FormatReply(reply);
    connection.in.clear();
    connection.ending = true;
  }
}

bool MarksSocket::Send(Connection& connection) {
  std::size_t sent = 0;
  while (sent < connection.out.size()) {
    const auto n = ::send(connection.fd.Get(), connection.out.data() + sent,
                          connection.out.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return false;
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
  }
  connection.out.erase(0, sent);
  return true;
}

bool MarksSocket::Watch(ConnectionId id, Connection& connection) {
  std::uint32_t events = 0;
  if (!connection.ending && connection.out.size() < kMaxUnsentBytes) events |= EPOLLIN;
  if (!connection.out.empty()) events |= EPOLLOUT;
  if (events == connection.events) return true;
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  connection.events = events;
  return ::epoll_ctl(epoll_.Get(), EPOLL_CTL_MOD, connection.fd.Get(), &event) == 0;
}

}  // namespace lowtide
