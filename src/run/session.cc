#include "run/session.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "device/simulated/simulated_gpu.h"
#include "run/child_process.h"
#include "run/components.h"
#include "run/job_share.h"
#include "run/mark_rules.h"
#include "run/marks_socket.h"
#include "run/recorder.h"
#include "run/run_clock.h"
#include "run/steering.h"

namespace lowtide {
namespace {

// At most one second of a run is lost to SIGKILL or a power loss.
constexpr Seconds kCommitEvery{1.0};
// Seconds older than a day become minutes; done often, each time is short.
constexpr Seconds kCompactEvery{3600};

std::vector<bool> WholeHost(const std::vector<std::unique_ptr<PowerDevice>>& devices,
                            std::size_t components) {
  std::vector<bool> flags(components, false);
  for (std::size_t i = 0; i < devices.size(); ++i) flags[i] = devices[i]->Info().whole_host;
  return flags;
}

std::vector<PowerDevice*> Borrow(const std::vector<std::unique_ptr<PowerDevice>>& devices) {
  std::vector<PowerDevice*> out;
  out.reserve(devices.size());
  for (const auto& d : devices) out.push_back(d.get());
  return out;
}

Seconds CpuTime(const rusage& used) {
  const auto seconds = [](const timeval& t) {
    return Seconds(static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec));
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// The store keeps a NaN, and every report shows it as null: a diverged loss must not vanish.
std::map<std::string, double> ToNumbers(const MarkMetrics& metrics) {
  std::map<std::string, double> out;
  for (const auto& [name, value] : metrics) {
    out[name] = value.value_or(std::numeric_limits<double>::quiet_NaN());
  }
  return out;
}

class Session final : public MarksHandler {
 public:
  Session(RunConfig config, RunParts parts, RunObserver& observer)
      : config_(std::move(config)),
        parts_(std::move(parts)),
        observer_(observer),
        recorder_(parts_.store),
        meter_(*parts_.clock, Borrow(parts_.devices), config_.meter) {}

  RunOutcome Run();

  MarkReply OnMark(ConnectionId connection, const Mark& mark) override;
  void OnClose(ConnectionId connection) override {
    rules_.Forget(connection);
    last_reply_.erase(connection);
  }

 private:
  Ledger::Moment Now() const { return {parts_.clock->Monotonic(), parts_.clock->Now()}; }
  Controller::Moment ControlNow() const { return {parts_.clock->Monotonic(), parts_.clock->Now()}; }

  void Begin();
  void MakeLedger();
  void MakeSteering();
  void Event(std::string kind, std::string message);

  // Takes what has been sampled into the books.
  void Settle();
  // The same, with every device read now, so that what is booked ends here.
  void SettleNow();
  // What is done once a second, and whenever the books must be up to date.
  void Tick();
  void Commit(Ledger::Rows rows = Ledger::Rows::kWholeSeconds);
  void CompactIfDue();
  void CollectFromSteering();

  void Account(const Mark& mark);
  void EndEpoch();

  void Loop(const ChildProcess& child, MarksSocket* socket);
  void HandleSignal(int signal_number, const ChildProcess& child);
  // Reaps what has ended; true when the command itself has.
  bool Reap(const ChildProcess& child);

  RunConfig config_;
  RunParts parts_;
  RunObserver& observer_;
  RunRecord record_;
  GridClock grid_;
  Recorder recorder_;
  std::optional<IntensityFeed> feed_;
  Meter meter_;
  std::optional<Ledger> ledger_;
  std::optional<Steering> steering_;
  MarkRules rules_;
  std::map<ConnectionId, MonoTime> last_reply_;
  std::optional<std::int64_t> total_epochs_;
  std::int64_t epoch_shift_ = 0;
  MonoTime started_;
  MonoTime next_compaction_;
  std::vector<EventRecord> events_;
  std::vector<DecisionRecord> decisions_;
  int exit_code_ = 1;
};

void Session::Event(std::string kind, std::string message) {
  EventRecord event{parts_.clock->Now(), std::move(kind), std::move(message)};
  observer_.OnEvent(event);
  events_.push_back(std::move(event));
}

void Session::Begin() {
  const Ledger::Moment now = Now();
  started_ = now.mono;
  record_.run_id = NewRunId(now.utc);
  record_.name = config_.name;
  record_.command = config_.command;
  record_.working_directory = config_.working_directory;
  record_.host = config_.host;
  record_.started_at = now.utc;
  if (auto self = ThisProcess()) record_.writer = *std::move(self);
  record_.zone = config_.zone;
  record_.policy = config_.policy_text;
  record_.settings_json = config_.settings_json;
  record_.grid_start = config_.grid_start.value_or(now.utc);
  record_.time_scale = config_.time_scale;
  grid_ = ClockOf(record_);
  recorder_.Begin(record_);
}

void Session::MakeLedger() {
  auto components = MakeComponents(parts_.devices, parts_.problems);
  auto whole_host = WholeHost(parts_.devices, components.size());
  feed_.emplace(parts_.source, record_.grid_start);
  ledger_.emplace(std::move(components), std::move(whole_host), grid_, *feed_, config_.ledger);
  // A kind that is missing as a whole is a line of the report; one device among others is told.
  for (const DeviceProblem& problem : parts_.problems) {
    const bool others = std::ranges::any_of(
        parts_.devices, [&](const auto& d) { return d->Info().kind == problem.kind; });
    const bool modelled = std::ranges::any_of(parts_.devices, [&](const auto& d) {
      return d->Info().kind == problem.kind && d->Info().provenance != Provenance::kMeasured;
    });
    if (others && !modelled) Event("warning", DescribeProblem(problem));
  }
}

void Session::MakeSteering() {
  steering_.emplace(
      config_, parts_,
      [this](std::string kind, std::string message) { Event(std::move(kind), std::move(message)); },
      [this]() -> std::optional<Joules> {
        SettleNow();
        if (!ledger_->GpuEnergyKnown()) return std::nullopt;
        return ledger_->GpuEnergy();
      });
  steering_->Start(record_.run_id, grid_, ControlNow());
  CollectFromSteering();
}

void Session::CollectFromSteering() {
  for (DecisionRecord& decision : steering_->TakeDecisions()) {
    observer_.OnDecision(decision);
    decisions_.push_back(std::move(decision));
  }
  ledger_->SetPowerLimit(steering_->Limit());
  if (auto measured = steering_->TakeMeasuredCurve(); !measured.empty()) {
    recorder_.SaveCurve(steering_->CurveKeyNow(), std::move(measured), parts_.clock->Now());
  }
}

void Session::SettleNow() {
  meter_.Sample();
  Settle();
}

void Session::Settle() {
  auto drained = meter_.Drain();
  const Ledger::Moment now = Now();
  for (const DeviceInterval& interval : drained.intervals) ledger_->AddInterval(interval, now);
  for (const DeviceNotice& notice : drained.notices) {
    Event("warning",
          fmt::format("{}: {}", parts_.devices[notice.device]->Info().name, notice.message));
  }
}

void Session::Tick() {
  Settle();
  if (parts_.job_share != nullptr) {
    if (const auto share = parts_.job_share->Take()) ledger_->ApplyHostShare(*share, Now());
  }
  if (auto problem = feed_->TakeProblem()) {
    Event("warning", "carbon intensity: " + *std::move(problem));
  }
  if (parts_.source != nullptr) {
    for (std::string& notice : parts_.source->TakeNotices()) Event("warning", std::move(notice));
  }
  steering_->Step(ControlNow());
  CollectFromSteering();
}

void Session::Commit(Ledger::Rows rows) {
  for (EventRecord& e : recorder_.TakeEvents()) Event(std::move(e.kind), std::move(e.message));
  RunUpdate update;
  ledger_->SetReadings(meter_.Readings());
  ledger_->TakeUpdate(Now(), rows, update);
  update.totals->duration = ToSeconds(parts_.clock->Monotonic() - started_);
  update.events = std::exchange(events_, {});
  update.decisions = std::exchange(decisions_, {});
  update.curve = steering_->TakeCurve();
  recorder_.Commit(std::move(update));
}

void Session::CompactIfDue() {
  const MonoTime now = parts_.clock->Monotonic();
  if (now < next_compaction_) return;
  next_compaction_ = now + ToNanoseconds(kCompactEvery);
  recorder_.Compact(parts_.clock->Now());
}

void Session::EndEpoch() {
  meter_.Sample();
  Tick();  // the epoch's energy ends here, and the host's share of it is known
  ledger_->EndEpoch(Now());
  const EpochRecord* const epoch = ledger_->LastEpoch();
  steering_->OnEpochEnd(ControlNow(), epoch->duration);
  CollectFromSteering();
  if (parts_.simulated != nullptr) parts_.simulated->SetLoad(SimulatedGpu::Load::kIdle);
  observer_.OnEpochEnd(*epoch, total_epochs_);
}

void Session::Account(const Mark& mark) {
  if (const auto* begin = std::get_if<EpochBeginMark>(&mark)) {
    if (begin->total_epochs) total_epochs_ = begin->total_epochs;
    if (ledger_->CurrentEpoch() != nullptr) EndEpoch();
    meter_.Sample();
    Tick();
    const int kept_as = ledger_->BeginEpoch(static_cast<int>(begin->epoch), Now());
    if (std::exchange(epoch_shift_, kept_as - begin->epoch) != epoch_shift_) {
      Event("info", fmt::format("epoch {} has begun anew; it is kept as epoch {}, and what follows "
                                "counts on from there",
                                begin->epoch, kept_as));
    }
    if (parts_.simulated != nullptr) parts_.simulated->SetLoad(SimulatedGpu::Load::kWorking);
    steering_->OnEpochBegin(ControlNow());
  } else if (const auto* end = std::get_if<EpochEndMark>(&mark)) {
    ledger_->AddMetrics(ToNumbers(end->metrics));
    EndEpoch();
  } else if (const auto* step = std::get_if<StepMark>(&mark)) {
    ledger_->AddSteps(step->count);
    steering_->OnStep(ControlNow(), static_cast<int>(step->count));
  } else if (const auto* metrics = std::get_if<MetricsMark>(&mark)) {
    ledger_->AddMetrics(ToNumbers(metrics->metrics));
  } else if (const auto* total = std::get_if<TotalEpochsMark>(&mark)) {
    total_epochs_ = total->value;
  } else if (const auto* batch = std::get_if<BatchSizeMark>(&mark)) {
    steering_->SetBatchSize(batch->value);
  }
  CollectFromSteering();
}

MarkReply Session::OnMark(ConnectionId connection, const Mark& mark) {
  MarkReply reply;
  const MonoTime arrived = parts_.clock->Monotonic();
  const auto verdict = rules_.Judge(connection, mark);
  if (!verdict) {
    reply.error = verdict.error().message;
    return reply;
  }
  if (std::holds_alternative<HelloMark>(mark)) reply.run_id = record_.run_id;
  // The step that has just been done took its own time; under the limit that was in force the real
  // GPU would have taken longer, so the simulated one makes up the difference.
  if (parts_.simulated != nullptr && std::holds_alternative<StepMark>(mark)) {
    if (const auto last = last_reply_.find(connection); last != last_reply_.end()) {
      reply.delay = ToSeconds(arrived - last->second) * (parts_.simulated->Slowdown() - 1);
    }
  }
  if (*verdict == MarkVerdict::kCount) Account(mark);
  last_reply_[connection] =
      parts_.clock->Monotonic() + ToNanoseconds(reply.delay.value_or(Seconds(0)));
  return reply;
}

bool Session::Reap(const ChildProcess& child) {
  bool ended = false;
  int status = 0;
  pid_t pid = 0;
  rusage used{};
  while ((pid = ::wait4(-1, &status, WNOHANG | WUNTRACED, &used)) > 0) {
    if (!WIFSTOPPED(status) && parts_.job_usage != nullptr) {
      parts_.job_usage->AddReaped(CpuTime(used));
    }
    if (pid != child.Pid()) continue;  // an orphan of the command, or the watchdog
    if (WIFSTOPPED(status)) {
      child.Stopped(WSTOPSIG(status));
      continue;
    }
    exit_code_ = ExitCodeFromWaitStatus(status);
    ended = true;
  }
  return ended;
}

void Session::HandleSignal(int signal_number, const ChildProcess& child) {
  switch (signal_number) {
    case SIGCHLD: return;
    case SIGTSTP: child.Signal(SIGTSTP); return;
    case SIGCONT: child.Continue(); return;
    default: child.Signal(signal_number); return;
  }
}

void Session::Loop(const ChildProcess& child, MarksSocket* socket) {
  MonoTime next_commit = parts_.clock->Monotonic() + ToNanoseconds(kCommitEvery);
  std::array<pollfd, 2> fds{};
  fds[0] = {parts_.signals->PollFd(), POLLIN, 0};
  fds[1] = {socket == nullptr ? -1 : socket->PollFd(), POLLIN, 0};
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(next_commit - parts_.clock->Monotonic());
    const int timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000));
    ::poll(fds.data(), fds.size(), timeout);
    // Marks first: the last ones of a command that has ended are still in the socket.
    if (socket != nullptr) socket->Pump(*this);
    for (const int s : parts_.signals->Take()) HandleSignal(s, child);
    if (Reap(child)) {
      if (socket != nullptr) socket->Pump(*this);
      return;
    }
    if (parts_.clock->Monotonic() >= next_commit) {
      Tick();
      Commit();
      CompactIfDue();
      next_commit = std::max(next_commit + ToNanoseconds(kCommitEvery),
                             parts_.clock->Monotonic() + std::chrono::milliseconds(1));
    }
  }
}

