// The server against clients that are slow, loud, many, or gone. Real sockets.
#include "dashboard/http/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "core/base/error.h"
#include "core/files/descriptor.h"

namespace flor::dashboard {
namespace {

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  bool try_send(const std::string& text) const {
    return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) >= 0;
  }
  void send(const std::string& text) const { EXPECT_TRUE(try_send(text)); }
  // Returns what comes until `end` is in it, the server closes, or ten seconds pass without a byte.
  std::string receive(const std::string& end) const {
    std::string out;
    char bytes[4096];
    pollfd ready{socket_.get(), POLLIN, 0};
    while (out.find(end) == std::string::npos && ::poll(&ready, 1, 10000) > 0) {
      const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, 0);
      if (got <= 0) break;
      out.append(bytes, static_cast<std::size_t>(got));
    }
    return out;
  }
  bool is_closed() const { return receive("no such text").empty(); }

 private:
  core::Descriptor socket_;
};

class ServerTest : public ::testing::Test {
 protected:
  void start(double patience = 10, std::size_t most = 256) {
    ServerOptions options;
    options.guard.token = "secret";
    options.patience = patience;
    options.most_connections = most;
    server_ = std::make_unique<Server>(
        options, [](const Request& request) { return answer(request); }, feed_);
    thread_ = std::thread([this] { server_->run(); });
  }
  void TearDown() override {
    server_->stop();
    thread_.join();
    server_.reset();
  }
  static Response answer(const Request& request) {
    Response out{200, "text/plain", "seen " + request.target.path};
    if (request.target.path == "/throws") throw core::Error("it is damaged");
    out.is_stream = request.target.path == "/events";
    return out;
  }
  static std::string get(const std::string& target, const std::string& more = "") {
    return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n" + more +
           "\r\n";
  }
  Client client() const { return Client(server_->port()); }

  Feed feed_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

TEST_F(ServerTest, AnswersOverOneConnectionAgainAndAgain) {
  start();
  const Client one = client();
  for (int i = 0; i < 3; ++i) {
    one.send(get("/x"));
    const std::string answer = one.receive("seen /x");
    EXPECT_EQ(answer.find("HTTP/1.1 200 OK\r\n"), 0U);
    EXPECT_NE(answer.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
  }
}

TEST_F(ServerTest, WhatFailsIsAnAnswer) {
  start();
  const Client one = client();
  one.send(get("/throws"));
  EXPECT_EQ(one.receive("it is damaged").find("HTTP/1.1 500 "), 0U);
  one.send(get("/still-there"));
  EXPECT_NE(one.receive("seen /still-there").find("200 OK"), std::string::npos);
}

TEST_F(ServerTest, RefusesWhatIsNoRequest) {
  start();
  const std::pair<std::string, const char*> cases[] = {
      {"nonsense\r\n\r\n", "HTTP/1.1 400 "},
      {get("/../etc/passwd"), "HTTP/1.1 400 "},
      {get("/%2e%2e/etc/passwd"), "HTTP/1.1 400 "},
      {get("/" + std::string(20000, 'a')), "HTTP/1.1 431 "},
      {get("/", "X: " + std::string(20000, 'a') + "\r\n"), "HTTP/1.1 431 "},
      {"GET /data/x HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 401 "},
      {"GET / HTTP/1.1\r\nHost: evil.com\r\nAuthorization: Bearer secret\r\n\r\n", "HTTP/1.1 403 "},
      {"POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\r\n", "HTTP/1.1 405 "},
  };
  for (const auto& [text, expected] : cases) {
    const Client one = client();
    one.send(text);
    EXPECT_EQ(one.receive("\r\n").find(expected), 0U) << text.substr(0, 60);
  }
  const Client body = client();
  body.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n" +
            std::string(1000, 'a'));
  EXPECT_NE(body.receive("\r\n").find("HTTP/1.1 4"), std::string::npos);
}

TEST_F(ServerTest, AClientThatDoesNotGoOnIsClosed) {
  start(0.3);
  const Client silent = client(), slow = client(), idle = client();
  slow.send("GET / HT");
  idle.send(get("/x"));
  EXPECT_NE(idle.receive("seen /x").find("200 OK"), std::string::npos);
  for (const Client* one : {&silent, &slow, &idle}) EXPECT_TRUE(one->is_closed());
}

// A client may send a byte now and then; the time of a request is limited as a whole.
TEST_F(ServerTest, AClientThatTricklesIsClosed) {
  start(0.5);
  const Client one = client();
  int sent = 0;
  while (sent < 100 && one.try_send("G")) {
    ++sent;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_LT(sent, 100);
}

TEST_F(ServerTest, MoreConnectionsThanItTakesAreClosedAndOthersGoOn) {
  start(10, 2);
  const Client first = client(), second = client();
  first.send(get("/first"));
  EXPECT_NE(first.receive("seen /first").find("200 OK"), std::string::npos);
  second.send(get("/second"));
  EXPECT_NE(second.receive("seen /second").find("200 OK"), std::string::npos);
  EXPECT_TRUE(client().is_closed());
  first.send(get("/again"));
  EXPECT_NE(first.receive("seen /again").find("200 OK"), std::string::npos);
}

TEST_F(ServerTest, ViewersSeeChangesAndGoOnWhereTheyWere) {
  start();
  feed_.publish("S1", "D1");
  const Client viewer = client();
  viewer.send(get("/events"));
  const std::string first = viewer.receive("data: S1\n\n");
  EXPECT_NE(first.find("Content-Type: text/event-stream"), std::string::npos);
  const std::size_t at = first.find("id: ") + 4;
  const std::string id = first.substr(at, first.find('\n', at) - at);
  feed_.publish("S2", "D2");
  EXPECT_NE(viewer.receive("data: D2\n\n").find("event: change\n"), std::string::npos);
  const Client again = client();
  again.send(get("/events", "Last-Event-ID: " + id + "\r\n"));
  const std::string missed = again.receive("data: D2\n\n");
  EXPECT_NE(missed.find("data: D2\n\n"), std::string::npos);
  EXPECT_EQ(missed.find("snapshot"), std::string::npos);
}

// Its socket is full, and it takes nothing more.
TEST_F(ServerTest, AViewerThatReadsNothingHoldsUpNoOther) {
  start(0.5);
  const Client stuck = client(), viewer = client();
  stuck.send(get("/events"));
  viewer.send(get("/events"));
  EXPECT_NE(viewer.receive("event: snapshot").find("200 OK"), std::string::npos);
  const std::string large(1 << 20, 'x');
  for (int i = 0; i < 12; ++i) {
    feed_.publish("S", large + std::to_string(i));
    EXPECT_NE(viewer.receive(large + std::to_string(i) + "\n\n").size(), 0U);
  }
}

TEST(Server, ThatCannotListenSaysWhere) {
  Feed feed;
  ServerOptions options;
  options.address = "192.0.2.1";  // no machine has it
  try {
    const Server server(options, nullptr, feed);
    FAIL();
  } catch (const core::Error& problem) {
    EXPECT_EQ(std::string(problem.what()).find("cannot listen on 192.0.2.1:0: "), 0U) << problem.what();
  }
}

}  // namespace
}  // namespace flor::dashboard
