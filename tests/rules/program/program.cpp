// rules_program SCENARIO [--FLAG…]: see scenarios.h.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "scenarios.h"

namespace rules {
namespace {

std::map<std::string, std::string> options;

}  // namespace

bool flag(const std::string& name) {
  return options.count(name) != 0;
}

std::string text(const std::string& name) {
  auto found = options.find(name);
  return found == options.end() ? "" : found->second;
}

int64_t number(const std::string& name, int64_t otherwise) {
  return flag(name) ? std::atoll(text(name).c_str()) : otherwise;
}

void Model::step() {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double gradient = std::sin(3 * weights[i]) - uniform() * frozen[i];
    velocity[i] = 0.9 * velocity[i] + gradient;
    weights[i] -= rate * velocity[i];
  }
  ++steps;
}

double Model::loss() const {
  double sum = 0;
  for (double weight : weights) sum += weight * weight;
  return sum + 0.001 * static_cast<double>(steps);
}

double Model::norm() const {
  double sum = 0;
  for (double each : velocity) sum += each * each;
  return std::sqrt(sum);
}

void trace(const std::string& what) {
  if (!flag("trace")) return;
  const std::string line = what + (recording() ? " recording\n" : replaying() ? " replaying\n" : " plain\n");
  const int file = ::open(text("trace").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || ::write(file, line.data(), line.size()) < 0) std::perror(text("trace").c_str());
  ::close(file);
}

void hold(int64_t epoch) {
  if (epoch != number("hold", -1) || (text("in") == "recording" ? !recording() : !replaying())) return;
  const std::string until = text("until");
  // Whoever waits for the file must find the process id in it.
  std::ofstream(until + ".reaching") << ::getpid() << std::endl;
  std::rename((until + ".reaching").c_str(), (until + ".reached").c_str());
  for (int i = 0; i < 6000 && ::access(until.c_str(), F_OK) != 0; ++i) sleep_ms(10);
}

void meet() {
  static bool met = !flag("meet") || !replaying();
  if (met) return;
  met = true;
  const std::filesystem::path all = text("meet");
  std::ofstream(all / std::to_string(::getpid())).flush();
  const auto come = [&all] { return std::distance(std::filesystem::directory_iterator(all), {}); };
  for (int i = 0; i < 6000 && come() < 2; ++i) sleep_ms(10);
}

void leave_child() {
  if (::fork() != 0) return;
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
  for (int i = 0; i < 6000 && ::access(text("until").c_str(), F_OK) != 0; ++i) sleep_ms(10);
  ::_exit(0);
}

void sleep_ms(int64_t milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

void outer_probe(const Model& model) {
  if (flag("outer")) log("outer", model.norm() + (flag("draw") ? uniform() : 0));
}

void inner_probe(const Model& model) {
  if (flag("inner")) log("inner", model.norm() + (flag("draw") ? uniform() : 0));
}

}  // namespace rules

int main(int argc, char** argv) {
  using Scenario = int (*)();
  const std::map<std::string, Scenario> scenarios = {
      {"train", rules::train},         {"forget", rules::forget},     {"walk", rules::walk},
      {"growing", rules::growing},     {"best", rules::best},         {"guards", rules::guards},
      {"container", rules::container}, {"places", rules::places},     {"several", rules::several},
      {"outside", rules::outside},     {"endings", rules::endings},   {"forks", rules::forks},
      {"rows", rules::rows},           {"unlooped", rules::unlooped}, {"silent", rules::silent},
      {"observed", rules::observed},   {"meters", rules::meters},     {"helpers", rules::helpers},
      {"watchers", rules::watchers}};
  const auto scenario = scenarios.find(argc > 1 ? argv[1] : "");
  if (scenario == scenarios.end()) {
    std::fprintf(stderr, "usage: rules_program SCENARIO [--FLAG…], see scenarios.h\n");
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const auto equals = word.find('=');
    rules::options[word.substr(2, equals == std::string::npos ? equals : equals - 2)] =
        equals == std::string::npos ? "" : word.substr(equals + 1);
  }
  return scenario->second();
}
