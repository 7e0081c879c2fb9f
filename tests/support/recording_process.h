// A process that records a run of a store until it is told to end, or is killed.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "core/files/durable.h"
#include "core/recording/recording.h"

namespace flor::test {

class NoFrontend : public core::Frontend {
 public:
  std::map<std::string, std::string> generators() override { return {}; }
  void set_generators(const std::map<std::string, std::string>&) override {}
  std::map<std::string, std::string> environment() override { return {}; }
  std::map<std::string, std::string> preset() override { return {}; }
  void apply(const std::map<std::string, std::string>&) override {}
  void synchronize() override {}
};

class RecordingProcess {
 public:
  // `earlier`: the run to go on with; else a new one is recorded, of the launch that FLOR_LAUNCH names.
  explicit RecordingProcess(const core::fs::path& store, const std::optional<core::RunDir>& earlier = {}) {
    std::array<int, 2> commands{};
    std::array<int, 2> answers{};
    if (::pipe(commands.data()) != 0 || ::pipe(answers.data()) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(commands[1]);
      ::close(answers[0]);
      record(store, earlier, commands[0], answers[1]);
    }
    ::close(commands[0]);
    ::close(answers[1]);
    command_ = core::Descriptor(commands[1]);
    const core::Descriptor answer(answers[0]);
    std::array<char, 512> text{};
    for (ssize_t got = 0; (got = ::read(answer.get(), text.data(), text.size())) > 0;)
      said_.append(text.data(), static_cast<std::size_t>(got));
  }
  ~RecordingProcess() { kill(); }
  RecordingProcess(const RecordingProcess&) = delete;
  RecordingProcess& operator=(const RecordingProcess&) = delete;

  // The id of the run that it records, or why it records none.
  const std::string& said() const { return said_; }
  void kill() { end(SIGKILL); }
  // Ends the recording as a program that is over does.
  void finish() {
    command_ = core::Descriptor();
    end(0);
  }

 private:
  [[noreturn]] static void record(const core::fs::path& store, const std::optional<core::RunDir>& earlier,
                                  int commands, int answers) {
    const auto say = [answers](const std::string& text) {
      [[maybe_unused]] const auto written = ::write(answers, text.data(), text.size());
      ::close(answers);
    };
    try {
      NoFrontend frontend;
      std::optional<core::EarlierAttempt> before;
      if (earlier) before = core::EarlierAttempt{*earlier, core::read_manifest(*earlier).attempt};
      auto begun = core::begin_run(core::Settings({{"store", store.string()}}), frontend, before);
      if (!begun) {
        say("another process of the launch records");
        ::_exit(1);
      }
      const core::OwnerFile& owner = begun->owner;
      say(begun->run.id());
      char end = 0;
      while (::read(commands, &end, 1) < 0) {
      }
      begun->manifest.status = "completed";
      core::write_manifest(begun->run, begun->manifest);
      owner.end();
    } catch (const std::exception& problem) {
      say(problem.what());
    }
    ::_exit(0);
  }

  void end(int signal) {
    if (pid_ <= 0) return;
    if (signal != 0) ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  pid_t pid_ = -1;
  core::Descriptor command_;
  std::string said_;
};

// As if the last heartbeat was so long ago.
inline void age_heartbeat(const core::RunDir& run, std::chrono::seconds age) {
  core::fs::last_write_time(run.path / "owner.0.json", core::fs::file_time_type::clock::now() - age);
}

// The run's owner file as a process on another node would have left it: everything else stays. Its heartbeat
// is fresh, on a slow machine, too.
inline void move_to_another_node(const core::RunDir& run) {
  const auto path = run.path / "owner.0.json";
  core::Json owner = core::Json::parse(core::read_file(path));
  owner["host"] = "another";
  owner["boot"] = "00000000-0000-0000-0000-000000000000";
  std::ofstream(path) << owner.dump() << "\n";  // in place: the recorder has it open
  age_heartbeat(run, std::chrono::hours(-1));
}

}  // namespace flor::test
