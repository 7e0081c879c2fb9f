// What the agent reads from its socket: everything is checked before anything is done.
#include "agent/messages.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "agent/fixture.h"

namespace flor::test {
namespace {

using agent::parse_request;
using agent::Refusal;

const std::string good_hello =
    R"({"op":"hello","protocol":1,"mode":"replay","run_dir":"/s/run","replay":"r1","worker":"w1","redis":"unix:///r","pid":7,"gpu":""})";

TEST(Messages, GoodOnesAreRead) {
  const auto hello = std::get<agent::HelloReplay>(parse_request(good_hello));
  EXPECT_EQ(hello.run_dir, "/s/run");
  EXPECT_EQ(hello.worker, "w1");
  EXPECT_EQ(hello.pid, 7);
  const auto record = std::get<agent::HelloRecord>(parse_request(
      R"({"op":"hello","protocol":1,"mode":"record","run":"r","run_dir":"/s/r/","redis":"","pid":7})"));
  EXPECT_EQ(record.run_dir, "/s/r");
  EXPECT_EQ(record.local, "");
  EXPECT_TRUE(std::holds_alternative<agent::SpoolRequest>(parse_request(R"({"op":"spool"})")));
  EXPECT_EQ(std::get<agent::ClaimRequest>(parse_request(R"({"op":"claim","from":-1})")).from, -1);
  EXPECT_FALSE(std::get<agent::ClaimRequest>(parse_request(R"({"op":"claim","from":-1})")).left);
  EXPECT_EQ(std::get<agent::ClaimRequest>(parse_request(R"({"op":"claim","from":3,"left":60})")).left, 60);
  EXPECT_EQ(
      std::get<agent::ProgressRequest>(parse_request(R"({"op":"progress","segment":"3","unit":10})")).unit,
      10);
  EXPECT_TRUE(std::holds_alternative<agent::RecordProgress>(
      parse_request(R"({"op":"progress","at":"epoch=3","of":12,"seconds":1.5})")));
  const auto commit = std::get<agent::CommitRequest>(
      parse_request(R"({"op":"commit","segment":"3","unit":10,"digest":"ab","bytes":5,"seconds":2})"));
  EXPECT_EQ(commit.seconds, 2);
  const auto release = std::get<agent::ReleaseRequest>(
      parse_request(R"({"op":"release","segment":"3","error":")" + std::string(5000, 'x') + "\"}"));
  EXPECT_EQ(release.error.size(), 1000U) << "last words are cut, not refused";
}

TEST(Messages, BadOnesAreRefusedByTheirField) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"", "JSON"},
      {"[]", "JSON"},
      {"{", "JSON"},
      {std::string(60000, '['), "JSON"},
      {R"({"op":7})", "op"},
      {R"({"op":"dance"})", "op"},
      {R"({"op":"hello"})", "protocol"},
      {R"({"op":"hello","protocol":2})", "protocol"},
      {R"({"op":"hello","protocol":1,"mode":"x"})", "mode"},
      {R"({"op":"hello","protocol":1,"mode":"replay","run_dir":"s/run"})", "run_dir"},
      {R"({"op":"hello","protocol":1,"mode":"replay","run_dir":"/s/../run","replay":"r","worker":"w"})",
       "run_dir"},
      {R"({"op":"hello","protocol":1,"mode":"replay","run_dir":"/s","replay":"../r","worker":"w"})",
       "replay"},
      {R"({"op":"hello","protocol":1,"mode":"replay","run_dir":"/s","replay":"r","worker":"a b"})", "worker"},
      {R"({"op":"hello","protocol":1,"mode":"replay","run_dir":"/s","replay":"r","worker":"w","segment":"1"})",
       "fence"},
      {R"({"op":"hello","protocol":1,"mode":"replay","run_dir":"/s","replay":"r","worker":"w","segment":"1","fence":"1.x"})",
       "fence"},
      {R"({"op":"hello","protocol":1,"mode":"record","run":"a/b","run_dir":"/s"})", "run"},
      {R"({"op":"hello","protocol":1,"mode":"record","run":"r","run_dir":"/s","local":"l/r"})", "local"},
      {R"({"op":"hello","protocol":1,"mode":"record","run":"r","run_dir":"/s","local":"/l/../r"})", "local"},
      {R"({"op":"claim"})", "from"},
      {R"({"op":"claim","from":-2})", "from"},
      {R"({"op":"claim","from":1.5})", "from"},
      {R"({"op":"claim","from":18446744073709551615})", "from"},
      {R"({"op":"claim","from":1,"left":-1})", "left"},
      {R"({"op":"progress","segment":"3"})", "unit"},
      {R"({"op":"progress","segment":3,"unit":1})", "segment"},
      {R"({"op":"commit","segment":"3","unit":-1,"digest":"","bytes":1})", "unit"},
      {R"({"op":"commit","segment":"3","unit":1,"digest":"","bytes":-1})", "bytes"},
      {R"({"op":"commit","segment":"a\u0000b","unit":1,"digest":"","bytes":1})", "segment"},
      {R"({"op":"release"})", "segment"},
  };
  for (const auto& [line, name] : table) {
    try {
      parse_request(line);
      ADD_FAILURE() << "accepted: " << line.substr(0, 200);
    } catch (const Refusal& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(name), std::string::npos)
          << line.substr(0, 200) << ": " << refusal.what();
    }
  }
}

