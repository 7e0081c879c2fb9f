#include "bench/probes_program.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace flor::bench {
namespace {

// In these texts @ is the number of the unit and $ that of the unit before, which it uses. A line of
// /*PROBE x*/ is where a probe that logs x may be added.
constexpr const char* kData = R"text(
// Samples of one source, with the statistics that they are scaled by.
struct Samples@ {
  torch::Tensor inputs, targets;
  std::vector<int64_t> order;
  std::map<std::string, double> statistics;
  int64_t position = 0;
  double scale = 1.0;

  int64_t size() const { return inputs.size(0); }
  void rewind() { position = 0; }
  bool next(int64_t batch, torch::Tensor& x, torch::Tensor& y) {
    if (position + batch > size()) return false;
    x = inputs.slice(0, position, position + batch);
    y = targets.slice(0, position, position + batch);
    position += batch;
    return true;
  }
};

inline double spread_@(const torch::Tensor& values) {
  const auto centred = values - values.mean();
  const double spread = centred.square().mean().sqrt().item<double>();
  /*PROBE spread*/
  return spread > 1e-8 ? spread : 1.0;
}

inline Samples@ read_samples_@(int64_t count, int64_t width, double noise) {
  Samples@ samples;
  samples.inputs = torch::randn({count, width});
  samples.targets = (samples.inputs.sum(1) > 0).to(torch::kInt64);
  samples.scale = spread_@(samples.inputs) + spread_$(samples.inputs) * noise;
  for (int64_t i = 0; i < count; ++i) samples.order.push_back(i);
  samples.statistics["mean"] = samples.inputs.mean().item<double>();
  samples.statistics["scale"] = samples.scale;
  if (noise > 0) {
    samples.inputs = samples.inputs + noise * torch::randn_like(samples.inputs);
  } else {
    samples.inputs = samples.inputs.clone();
  }
  /*PROBE samples.scale*/
  return samples;
}
)text";

constexpr const char* kModule = R"text(
// A residual block with a bottleneck; its running average is a buffer.
class Encoder@Impl : public torch::nn::Module {
 public:
  Encoder@Impl(int64_t width, int64_t hidden, double drop)
      : narrow_(register_module("narrow", torch::nn::Linear(width, hidden))),
        wide_(register_module("wide", torch::nn::Linear(hidden, width))),
        dropout_(register_module("dropout", torch::nn::Dropout(drop))) {
    average_ = register_buffer("average", torch::zeros({width}));
    gain_ = register_parameter("gain", torch::ones({width}));
  }

  torch::Tensor forward(torch::Tensor x) {
    const auto inner = torch::relu(narrow_->forward(x));
    const auto out = wide_->forward(dropout_->forward(inner)) * gain_;
    if (is_training()) {
      torch::NoGradGuard no_grad;
      average_.mul_(0.9).add_(0.1 * out.detach().mean(0));
      calls_ += 1;
    }
    /*PROBE out.norm()*/
    return x + scaled_@(out);
  }

  int64_t calls() const { return calls_; }

 private:
  torch::Tensor scaled_@(const torch::Tensor& out) const {
    return calls_ > 100 ? out : out * (static_cast<double>(calls_) / 100.0);
  }
  torch::nn::Linear narrow_, wide_;
  torch::nn::Dropout dropout_;
  torch::Tensor average_, gain_;
  int64_t calls_ = 0;
};
TORCH_MODULE(Encoder@);

inline double size_of_@(Encoder@& encoder) {
  double count = 0;
  for (const auto& parameter : encoder->parameters()) count += static_cast<double>(parameter.numel());
  /*PROBE count*/
  return count / 1e6;
}
)text";

constexpr const char* kMeter = R"text(
// Averages of what an epoch computes.
struct Meter@ {
  double sum = 0, best = 0;
  int64_t count = 0;
  std::vector<double> history;

  void add(double value, int64_t weight = 1) {
    sum += value * static_cast<double>(weight);
    count += weight;
    if (value > best) best = value;
  }
  double mean() const { return count == 0 ? 0.0 : sum / static_cast<double>(count); }
  void reset() {
    history.push_back(mean());
    sum = 0;
    count = 0;
  }
};

inline double accuracy_@(const torch::Tensor& output, const torch::Tensor& target) {
  const auto predicted = output.argmax(1);
  int64_t right = 0;
  for (int64_t i = 0; i < predicted.size(0); ++i) {
    if (predicted[i].item<int64_t>() == target[i].item<int64_t>()) ++right;
  }
  /*PROBE predicted*/
  return static_cast<double>(right) / static_cast<double>(predicted.size(0));
}

