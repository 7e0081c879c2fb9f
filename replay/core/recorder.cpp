// The recording session: every execution of a block or iteration is timed, its generators are noted, and the
// Checkpointer decides whether its effects are kept. The run begins at the first loop or block.
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "core/agent_client.h"
#include "core/bytes_text.h"
#include "core/checkpointer.h"
#include "core/error.h"
#include "core/generators.h"
#include "core/guards.h"
#include "core/json.h"
#include "core/run_files.h"
#include "core/session.h"
#include "core/spool_rest.h"

namespace flor::core {
namespace {

constexpr const char* iteration_kind = "@iteration";

struct Timer {
  double began = 0, stalled = 0;
  Checkpointer::Begun execution;
};
struct OpenBlock {
  std::string name;
  State* state = nullptr;
  Timer timer;
};
struct OpenLoop {
  std::string parent, name;  // scope path around it, name with occurrence
  int64_t value = 0;
  bool has_block = false;
};
// The outermost loop that is running.
struct OutermostLoop {
  RecordedLoop info;
  Timer timer;
  bool iterating = false;
  std::map<std::string, std::string> environment, preset;  // at its entry
};

class Recorder : public Session {
 public:
  Recorder(const Settings& settings, Frontend& frontend, Scope& scope)
      : settings_(settings), frontend_(frontend), scope_(scope) {}

  void enter_loop(const LoopSpec& loop) override;
  std::optional<int64_t> next(std::optional<int64_t> natural) override;
  void begin(int64_t value) override;
  void leave_loop(LoopEnd how) override;
  bool enter_block(const std::string& name, State& state) override;
  void leave_block(bool unwound) override;
  void enter_guard(State& state) override { guards_.enter(state); }
  void leave_guard(State& state) override;
  void log(const Row& row) override;
  std::optional<RowFiles> row_files() override { return files_; }
  std::optional<std::string> argument(const std::string& name) override;
  void used_argument(const std::string& name, const std::string& value) override;
  void finish(int exit_code) override;
  bool records() const override { return true; }
  void give_up(const std::string& why) noexcept override;

 private:
  void begin_recording();
  void damaged(const std::string& what);  // any thread
  void empty_local_tier();
  bool outermost() const { return loops_.size() == 1 && blocks_.empty(); }
  Timer start_timer() const;
  double elapsed(const Timer& timer) const;
  void end_iteration();
  void keep_environment();
  void checkpoint_iteration(const std::string& at, const std::string& stem, double seconds, bool forced);
  std::vector<Buffer> live(State& state);
  void note_generators(const std::string& at, const char* edge);

