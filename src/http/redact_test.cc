#include "http/redact.h"

#include <gtest/gtest.h>

#include "http/url.h"

namespace lowtide {
namespace {

TEST(Redact, HidesSecretsInEveryForm) {
  EXPECT_EQ(Redact("key=a+b/c= and a%2Bb%2Fc%3D", {"a+b/c="}), "key=*** and ***");
  EXPECT_EQ(Redact("abcdef abcd", {"abcd", "abcdef"}), "*** ***");
  EXPECT_EQ(Redact("a bc", {"a", ""}), "a bc") << "too short to be one";
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
