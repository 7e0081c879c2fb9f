// A link that another user put in the place of a directory could lead to a million files, or to a file server
// that never answers.
#include "core/files/directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

#include "support/temporary.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

TEST(EntriesOf, TellLinksFromOthers) {
  const test::TemporaryDirectory directory;
  std::ofstream(directory / "file") << "x";
  fs::create_directory(directory / "directory");
  fs::create_symlink("file", directory / "link");
  std::error_code error;
  std::map<std::string, bool> links;
  for (const auto& [path, is_link] : entries_of(directory.path(), error)) {
    EXPECT_EQ(path.parent_path(), directory.path());
    links[path.filename().string()] = is_link;
  }
  EXPECT_FALSE(error) << error.message();
  EXPECT_EQ(links, (std::map<std::string, bool>{{"file", false}, {"directory", false}, {"link", true}}));
}

TEST(EntriesOf, AreNotThoseThatALinkLeadsTo) {
  const test::TemporaryDirectory directory;
  fs::create_directories(directory / "real" / "one");
  fs::create_directory_symlink("real", directory / "link");
  std::error_code error;
  for (const char* name : {"link", "missing", "real/one/missing"}) {
    EXPECT_TRUE(entries_of(directory / name, error).empty()) << name;
    EXPECT_TRUE(is_no_directory(error)) << name << ": " << error.message();
  }
  EXPECT_EQ(entries_of(directory / "link" / ".." / "real", error).size(), 1U) << "only the last part counts";
}

}  // namespace
}  // namespace flor::core
