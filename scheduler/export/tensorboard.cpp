#include "export/tensorboard.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/files/trusted_file.h"
#include "export/event_file.h"
#include "results/rows/image.h"
#include "results/rows/where.h"

namespace flor::exporting {
namespace {

using core::Json;
using results::Row;

constexpr std::size_t at_once = std::size_t{1} << 20;

using Loops = std::vector<std::pair<std::string, int64_t>>;

std::string inner_of(const Loops& loops) {
  return loops[0].first + '/' + loops[1].first;
}

std::optional<double> number_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return std::nullopt;
  return at->get<double>();
}

std::optional<double> scalar_of(const Row& row) {
  if (row.value.is_boolean()) return row.value.get<bool>() ? 1 : 0;
  return results::number_in(row);
}

std::optional<Histogram> histogram_of(const Json& value) {
  const auto counts = value.find("histogram");
  const auto min = number_of(value, "min"), max = number_of(value, "max");
  if (counts == value.end() || !counts->is_array() || counts->empty() || !min || !max) return std::nullopt;
  Histogram out;
  out.min = *min;
  out.max = *max;
  for (const auto& count : *counts) {
    out.counts.push_back(count.is_number() ? count.get<double>() : 0);
    out.count += out.counts.back();
  }
  out.sum = number_of(value, "mean").value_or(0) * out.count;
  const double norm = number_of(value, "norm").value_or(0);
  out.sum_of_squares = norm * norm;
  return out;
}

}  // namespace

void Steps::learn(const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    const Loops loops = results::scope_loops(row.at);
    if (loops.size() != 2) continue;
    int64_t& length = lengths_[inner_of(loops)];
    length = std::max(length, loops[1].second + 1);
  }
}

int64_t Steps::step_of(const Row& row) {
  const Loops loops = results::scope_loops(row.at);
  if (loops.size() == 1) return loops[0].second;
  if (loops.size() == 2) {
    const int64_t length = std::max<int64_t>(lengths_[inner_of(loops)], 1);
    return loops[0].second * length + loops[1].second;
  }
  return counts_[row.name]++;
}

EventFile::EventFile(core::RunDir run, const core::Manifest& manifest, const std::filesystem::path& directory)
    : run_(std::move(run)),
      path_(directory /
            ("events.out.tfevents." + std::to_string(static_cast<int64_t>(manifest.started)) + ".flor")),
      started_(manifest.started),
      file_(core::open_regular_for(path_, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC)) {
  if (const core::RecordedLoop* loop = manifest.main_loop(); loop != nullptr && loop->iterations > 0) {
    main_loop_ = loop->name;
    main_begin_ = loop->begin;
    iteration_ = loop->seconds / static_cast<double>(loop->iterations);
  }
  write(record(file_version_event(started_)));
}

void EventFile::append(const std::vector<Row>& rows, Steps& steps) {
  std::string out;
  for (const auto& row : rows) {
    add(out, row, steps.step_of(row));
    if (out.size() < at_once) continue;
    write(out);
    out.clear();
  }
  write(out);
}

void EventFile::add(std::string& out, const Row& row, int64_t step) {
  const Place place{time_of(row), step};
  if (const auto number = scalar_of(row)) {
    out += record(scalar_event(place, row.name, static_cast<float>(*number)));
    ++exported_.scalars;
  } else if (row.value.is_object()) {
    add_tensor(out, row, place);
  } else {
    ++exported_.left_out;
  }
}

void EventFile::add_tensor(std::string& out, const Row& row, const Place& place) {
  const Json& value = row.value;
  bool has_any = false;
  for (const char* part : {"min", "max", "mean", "norm"}) {
    const auto number = number_of(value, part);
    if (!number) continue;
    out += record(scalar_event(place, row.name + "/" + part, static_cast<float>(*number)));
    ++exported_.scalars;
    has_any = true;
  }
  if (const auto histogram = histogram_of(value)) {
    out += record(histogram_event(place, row.name, *histogram));
    ++exported_.histograms;
    has_any = true;
  }
  if (add_image(out, row, place)) {
    ++exported_.images;
    has_any = true;
  }
  exported_.left_out += has_any ? 0 : 1;
}

bool EventFile::add_image(std::string& out, const Row& row, const Place& place) const {
  const Json& value = row.value;
  const auto width = number_of(value, "width"), height = number_of(value, "height"),
             channels = number_of(value, "channels");
  if (!width || !height || !channels) return false;
  const auto png = results::png_of(run_, row);
  if (!png) return false;  // counted as left out
  out += record(image_event(place, row.name, static_cast<int>(*width), static_cast<int>(*height),
                            static_cast<int>(*channels), *png));
  return true;
}

// The record has no times of rows. A row gets the end of its iteration, if all took the mean time.
double EventFile::time_of(const Row& row) const {
  const Loops loops = results::scope_loops(row.at);
  if (loops.empty() || loops[0].first != main_loop_) return started_;
  return started_ + iteration_ * static_cast<double>(loops[0].second - main_begin_ + 1);
}

void EventFile::write(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::write(file_.get(), bytes.data() + at, bytes.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw std::system_error(errno, std::generic_category(), path_.string());
    at += static_cast<std::size_t>(written);
  }
}

}  // namespace flor::exporting
