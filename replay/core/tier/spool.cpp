#include "core/tier/spool.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/full.h"
#include "core/base/units_text.h"
#include "core/checkpoint/reader.h"
#include "core/files/descriptor.h"
#include "core/files/durable.h"
#include "core/files/existence.h"
#include "core/files/file_lock.h"
#include "core/policy/retention.h"
#include "core/process/above_streams.h"
#include "core/tier/room.h"

namespace flor::core {
namespace {

constexpr std::size_t step_bytes = std::size_t{4} << 20;
// A longer header belongs to no checkpoint. The file is copied all the same.
constexpr std::uint64_t max_header = std::uint64_t{256} << 20;

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

struct BrokenOff {};

class Full : public Error {
 public:
  using Error::Error;
};

bool is_want_of_room(const std::exception& problem) {
  const auto* error = dynamic_cast<const std::system_error*>(&problem);
  return error != nullptr ? is_full(error->code().value()) : dynamic_cast<const Full*>(&problem) != nullptr;
}

// A regular file of this user, opened for reading.
class Source {
 public:
  explicit Source(fs::path path)
      : path_(std::move(path)), fd_(above_streams(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW))) {
    if (!fd_) fail("cannot read", path_);
    struct stat info = {};
    if (::fstat(fd_.get(), &info) != 0) fail("cannot read", path_);
    if (!S_ISREG(info.st_mode) || info.st_uid != ::getuid())
      throw Error(path_.string() + " is no file of this user");
    size_ = static_cast<std::uint64_t>(info.st_size);
  }

  std::uint64_t size() const { return size_; }
  int fd() const { return fd_.get(); }

  // Up to `size` bytes; 0 at the end.
  std::size_t read(void* bytes, std::size_t size) const {
    for (;;) {
      const ssize_t got = ::read(fd_.get(), bytes, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail("cannot read", path_);
    }
  }

 private:
  fs::path path_;
  Descriptor fd_;
  std::uint64_t size_ = 0;
};

class Round {
 public:
  Round(const LocalRun& local, const Pace& pace, SpoolOptions options)
      : local_(local), pace_(pace), options_(options), buffer_(step_bytes) {}

  Spooled spool() {
    try {
      const auto files = waiting_files(local_);
      if (files.empty()) return out_;
      // Otherwise directories would be created under the mount point of a store that is not mounted.
      if (!local_.has_home()) throw Error("there is no " + local_.home.manifest().string());
      for (const auto& file : files) waiting_.emplace(file.file, Progress::waits);
      if (options_.which == Which::newest) {
        bring(files.back().file);
      } else {
        for (const auto& file : files) bring(file.file);
      }
    } catch (const BrokenOff&) {
      out_.broken_off = !out_.full;
    } catch (const std::exception& problem) {
      out_.troubles.emplace_back(problem.what());
    }
    return std::move(out_);
  }

 private:
  enum class Progress { waits, begun, brought, failed };

  // Returns false if the file stays in the local tier this time.
  bool bring(const std::string& file) {
    Progress& progress = waiting_.at(file);
    if (progress != Progress::waits) return progress == Progress::brought;
    progress = Progress::begun;
    try {
      for (const auto& earlier : references(file)) {
        if (waiting_.count(earlier) != 0 && !bring(earlier)) {
          progress = Progress::failed;
          out_.troubles.push_back(file + " waits for " + earlier + ", to which it refers");
          return false;
        }
      }
      copy(file);
      progress = Progress::brought;
    } catch (const std::exception& problem) {
      const bool gone = is_absent(local_.path / file);
      progress = gone ? Progress::brought : Progress::failed;  // gone: another spooler was faster
      if (!gone) out_.troubles.emplace_back(problem.what());
      out_.full = !gone && is_want_of_room(problem);
      if (out_.full) throw BrokenOff();
    }
    return progress == Progress::brought;
  }

  // Returns the other files that hold tensors of this one. A damaged header names none: the copy is then
  // damaged, too, and reading it reports that.
  std::vector<std::string> references(const std::string& file) const {
    const Source source(local_.path / file);
    std::string head(8, '\0');
    if (source.size() < 8 || !fill(source, head.data(), 8)) return {};
    std::uint64_t length = 0;
    for (int i = 7; i >= 0; --i)
      length = length << 8 | static_cast<unsigned char>(head[static_cast<std::size_t>(i)]);
    if (length > max_header || length > source.size() - 8) return {};
    head.resize(8 + length);
    if (!fill(source, head.data() + 8, length)) return {};
    try {
      return referred_files(
          decode_header(reinterpret_cast<const unsigned char*>(head.data()), source.size(), file), file);
    } catch (const Damage&) {
      return {};
    }
  }

  static bool fill(const Source& source, char* bytes, std::size_t size) {
    while (size > 0) {
      const std::size_t got = source.read(bytes, size);
      if (got == 0) return false;
      bytes += got;
      size -= got;
    }
    return true;
  }

  void step(std::uint64_t bytes) const {
    if (!pace_(bytes)) throw BrokenOff();
  }