inline void report_@(Meter@& meter, const torch::Tensor& output, const torch::Tensor& target) {
  const double value = accuracy_@(output, target);
  meter.add(value, output.size(0));
  switch (meter.count % 3) {
    case 0: meter.best = std::max(meter.best, value); break;
    case 1: meter.best *= 0.999; break;
    default: break;
  }
  /*PROBE value*/
}
)text";

constexpr const char* kSchedule = R"text(
// Learning rates and gradients.
constexpr double kFloor@ = 1e-6;

inline double warm_up_@(int64_t step, int64_t steps, double peak) {
  if (step < steps) return peak * static_cast<double>(step + 1) / static_cast<double>(steps);
  const double passed = static_cast<double>(step - steps) / static_cast<double>(steps);
  const double rate = peak * 0.5 * (1.0 + std::cos(std::min(passed, 1.0) * 3.14159));
  /*PROBE rate*/
  return std::max(rate, kFloor@);
}

template <typename Optimizer>
inline void set_rate_@(Optimizer& optimizer, double rate) {
  for (auto& group : optimizer.param_groups()) {
    static_cast<torch::optim::SGDOptions&>(group.options()).lr(rate);
  }
}

inline double clip_@(const std::vector<torch::Tensor>& parameters, double limit) {
  double total = 0;
  for (const auto& parameter : parameters) {
    if (!parameter.defined()) continue;
    total += parameter.square().sum().item<double>();
  }
  total = std::sqrt(total);
  const double factor = limit / (total + kFloor@);
  if (factor < 1.0) {
    for (const auto& parameter : parameters) parameter.data().mul_(factor);
  }
  /*PROBE total*/
  return total;
}
)text";

constexpr const char* kAugment = R"text(
// Changes of a batch that leave its labels as they are.
inline torch::Tensor shifted_@(const torch::Tensor& batch, int64_t by) {
  const int64_t width = batch.size(1), cut = by % width;
  if (cut == 0) return batch;
  return torch::cat({batch.slice(1, cut, width), batch.slice(1, 0, cut)}, 1);
}

inline torch::Tensor jittered_@(const torch::Tensor& batch, double amount) {
  auto noise = torch::randn_like(batch) * amount;
  noise.clamp_(-2 * amount, 2 * amount);
  /*PROBE noise.abs().max()*/
  return batch + noise;
}

inline torch::Tensor augment_@(const torch::Tensor& batch, int64_t seed, double amount) {
  auto out = batch;
  const std::vector<std::function<torch::Tensor(const torch::Tensor&)>> steps = {
      [&](const torch::Tensor& x) { return shifted_@(x, seed); },
      [&](const torch::Tensor& x) { return jittered_@(x, amount); }};
  for (const auto& step : steps) out = step(out);
  if (seed % 2 == 0) {
    out = out.flip({1});
  } else if (seed % 3 == 0) {
    out = out * (1.0 + amount);
  }
  /*PROBE out.mean()*/
  return out;
}
)text";

constexpr const char* kText = R"text(
// Options and tables.
struct Options@ {
  int64_t epochs = 10, batch = 32, width = 64;
  double rate = 0.1, decay = 1e-4;
  std::string name = "run-@", device = "cpu";
};

inline Options@ parse_options_@(int argc, char** argv) {
  Options@ options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--epochs") options.epochs = std::stoll(value);
    if (key == "--batch") options.batch = std::stoll(value);
    if (key == "--rate") options.rate = std::stod(value);
    if (key == "--name") options.name = value;
  }
  return options;
}

inline std::string row_@(const std::vector<double>& values, const std::string& separator = "\t") {
  std::ostringstream out;
  for (size_t i = 0; i < values.size(); ++i) {
    out << (i == 0 ? "" : separator) << std::fixed << std::setprecision(4) << values[i];
  }
  /*PROBE out.str().size()*/
  return out.str();
}

inline void write_table_@(const std::string& path, const std::vector<std::vector<double>>& rows) {
  std::ofstream file(path);
  if (!file) {
    std::cerr << "cannot write " << path << "\n";
    return;
  }
  for (const auto& values : rows) file << row_@(values) << "\n";
}
)text";

