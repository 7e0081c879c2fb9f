#include "messages.h"

#include <algorithm>
#include <cmath>

#include "core/store/store.h"

namespace flor::agent {
namespace {

using core::Json;

constexpr int64_t largest = int64_t{1} << 53;  // every JSON reader has whole numbers up to here exactly

// Reads the fields of one request.
class Fields {
 public:
  explicit Fields(const Json& json) : json_(json) {}

  std::string text(const char* name, std::size_t limit, bool required) const {
    const auto at = json_.find(name);
    if (at == json_.end() || at->is_null()) {
      if (required) throw Refusal(std::string("the request lacks '") + name + "'");
      return "";
    }
    if (!at->is_string()) throw Refusal(std::string("'") + name + "' is no text");
    const auto& value = at->get_ref<const std::string&>();
    if (value.size() > limit) {
      throw Refusal(std::string("'") + name + "' is longer than " + std::to_string(limit) + " bytes");
    }
    if (value.find('\0') != std::string::npos) throw Refusal(std::string("'") + name + "' holds a zero byte");
    if (required && value.empty()) throw Refusal(std::string("'") + name + "' is empty");
    return value;
  }

  std::string id(const char* name, bool required = true) const {
    std::string value = text(name, 128, required);
    if (!value.empty() && !core::is_valid_id(value)) {
      throw Refusal(std::string("'") + name + "' is no valid id: letters, digits, '.', '_' and '-'");
    }
    return value;
  }

  std::string directory(const char* name, bool required = true) const {
    std::string value = text(name, 4000, required);
    if (value.empty()) return value;
    const core::fs::path path(value);
    const bool dots =
        std::any_of(path.begin(), path.end(), [](const core::fs::path& p) { return p == ".."; });
    if (!path.is_absolute() || dots) {
      throw Refusal(std::string("'") + name + "' is no absolute path without '..'");
    }
    while (value.size() > 1 && value.back() == '/') value.pop_back();
    return value;
  }

  int64_t integer(const char* name, int64_t low, int64_t high, const int64_t* otherwise = nullptr) const {
    const auto at = json_.find(name);
    if (at == json_.end() && otherwise != nullptr) return *otherwise;
    if (at == json_.end() || !at->is_number_integer()) {
      throw Refusal(std::string("'") + name + "' is no whole number");
    }
    const bool huge = at->is_number_unsigned() && at->get<uint64_t>() > static_cast<uint64_t>(high);
    const int64_t value = huge ? high : at->get<int64_t>();
    if (huge || value < low || value > high) {
      throw Refusal(std::string("'") + name + "' is not within " + std::to_string(low) + " and " +
                    std::to_string(high));
    }
    return value;
  }

  double seconds() const {
    const auto at = json_.find("seconds");
    if (at == json_.end()) return 0;
    if (!at->is_number()) throw Refusal("'seconds' is no number");
    const auto value = at->get<double>();
    if (!(value >= 0 && value < 1e12)) throw Refusal("'seconds' is out of range");
    return value;
  }

 private:
  const Json& json_;
};

bool is_fence(const std::string& text) {
  const auto dot = text.find('.');
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  return dot != std::string::npos && dot > 0 && dot + 1 < text.size() && text.size() <= 40 &&
         std::all_of(text.begin(), text.end(), digit) && text.find('.', dot + 1) == std::string::npos;
}

Request hello(const Fields& fields) {
  const int64_t protocol = fields.integer("protocol", 0, largest);
  if (protocol != protocol_version) {
    throw Refusal("this flor-agent speaks protocol " + std::to_string(protocol_version) + ", not " +
                  std::to_string(protocol) + "; stop it, so that one of the library's version is started");
  }
  const std::string mode = fields.text("mode", 16, true);
  if (mode == "record") {
    return HelloRecord{fields.id("run"), fields.directory("run_dir"), fields.directory("local", false)};
  }
  if (mode != "replay") throw Refusal("'mode' is neither replay nor record");
  const int64_t none = 0;
  HelloReplay out;
  out.run_dir = fields.directory("run_dir");
  out.replay = fields.id("replay");
  out.worker = fields.id("worker");
  out.redis = fields.text("redis", 1024, false);
  out.node = fields.text("node", 256, false);
  out.gpu = fields.text("gpu", 256, false);
  out.job = fields.text("job", 64, false);
  out.task = fields.text("task", 64, false);
  out.pid = fields.integer("pid", 0, largest, &none);
  out.segment = fields.id("segment", false);
  out.fence = fields.text("fence", 40, !out.segment.empty());
  if (!out.fence.empty() && !is_fence(out.fence)) throw Refusal("'fence' is no fencing token");
  out.hi = fields.integer("hi", 0, largest, &none);
  return out;
}

// Cuts a long error instead of refusing it: it may be the last message of a worker.
std::string cut(std::string text, std::size_t limit) {
  if (text.size() > limit) text.resize(limit);
  return text;
}

Request progress(const Fields& fields, bool replay) {
  if (replay) return ProgressRequest{fields.id("segment"), fields.integer("unit", 0, largest)};
  return RecordProgress{};
}

}  // namespace

Request parse_request(std::string_view line) {
  const Json json = core::parse_json(line);
  if (!json.is_object()) throw Refusal("the request is no JSON object");
  const Fields fields(json);
  const std::string op = fields.text("op", 16, true);
  if (op == "hello") return hello(fields);
  if (op == "claim") {
    ClaimRequest claim{fields.integer("from", -1, largest), std::nullopt};
    if (json.contains("left")) claim.left = fields.integer("left", 0, largest);
    return claim;
  }
  if (op == "progress") return progress(fields, json.contains("segment"));
  if (op == "commit") {
    return CommitRequest{fields.id("segment"), fields.integer("unit", 0, largest),
                         fields.text("digest", 64, false), fields.integer("bytes", 0, largest),
                         fields.seconds()};
  }
  if (op == "release")
    return ReleaseRequest{fields.id("segment"), cut(fields.text("error", max_line, false), 1000)};
  if (op == "spool") return SpoolRequest{};
  throw Refusal("'op' is none of hello, claim, progress, commit, release, spool");
}

std::string refusal_line(const std::string& why) {
  return core::json_text({{"ok", false}, {"error", why}});
}

}  // namespace flor::agent
