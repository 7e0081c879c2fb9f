// The smallest front end: what replay/include/flor and replay/torch are for LibTorch, over doubles. The
// wrappers call the runtime exactly as those of the library do.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace rules {

// A variable of the program, by reference.
struct Ref {
  Ref(double& value) : real(&value) {}
  Ref(int64_t& value) : integer(&value) {}
  Ref(int& value) : small(&value) {}
  Ref(bool& value) : truth(&value) {}
  Ref(std::string& value) : text(&value) {}
  Ref(std::vector<double>& values) : reals(&values) {}

  double* real = nullptr;
  int64_t* integer = nullptr;
  int* small = nullptr;
  bool* truth = nullptr;
  std::string* text = nullptr;
  std::vector<double>* reals = nullptr;
};
using Refs = std::vector<Ref>;

// In [0, 1), from the program's only generator.
double uniform();

class Loop {
 public:
  Loop(const std::string& name, int64_t begin, int64_t end) : Loop(name, true, begin, end) {}
  static Loop over(const std::string& name, int64_t size) { return {name, false, 0, size}; }  // a container's
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  bool next();  // for (Loop epoch{"epoch", 0, 6}; epoch.next();)
  int64_t operator*() const { return value_; }

 private:
  Loop(const std::string& name, bool range, int64_t begin, int64_t end);
  const bool range_;
  const int64_t begin_, end_;
  int64_t value_;
  bool started_ = false, exhausted_ = false;
  const int exceptions_ = std::uncaught_exceptions();
};

class SkipBlock {
 public:
  SkipBlock(const std::string& name, Refs objects);
  ~SkipBlock();
  SkipBlock(const SkipBlock&) = delete;
  SkipBlock& operator=(const SkipBlock&) = delete;
  bool step_into();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  const int exceptions_ = std::uncaught_exceptions();
};

class Guard {
 public:
  explicit Guard(Refs objects);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

void log(const std::string& name, double value, bool is_volatile = false);
void log_integer(const std::string& name, int64_t value);
void log_text(const std::string& name, const std::string& value);
void log_truth(const std::string& name, bool value);

// As flor::log("w", tensor, flor::histogram(8)), flor::whole and flor::image (values as pixels, one row).
void log_histogram(const std::string& name, const std::vector<double>& values);
void log_whole(const std::string& name, const std::vector<double>& values);
void log_image(const std::string& name, const std::vector<double>& values);

// A hyper-parameter, as text: from the command line of `flor record` or the record, else `otherwise`.
std::string argument(const std::string& name, const std::string& otherwise);

bool recording();
bool replaying();

}  // namespace rules
