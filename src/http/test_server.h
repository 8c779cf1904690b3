// A server on the loopback that answers with the very bytes that a test gives. For tests only.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"

namespace lowtide {

class TestServer {
 public:
  // Given the request's head, returns the raw answer; the connection is closed after it.
  using Handler = std::function<std::string(const std::string& request)>;

  explicit TestServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listener_.Get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(listener_.Get(), 16);
    socklen_t length = sizeof address;
    ::getsockname(listener_.Get(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~TestServer() {
    stop_ = true;
    thread_.join();
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::string Url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  std::vector<std::string> Requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }

 private:
  void Serve() {
    while (!stop_) {
      pollfd ready{listener_.Get(), POLLIN, 0};
      if (::poll(&ready, 1, 20) <= 0) continue;
      const UniqueFd client(::accept4(listener_.Get(), nullptr, nullptr, SOCK_CLOEXEC));
      std::string request;
      char buffer[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t n = ::read(client.Get(), buffer, sizeof buffer);
        if (n <= 0) break;
        request.append(buffer, static_cast<std::size_t>(n));
      }
      {
        const std::scoped_lock lock(mutex_);
        requests_.push_back(request);
      }
      std::string_view answer;
      const std::string text = handler_(request);
      for (answer = text; !answer.empty();) {
        const ssize_t n = ::send(client.Get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        if (n <= 0) break;
        answer.remove_prefix(static_cast<std::size_t>(n));
      }
    }
  }

  Handler handler_;
  UniqueFd listener_;
  int port_ = 0;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

// A whole answer with its length.
inline std::string Answer(const std::string& status, const std::string& headers,
                          const std::string& body) {
  return "HTTP/1.1 " + status +
         "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         headers + "\r\n" + body;
}

}  // namespace lowtide
