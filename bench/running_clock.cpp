// Preloaded into both sides of a comparison by slices (`overhead.py --slices`): the monotonic clock stands
// still while a side is stopped. Motivation: Flor divides what checkpoints cost by the time that passed. With
// the other side's slices in that time it took up to twice the checkpoints that it takes when it runs alone.
//
// The file named by RUNNING_CLOCK holds the nanoseconds stopped so far, a 64-bit number of this machine.
// Whoever stops and continues the process writes it, before it continues. Without the variable, all clocks go
// on.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::int64_t second = 1000000000;

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

const std::atomic<std::int64_t>* mapped() {
  const char* path = std::getenv("RUNNING_CLOCK");
  const int file = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* memory = mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<const std::atomic<std::int64_t>*>(memory);
}

std::int64_t stopped() {
  static const auto* nanoseconds = mapped();
  return nanoseconds == nullptr ? 0 : nanoseconds->load(std::memory_order_relaxed);
}

timespec later(const timespec& time, std::int64_t nanoseconds) {
  const std::int64_t all = time.tv_sec * second + time.tv_nsec + nanoseconds;
  return {all / second, all % second};
}

// Returns the deadline that the kernel is given. Its own clock goes on while the process is stopped.
timespec deadline(clockid_t clock, const timespec* time) {
  return clock == CLOCK_MONOTONIC ? later(*time, stopped()) : *time;
}

}  // namespace

extern "C" {

// The declarations of the C library promise not to throw.
int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static auto* const function = real<int(clockid_t, timespec*)>("clock_gettime");
  const int result = function(clock, time);
  if (result == 0 && clock == CLOCK_MONOTONIC) *time = later(*time, -stopped());
  return result;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* time) {
  static auto* const function =
      real<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>("pthread_cond_clockwait");
  const timespec until = deadline(clock, time);
  return function(condition, mutex, clock, &until);
}

int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
  static auto* const function = real<int(sem_t*, clockid_t, const timespec*)>("sem_clockwait");
  const timespec until = deadline(clock, time);
  return function(semaphore, clock, &until);
}
}
