// flor admin: sets up the cluster's Redis for its users. For the administrator of that Redis.
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <iostream>
#include <system_error>

#include "commands/base/options.h"
#include "commands/cli/commands.h"
#include "core/base/error.h"
#include "core/config/redis_setting.h"
#include "core/config/settings.h"
#include "core/store/store.h"
#include "queue/acl.h"

namespace flor::commands {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

struct Flags {
  std::string user;
  bool prune = false;
};

// Returns 256 random bits as hex digits.
std::string new_password() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::system_error(errno, std::generic_category(), "cannot get random bytes");
  constexpr const char* digits = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) {
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  return out;
}

// Returns the URL of the configured Redis, also as text in `url`. Its login must be allowed to change users.
queue::RedisUrl administered(std::string& url) {
  url = core::redis_url(core::Settings::load()).value_or("");
  if (url.empty())
    throw core::UsageError("which Redis? Give its URL, with a login that may change users, as FLOR_REDIS");
  return queue::RedisUrl::parse(url);
}

void require_closed(queue::Redis& redis) {
  if (!queue::is_open(redis)) return;
  throw core::Error(
      "Redis at " + redis.url().shown() +
      " lets anyone in as user default, without a password and to all keys; close it first: ACL SETUSER "
      "default resetpass '>PASSWORD' (redis-cli), or `user default on >PASSWORD ~* &* +@all` in "
      "users.acl, then give FLOR_REDIS=redis://:PASSWORD@HOST:PORT");
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

void warn_of_others(const std::vector<std::string>& libraries) {
  if (libraries.empty()) return;
  std::cerr << "flor: warning: Redis also holds the functions of other versions of Flor, with whatever "
               "mistakes they have, and any user may call them: "
            << joined(libraries)
            << "; remove them when no replay of those versions runs: flor admin redis-functions --prune\n";
}

void redis_functions(const Flags& flags) {
  std::string url;
  administered(url);
  queue::Redis redis(url, kPatience);
  const auto others = queue::load_functions(redis);
  if (!others)
    throw core::Error("Redis at " + redis.url().shown() + " has no functions; Redis 7 or later is needed");
  if (!flags.prune) return warn_of_others(*others);
  for (const auto& library : *others) {
    queue::delete_functions(redis, library);
    std::cout << "removed " << library << "\n";
  }
}

void redis_acl(const Flags& flags) {
  if (!core::is_valid_id(flags.user) || flags.user == "default") {
    throw core::UsageError(
        "'" + flags.user +
        "' can be no user of Redis: letters, digits, '.', '_' and '-', the first no sign, and not default");
  }
  std::string url;
  queue::RedisUrl place = administered(url);
  if (place.host.empty())
    throw core::UsageError(
        "over a unix socket users cannot be told apart; give redis://[user:password@]host:port as "
        "FLOR_REDIS");
  queue::Redis redis(url, kPatience);
  const std::string password = new_password();
  if (queue::is_own_login(redis, flags.user))
    throw core::UsageError("'" + flags.user +
                           "' is the login that FLOR_REDIS uses here, which would lose its rights and its "
                           "password; give the user another name");
  require_closed(redis);
  const auto others = queue::load_functions(redis);
  const bool kept =
      queue::set_user(redis, flags.user, queue::acl_rules(flags.user, password, others.has_value()));
  place.user.clear();
  std::string line = place.shown();
  line.insert(line.find("//") + 2, flags.user + ":" + password + "@");
  std::cout << "# for ~/.config/flor/flor.conf of " << flags.user
            << ", which nobody else may read (chmod 600):\n"
            << "redis = " << line << "\n";
  if (others) warn_of_others(*others);
  if (!others)
    std::cerr << "flor: warning: this Redis is older than 7: its users run scripts, with which each can keep "
                 "it busy "
                 "for ever\n";
  if (!kept)
    std::cerr << "flor: warning: this Redis has no aclfile (users.acl): it forgets the user when it is "
                 "started again\n";
}

}  // namespace

void add_admin(CLI::App& app, Outcome& /*outcome*/) {
  CLI::App* admin =
      app.add_subcommand("admin", "For administrators: set up Redis for the users of a cluster");
  admin->require_subcommand(1);
  CLI::App* command = admin->add_subcommand(
      "redis-acl", "Let a user into Redis, to their own keys only; prints the line for their flor.conf");
  auto flags = std::make_shared<Flags>();
  command->add_option("user", flags->user, "the user's name; a user who is there gets a new password")
      ->required();
  command->callback([flags] { redis_acl(*flags); });
  CLI::App* functions = admin->add_subcommand(
      "redis-functions",
      "Load this version's functions into Redis. Run it once after an upgrade; redis-acl does it, too");
  functions->add_flag("--prune", flags->prune,
                      "also remove the functions of other versions; their running replays end");
  functions->callback([flags] { redis_functions(*flags); });
}

}  // namespace flor::commands
