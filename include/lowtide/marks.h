// Tell Lowtide how a C++ training goes: epochs, steps, metrics, batch size.
//
// Header-only, C++17, POSIX, no dependency. Under `lowtide run -- ./train` these calls mark the
// progress of the run; anywhere else they do nothing:
//
//   auto& marks = lowtide::marks::Client::Process();
//   for (int epoch = 0; epoch < 12; ++epoch) {
//     lowtide::marks::Epoch turn(marks, epoch, 12);
//     for (...) { Train(); marks.Step(); }
//     marks.Log({{"loss", loss}});
//   }
//
// No call throws, raises SIGPIPE or ends the program. If Lowtide is stuck or gone, the calls cost
// two seconds in total at most, and from then on nothing. The protocol is docs/reference/marks.md.
#ifndef LOWTIDE_MARKS_H_
#define LOWTIDE_MARKS_H_

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "lowtide/marks_json.h"

namespace lowtide::marks {

// NaN and infinity are sent as "no number".
using Metrics = std::vector<std::pair<std::string, double>>;

enum class Outcome : std::uint8_t {
  kInactive,  // not in a run, or given up earlier
  kOk,
  kRefused,  // the run did not accept the mark: see `error`
  kLost,     // Lowtide is stuck or gone; this client has given up
};

struct Reply {
  Outcome outcome = Outcome::kInactive;
  double delay_s = 0;  // slept already
  std::string error;
};

struct Options {
  std::string socket;  // empty: outside a run
  std::string client = "c++/0.1.0";
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> local_rank;
  std::chrono::milliseconds budget{2000};  // what all waits for Lowtide may cost, delays aside
  bool debug = false;                      // say on standard error why marks are not sent

