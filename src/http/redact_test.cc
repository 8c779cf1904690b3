#include "http/redact.h"

#include <gtest/gtest.h>

#include "http/base64.h"
#include "http/url.h"

namespace lowtide {
namespace {

TEST(Redact, HidesSecretsInEveryForm) {
  EXPECT_EQ(Redact("key=a+b/c= and a%2Bb%2Fc%3D", {"a+b/c="}), "key=*** and ***");
  EXPECT_EQ(Redact("abcdef abcd", {"abcd", "abcdef"}), "*** ***");
  EXPECT_EQ(Redact("x%2by", {"x+y"}), "x%2by") << "too short to be one";
  EXPECT_EQ(Redact("a bc", {"a", ""}), "a bc") << "too short to be one";
  EXPECT_EQ(Redact("q=aa%2bbb&x", {"aa+bb"}), "q=***&x");
}

TEST(Redact, HidesSecretsWithinBase64) {
  const std::string secret = "s3cret-key";
  for (const std::string before : {"", "u", "us", "user:", "somebody:"}) {
    for (const std::string after : {"", "!", ":x", "and more"}) {
      const std::string text = Redact("Basic " + Base64(before + secret + after), {secret});
      EXPECT_NE(text.find("***"), std::string::npos) << text;
      // At most a few bits of its ends are left.
      EXPECT_LE(text.size(),
                std::string("Basic ***").size() + 4 * (before.size() + after.size()) / 3 + 8);
    }
  }
  EXPECT_EQ(Redact("zone DE", {secret}), "zone DE");
}

TEST(Redact, DescribesARequestWithoutItsSecrets) {
  HttpRequest request;
  request.url = "https://host/s3cret-path/x";
  request.query = {{"zone", "DE"}, {"api_key", "0123456789"}, {"private", "mine-too"}};
  request.secret_names = {"Private"};
  request.secrets = {"s3cret-path"};
  EXPECT_EQ(Describe(request), "GET https://host/***/x?zone=DE&api_key=***&private=***");
}

TEST(Redact, ExcerptsAreShortAndOnOneLine) {
  HttpRequest request;
  request.headers = {{"Authorization", "Bearer abcdefgh"}};
  EXPECT_EQ(Excerpt("no\ntoken abcdefgh\x1b[31m", request), "no token *** [31m");
  EXPECT_EQ(Excerpt(std::string(1000, 'x'), request).size(), 163U);
  // A secret so long that many of them are cut short of the excerpt's end, once hidden.
  const std::string token(900, 'q');
  request.headers = {{"Authorization", "Bearer " + token}};
  std::string body;
  for (int i = 0; i < 20; ++i) body += token + ' ';
  EXPECT_EQ(Excerpt(body, request).find("qqqq"), std::string::npos);
}

TEST(Redact, DescribesAnAnswerWithoutSecrets) {
  HttpRequest request;
  request.url = "https://host/x";
  request.query = {{"securityToken", "0123456789"}};
  HttpResponse response;
  response.status = 401;
  response.body = "no such token: 0123456789";
  EXPECT_EQ(DescribeAnswer(request, response),
            "GET https://host/x?securityToken=***: HTTP 401: no such token: ***");
  response.body.clear();
  EXPECT_EQ(DescribeAnswer(request, response), "GET https://host/x?securityToken=***: HTTP 401");
}

TEST(Url, OriginAndLoopback) {
  EXPECT_EQ(Origin("HTTPS://Host.Example:8443/Path"), "https://host.example:8443");
  for (const char* url :
       {"http://localhost/", "http://127.0.0.1:80/", "http://127.9.9.9", "http://[::1]:1/"}) {
    EXPECT_TRUE(IsLoopback(url)) << url;
  }
  for (const char* url :
       {"http://localhost.evil.example/", "http://127.evil.example/", "http://10.0.0.1/", ""}) {
    EXPECT_FALSE(IsLoopback(url)) << url;
  }
}

}  // namespace
}  // namespace lowtide
