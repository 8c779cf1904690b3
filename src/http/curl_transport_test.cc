#include "http/curl_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "http/test_server.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class CurlTransportTest : public ::testing::Test {
 protected:
  Result<HttpResponse> Get(const std::string& url, CurlOptions options = {}) {
    CurlTransport transport(clock_, std::move(options));
    HttpRequest request;
    request.url = url;
    return transport.Send(request);
  }
  RealClock clock_;
};

TEST_F(CurlTransportTest, GivesStatusHeadersAndBody) {
  TestServer server(
      [](const auto&) { return Answer("200 OK", "X-Thing:  two words \r\n", "hello"); });
  const auto response = Get(server.Url("/path"), {.user_agent = "lowtide/test"});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "hello");
  EXPECT_EQ(response->Header("x-thing"), "two words");
  ASSERT_THAT(server.Requests(), SizeIs(1));
  EXPECT_THAT(server.Requests()[0], HasSubstr("GET /path HTTP/1.1"));
  EXPECT_THAT(server.Requests()[0], HasSubstr("User-Agent: lowtide/test"));
}

TEST_F(CurlTransportTest, AnyStatusIsAnAnswer) {
  TestServer server([](const auto&) { return Answer("503 Away", "", "later"); });
  const auto response = Get(server.Url());
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 503);
}

TEST_F(CurlTransportTest, EncodesTheQueryAndSendsHeadersAndBody) {
  TestServer server([](const auto&) { return Answer("200 OK", "", ""); });
  CurlTransport transport(clock_, {});
  HttpRequest request;
  request.method = "POST";
  request.url = server.Url();
  request.query = {{"zone", "DE&x"}, {"t", "2026-01-01T00:00:00+01:00"}};
  request.headers = {{"auth-token", "s3cret"}};
  request.body = "{}";
  ASSERT_TRUE(transport.Send(request));
  EXPECT_THAT(server.Requests()[0],
              HasSubstr("POST /?zone=DE%26x&t=2026-01-01T00%3A00%3A00%2B01%3A00 HTTP"));
  EXPECT_THAT(server.Requests()[0], HasSubstr("auth-token: s3cret"));
}

TEST_F(CurlTransportTest, ABodyThatIsTooLargeIsRefusedWhileItComes) {
  TestServer server([](const auto&) { return Answer("200 OK", "", std::string(5000, 'x')); });
  const auto response = Get(server.Url(), {.max_bytes = 4999});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kResourceExhausted);
  EXPECT_THAT(response.error().message, HasSubstr("larger than 4999 bytes"));
}

TEST_F(CurlTransportTest, ACutOffBodyIsNoAnswer) {
  TestServer server([](const auto&) {
    return std::string("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  });
  const auto response = Get(server.Url());
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kUnavailable);
}

TEST_F(CurlTransportTest, ASlowServerRunsIntoTheDeadline) {
  std::atomic<bool> done{false};
  TestServer server([&](const auto&) {
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return std::string();
  });
  const auto response = Get(server.Url(), {.timeout = Seconds(0.1)});
  done = true;
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kDeadlineExceeded);
}

TEST_F(CurlTransportTest, NobodyThereIsUnavailable) {
  std::string url;
  {
    TestServer server([](const auto&) { return std::string(); });
    url = server.Url();
  }
  EXPECT_EQ(Get(url).error().code, Code::kUnavailable);
  EXPECT_EQ(Get("https://name.invalid/").error().code, Code::kUnavailable);
}

TEST_F(CurlTransportTest, AStopEndsATransferThatIsUnderWay) {
  std::stop_source stop;
  std::atomic<bool> done{false};
  TestServer server([&](const auto&) {
    stop.request_stop();
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return std::string();
  });
  const auto response = Get(server.Url(), {.stop = stop.get_token()});
  done = true;
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kUnavailable);
}

TEST_F(CurlTransportTest, ARedirectIsFollowedOnTheSameHostOnly) {
  TestServer other([](const auto&) { return Answer("200 OK", "", "stolen"); });
  TestServer server([&](const std::string& request) {
    if (request.starts_with("GET /a ")) return Answer("302 Found", "Location: /b\r\n", "");
    if (request.starts_with("GET /b ")) return Answer("200 OK", "", "here");
    if (request.starts_with("GET /loop ")) return Answer("302 Found", "Location: /loop\r\n", "");
    return Answer("302 Found", "Location: " + other.Url("/x?auth-token=s3cret") + "\r\n", "");
  });
  EXPECT_EQ(Get(server.Url("/a"))->body, "here");
  EXPECT_THAT(Get(server.Url("/loop")).error().message, HasSubstr("more than 3 times"));
  const auto away = Get(server.Url("/away"));
  ASSERT_FALSE(away);
  EXPECT_THAT(away.error().message, HasSubstr("sent on to http://127.0.0.1"));
  EXPECT_THAT(away.error().message, Not(HasSubstr("s3cret")));
  EXPECT_THAT(other.Requests(), SizeIs(0));
}