// What makes use of the units of one file; a stage of training with a block stands in some of them.
constexpr const char* kUse = R"text(
inline double evaluate_@(Encoder@& encoder, Samples@& samples, Meter@& meter) {
  torch::NoGradGuard no_grad;
  encoder->eval();
  samples.rewind();
  torch::Tensor x, y;
  while (samples.next(32, x, y)) {
    const auto output = encoder->forward(augment_@(x, meter.count, 0.0));
    report_@(meter, output, y);
    report_$(meter, output, y);
  }
  /*PROBE meter.sum*/
  return meter.mean();
}
)text";

constexpr const char* kStage = R"text(
inline double train_stage_@(const Options@& options, Encoder@& encoder, Samples@& samples) {
  torch::optim::SGD optimizer(encoder->parameters(), torch::optim::SGDOptions(options.rate));
  Meter@ meter;
  double loss_sum = 0, norm = 0;
  int64_t steps = 0;
  auto state = flor::checkpointing(encoder, optimizer, steps);
  for (const int64_t epoch : flor::loop("epoch@", options.epochs)) {
    if (flor::SkipBlock train{"train@", encoder, optimizer, steps, loss_sum}; train.step_into()) {
      encoder->train();
      samples.rewind();
      torch::Tensor x, y;
      while (samples.next(options.batch, x, y)) {
        optimizer.zero_grad();
        const auto output = encoder->forward(augment_@(x, steps, 0.01));
        const auto loss = torch::nn::functional::cross_entropy(output, y);
        loss.backward();
        norm = clip_@(encoder->parameters(), 1.0);
        set_rate_@(optimizer, warm_up_@(steps, 100, options.rate));
        optimizer.step();
        loss_sum += loss.item<double>();
        ++steps;
        /*PROBE loss_sum*/
      }
    }
    const double score = evaluate_@(encoder, samples, meter);
    flor::log("score@", score);
    /*PROBE score*/
    meter.reset();
  }
  return meter.best + norm;
}
)text";

constexpr std::array<const char*, 6> kUnits = {kData, kModule, kMeter, kSchedule, kAugment, kText};
constexpr const char* kProbe = "/*PROBE ";
constexpr std::size_t kStageEvery = 4;  // files

std::string with_numbers(const std::string& text, std::size_t unit) {
  std::string out;
  for (const char c : text) {
    if (c == '@') out += std::to_string(unit);
    if (c == '$') out += std::to_string(unit == 0 ? 0 : unit - 1);
    if (c != '@' && c != '$') out += c;
  }
  return out;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Adds units to the text until it has the lines.
void fill(std::string* text, std::size_t file, std::size_t lines, std::size_t* unit) {
  for (bool first = true; lines_of(*text) < lines; first = false, ++*unit) {
    for (const char* one : kUnits) *text += with_numbers(one, *unit);
    *text += with_numbers(kUse, *unit);
    if (first && file % kStageEvery == 0) *text += with_numbers(kStage, *unit);
  }
}

// The text with every `every`-th place for a probe, counted through all files, turned into one, and without
// the others. 0: without all.
std::string with_probes(const std::string& text, std::size_t every, std::size_t* seen, std::size_t* left) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find(kProbe);
    if (at == std::string::npos) {
      out += line + "\n";
      continue;
    }
    if (every == 0 || *left == 0 || ++*seen % every != 0) continue;
    const std::size_t begin = at + std::string(kProbe).size();
    out += line.substr(0, at) + "flor::log(\"probe" + std::to_string(--*left) + "\", " +
           line.substr(begin, line.rfind("*/") - begin) + ");\n";
  }
  return out;
}

}  // namespace

ProgramPair make_program(const std::vector<probes::SourceFile>& core, std::size_t files, std::size_t lines,
                         std::size_t probes) {
  std::vector<probes::SourceFile> whole = core;
  std::size_t unit = 0, places = 0;
  for (std::size_t i = whole.size(); i < files; ++i)
    whole.push_back({"/exp/helpers" + std::to_string(i) + ".h", "#pragma once\n#include <flor/flor.h>\n"});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i > 0) whole[0].text.insert(0, "#include \"" + whole[i].path.substr(5) + "\"\n");
    fill(&whole[i].text, i, lines, &unit);
  }
  for (const probes::SourceFile& file : whole) {
    for (std::size_t at = file.text.find(kProbe); at != std::string::npos;
         at = file.text.find(kProbe, at + 1))
      ++places;
  }
  ProgramPair out{whole, whole};
  std::size_t seen = 0, left = probes;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    out.recorded[i].text = with_probes(whole[i].text, 0, &seen, &left);
    out.present[i].text = with_probes(whole[i].text, places / std::max<std::size_t>(probes, 1), &seen, &left);
  }
  return out;
}

}  // namespace flor::bench
