// The calls of Queue that only read: status(), news(), done().
#include <algorithm>

#include "core/base/json.h"
#include "core/store/proof.h"
#include "queue/queue.h"
#include "queue_scripts.h"

namespace flor::queue {
namespace {

// The most events that one exchange reads.
constexpr std::size_t events_at_once = 1000;

Event event_of(const Reply& entry) {
  Event out;
  const Reply& fields = entry.at(1);
  for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2) {
    const std::string& name = fields.at(i).text;
    if (name == "kind") out.kind = fields.at(i + 1).text;
    if (name == "segment") out.segment = fields.at(i + 1).text;
    if (name == "worker") out.worker = fields.at(i + 1).text;
    if (name == "unit") out.unit = fields.at(i + 1).num(-1);
  }
  return out;
}

void append(Status& out, const Reply& reply) {
  out.present = reply.at(0).text == "ok";
  out.units = reply.at(1).num();
  out.done = reply.at(2).num();
  for (const auto& s : reply.at(3).items) {
    out.segments.push_back({s.at(0).str(), s.at(1).num(), s.at(2).num(), s.at(3).num(), s.at(4).str(),
                            s.at(5).str(), s.at(6).num(), s.at(7).str(), s.at(8).str(),
                            static_cast<double>(s.at(9).num()) / 1000});
  }
  for (const auto& w : reply.at(4).items) {
    out.workers.push_back({w.at(0).str(), w.at(1).str(), w.at(2).str(), w.at(3).str(), w.at(4).str(),
                           w.at(5).num(), w.at(6).num(), static_cast<double>(w.at(8).num()) / 1000,
                           w.at(7).str()});
  }
}

}  // namespace

Status Queue::status() {
  Status out;
  std::string from = "0";
  repeat([&] {
    const Reply reply = attempt(scripts::status, {from});
    append(out, reply);
    from = reply.at(5).str();
    return !from.empty();
  });
  return out;
}

// Reads from the last known event on, including it. If it does not come first, Redis has dropped it, and
// maybe later ones as well.
News Queue::news() {
  News out;
  out.missed = heard_.empty();
  for (;;) {
    const std::string from = heard_.empty() ? "-" : heard_;
    const Reply reply =
        command({"XRANGE", prefix_ + "events", from, "+", "COUNT", std::to_string(events_at_once)});
    const bool known = reply.at(0).at(0).text == heard_;
    if (!known && !heard_.empty()) out.missed = true;
    for (std::size_t i = known ? 1 : 0; i < reply.items.size(); ++i)
      out.events.push_back(event_of(reply.at(i)));
    heard_ = reply.items.empty() ? "" : reply.items.back().at(0).text;
    if (reply.items.size() < events_at_once) return out;
  }
}

std::vector<DoneUnit> Queue::done() {
  const Reply reply = command({"HGETALL", prefix_ + "done"});
  std::vector<DoneUnit> out;
  for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2) {
    if (core::is_proof(plan(), reply.at(i).num())) continue;
    const core::Json kept = core::parse_json(reply.at(i + 1).text);
    out.push_back({reply.at(i).num(), core::field<std::string>(kept, "worker", ""),
                   core::field<std::string>(kept, "digest", ""), core::field<int64_t>(kept, "bytes", 0),
                   core::field(kept, "seconds", 0.0)});
  }
  std::sort(out.begin(), out.end(), [](const DoneUnit& a, const DoneUnit& b) { return a.unit < b.unit; });
  return out;
}

}  // namespace flor::queue