  // LOWTIDE_SOCKET, LOWTIDE_DEBUG, and the ranks that torchrun, Open MPI, MPICH and Slurm set.
  static Options FromEnvironment() {
    Options options;
    options.socket = Variable("LOWTIDE_SOCKET");
    options.debug = !Variable("LOWTIDE_DEBUG").empty();
    options.rank = FirstRank({"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"});
    options.local_rank =
        FirstRank({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"});
    return options;
  }

 private:
  static std::string Variable(const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? std::string() : std::string(value);
  }
  static std::optional<std::int64_t> FirstRank(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const std::string text = Variable(name);
      if (text.empty() || text.size() > 7) continue;
      if (text.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::int64_t rank = std::atoll(text.c_str());
      if (rank <= 1000000) return rank;
    }
    return std::nullopt;
  }
};

// Thread-safe and fork-safe: a forked child gets a connection of its own and never writes on its
// parent's. Every call returns what became of the mark; programs can ignore it.
class Client {
 public:
  explicit Client(Options options) noexcept : options_(std::move(options)) {}
  ~Client() {
    // States of an ancestor process stay: a thread that is not here may hold their locks.
    State* const state = state_.load();
    if (state != nullptr && state->pid == ::getpid()) {
      HangUp(*state);
      delete state;
    }
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The client of this process, made from the environment at its first use and never destroyed, so
  // that it serves until the last static destructor.
  static Client& Process() {
    static Client& client = *new Client(Options::FromEnvironment());
    return client;
  }

  // Inside a run whose marks still arrive (or have not been tried yet).
  bool Active() noexcept {
    if (options_.socket.empty()) return false;
    const State* const state = Mine();
    return state != nullptr && !state->lost.load();
  }

  // `total` is one more than the highest epoch number that will be run.
  Reply EpochBegin(std::int64_t epoch, std::optional<std::int64_t> total = std::nullopt) noexcept {
    return Mark("epoch_begin", [&](json::Writer& line) {
      line.Integer("epoch", epoch);
      if (total) line.Integer("total_epochs", *total);
    });
  }
  Reply EpochEnd(std::int64_t epoch, const Metrics& metrics = {}) noexcept {
    return Mark("epoch_end", [&](json::Writer& line) {
      line.Integer("epoch", epoch);
      if (!metrics.empty()) line.Metrics(metrics);
    });
  }
  // `count` training steps have just been completed.
  Reply Step(std::int64_t count = 1) noexcept {
    return Mark("step", [&](json::Writer& line) { line.Integer("count", count); });
  }
  // Metrics of the epoch that is running or, between epochs, of the one before.
  Reply Log(const Metrics& metrics) noexcept {
    return Mark("metrics", [&](json::Writer& line) { line.Metrics(metrics); });
  }
  Reply TotalEpochs(std::int64_t total) noexcept {
    return Mark("total_epochs", [&](json::Writer& line) { line.Integer("value", total); });
  }
  // Samples per step, over all ranks.
  Reply BatchSize(std::int64_t size) noexcept {
    return Mark("batch_size", [&](json::Writer& line) { line.Integer("value", size); });
  }

 private:
  using Time = std::chrono::steady_clock;

  struct State {
    pid_t pid = ::getpid();
    std::mutex mutex;
    int fd = -1;  // guarded by mutex, as are the five below
    bool said_left_out = false;
    bool said_not_finite = false;
    std::string received;
    Time::duration budget{};
    Time::time_point refilled_at = Time::now();
    std::atomic<bool> lost{false};
    State* ancestor = nullptr;  // of the process that forked this one; kept, never touched
  };

  static constexpr std::size_t kMaxLineBytes = std::size_t{64} * 1024;
  static constexpr double kMaxDelaySeconds = 60;
  // A healthy answer takes well under a millisecond; only what goes beyond this is charged.
  static constexpr std::chrono::milliseconds kGrace{20};

  // The state of the calling process; nullptr when there is no memory for one.
  State* Mine() noexcept {
    State* state = state_.load();
    while (state == nullptr || state->pid != ::getpid()) {
      auto* const fresh = new (std::nothrow) State;
      if (fresh == nullptr) return nullptr;
      fresh->budget = options_.budget;
      fresh->ancestor = state;
      if (state_.compare_exchange_strong(state, fresh)) {
        if (fresh->ancestor != nullptr && fresh->ancestor->fd >= 0) ::close(fresh->ancestor->fd);
        return fresh;
      }
      delete fresh;
    }
    return state;
  }

  template <class Fill>
  Reply Mark(std::string_view name, Fill&& fill) noexcept {
    Reply reply;
    if (options_.socket.empty()) return reply;
    State* const state = Mine();
    if (state == nullptr || state->lost.load()) return reply;
    try {
      const std::lock_guard<std::mutex> lock(state->mutex);
      if (state->lost.load()) return reply;
      json::Writer line(name);
      fill(line);
      SayWhatIsMissing(*state, name, line);
      reply = Exchange(*state, std::move(line).Finish());
    } catch (...) {  // no memory: this mark is not sent
      reply.outcome = Outcome::kLost;
      state->lost.store(true);
    }
    if (reply.outcome == Outcome::kLost) Debug(name, "no more marks from this process");
    if (reply.outcome == Outcome::kRefused) Debug(name, reply.error.c_str());
    if (reply.delay_s > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(reply.delay_s));
    }
    return reply;
  }

  Reply Exchange(State& state, const std::string& line) {
    Reply reply;
    reply.outcome = Outcome::kLost;
    if (state.fd < 0) {
      const bool greeted = Connect(state) && Ask(state, Hello(), reply);
      if (!greeted || reply.outcome != Outcome::kOk) {
        GiveUp(state);
        return reply;
      }
      reply = Reply{Outcome::kLost, 0, {}};
    }
    if (!Ask(state, line, reply)) GiveUp(state);
    return reply;
  }

  std::string Hello() const {
    json::Writer line("hello");
    line.Integer("protocol", 1);
    line.Text("client", options_.client);
    line.Integer("pid", ::getpid());
    if (options_.rank) line.Integer("rank", *options_.rank);
    if (options_.local_rank) line.Integer("local_rank", *options_.local_rank);
    return std::move(line).Finish();
  }

  bool Connect(State& state) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (options_.socket.size() >= sizeof(address.sun_path)) return false;
    std::memcpy(address.sun_path, options_.socket.data(), options_.socket.size());
    state.received.clear();
    state.fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (state.fd < 0) return false;
    const auto started = Time::now();
    while (::connect(state.fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN || Left(state, started) <= 0) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // its queue is full for now
    }
    Charge(state, started);
    return true;
  }

  // One line there, one line back; false when Lowtide is stuck, gone or not understood.
  bool Ask(State& state, const std::string& line, Reply& reply) const {
    const auto started = Time::now();
    Refill(state, started);
    std::size_t sent = 0;
    while (sent < line.size()) {
      const auto n = ::send(state.fd, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
      if (n > 0) {
        sent += static_cast<std::size_t>(n);
      } else if (n == 0) {
        return false;
      } else if (errno == EAGAIN) {
        if (!Wait(state, POLLOUT, started)) return false;
      } else if (errno != EINTR) {
        return false;
      }
    }
    std::size_t end = 0;
    while ((end = state.received.find('\n')) == std::string::npos) {
      if (state.received.size() >= kMaxLineBytes) return false;
      char buffer[4096];
      // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection): the socket does not block
      const auto n = ::recv(state.fd, buffer, sizeof(buffer), 0);
      if (n > 0) {
        state.received.append(buffer, static_cast<std::size_t>(n));
      } else if (n == 0) {
        return false;
      } else if (errno == EAGAIN) {
        if (!Wait(state, POLLIN, started)) return false;
      } else if (errno != EINTR) {
        return false;
      }
    }
    Charge(state, started);
    const auto answer = json::ParseReply(std::string_view(state.received).substr(0, end));
    state.received.erase(0, end + 1);
    if (!answer) return false;
    reply.outcome = answer->ok ? Outcome::kOk : Outcome::kRefused;
    reply.error = answer->error;
    if (answer->ok && answer->delay_s > 0) {
      reply.delay_s = std::min(answer->delay_s, kMaxDelaySeconds);
    }
    return true;
  }

  static int Left(const State& state, Time::time_point started) {
    const auto left = state.budget - (Time::now() - started);
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
  }

  static bool Wait(const State& state, short events, Time::time_point started) {
    pollfd watched{state.fd, events, 0};
    const int left = Left(state, started);
    if (left <= 0) return false;
    const int ready = ::poll(&watched, 1, left);
    return ready > 0 || (ready < 0 && errno == EINTR);
  }

  // What is used up comes back as time passes: beside the budget, marks may cost a hundredth of it.
  void Refill(State& state, Time::time_point now) const {
    const auto back = (now - state.refilled_at) / 100;
    state.refilled_at = now;
    state.budget = std::min<Time::duration>(options_.budget, state.budget + back);
  }

  static void Charge(State& state, Time::time_point started) {
    const auto beyond = Time::now() - started - kGrace;
    if (beyond > Time::duration::zero()) state.budget -= beyond;
  }

  static void HangUp(State& state) {
    if (state.fd >= 0) ::close(state.fd);
    state.fd = -1;
  }

  static void GiveUp(State& state) {
    HangUp(state);
    state.lost.store(true);
  }

  // Once each, or it would be said every epoch.
  void SayWhatIsMissing(State& state, std::string_view mark, const json::Writer& line) const {
    if (line.LeftOut() > 0 && !state.said_left_out) {
      state.said_left_out = true;
      Debug(mark,
            "metrics are left out: a name has 1 to 128 bytes of UTF-8 without control characters "
            "and is there once, and a mark has at most 256 names");
    }
    if (line.NotFinite() > 0 && !state.said_not_finite) {
      state.said_not_finite = true;
      Debug(mark, "metrics that are not finite are kept without a number");
    }
  }

  void Debug(std::string_view mark, const char* what) const noexcept {
    if (!options_.debug) return;
    std::fprintf(stderr, "lowtide: %.*s: %s\n", static_cast<int>(mark.size()), mark.data(), what);
  }

  const Options options_;
  std::atomic<State*> state_{nullptr};
};

// An epoch that ends with its scope, also when an exception leaves it.
class Epoch {
 public:
  explicit Epoch(Client& client, std::int64_t number,
                 std::optional<std::int64_t> total = std::nullopt) noexcept
      : client_(client), number_(number) {
    client_.EpochBegin(number, total);
  }
  ~Epoch() { client_.EpochEnd(number_); }
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;

 private:
  Client& client_;
  std::int64_t number_;
};

}  // namespace lowtide::marks

#endif  // LOWTIDE_MARKS_H_