// Sends bytes as they are and reads until the agent hangs up.
std::string raw(const std::string& socket, const std::string& bytes) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket.data(), socket.size());
  const timeval limit{20, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t size = ::send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (size <= 0) break;
    at += static_cast<std::size_t>(size);
  }
  std::string out;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = ::recv(fd, buffer, sizeof buffer, 0)) > 0)
    out.append(buffer, static_cast<std::size_t>(size));
  EXPECT_TRUE(size == 0 || errno == ECONNRESET) << "the agent did not hang up";
  ::close(fd);
  return out;
}

TEST(Messages, TheAgentAnswersNonsenseAndHangsUp) {
  const TempDir dir;
  Agent agent(dir.path());
  EXPECT_NE(raw(agent.socket(), "GET / HTTP/1.1\r\n\r\n").find(R"("ok":false)"), std::string::npos);
  EXPECT_NE(raw(agent.socket(), R"({"op":"claim","from":0})"
                                "\n")
                .find("hello"),
            std::string::npos);
  EXPECT_NE(raw(agent.socket(), "{\"op\":\"spool\"}\n").find("hello"), std::string::npos);
  EXPECT_NE(raw(agent.socket(), std::string(64 * 1024, 'x')).find("64 KiB"), std::string::npos);
  EXPECT_NE(raw(agent.socket(), std::string(64 * 1024, 'x') + "\n").find("64 KiB"), std::string::npos);
  raw(agent.socket(), std::string(4 << 20, 'x'));  // it need not read it all
  EXPECT_NE(raw(agent.socket(), good_hello + "\n").find("/s/run/replays/r1/plan.json"), std::string::npos);
  EXPECT_NE(raw(agent.socket(), std::string("\0\0\n", 3)).find(R"("ok":false)"), std::string::npos);
  core::AgentLink link(agent.socket());
  EXPECT_TRUE(link.open()) << "and lives on";
}

TEST(Messages, SplitAndJoinedLinesAreTheSame) {
  const TempDir dir;
  Agent agent(dir.path());
  const std::string hello = R"({"op":"hello","protocol":1,"mode":"record","run":"r","run_dir":"/s/r"})"
                            "\n";
  const std::string progress = R"({"op":"progress","at":"epoch=1"})"
                               "\n";
  std::string out = raw(agent.socket(), hello + progress + progress + "x\n");
  EXPECT_EQ(out.rfind(R"({"ok":true})"
                      "\n"
                      R"({"ok":true})"
                      "\n"
                      R"({"ok":true})"
                      "\n"
                      R"({"ok":false)",
                      0),
            0U)
      << out;
}

}  // namespace
}  // namespace flor::test