  // Returns the digest of the whole file. `each` gets it part by part.
  template <class Each>
  std::string digest(const Source& source, Each each) {
    Digester digester;
    while (const std::size_t size = source.read(buffer_.data(), buffer_.size())) {
      digester.add(buffer_.data(), size);
      each(size);
    }
    return digester.hex();
  }
  std::string digest(const fs::path& path, std::uint64_t size) {
    const Source source(path);
    if (source.size() != size) return "";
    return digest(source, [this](std::size_t) { step(0); });
  }

  void copy(const std::string& file) {
    const fs::path from = local_.path / file;
    const fs::path to = local_.home.path / file;
    const Source source(from);
    // Again for each file: a round may take minutes, and the run may have been removed.
    if (!local_.has_home()) throw Error("there is no " + local_.home.manifest().string());
    make_directories_of(file);
    if (!lies_there(source, from, to)) write(source, from, to);
    step(0);
    if (::unlink(from.c_str()) != 0 && errno != ENOENT) fail("cannot remove", from);
    out_.files += 1;
    out_.bytes += source.size();
  }

  // Creates directories only below the run directory: a run that `flor gc` removed meanwhile must not come
  // back.
  void make_directories_of(const fs::path& file) const {
    fs::path directory = local_.home.path;
    for (const auto& part : file.parent_path()) {
      directory /= part;
      if (fs::create_directory(directory)) sync_directory(directory.parent_path());
    }
  }

  // The process that copied it may have been killed before the name was durable, or before it removed the
  // local file.
  bool lies_there(const Source& source, const fs::path& from, const fs::path& to) {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(to, error))) return false;
    const std::string there = digest(to, source.size());
    if (there.empty() || there != digest(from, source.size())) return false;
    if (::fsync(Source(to).fd()) != 0) fail("cannot sync", to);
    sync_directory(to.parent_path());
    return true;
  }

  // Each round tries again: it must not take what the program frees there to write its own files.
  void require_room(const fs::path& directory, std::uint64_t bytes) const {
    if (options_.leave_room) {
      if (const std::string full = why_no_room(directory, bytes); !full.empty()) throw Full(full);
    }
    if (!options_.was_full) return;
    const std::uint64_t wanted = options_.leave_room ? 3 * bytes : bytes;
    if (!is_free(directory, wanted, options_.leave_room ? spare_files : 1).value_or(true))
      throw Full(directory.string() +
                 " is full, or this user's quota there is used up: " + bytes_text(wanted) + " are not free");
  }

  void write(const Source& source, const fs::path& from, const fs::path& to) {
    remove_unfinished(to.parent_path());
    require_room(to.parent_path(), source.size());
    DurableFile out(to);
    const auto lock = lock_unfinished(out.temporary());
    std::uint64_t written = 0;
    const std::string read = digest(source, [&](std::size_t size) {
      out.write(buffer_.data(), size);
      written += size;
      step(size);
    });
    if (written != source.size()) throw Error(from.string() + " changed while it was read");
    if (digest(out.temporary(), written) != read)
      throw Error(to.string() + ": what was written does not read back the same");
    step(0);
    out.commit();
  }

  // Removes what earlier spoolers left that were killed. One that lives holds the lock of its file: this
  // process may be at work beside the agent (core/tier/drain.h).
  void remove_unfinished(const fs::path& directory) {
    if (!cleaned_.insert(directory).second) return;
    for (const auto& file : temporaries_in(directory)) {
      const std::string target = target_of(file).lexically_relative(local_.home.path).string();
      if (waiting_.count(target) != 0 && !is_locked(file)) fs::remove(file);
    }
  }

  // Nothing where the file system has no locks: then another spooler may remove the file, and a later round
  // writes it again.
  static std::optional<FileLock> lock_unfinished(const fs::path& file) {
    try {
      return FileLock::try_take(file);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  const LocalRun& local_;
  const Pace& pace_;
  const SpoolOptions options_;
  std::vector<char> buffer_;
  std::map<std::string, Progress> waiting_;
  std::set<fs::path> cleaned_;
  Spooled out_;
};

}  // namespace

std::vector<WaitingFile> waiting_files(const LocalRun& local) {
  using Found = std::tuple<std::int64_t, std::int64_t, std::string, std::uint64_t>;
  std::vector<Found> found;
  std::error_code gone;
  for (const auto& block : fs::directory_iterator(RunDir{local.path}.checkpoints(), gone)) {
    if (!fs::is_directory(block.symlink_status(gone))) continue;
    for (const auto& entry : fs::directory_iterator(block.path(), gone)) {
      struct stat info = {};
      // Names that begin with a dot are unfinished files.
      if (entry.path().filename().string().front() == '.' || ::lstat(entry.path().c_str(), &info) != 0 ||
          !S_ISREG(info.st_mode))
        continue;
      found.emplace_back(info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                         entry.path().lexically_relative(local.path).string(),
                         static_cast<std::uint64_t>(info.st_size));
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<WaitingFile> out;
  out.reserve(found.size());
  for (auto& [seconds, nanoseconds, file, bytes] : found) out.push_back({std::move(file), bytes});
  return out;
}

std::uint64_t bytes_of(const std::vector<WaitingFile>& files) {
  std::uint64_t out = 0;
  for (const auto& file : files) out += file.bytes;
  return out;
}

Spooled spool(const LocalRun& local, const Pace& pace, SpoolOptions options) {
  return Round(local, pace, options).spool();
}

}  // namespace flor::core
