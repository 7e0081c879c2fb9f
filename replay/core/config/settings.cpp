#include "core/config/settings.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/messages.h"
#include "core/config/conf.h"
#include "core/config/values.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Does `redis` hold a password, in a file that other users may read?
bool exposes_password(const fs::path& path, const std::map<std::string, std::string>& values) {
  const auto redis = values.find("redis");
  struct stat info = {};
  return redis != values.end() && without_password(redis->second) != redis->second &&
         ::stat(path.c_str(), &info) == 0 && (info.st_mode & 077) != 0;
}

std::string home() {
  if (auto home = environment_variable("HOME")) return *home;
  const passwd* entry = ::getpwuid(::getuid());
  return entry != nullptr ? entry->pw_dir : "/";
}

}  // namespace

std::string absolute_directory(std::string path) {
  if (path == "~" || path.rfind("~/", 0) == 0) path = home() + path.substr(1);
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return fs::absolute(path).string();
}

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

double hung_seconds() {
  return seconds_from(environment_variable("FLOR_HUNG_SECONDS").value_or("")).value_or(60);
}

double patience_seconds() {
  constexpr double usual = 180;
  const auto text = environment_variable("FLOR_PATIENCE");
  if (!text) return usual;
  const auto seconds = seconds_from(*text);
  if (!seconds) warn_once("FLOR_PATIENCE=" + *text + " is not a number of seconds, 0 or more; using 180");
  return seconds.value_or(usual);
}

Settings Settings::load() {
  const fs::path user = environment_variable("XDG_CONFIG_HOME").value_or(home() + "/.config");
  std::map<std::string, std::string> values;
  std::string exposed;
  for (const fs::path& path : {user / "flor" / "flor.conf", fs::path("/etc/flor/flor.conf")}) {
    const std::string text = slurp(path);
    for (const auto& problem : conf_problems(text)) warn_once(path.string() + ", " + problem);
    auto read = parse_conf(text);
    if (values.count("redis") == 0 && exposes_password(path, read)) exposed = path.string();
    values.merge(read);
  }
  Settings settings(std::move(values));
  settings.exposed_ = exposed;
  return settings;
}

std::string Settings::variable_of(const std::string& key) {
  std::string name = "FLOR_";
  for (char c : key) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::optional<std::string> Settings::asked(const std::string& key) {
  return environment_variable(variable_of(key).c_str());
}

std::optional<std::string> Settings::get(const std::string& key) const {
  if (auto value = environment_variable(variable_of(key).c_str())) return value;
  return from_files(key);
}

std::optional<std::string> Settings::from_files(const std::string& key) const {
  auto at = files_.find(key);
  if (at == files_.end()) return std::nullopt;
  return at->second;
}

std::string Settings::store() const {
  return absolute_directory(get("store").value_or(home() + "/.flor"));
}

std::optional<std::string> Settings::local() const {
  const auto path = get("local");
  if (!path) return std::nullopt;
  return absolute_directory(*path);
}

std::string node_name() {
  if (auto node = environment_variable("SLURMD_NODENAME")) return *node;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string name(host.data());
  return name.substr(0, name.find('.'));
}

}  // namespace flor::core
