#include "dispatch/cluster.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>
#include <string_view>

#include "core/base/error.h"
#include "dispatch/process.h"

namespace flor::dispatch {
namespace {

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;  // commas and colons inside of "(IDX:0,2)" separate nothing
  for (char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == separator && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Reads "gpu:2", "gpu:a100:4(S:0-1)", "gpu:(null):1(IDX:0)" or "gpu:2,shard:8". Skips other resources.
std::map<std::string, std::size_t> gpus_in(const std::string& column) {
  std::map<std::string, std::size_t> out;
  for (const auto& resource : split(column, ',')) {
    const auto parts = split(resource, ':');
    if (parts.front() != "gpu") continue;
    std::string type = parts.size() > 2 ? parts[1] : "";
    if (type == "(null)") type.clear();
    out[type] += parts.size() > 1 ? number(parts.back()) : 1;
  }
  return out;
}

// Reads "mixed", "idle~" or "mixed*": a state, and marks after it (sinfo(1), NODE STATE CODES).
bool takes_jobs(std::string state) {
  while (!state.empty() && std::isalpha(static_cast<unsigned char>(state.back())) == 0) {
    // These mean: not responding, in maintenance, rebooting, powering down, blocked.
    if (std::string_view("*$@^!%").find(state.back()) != std::string_view::npos) return false;
    state.pop_back();  // ~ and #: powered down or starting, and Slurm wakes the node; -: planned
  }
  return state == "idle" || state == "mixed" || state == "planned";
}

// Returns only the letters and digits, in lower case, to compare "NVIDIA A100-SXM4" with "a100".
std::string words_of(const std::string& text) {
  std::string out;
  for (unsigned char c : text) {
    if (std::isalnum(c) != 0) out += static_cast<char>(std::tolower(c));
  }
  return out;
}

}  // namespace

std::size_t Node::free_gpus() const {
  std::size_t all = 0;
  std::size_t used = 0;
  for (const auto& [type, count] : gpus) all += count;
  for (const auto& [type, count] : gpus_used) used += count;
  return all > used ? all - used : 0;
}

std::vector<Node> SinfoCluster::nodes(const std::string& partition) {
  std::vector<std::string> command{
      "sinfo", "--noheader", "--Node", "-O",
      "Partition:256,NodeList:256,StateLong:64,CPUsState:64,Gres:1024,GresUsed:1024"};
  if (!partition.empty()) command.push_back("--partition=" + partition);
  const Result result = run(command, std::chrono::seconds(10));
  if (result.code != 0) {
    const std::string why = result.code == kTimedOut ? "hangs" : result.err.substr(0, result.err.find('\n'));
    throw core::Error("Slurm does not answer (sinfo: " + why + ")");
  }
  return parse_sinfo(result.out, partition.empty());
}

std::vector<Node> parse_sinfo(const std::string& text, bool default_only) {
  std::vector<Node> nodes;
  bool has_default = false;
  for (std::size_t at = text.find('*'); at != std::string::npos && !has_default;
       at = text.find('*', at + 1)) {
    // The * must end the first column. After a state it means that the node does not respond.
    const auto line = text.rfind('\n', at) + 1;
    has_default = text.find(' ', line) == at + 1;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream columns(line);
    std::string partition;
    std::string name;
    std::string state;
    std::string cpus;
    std::string gres;
    std::string used;
    if (!(columns >> partition >> name >> state >> cpus >> gres >> used)) continue;
    if (default_only && has_default && partition.back() != '*') continue;
    // sinfo prints a node once for each of its partitions.
    const bool known = std::any_of(nodes.begin(), nodes.end(), [&](const Node& n) { return n.name == name; });
    if (known) continue;
    Node node;
    node.name = name;
    node.usable = takes_jobs(state);
    const auto counts = split(cpus, '/');  // allocated/idle/other/total
    if (counts.size() == 4) node.idle_cpus = number(counts[1]);
    node.gpus = gpus_in(gres);
    node.gpus_used = gpus_in(used);
    nodes.push_back(node);
  }
  return nodes;
}

std::size_t free_places(const std::vector<Node>& nodes, bool gpu, std::size_t cpus) {
  std::size_t places = 0;
  for (const auto& node : nodes) {
    if (!node.usable) continue;
    const std::size_t by_cpus = node.idle_cpus / std::max<std::size_t>(cpus, 1);
    places += gpu ? std::min(by_cpus, node.free_gpus()) : by_cpus;
  }
  return places;
}

bool has_gpus(const std::vector<Node>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return !node.gpus.empty(); });
}

std::string gres_for(const std::vector<Node>& nodes, const std::string& recorded) {
  if (recorded.empty()) return has_gpus(nodes) ? "gpu:1" : "";
  const std::string model = words_of(recorded);
  std::string best;  // the longest type that the model contains: "a100-80gb" before "a100"
  for (const auto& node : nodes) {
    for (const auto& [type, count] : node.gpus) {
      const std::string word = words_of(type);
      if (!word.empty() && model.find(word) != std::string::npos && type.size() > best.size()) best = type;
    }
  }
  return best.empty() ? "gpu:1" : "gpu:" + best + ":1";
}

}  // namespace flor::dispatch
