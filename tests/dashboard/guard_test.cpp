// Who may see the dashboard, and which requests are read at all.
#include "dashboard/http/guard.h"

#include <gtest/gtest.h>

namespace flor::dashboard {
namespace {

Request request(const std::string& target, const std::string& host = "localhost:7070") {
  Request out;
  out.method = "GET";
  out.target = target_from(target).value();
  out.host = host;
  out.authorization = "Bearer secret";
  return out;
}

int status_of(const Request& request) {
  const auto refused = refusal({"secret", "counts", {"node7"}}, request);
  return refused ? refused->status : 200;
}

TEST(Target, IsDecoded) {
  const auto target = target_from("/run/a%20b?name=x%2Fy+z&empty=&flag&&a=b=c").value();
  EXPECT_EQ(target.path, "/run/a b");
  EXPECT_EQ(target.query, (std::map<std::string, std::string>{
                              {"name", "x/y z"}, {"empty", ""}, {"flag", ""}, {"", ""}, {"a", "b=c"}}));
}

TEST(Target, ThatCouldLeadElsewhereIsNone) {
  for (const char* text : {"", "run", "http://evil/", "/..", "/../x", "/a/../b", "/%2e%2e/x", "/a/%2E./b",
                           "/%", "/%4", "/%zz", "/a%00b", "/a%0d%0aSet-Cookie:x", "/?a=%0a", "*"})
    EXPECT_FALSE(target_from(text)) << text;
  for (const char* text : {"/...", "/a..b", "/..a/b"}) EXPECT_TRUE(target_from(text)) << text;
}

TEST(Guard, ShowsDataToWhoHasTheTokenAlone) {
  for (const char* path : {"/data/runs/r1", "/data/", "/events", "/metrics"}) {
    EXPECT_EQ(status_of(request(path)), 200) << path;
    for (const char* given :
         {"", "Bearer ", "Bearer secreT", "Bearer secret2", "Bearer secre", "secret", "Basic secret"}) {
      Request stranger = request(path);
      stranger.authorization = given;
      EXPECT_EQ(status_of(stranger), 401) << path << " " << given;
    }
  }
  Request link = request("/data/runs/r1?token=secret");
  link.authorization.clear();
  EXPECT_EQ(status_of(link), 401) << "an address may be seen by others";
}

// A monitor sends its token to whoever listens at its address.
TEST(Guard, AMonitorsTokenOpensTheMetricsAlone) {
  for (const char* path : {"/data/runs/r1", "/data/", "/events", "/metrics"}) {
    Request monitor = request(path);
    monitor.authorization = "Bearer counts";
    EXPECT_EQ(status_of(monitor), path == std::string("/metrics") ? 200 : 401) << path;
    monitor.authorization = "Bearer ";
    EXPECT_EQ(refusal({"secret", "", {}}, monitor)->status, 401) << "no token is no empty token";
  }
}

TEST(Guard, ThePageItselfIsTheSameForEveryone) {
  for (const char* path : {"/", "/run/r1", "/page/app.js"}) {
    Request stranger = request(path);
    stranger.authorization.clear();
    EXPECT_EQ(status_of(stranger), 200) << path;
  }
}

// An attacker's name that was rebound to this machine.
TEST(Guard, AnswersToNoStrangersName) {
  for (const char* host :
       {"localhost:7070", "LOCALHOST:9", "127.0.0.1:7070", "[::1]:7070", "10.0.0.7:80", "node7:7070"})
    EXPECT_EQ(status_of(request("/", host)), 200) << host;
  for (const char* host :
       {"", "evil.com:7070", "localhost.evil.com:7070", "node7.evil:1", "127.0.0.1.evil.com:7070", "[",
        "["
        "]",
        ":7070"})
    EXPECT_EQ(status_of(request("/", host)), 403) << host;
}

TEST(Guard, AnswersToNoOtherSitesPage) {
  Request own = request("/");
  own.origin = "http://localhost:7070";
  EXPECT_EQ(status_of(own), 200);
  for (const char* origin : {"http://evil.com", "null", "http://localhost:8080", "http://localhost"}) {
    own.origin = origin;
    EXPECT_EQ(status_of(own), 403) << origin;
  }
}

TEST(Guard, ShowsAndChangesNothing) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "HEAD", "get", ""}) {
    Request other = request("/");
    other.method = method;
    EXPECT_EQ(status_of(other), 405) << method;
  }
}

}  // namespace
}  // namespace flor::dashboard
