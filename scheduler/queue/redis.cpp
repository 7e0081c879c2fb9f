#include "queue/redis.h"

#include <fcntl.h>
#include <hiredis/hiredis.h>

#include <array>
#include <utility>

#include "core/base/held_signals.h"
#include "core/base/parse_number.h"
#include "queue/listener.h"

namespace flor::queue {
namespace {

// The longest list that is accepted. Each unit of a replay takes two items of a list.
constexpr auto longest_list = 1 << 22;
decltype(redisReplyObjectFunctions::createArray) create_any_list = nullptr;

template <class Size>  // int before hiredis 1.0
void* create_list(const redisReadTask* task, Size size) {
  return size > static_cast<Size>(longest_list) ? nullptr : create_any_list(task, size);
}

// Refuses lists that are too long. hiredis allocates a list as soon as it reads the length, even gigabytes.
void limit_lists(redisContext& context) {
  static redisReplyObjectFunctions limited = [&context] {
    redisReplyObjectFunctions functions = *context.reader->fn;
    create_any_list = functions.createArray;
    functions.createArray = create_list;
    return functions;
  }();
  context.reader->fn = &limited;
}

Reply converted(const redisReply& from) {
  Reply out;
  switch (from.type) {
    case REDIS_REPLY_INTEGER:
      out.kind = Reply::Kind::integer;
      out.integer = from.integer;
      break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
      out.kind = Reply::Kind::text;
      out.text.assign(from.str, from.len);
      break;
    case REDIS_REPLY_ARRAY:
      out.kind = Reply::Kind::list;
      for (std::size_t i = 0; i < from.elements; ++i) out.items.push_back(converted(*from.element[i]));
      break;
    default:
      break;
  }
  return out;
}

// Returns true for errors of a server that may answer differently a little later.
bool is_passing(std::string_view error) {
  static constexpr std::array<std::string_view, 9> prefixes{
      "LOADING",    "BUSY",     "MASTERDOWN",
      "READONLY",   "OOM",      "MISCONF",
      "NOREPLICAS", "TRYAGAIN", "ERR max number of clients"};
  for (const auto prefix : prefixes) {
    if (error.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

}  // namespace

std::string Reply::str() const {
  if (kind == Kind::integer) return std::to_string(integer);
  return text;
}

int64_t Reply::num(int64_t otherwise) const {
  if (kind == Kind::integer) return integer;
  return core::parse_number<int64_t>(text).value_or(otherwise);
}

const Reply& Reply::at(std::size_t index) const {
  static const Reply nil;
  return index < items.size() ? items[index] : nil;
}

struct Redis::Connection {
  redisContext* context = nullptr;
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (context != nullptr) ::redisFree(context);
  }
};

Redis::Redis(const std::string& url, std::chrono::milliseconds timeout)
    : url_(RedisUrl::parse(url)), timeout_(timeout) {}
Redis::~Redis() = default;
Redis::Redis(Redis&&) noexcept = default;
Redis& Redis::operator=(Redis&&) noexcept = default;

void Redis::down(const std::string& why) {
  connection_.reset();
  server_id_.clear();
  throw RedisDown("Redis at " + url_.shown() + " cannot be used: " + why);
}

bool Redis::connected() const {
  return connection_ != nullptr;
}

void Redis::connect() {
  const core::HeldSignals held;  // as in exchange()
  timeval limit{};
  limit.tv_sec = timeout_.count() / 1000;
  limit.tv_usec = static_cast<decltype(limit.tv_usec)>(timeout_.count() % 1000 * 1000);
  connection_ = std::make_unique<Connection>();
  redisContext* context = url_.host.empty() ? ::redisConnectUnixWithTimeout(url_.path.c_str(), limit)
                                            : ::redisConnectWithTimeout(url_.host.c_str(), url_.port, limit);
  connection_->context = context;
  if (context == nullptr) down("out of memory");
  if (context->err != 0) down(std::string(context->errstr));
  limit_lists(*context);
  ::fcntl(context->fd, F_SETFD, FD_CLOEXEC);
  ::redisSetTimeout(context, limit);
  if (!url_.password.empty()) {
    if (const auto why = why_not_trusted(context->fd, url_.path)) {
      down("the password is not sent: " + *why + " (is Redis, or its tunnel, down? see docs/security.md)");
    }
    exchange(url_.user.empty() ? std::vector<std::string>{"AUTH", url_.password}
                               : std::vector<std::string>{"AUTH", url_.user, url_.password});
  }
  if (url_.db != 0) exchange({"SELECT", std::to_string(url_.db)});
}

Reply Redis::exchange(const std::vector<std::string>& args) {
  // hiredis writes without MSG_NOSIGNAL, so a server that went away would end the process.
  const core::HeldSignals held;
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const auto& arg : args) {
    texts.push_back(arg.data());
    sizes.push_back(arg.size());
  }
  redisContext* context = connection_->context;
  void* raw = ::redisCommandArgv(context, static_cast<int>(args.size()), texts.data(), sizes.data());
  if (raw == nullptr) {
    const bool late = context->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (context->err == REDIS_ERR_OOM) down("its answer is too long, or memory is short");
    down(late ? "no answer within " + std::to_string(timeout_.count()) + " ms"
              : std::string(context->errstr));
  }
  const std::unique_ptr<void, void (*)(void*)> reply(raw, ::freeReplyObject);
  const auto& answer = *static_cast<redisReply*>(raw);
  Reply out = converted(answer);
  if (answer.type == REDIS_REPLY_ERROR) {
    if (is_passing(out.text)) down(out.text);
    throw RedisRefused("Redis at " + url_.shown() + " answered: " + out.text);
  }
  return out;
}

Reply Redis::command(const std::vector<std::string>& args) {
  if (!connection_) {
    try {
      connect();
    } catch (...) {
      connection_.reset();  // a refused AUTH leaves an open connection that can do nothing
      throw;
    }
  }
  return exchange(args);
}

Reply Redis::run(const Script& script, const std::vector<std::string>& keys,
                 const std::vector<std::string>& args) {
  std::vector<std::string> words{"EVALSHA", script.sha1, std::to_string(keys.size())};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), args.begin(), args.end());
  if (by_functions_) return call(script, std::move(words));
  try {
    return command(words);
  } catch (const RedisRefused& refused) {
    const std::string_view why = refused.what();
    by_functions_ =
        why.find("NOPERM") != std::string_view::npos && why.find("evalsha") != std::string_view::npos;
    if (!by_functions_ && why.find("NOSCRIPT") == std::string_view::npos) throw;
  }
  if (by_functions_) return call(script, std::move(words));
  words[0] = "EVAL";
  words[1] = script.text;
  return command(words);
}

Reply Redis::call(const Script& script, std::vector<std::string> words) {
  words[0] = "FCALL";
  words[1] = script.function;
  try {
    return command(words);
  } catch (const RedisRefused& refused) {
    if (std::string_view(refused.what()).find("Function not found") == std::string_view::npos) throw;
  }
  throw RedisRefused("Redis at " + url_.shown() +
                     " lacks the functions of this version of Flor; whoever runs it loads them: flor admin "
                     "redis-functions");
}

const std::string& Redis::server_id() {
  if (connection_ && !server_id_.empty()) return server_id_;
  const std::string info = command({"INFO", "server"}).text;
  const std::string field = "\nrun_id:";
  const auto at = info.find(field);
  const auto end = at == std::string::npos ? at : info.find_first_of("\r\n", at + field.size());
  if (end == std::string::npos) throw RedisRefused("Redis at " + url_.shown() + " does not tell its run_id");
  server_id_ = info.substr(at + field.size(), end - at - field.size());
  return server_id_;
}

}  // namespace flor::queue
