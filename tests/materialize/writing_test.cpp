// Large files: direct and cached, and what stops them.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <random>

#include "core/files/durable.h"
#include "core/materialize/direct_output.h"
#include "core/materialize/staging.h"
#include "recording.h"

namespace flor::core {
namespace {

using test::Recording;
using test::Tensor;

std::string noise(std::size_t size) {
  std::mt19937_64 random(size);
  std::string bytes(size, '\0');
  for (auto& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Several files behind one another, so that both ways, direct and cached, are taken.
TEST(DirectOutputTest, WritesPartsOfAnyLength) {
  test::TemporaryDirectory directory;
  DirectOutput output;
  Staging staging;
  int number = 0;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, DirectOutput::block - 1, DirectOutput::block,
        3 * DirectOutput::block + 17, DirectOutput::most, 3 * DirectOutput::most + 4095}) {
    for (const std::size_t step : {size + 1, std::size_t{700001}}) {
      const std::string bytes = noise(size);
      unsigned char* memory = staging.require(size);
      std::memcpy(memory, bytes.data(), size);
      const auto path = directory / std::to_string(number++);
      const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0644);
      output.begin(fd);
      for (std::size_t at = 0; at < size; at += step) {
        ASSERT_EQ(output.write(memory + at, std::min(step, size - at), static_cast<off_t>(4096 + at)), 0);
      }
      ASSERT_EQ(output.write("head", 4, 0), 0);
      ASSERT_EQ(output.finish(), 0);
      output.took(0.001);
      ::close(fd);
      const std::string written = read_file(path);
      EXPECT_EQ(written.substr(0, 4), "head");
      EXPECT_TRUE(size == 0 || written.substr(4096) == bytes) << size << " in steps of " << step;
    }
  }
}

TEST(DirectOutputTest, SaysWhatFailedAndWorksAgain) {
  test::TemporaryDirectory directory;
  DirectOutput output;
  Staging staging;
  const std::string bytes = noise(DirectOutput::most + 100);
  unsigned char* memory = staging.require(bytes.size());
  std::memcpy(memory, bytes.data(), bytes.size());
  const int closed = ::open("/dev/null", O_RDONLY);
  output.begin(closed);
  int error = output.write(memory, bytes.size(), 0);
  if (error == 0) error = output.finish();
  EXPECT_EQ(error, EBADF);
  ::close(closed);
  const auto path = directory / "file";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0644);
  output.begin(fd);
  EXPECT_EQ(output.write(memory, bytes.size(), 0), 0);
  EXPECT_EQ(output.finish(), 0);
  ::close(fd);
  EXPECT_TRUE(read_file(path) == bytes);
}

// Between two unaligned parts the file goes back into direct mode.
TEST(DirectOutputTest, WritesBlocksBehindAnUnalignedPart) {
  test::TemporaryDirectory directory;
  DirectOutput output;
  Staging staging;
  const std::size_t part = DirectOutput::most;
  const std::string bytes = noise(2 * part);
  unsigned char* memory = staging.require(bytes.size());
  std::memcpy(memory, bytes.data(), bytes.size());
  const auto path = directory / "file";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0644);
  output.begin(fd);
  EXPECT_EQ(output.write(memory, part, 4096), 0);
  EXPECT_EQ(output.write("head", 4, 0), 0);
  EXPECT_EQ(output.write(memory + part, part, static_cast<off_t>(4096 + part)), 0);
  EXPECT_EQ(output.finish(), 0);
  ::close(fd);
  EXPECT_TRUE(read_file(path).substr(4096) == bytes);
}

// A limit on file sizes stops a write in the middle of a block, as a full disk does.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

class Limited : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Limited, testing::Values("inline", "thread", "fork", "fork-batch"),
                         [](const auto& info) {
                           return info.param == "fork-batch" ? std::string("fork_batch") : info.param;
                         });

TEST_P(Limited, AWriteThatIsCutShortIsAnErrorAndTheNextMomentRecovers) {
  Recording run(GetParam());
  Tensor tensor(3 << 20);
  ASSERT_EQ(run.take(0, {tensor.buffer("0")}).error, "");
  tensor.write(2.0F);
  {
    const FileLimit limit(5 * DirectOutput::block + 100);
    EXPECT_NE(run.take(1, {tensor.buffer("0")}).error, "");
  }
  EXPECT_FALSE(fs::exists(run.dir.path / Recording::file(1)));
  EXPECT_EQ(run.take(2, {tensor.buffer("0")}).error, "");
  EXPECT_EQ(run.values(2, "0"), tensor.values);
  EXPECT_EQ(run.values(0, "0"), std::vector<float>(tensor.values.size(), 0.5F));
}

}  // namespace
}  // namespace flor::core
