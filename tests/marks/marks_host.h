// The server's side of a run for tests of clients: the real socket, parser and rules in a thread.
#pragma once

#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "run/mark_rules.h"
#include "run/marks_socket.h"

namespace lowtide {

class MarksHost final : public MarksHandler {
 public:
  MarksHost() {
    std::string pattern = "/tmp/lowtide-host-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    auto opened = MarksSocket::Open(root_ / "run");
    if (!opened) throw std::runtime_error(opened.error().message);
    socket_ = *std::move(opened);
    thread_ = std::jthread([this](const std::stop_token& stop) { Loop(stop); });
  }
  ~MarksHost() override {
    thread_ = {};
    socket_.reset();
    std::filesystem::remove_all(root_);
  }
  MarksHost(const MarksHost&) = delete;
  MarksHost& operator=(const MarksHost&) = delete;

  std::string Path() const { return socket_->Path().native(); }
  void SetDelay(Seconds delay) {
    const std::lock_guard lock(mutex_);
    delay_ = delay;
  }
  // Stuck: connections and lines arrive, nobody looks at them.
  void SetStuck(bool stuck) { stuck_ = stuck; }

  // Marks that the accounting would see, hello left out; refusals; connections that said hello.
  std::vector<Mark> Counted() const {
    const std::lock_guard lock(mutex_);
    return counted_;
  }
  std::vector<std::string> Refusals() const {
    const std::lock_guard lock(mutex_);
    return refusals_;
  }
  std::vector<std::pair<ConnectionId, HelloMark>> Hellos() const {
    const std::lock_guard lock(mutex_);
    return hellos_;
  }

  MarkReply OnMark(ConnectionId connection, const Mark& mark) override {
    const std::lock_guard lock(mutex_);
    MarkReply reply;
    const auto verdict = rules_.Judge(connection, mark);
    if (!verdict) {
      refusals_.push_back(verdict.error().message);
      reply.error = verdict.error().message;
    } else if (const auto* hello = std::get_if<HelloMark>(&mark)) {
      hellos_.emplace_back(connection, *hello);
      reply.run_id = "01TEST";
    } else {
      if (*verdict == MarkVerdict::kCount) counted_.push_back(mark);
      reply.delay = delay_;
    }
    return reply;
  }
  void OnClose(ConnectionId connection) override {
    const std::lock_guard lock(mutex_);
    rules_.Forget(connection);
  }

 private:
  void Loop(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd ready{socket_->PollFd(), POLLIN, 0};
      if (::poll(&ready, 1, /*timeout=*/10) == 1 && !stuck_) socket_->Pump(*this);
      if (stuck_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::filesystem::path root_;
  std::unique_ptr<MarksSocket> socket_;
  MarkRules rules_;
  mutable std::mutex mutex_;
  std::optional<Seconds> delay_;
  std::vector<Mark> counted_;
  std::vector<std::string> refusals_;
  std::vector<std::pair<ConnectionId, HelloMark>> hellos_;
  std::atomic<bool> stuck_{false};
  std::jthread thread_;
};

inline std::string BriefMetrics(const MarkMetrics& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics) {
    text += fmt::format(" {}={}", name, value ? fmt::format("{}", *value) : "null");
  }
  return text;
}

// "epoch_begin 0/12", "step 3", "epoch_end 0 loss=0.5": one text per mark, for comparisons.
inline std::string Brief(const Mark& mark) {
  std::string text(MarkName(mark));
  if (const auto* m = std::get_if<EpochBeginMark>(&mark)) {
    text += fmt::format(" {}", m->epoch);
    if (m->total_epochs) text += fmt::format("/{}", *m->total_epochs);
  }
  if (const auto* m = std::get_if<EpochEndMark>(&mark)) {
    text += fmt::format(" {}", m->epoch) + BriefMetrics(m->metrics);
  }
  if (const auto* m = std::get_if<StepMark>(&mark)) text += fmt::format(" {}", m->count);
  if (const auto* m = std::get_if<MetricsMark>(&mark)) text += BriefMetrics(m->metrics);
  if (const auto* m = std::get_if<TotalEpochsMark>(&mark)) text += fmt::format(" {}", m->value);
  if (const auto* m = std::get_if<BatchSizeMark>(&mark)) text += fmt::format(" {}", m->value);
  return text;
}

inline std::vector<std::string> Brief(const std::vector<Mark>& marks) {
  std::vector<std::string> texts;
  for (const auto& mark : marks) texts.push_back(Brief(mark));
  return texts;
}

}  // namespace lowtide
