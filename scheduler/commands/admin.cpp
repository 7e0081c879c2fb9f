// flor admin: what whoever runs the cluster's Redis does once for each user.
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <iostream>
#include <system_error>

#include "commands/commands.h"
#include "commands/options.h"
#include "core/error.h"
#include "core/settings.h"
#include "core/store.h"
#include "queue/acl.h"

namespace flor::commands {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

struct Flags {
  std::string user;
};

// 256 random bits in hex digits.
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

void redis_acl(const Flags& flags) {
  if (!core::is_valid_id(flags.user) || flags.user == "default") {
    throw core::UsageError(
        "'" + flags.user +
        "' can be no user of Redis: letters, digits, '.', '_' and '-', the first no sign, and not default");
  }
  const std::string url = core::Settings::load().get("redis").value_or("");
  if (url.empty())
    throw core::UsageError("which Redis? Give its URL, with a login that may change users, as FLOR_REDIS");
  queue::RedisUrl place = queue::RedisUrl::parse(url);
  if (place.host.empty())
    throw core::UsageError(
        "over a unix socket users cannot be told apart; give redis://[user:password@]host:port as "
        "FLOR_REDIS");
  queue::Redis redis(url, kPatience);
  const std::string password = new_password();
  const bool kept = queue::set_user(redis, flags.user, password);
  place.user.clear();
  std::string line = place.shown();
  line.insert(line.find("//") + 2, flags.user + ":" + password + "@");
  std::cout << "# for ~/.config/flor/flor.conf of " << flags.user
            << ", which nobody else may read (chmod 600):\n"
            << "redis = " << line << "\n";
  if (!kept)
    std::cerr << "flor: warning: this Redis has no aclfile (users.acl): it forgets the user when it is "
                 "started again\n";
}

}  // namespace

void add_admin(CLI::App& app, Outcome& /*outcome*/) {
  CLI::App* admin = app.add_subcommand("admin", "What whoever runs the cluster does for its users");
  admin->require_subcommand(1);
  CLI::App* command = admin->add_subcommand(
      "redis-acl", "Let a user into Redis, to their own keys only; prints the line for their flor.conf");
  auto flags = std::make_shared<Flags>();
  command->add_option("user", flags->user, "the user's name; a user who is there gets a new password")
      ->required();
  command->callback([flags] { redis_acl(*flags); });
}

}  // namespace flor::commands
