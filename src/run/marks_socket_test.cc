#include "run/marks_socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace lowtide {
namespace {

using ::testing::HasSubstr;

class Recorder final : public MarksHandler {
 public:
  MarkReply OnMark(ConnectionId connection, const Mark& mark) override {
    marks.emplace_back(connection, mark);
    MarkReply reply;
    if (std::holds_alternative<HelloMark>(mark)) reply.run_id = "R";
    return reply;
  }
  void OnClose(ConnectionId connection) override { closed.push_back(connection); }

  std::vector<std::pair<ConnectionId, Mark>> marks;
  std::vector<ConnectionId> closed;
};

bool Readable(int fd) {
  pollfd p{fd, POLLIN, 0};
  return ::poll(&p, 1, 0) == 1;
}

class MarksSocketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/lowtide-marks-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    root_ = pattern;
    Open();
  }
  void TearDown() override {
    socket_.reset();
    std::filesystem::remove_all(root_);
  }

  void Open() {
    auto opened = MarksSocket::Open(root_ / "run");
    ASSERT_TRUE(opened) << opened.error().message;
    socket_ = *std::move(opened);
  }

  UniqueFd Connect() const {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket_->Path().c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::connect(fd.Get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0)
        << std::strerror(errno);
    return fd;
  }

  void PumpAll() {
    for (int i = 0; i < 1000 && Readable(socket_->PollFd()); ++i) socket_->Pump(recorder_);
  }

  static void Put(const UniqueFd& fd, std::string_view bytes) {
    ASSERT_EQ(::send(fd.Get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  // All that has arrived.
  static std::string Take(const UniqueFd& fd) {
    std::string text;
    char buffer[4096];
    for (;;) {
      const auto n = ::recv(fd.Get(), buffer, sizeof(buffer), MSG_DONTWAIT);
      if (n <= 0) return text;
      text.append(buffer, static_cast<std::size_t>(n));
    }
  }

  static bool HungUp(const UniqueFd& fd) {
    char byte = 0;
    return ::recv(fd.Get(), &byte, 1, MSG_DONTWAIT) == 0;
  }

  std::filesystem::path root_;
  std::unique_ptr<MarksSocket> socket_;
  Recorder recorder_;
};

TEST_F(MarksSocketTest, IsPrivateAndCleansUp) {
  struct stat info{};
  ASSERT_EQ(::stat((root_ / "run").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  ASSERT_EQ(::stat(socket_->Path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_FALSE(Readable(socket_->PollFd()));
  socket_.reset();
  EXPECT_FALSE(std::filesystem::exists(root_ / "run"));
}

TEST_F(MarksSocketTest, AnswersEachLineInOrder) {
  const UniqueFd a = Connect();
  const UniqueFd b = Connect();
  Put(a, "{\"mark\":\"hello\",\"protocol\":1}\n{\"mark\":\"nonsense\"}\n{\"mark\":\"step\",");
  Put(b, "{\"mark\":\"batch_size\",\"value\":8}\n");
  PumpAll();
  const std::string first = Take(a);
  EXPECT_THAT(first, HasSubstr("{\"ok\":true,\"protocol\":1,\"run_id\":\"R\"}\n{\"ok\":false"));
  EXPECT_THAT(first, HasSubstr("unknown mark"));
  EXPECT_EQ(Take(b), "{\"ok\":true}\n");
  Put(a, "\"count\":3}\n");
  PumpAll();
  EXPECT_EQ(Take(a), "{\"ok\":true}\n");
  ASSERT_EQ(recorder_.marks.size(), 3U);
  EXPECT_EQ(recorder_.marks[0].first, recorder_.marks[2].first);
  EXPECT_NE(recorder_.marks[0].first, recorder_.marks[1].first);
  EXPECT_EQ(std::get<StepMark>(recorder_.marks[2].second).count, 3);
}

TEST_F(MarksSocketTest, DropsPeersThatHangUp) {
  UniqueFd a = Connect();
  Put(a, "{\"mark\":\"step\",\"count\":1}\n{\"mark\":\"st");
  a.Reset();
  PumpAll();
  EXPECT_EQ(recorder_.marks.size(), 1U);
  EXPECT_EQ(recorder_.closed.size(), 1U);
  EXPECT_EQ(socket_->Connections(), 0U);
  EXPECT_FALSE(Readable(socket_->PollFd()));
}

TEST_F(MarksSocketTest, AnswersAPeerThatClosedItsSendingHalf) {
  const UniqueFd a = Connect();
  Put(a, "{\"mark\":\"step\",\"count\":1}\n");
  ASSERT_EQ(::shutdown(a.Get(), SHUT_WR), 0);
  PumpAll();
  EXPECT_EQ(Take(a), "{\"ok\":true}\n");
  EXPECT_TRUE(HungUp(a));
}

TEST_F(MarksSocketTest, HangsUpAfterALineThatIsTooLong) {
  const UniqueFd a = Connect();
  const std::string body = "{\"mark\":\"step\",\"count\":1}";
  Put(a, body + std::string(kMaxMarkBytes - body.size() - 1, ' ') + "\n");
  PumpAll();
  EXPECT_EQ(Take(a), "{\"ok\":true}\n");
  Put(a, std::string(kMaxMarkBytes, 'x'));
  PumpAll();
  EXPECT_THAT(Take(a), HasSubstr("at most 65536 bytes"));
  EXPECT_TRUE(HungUp(a));
  EXPECT_EQ(recorder_.marks.size(), 1U);
}

TEST_F(MarksSocketTest, APeerThatDoesNotReadIsHeldBackAndLosesNothing) {
  const UniqueFd a = Connect();
  const std::string line = "{\"mark\":\"step\",\"count\":1}\n";
  std::size_t sent_bytes = 0;
  std::string pending;
  // Until neither side moves: the kernel's buffers and ours are full.
  for (int idle = 0; idle < 3;) {
    if (pending.empty()) pending = line;
    const auto n = ::send(a.Get(), pending.data(), pending.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      sent_bytes += static_cast<std::size_t>(n);
      pending.erase(0, static_cast<std::size_t>(n));
      idle = 0;
    } else {
      PumpAll();
      ++idle;
    }
    ASSERT_LT(sent_bytes, 64U << 20U) << "the server buffers without bound";
  }
  const std::size_t complete = sent_bytes / line.size();
  std::string replies;
  for (int idle = 0; idle < 3;) {
    const std::string more = Take(a);
    idle = more.empty() ? idle + 1 : 0;
    replies += more;
    PumpAll();
  }
  EXPECT_EQ(replies.size(), complete * std::string("{\"ok\":true}\n").size());
  EXPECT_EQ(recorder_.marks.size(), complete);
}

TEST_F(MarksSocketTest, TurnsAwayMoreThanSixtyFourPeers) {
  std::vector<UniqueFd> peers;
  for (std::size_t i = 0; i < MarksSocket::kMaxConnections; ++i) {
    peers.push_back(Connect());
    PumpAll();
  }
  const UniqueFd extra = Connect();
  PumpAll();
  EXPECT_THAT(Take(extra), HasSubstr("\"ok\":false"));
  EXPECT_TRUE(HungUp(extra));
  EXPECT_EQ(socket_->Connections(), MarksSocket::kMaxConnections);
  peers.pop_back();
  PumpAll();
  const UniqueFd next = Connect();
  Put(next, "{\"mark\":\"step\",\"count\":1}\n");
  PumpAll();
  EXPECT_EQ(Take(next), "{\"ok\":true}\n");
}

TEST_F(MarksSocketTest, RunningOutOfDescriptorsDoesNotSpin) {
  const UniqueFd a = Connect();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const UniqueFd highest(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(highest.Get()) + 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  PumpAll();
  const bool spins = Readable(socket_->PollFd());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(spins);
  EXPECT_TRUE(HungUp(a));
}

TEST_F(MarksSocketTest, ReplacesADeadSocketButNotALiveOne) {
  const auto taken = MarksSocket::Open(root_ / "run");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kUnavailable);
  EXPECT_THAT(taken.error().message, HasSubstr("another process listens"));
  EXPECT_TRUE(std::filesystem::exists(socket_->Path()));

  const auto dead_dir = root_ / "dead";
  std::filesystem::create_directory(dead_dir);
  std::filesystem::permissions(dead_dir, std::filesystem::perms::owner_all);
  {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (dead_dir / "marks.sock").c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(::bind(fd.Get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  const auto replaced = MarksSocket::Open(dead_dir);
  EXPECT_TRUE(replaced) << replaced.error().message;
}

TEST_F(MarksSocketTest, RefusesBadPlaces) {
  const auto open_dir = root_ / "open";
  std::filesystem::create_directory(open_dir);
  std::filesystem::permissions(open_dir, std::filesystem::perms(0755));
  const auto shared = MarksSocket::Open(open_dir);
  ASSERT_FALSE(shared);
  EXPECT_EQ(shared.error().code, Code::kPermissionDenied);

  const auto too_long = MarksSocket::Open(root_ / std::string(100, 'd'));
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, Code::kInvalidArgument);
  EXPECT_THAT(too_long.error().message, HasSubstr("at most 107 bytes"));

  const auto blocked = root_ / "blocked";
  std::filesystem::create_directory(blocked);
  std::filesystem::permissions(blocked, std::filesystem::perms::owner_all);
  std::ofstream(blocked / "marks.sock") << "a file";
  const auto file = MarksSocket::Open(blocked);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("is not a socket"));
}

}  // namespace
}  // namespace lowtide
