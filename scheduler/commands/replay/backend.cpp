#include "commands/replay/backend.h"

#include <filesystem>

#include "commands/base/options.h"
#include "commands/sources/python_hook.h"
#include "commands/sources/python_program.h"
#include "core/base/error.h"
#include "core/config/preset.h"
#include "core/config/redis_setting.h"
#include "core/config/settings.h"
#include "dispatch/local.h"
#include "queue/queue.h"

namespace flor::commands {
namespace {

void require_fit(const std::string& url) {
  queue::Redis redis(url);
  if (const auto why = queue::unfit(redis)) throw core::Error(*why);
}

// Workers get the URL without its password, which they read from the user's files. Throws core::UsageError if
// they would not find it there.
void require_hidden_password(const core::Settings& settings, Workplace& place) {
  if (!core::is_found_without_password(settings, place.redis)) {
    throw core::UsageError(
        "FLOR_REDIS holds a password, which every process of a job would see: keep it as `redis = URL` in "
        "~/.config/flor/flor.conf (chmod 600)");
  }
  if (settings.exposed().empty() || settings.from_files("redis") != place.redis) return;
  place.notes.push_back(settings.exposed() + " holds a password and can be read by other users; " +
                        (settings.exposed().rfind("/etc/", 0) == 0
                             ? "let each user have a login of their own (flor admin redis-acl)"
                             : "chmod 600 it"));
}

std::string value_of(const core::Manifest& manifest, const char* key) {
  const auto at = manifest.environment.find(key);
  return at == manifest.environment.end() ? "" : at->second;
}

std::string choose_launcher(const std::string& wanted, const std::string& redis, Workplace& place) {
  if (wanted == "local") return wanted;
  if (wanted == "slurm") {
    if (redis.empty()) {
      throw core::UsageError(
          "--launcher slurm needs a Redis that all nodes reach: set FLOR_REDIS, or `redis` in "
          "flor.conf");
    }
    if (!dispatch::slurm_answers()) {
      throw core::Error(
          "--launcher slurm: Slurm does not answer here (`scontrol ping`); --launcher local runs the "
          "workers on this machine");
    }
    return wanted;
  }
  if (!dispatch::slurm_answers()) return "local";
  if (!redis.empty()) return "slurm";
  place.notes.emplace_back(
      "no Redis is configured that Slurm's nodes reach (FLOR_REDIS, flor.conf): the workers run on this "
      "machine");
  return "local";
}

dispatch::WorkerOrder order_of(const core::Store& store, const Asked& asked, const core::ReplayDir& replay,
                               const std::string& redis) {
  dispatch::WorkerOrder order;
  order.replay = replay;
  order.command = asked.plan.command;
  order.cwd = std::filesystem::current_path();
  order.threads = value_of(asked.manifest, "threads");
  order.gpu = value_of(asked.manifest, "gpu");
  order.environment = core::known_preset(asked.manifest.preset);
  order.environment["FLOR_REPLAY"] = asked.run.id() + "/" + replay.id();
  order.environment["FLOR_STORE"] = store.path().string();
  order.environment["FLOR_REDIS"] = core::without_password(redis);
  add_own_directory(order.environment);
  if (is_interpreted(asked.manifest)) {
    if (const auto path = core::environment_variable("PYTHONPATH")) order.environment["PYTHONPATH"] = *path;
    add_python_hook(order.environment);
  }
  return order;
}

std::unique_ptr<dispatch::Launcher> make_launcher(const std::string& name, dispatch::WorkerOrder order,
                                                  const dispatch::SbatchFlags& sbatch) {
  if (name == "local") return std::make_unique<dispatch::LocalLauncher>(std::move(order));
  return std::make_unique<dispatch::SlurmLauncher>(std::move(order), sbatch,
                                                   std::make_unique<dispatch::SinfoCluster>());
}

}  // namespace

FreePlaces free_places(const core::Store& store, const Asked& asked, const WorkplaceFlags& flags) {
  Workplace place;
  const std::string redis = core::redis_url(core::Settings::load()).value_or("");
  FreePlaces out;
  out.launcher = choose_launcher(flags.launcher, redis, place);
  out.notes = place.notes;
  const auto order = order_of(store, asked, asked.run.replay("dry-run"), redis);
  out.workers = make_launcher(out.launcher, order, flags.sbatch)->free_places();
  return out;
}

Workplace open_workplace(const core::Store& store, const Asked& asked, const core::ReplayDir& replay,
                         const WorkplaceFlags& flags) {
  Workplace place;
  const core::Settings settings = core::Settings::load();
  place.redis = core::redis_url(settings).value_or("");
  require_hidden_password(settings, place);
  const std::string launcher = choose_launcher(flags.launcher, place.redis, place);
  if (place.redis.empty()) {
    place.own_redis = std::make_unique<dispatch::PrivateRedis>(replay.workers());
    place.redis = place.own_redis->url();
  } else {
    require_fit(place.redis);
  }
  place.launcher = make_launcher(launcher, order_of(store, asked, replay, place.redis), flags.sbatch);
  return place;
}

}  // namespace flor::commands
