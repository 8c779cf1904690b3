// The server's end of LOWTIDE_SOCKET: accepts training processes, cuts their bytes into lines and
// sends back replies. Owns no thread and never blocks: the run's own poll loop drives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "run/marks.h"

namespace lowtide {

using ConnectionId = std::uint64_t;  // never used twice in one socket's life

class MarksHandler {
 public:
  virtual ~MarksHandler() = default;
  // Called in the order in which a connection sent them.
  virtual MarkReply OnMark(ConnectionId connection, const Mark& mark) = 0;
  // The peer is gone; nothing more comes from this connection.
  virtual void OnClose(ConnectionId /*connection*/) {}
};

class MarksSocket {
 public:
  static constexpr std::size_t kMaxConnections = 64;

  // Listens on `dir`/marks.sock (mode 0600). `dir` is made (0700) when absent; one that is there
  // must be ours and closed to others, else kPermissionDenied. A socket left by a run that died is
  // replaced; one on which somebody answers is kUnavailable. kInvalidArgument when the path is
  // longer than a Unix socket's may be (107 bytes).
  static Result<std::unique_ptr<MarksSocket>> Open(const std::filesystem::path& dir);

  // Closes every connection, removes the socket, and `dir` too if Open made it and it is empty.
  ~MarksSocket();
  MarksSocket(const MarksSocket&) = delete;
  MarksSocket& operator=(const MarksSocket&) = delete;

  // The value of LOWTIDE_SOCKET for the training process.
  const std::filesystem::path& Path() const { return path_; }
  // Readable when Pump has something to do.
  int PollFd() const { return epoll_.Get(); }
  // Does what can be done now, bounded: at most one buffer per connection.
  void Pump(MarksHandler& handler);

  std::size_t Connections() const { return connections_.size(); }

 private:
  struct Connection {
    UniqueFd fd;
    std::string in;        // bytes of lines not answered yet
    std::string out;       // replies not sent yet
    std::uint32_t events;  // what epoll watches
    bool ending = false;   // nothing more is read; closed once `out` is sent
  };

  MarksSocket() = default;

  void Accept();
  void AcceptBeyondLimit(int fd);
  // False when the connection is over.
  bool Serve(ConnectionId id, Connection& connection, MarksHandler& handler);
  static bool Receive(Connection& connection);
  static void Answer(ConnectionId id, Connection& connection, MarksHandler& handler);
  static bool Send(Connection& connection);
  bool Watch(ConnectionId id, Connection& connection);

  std::filesystem::path path_;
  std::filesystem::path made_dir_;  // empty when `dir` was there before
  UniqueFd listener_;
  UniqueFd epoll_;
  UniqueFd spare_;  // given up for a moment to turn a peer away when descriptors run out
  std::map<ConnectionId, Connection> connections_;
  ConnectionId next_id_ = 1;
};

}  // namespace lowtide