TEST_F(CurlTransportTest, BadRequestsAreRefusedBeforeAnythingIsSent) {
  for (const char* url :
       {"", "ftp://host/", "file:///etc/passwd", "http://", "http://u:p@host/", "http://host/?q",
        "http://host/#f", "http://ho st/", "http://host/\r\nX: y"}) {
    const auto response = Get(url);
    ASSERT_FALSE(response) << url;
    EXPECT_EQ(response.error().code, Code::kInvalidArgument) << url;
  }
  CurlTransport transport(clock_, {});
  HttpRequest request;
  request.url = "http://127.0.0.1:1/";
  request.headers = {{"X-A", "b\r\nX-B: c"}};
  EXPECT_EQ(transport.Send(request).error().code, Code::kInvalidArgument);
}

TEST_F(CurlTransportTest, AKeyNeverTravelsUnencryptedToAnotherMachine) {
  CurlTransport transport(clock_, {});
  HttpRequest request;
  request.url = "http://grid.example/";
  request.headers = {{"auth-token", "s3cret"}};
  const auto response = transport.Send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kInvalidArgument);
  EXPECT_THAT(response.error().message, HasSubstr("unencrypted"));
  EXPECT_THAT(response.error().message, Not(HasSubstr("s3cret")));
}

// `openssl s_server` with a certificate made for `name`.
class TlsServer {
 public:
  explicit TlsServer(const std::string& name) {
    char pattern[] = "/tmp/lowtide-tls-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    const std::string make = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=" + name +
                             " -addext subjectAltName=" + name + " -keyout " + folder_.string() +
                             "/key -out " + CertificateFile() + " 2>/dev/null";
    made_ = std::system(make.c_str()) == 0;
    int out[2];
    if (::pipe(out) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], 1);
      ::execlp("openssl", "openssl", "s_server", "-www", "-accept", "127.0.0.1:0", "-cert",
               CertificateFile().c_str(), "-key", (folder_ / "key").c_str(), nullptr);
      ::_exit(127);
    }
    ::close(out[1]);
    std::string text;
    char c = 0;
    while (::read(out[0], &c, 1) == 1) {
      text += c;
      if (c != '\n') continue;
      if (text.starts_with("ACCEPT")) break;
      text.clear();
    }
    ::close(out[0]);
    if (const auto colon = text.rfind(':'); colon != std::string::npos) {
      port_ = std::atoi(text.c_str() + colon + 1);
    }
  }
  ~TlsServer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }
  bool Runs() const { return made_ && port_ > 0; }
  std::string CertificateFile() const { return (folder_ / "cert").string(); }
  std::string Url() const { return "https://127.0.0.1:" + std::to_string(port_) + "/"; }

 private:
  std::filesystem::path folder_;
  bool made_ = false;
  pid_t pid_ = -1;
  int port_ = 0;
};

TEST_F(CurlTransportTest, AWrongCertificateIsRefused) {
  const TlsServer right("IP:127.0.0.1");
  ASSERT_TRUE(right.Runs());
  const auto unknown = Get(right.Url());
  ASSERT_FALSE(unknown) << "nobody vouches for it";
  EXPECT_EQ(unknown.error().code, Code::kPermissionDenied) << unknown.error().message;
  const auto trusted = Get(right.Url(), {.ca_file = right.CertificateFile()});
  ASSERT_TRUE(trusted) << trusted.error().message;
  EXPECT_EQ(trusted->status, 200);

  const TlsServer other("DNS:other.example");
  ASSERT_TRUE(other.Runs());
  const auto wrong = Get(other.Url(), {.ca_file = other.CertificateFile()});
  ASSERT_FALSE(wrong) << "it is for another name";
  EXPECT_EQ(wrong.error().code, Code::kPermissionDenied) << wrong.error().message;
}

}  // namespace
}  // namespace lowtide