RunOutcome Session::Run() {
  RunOutcome outcome;
  // Grandchildren that outlive their parent stay ours to account for.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  Begin();
  outcome.run_id = record_.run_id;
  MakeLedger();
  if (!meter_.Start()) Event("warning", "a device does not answer; its energy is missing so far");
  MakeSteering();

  auto socket = MarksSocket::Open(config_.runtime_folder);
  if (!socket) Event("warning", "marks cannot be received: " + socket.error().message);

  SpawnOptions spawn;
  spawn.argv = config_.command;
  spawn.signal_mask = parts_.signals->OriginalMask();
  spawn.added_environment.emplace_back("LOWTIDE_RUN_ID", record_.run_id);
  if (socket) spawn.added_environment.emplace_back("LOWTIDE_SOCKET", (*socket)->Path().string());
  if (parts_.job_share != nullptr) parts_.job_share->Start();
  auto child = ChildProcess::Spawn(spawn);
  if (child) {
    if (parts_.job_usage != nullptr) parts_.job_usage->Start({child->Pid(), ::getpid(), {}});
    Commit();
    Loop(*child, socket ? socket->get() : nullptr);
    child->TakeTerminalBack();
  } else {
    exit_code_ = child.error().code == Code::kNotFound ? 127 : 126;
    outcome.start_error = child.error();
    // The caller tells of it.
    Event("info", "the command could not be started: " + child.error().message);
  }

  // The limits first: whatever else goes wrong, they are back.
  steering_->Finish();
  CollectFromSteering();
  if (ledger_->CurrentEpoch() != nullptr) EndEpoch();
  Tick();
  outcome.must_exit_hard = !meter_.Stop();
  for (const DeviceInterval& interval : meter_.Drain().intervals) {
    ledger_->AddInterval(interval, Now());
  }
  ledger_->CloseHostShare();
  Commit(Ledger::Rows::kAll);
  const bool store_answers = recorder_.End({parts_.clock->Now(), exit_code_});
  outcome.must_exit_hard = outcome.must_exit_hard || steering_->Hangs() || !store_answers;
  outcome.exit_code = exit_code_;
  for (EventRecord& e : recorder_.TakeEvents()) Event(std::move(e.kind), std::move(e.message));
  outcome.data = recorder_.Load();
  std::move(events_.begin(), events_.end(),
            std::back_inserter(outcome.data.events));  // too late for the store
  return outcome;
}

}  // namespace

RunOutcome RunCommand(RunConfig config, RunParts parts, RunObserver& observer) {
  auto session = std::make_unique<Session>(std::move(config), std::move(parts), observer);
  RunOutcome outcome = session->Run();
  // The abandoned sampling thread still uses the session's devices.
  if (outcome.must_exit_hard) [[maybe_unused]]
    const Session* const left = session.release();
  return outcome;
}

}  // namespace lowtide