  const Settings settings_;
  Frontend& frontend_;
  Scope& scope_;
  std::optional<BegunRun> begun_;
  bool someone_else_records_ = false;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<AgentClient> agent_;
  GeneratorWriter generators_;
  std::vector<Line> early_rows_;  // logged before the run began
  RowFiles files_ = std::make_shared<LogFiles>();
  std::map<std::string, std::string> arguments_;
  Guards guards_;
  std::vector<OpenBlock> blocks_;
  std::vector<OpenLoop> loops_;
  std::optional<OutermostLoop> main_;
  std::mutex damage_mutex_;
  std::vector<std::string> damages_;
};

void Recorder::begin_recording() {
  if (begun_ || someone_else_records_) return;
  const double start = monotonic_seconds();
  begun_ = begin_run(settings_, frontend_);
  if (!begun_) {
    someone_else_records_ = true;
    files_.reset();
    return;
  }
  const RunDir& run = begun_->run;
  auto on_failure = [this](const std::string& what) { damaged(what); };
  journal_ = std::make_unique<Journal>(std::vector<fs::path>{run.log(), run.timeline(), run.generators()},
                                       on_failure);
  checkpointer_ = std::make_unique<Checkpointer>(run, begun_->manifest, *journal_, on_failure);
  if (const auto problem = files_->open(run.path)) damaged(*problem);
  for (const auto& row : early_rows_) journal_->append(log_file, row);
  early_rows_.clear();
  begun_->manifest.args.insert(arguments_.begin(), arguments_.end());
  AgentClient::Hello hello;
  hello.mode = "record";
  hello.run = run.id();
  hello.run_dir = run.path.string();
  hello.redis = settings_.get("redis").value_or("");
  hello.local = begun_->manifest.local;
  agent_ = std::make_unique<AgentClient>(hello);
  if (begun_->local) agent_->spool_soon();
  say("recording run " + run.id() +
      (begun_->manifest.name.empty() ? "" : " (" + begun_->manifest.name + ")"));
  checkpointer_->began(monotonic_seconds() - start);
}

void Recorder::damaged(const std::string& what) {
  const std::lock_guard<std::mutex> lock(damage_mutex_);
  if (damages_.empty()) {
    warn("the recording of run " + begun_->run.id() + " is damaged, training goes on: " + what);
    release_space(begun_->run);
  }
  if (damages_.size() < 20) damages_.push_back(what);
}

Timer Recorder::start_timer() const {
  return {monotonic_seconds(), checkpointer_->stalled(), checkpointer_->begins()};
}

double Recorder::elapsed(const Timer& timer) const {
  return (monotonic_seconds() - timer.began) - (checkpointer_->stalled() - timer.stalled);
}

void Recorder::note_generators(const std::string& at, const char* edge) {
  for (const auto& line : generators_.lines(at, edge, frontend_.generators())) {
    journal_->append(generators_file, line);
  }
}

std::vector<Buffer> Recorder::live(State& state) {
  auto buffers = state.save();
  for (const auto& [name, bytes] : frontend_.generators()) {
    buffers.push_back(Buffer::of_bytes(generator_prefix + name, "U8", {static_cast<int64_t>(bytes.size())},
                                       bytes.data(), bytes.size()));
  }
  return buffers;
}

void Recorder::enter_loop(const LoopSpec& loop) {
  begin_recording();
  const std::string parent = scope_.path();
  const std::string name = scope_.enter_loop(clean_name(loop.name, true));
  loops_.push_back({parent, name});
  if (someone_else_records_ || !outermost()) return;
  main_.emplace();
  main_->info.name = name;
  main_->info.range = loop.range;
  main_->info.begin = loop.begin;
  main_->info.end = loop.end;
  main_->info.guarded = !guards_.empty();
  Manifest& manifest = begun_->manifest;
  main_->environment = frontend_.environment();  // the program has set its threads and flags by now
  main_->preset = frontend_.preset();
  manifest.loops.push_back(main_->info);
  if (manifest.loops.size() == 1) keep_environment();
  Json row = {{"kind", "loop"}};
  row.update(to_json(main_->info));
  journal_->append(timeline_file, row.dump());
  write_manifest(begun_->run, manifest);
  if (main_->info.guarded) {
    checkpoint_iteration(name + "=entry/" + iteration_kind, name + "=entry", 0, true);
    checkpointer_->expects(iteration_kind, guards_);
  }
}

// That of the main loop is what a replay must have: of the one that ran longest so far.
void Recorder::keep_environment() {
  begun_->manifest.environment = main_->environment;
  begun_->manifest.preset = main_->preset;
}

std::optional<int64_t> Recorder::next(std::optional<int64_t> natural) {
  if (!someone_else_records_ && outermost()) end_iteration();
  return natural;
}

void Recorder::begin(int64_t value) {
  scope_.set_value(value);
  loops_.back().value = value;
  if (someone_else_records_ || !outermost()) return;
  main_->info.last = value;
  main_->info.iterations += 1;
  main_->iterating = true;
  note_generators(scope_.path(), "entry");
  main_->timer = start_timer();
}

void Recorder::end_iteration() {
  if (!main_ || !main_->iterating) return;
  main_->iterating = false;
  const std::string at = scope_.path();
  if (!guards_.empty()) frontend_.synchronize();
  const double seconds = elapsed(main_->timer);
  main_->info.seconds += seconds;
  journal_->append(timeline_file, Json({{"kind", "iteration"},
                                        {"at", at},
                                        {"loop", main_->info.name},
                                        {"value", main_->info.last},
                                        {"seconds", seconds}})
                                      .dump());
  if (main_->info.guarded && !guards_.empty()) {
    checkpoint_iteration(at + "/" + iteration_kind, checkpoint_stem(at, 0), seconds, false);
  }
  agent_->progress_record(at, main_->info.end, seconds);
}

void Recorder::checkpoint_iteration(const std::string& at, const std::string& stem, double seconds,
                                    bool forced) {
  const Checkpointer::Place place{iteration_kind, at, RunDir::checkpoint_file(iteration_kind, stem).string()};
  checkpointer_->ends(place, seconds, main_->timer.execution, forced, [&] { return live(guards_); });
}

void Recorder::leave_loop(LoopEnd how) {
  if (!someone_else_records_ && outermost() && main_) {
    if (how != LoopEnd::exhausted)
      main_->info.guarded = false;  // its state is not that of an iteration's end
    const bool guarded = begun_->manifest.loops.back().guarded;
    end_iteration();
    main_->info.guarded = guarded;
    main_->info.ended = how;
    note_generators(main_->info.name + "=exit", "exit");
    begun_->manifest.loops.back() = main_->info;
    if (begun_->manifest.main_loop() == &begun_->manifest.loops.back()) keep_environment();
    Json row = {{"kind", "loop_end"}};
    row.update(to_json(main_->info));
    journal_->append(timeline_file, row.dump());
    main_.reset();
  } else if (!someone_else_records_ && how == LoopEnd::early && loops_.back().has_block) {
    // Replay must know: a block of this iteration may hold what left the loop.
    const OpenLoop& loop = loops_.back();
    journal_->append(timeline_file, Json({{"kind", "loop_end"},
                                          {"at", loop.parent},
                                          {"name", loop.name},
                                          {"ended", to_string(how)},
                                          {"last", loop.value}})
                                        .dump());
  }
  loops_.pop_back();
  scope_.leave();
}

bool Recorder::enter_block(const std::string& name, State& state) {
  begin_recording();
  for (auto& loop : loops_) loop.has_block = true;
  scope_.enter_block(clean_name(name));
  OpenBlock block{scope_.name(), &state, {}};
  if (!someone_else_records_) {
    note_generators(scope_.path(), "entry");
    checkpointer_->expects(block.name, state);
    block.timer = start_timer();
  }
  blocks_.push_back(std::move(block));
  return true;
}

void Recorder::leave_block(bool unwound) {
  const OpenBlock block = blocks_.back();
  blocks_.pop_back();
  if (!someone_else_records_ && !unwound) {
    frontend_.synchronize();
    const double seconds = elapsed(block.timer);
    note_generators(scope_.path(), "exit");
    const std::string stem = checkpoint_stem(scope_.parent(), scope_.ordinal());
    checkpointer_->ends({block.name, scope_.path(), RunDir::checkpoint_file(block.name, stem).string()},
                        seconds, block.timer.execution, false, [&] { return live(*block.state); });
  }
  scope_.leave();
}

void Recorder::leave_guard(State& state) {
  guards_.leave(state);
}

void Recorder::log(const Row& row) {
  if (someone_else_records_) return;
  Line line = row_line(row, scope_);
  if (journal_) {
    journal_->append(log_file, std::move(line));
  } else {
    early_rows_.push_back(std::move(line));
  }
}

std::optional<std::string> Recorder::argument(const std::string& name) {
  const auto given = given_arguments();
  auto at = given.find(name);
  if (at == given.end()) return std::nullopt;
  return at->second;
}

void Recorder::used_argument(const std::string& name, const std::string& value) {
  arguments_[name] = value;
  if (begun_) begun_->manifest.args[name] = value;
}

void Recorder::finish(int exit_code) {
  if (someone_else_records_) return;
  if (!begun_) {
    // `flor record` says it itself, also of programs that never call the library.
    if (environment_variable("FLOR_LAUNCH").value_or("").rfind("local-", 0) != 0) {
      warn("nothing was recorded: the program never reached a flor::loop");
    }
    return;
  }
  // exit() inside a loop: it was left early, as by break.
  if (!loops_.empty()) {
    blocks_.clear();
    while (scope_.depth() > 1) scope_.leave();
    loops_.resize(1);
    leave_loop(LoopEnd::early);
  }
  checkpointer_->drain();
  if (!journal_->sync()) damaged("the log could not be synced");
  Manifest& manifest = begun_->manifest;
  manifest.exit_code = exit_code;
  manifest.finished = wall_seconds();
  {
    const std::lock_guard<std::mutex> lock(damage_mutex_);
    manifest.status = !damages_.empty() ? "damaged" : exit_code == 0 ? "completed" : "failed";
    manifest.warnings = damages_;
  }
  release_space(begun_->run);
  try {
    write_manifest(begun_->run, manifest);
    if (begun_->local) empty_local_tier();
  } catch (const std::exception& problem) {
    damaged(problem.what());
  }
  say("recorded run " + begun_->run.id() + ": " + std::to_string(checkpointer_->durable()) +
      " checkpoints, " + bytes_text(checkpointer_->bytes_written()));
}

// What a node's own agent does not bring to the store is brought now: an agent that was started on demand may
// be killed with the job.
void Recorder::empty_local_tier() {
  const std::string trouble = spool_rest(*begun_->local, *agent_);
  if (trouble.empty()) return;
  damaged(trouble);
  Manifest& manifest = begun_->manifest;
  manifest.status = "damaged";
  manifest.warnings = damages_;  // the writer, which could add to them, has ended its work
  write_manifest(begun_->run, manifest);
}

void Recorder::give_up(const std::string& why) noexcept {
  try {
    if (begun_) {
      damaged(why);
      Manifest manifest = begun_->manifest;
      manifest.status = "damaged";
      manifest.warnings.push_back(why);
      write_manifest(begun_->run, manifest);
    } else {
      warn("cannot record, training goes on without: " + why);
    }
  } catch (...) {
    // The disk refuses even this; the line on stderr has been printed.
  }
}

}  // namespace

std::unique_ptr<Session> make_recorder(const Settings& settings, Frontend& frontend, Scope& scope) {
  return std::make_unique<Recorder>(settings, frontend, scope);
}

}  // namespace flor::core
