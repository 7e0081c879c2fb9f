#include "core/session/termination.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace flor::core {
namespace {

using Start = pid_t (*)();

// Of a child, at the latest when its parent ends.
[[noreturn]] void wait_for_the_end() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (true) ::pause();
}

pid_t forked() {
  const pid_t child = ::fork();
  if (child == 0) wait_for_the_end();
  return child;
}

pid_t cloned() {
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0UL));
  if (child == 0) wait_for_the_end();
  return child;
}

// Its parent waits, so it has to end itself.
pid_t vforked() {
  const pid_t child = ::vfork();
  if (child == 0) {
    ::kill(::getpid(), SIGTERM);
    ::_exit(3);
  }
  return child;
}

pid_t executed() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sleep", "sleep", "60", nullptr);
    ::_exit(3);
  }
  return child;
}

pid_t spawned() {
  pid_t child = -1;
  char name[] = "sleep";
  char time[] = "60";
  char* words[] = {name, time, nullptr};
  char* none[] = {nullptr};
  return ::posix_spawn(&child, "/bin/sleep", nullptr, nullptr, words, none) == 0 ? child : -1;
}

// Terminates a child. Exits with 0 where SIGTERM ended the child and this process did not hear of it: else it
// ends by SIGTERM itself, at the latest in the destructor.
[[noreturn]] void terminate_child(Start start) {
  {
    const Termination watch([] { std::fputs("heard\n", stderr); });
    const pid_t child = start();
    ::kill(child, SIGTERM);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM) std::_Exit(1);
  }
  std::_Exit(0);
}

TEST(Termination, LeavesAChildToItsEnd) {
  const std::pair<const char*, Start> ways[] = {{"fork", forked},
                                                {"clone", cloned},
                                                {"vfork", vforked},
                                                {"fork and exec", executed},
                                                {"posix_spawn", spawned}};
  for (const auto& [name, start] : ways)
    EXPECT_EXIT(terminate_child(start), ::testing::ExitedWithCode(0), "^$") << name;
}

[[noreturn]] void look_into_child() {
  const Termination watch([] {});
  const pid_t child = ::fork();
  if (child == 0) {
    struct sigaction present {};
    ::sigaction(SIGTERM, nullptr, &present);
    ::_exit(present.sa_handler == SIG_DFL ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
}

TEST(Termination, LeavesAChildItsDisposition) {
  EXPECT_EXIT(look_into_child(), ::testing::ExitedWithCode(0), "");
}

[[noreturn]] void end_before_child() {
  ::alarm(30);  // instead of waiting for ever
  pid_t child = -1;
  {
    const Termination watch([] {});
    child = cloned();
  }
  ::kill(child, SIGKILL);
  std::_Exit(0);
}

TEST(Termination, EndsThoughAChildLivesOn) {
  EXPECT_EXIT(end_before_child(), ::testing::ExitedWithCode(0), "");
}

[[noreturn]] void be_terminated() {
  const Termination watch([] { std::fputs("heard\n", stderr); });
  ::kill(::getpid(), SIGTERM);
  while (true) ::pause();
}

TEST(Termination, CallsLastAndEndsTheProcess) {
  EXPECT_EXIT(be_terminated(), ::testing::KilledBySignal(SIGTERM), "^heard\n$");
}

// What fails meanwhile fails by SIGTERM: other processes of the program may have ended by it.
[[noreturn]] void look_whether_it_ends() {
  std::atomic<bool> looked{false};
  const Termination watch([&] {
    while (!looked) ::usleep(1000);
    std::fputs("looked\n", stderr);
  });
  if (watch.is_ending() || sigterm_came()) std::_Exit(1);
  ::kill(::getpid(), SIGTERM);
  while (!watch.is_ending() || !sigterm_came()) ::usleep(1000);
  looked = true;
  while (true) ::pause();
}

[[noreturn]] void get_it_oneself() {
  const Termination watch([] {});
  std::signal(SIGTERM, [](int) {});
  watch_for_sigterm();
  std::raise(SIGTERM);
  std::_Exit(sigterm_came() && !watch.is_ending() ? 0 : 1);
}

TEST(Termination, EndsNoProcessWhoseProgramHasSetAHandlerSince) {
  EXPECT_EXIT(get_it_oneself(), ::testing::ExitedWithCode(0), "");
}

TEST(Termination, SaysThatItIsEndingTheProcess) {
  EXPECT_EXIT(look_whether_it_ends(), ::testing::KilledBySignal(SIGTERM), "^looked\n$");
}

// As process 1 of a new namespace, which this process waits for.
[[noreturn]] void be_terminated_in_a_container() {
  if (::unshare(CLONE_NEWPID) != 0) std::_Exit(77);
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) std::_Exit(1);
  const pid_t child = ::fork();
  if (child == 0) {
    const Termination watch([] { std::fputs("heard\n", stderr); });
    [[maybe_unused]] const auto told = ::write(ends[1], "r", 1);
    while (true) ::pause();
  }
  char ready = 0;
  if (::read(ends[0], &ready, 1) != 1) std::_Exit(1);
  ::kill(child, SIGTERM);
  int status = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      std::_Exit(2);
    }
    ::usleep(1000);
  }
  // While its handler blocks SIGTERM in one thread, the kernel lets the signal end the process from another
  // one.
  std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

TEST(Termination, EndsTheFirstProcessOfAContainerToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "root alone can make a namespace of processes";
  EXPECT_EXIT(be_terminated_in_a_container(), ::testing::ExitedWithCode(128 + SIGTERM), "^heard\n$");
}

volatile std::sig_atomic_t calls = 0;
void count_call(int) {
  calls = calls + 1;
}

// In a process of its own: 0 where the program's handler was called once, and that was noted.
void notice_through_a_handler_that_is_set_again() {
  std::signal(SIGTERM, count_call);
  watch_for_sigterm();
  const bool was_early = sigterm_came();
  const auto present = std::signal(SIGTERM, SIG_IGN);  // as around a save that must not be interrupted
  watch_for_sigterm();
  std::signal(SIGTERM, present);
  watch_for_sigterm();
  std::raise(SIGTERM);
  ::_exit(calls == 1 && sigterm_came() && !was_early ? 0 : 1);
}

TEST(SigtermNotice, OutlivesAProgramThatSetsItsHandlerAgain) {
  EXPECT_EXIT(notice_through_a_handler_that_is_set_again(), ::testing::ExitedWithCode(0), "");
}

TEST(SigtermNotice, LeavesAProgramWithoutAHandlerAlone) {
  const auto notice = [] {
    watch_for_sigterm();
    std::raise(SIGTERM);
  };
  EXPECT_EXIT(notice(), ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace flor::core
