// Images, and how the elements of tensors are spread.
#include "dashboard/data/tensors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "support/another_user.h"
#include "support/temporary.h"

namespace flor::dashboard {
namespace {

using core::Json;
using results::Row;

Row row(int epoch, const std::string& name, const Json& value) {
  return results::row_from(
      {{"@at", "epoch=" + std::to_string(epoch)}, {"name", name}, {"value", value}, {"epoch", epoch}},
      "test");
}

Json image(const std::string& file) {
  return {{"file", file}, {"width", 4}, {"height", 2}, {"channels", 3}, {"xxh3", "0"}};
}

TEST(Tensors, AreKnownByTheirValue) {
  EXPECT_STREQ(kind_of(1.5), "numbers");
  EXPECT_STREQ(kind_of("-Infinity"), "numbers");
  EXPECT_STREQ(kind_of("text"), "other");
  EXPECT_STREQ(kind_of(image("images/a/epoch=0.png")), "image");
  EXPECT_STREQ(kind_of({{"file", "tensors/a/epoch=0.safetensors"}}), "other");
  EXPECT_STREQ(kind_of({{"min", 0}, {"max", 1}, {"mean", 0.5}}), "spread");
  EXPECT_STREQ(kind_of({{"error", "has no element"}}), "other");
}

TEST(Tensors, OfManyRowsEveryNthIsGivenAndTheLast) {
  std::vector<Row> rows;
  for (int i = 0; i < 1000; ++i) {
    rows.push_back(row(i, "loss", 0.5));
    rows.push_back(row(i, "w", {{"min", -i}, {"max", i}, {"histogram", {1, 2}}, {"dtype", "F32"}}));
  }
  const Json all = tensors_of(rows, "w", 200);
  EXPECT_EQ(all["of"], 1000);
  ASSERT_EQ(all["rows"].size(), 201U);
  EXPECT_EQ(core::json_text(all["rows"][1]),
            R"({"row":5,"at":"epoch=5","min":-5,"max":5,"histogram":[1,2]})");
  EXPECT_EQ(all["rows"].back()["at"], "epoch=999");
  EXPECT_EQ(tensors_of(rows, "none", 200)["rows"].size(), 0U);
}

class Images : public ::testing::Test {
 protected:
  Images() {
    std::filesystem::create_directories(run.path / "images");
    std::ofstream(run.path / "images" / "a.png") << "\x89PNG\r\n\x1a\n";
    std::ofstream(directory.path() / "secret") << "\x89PNG\r\n\x1a\nsecret";
  }
  std::optional<Json> get(const std::string& file, std::size_t number = 0) const {
    return image_of(run, {row(0, "a", image(file))}, "a", number);
  }
  test::TemporaryDirectory directory;
  core::RunDir run{directory.path() / "r1"};
};

TEST_F(Images, ComeAsDataUrls) {
  const auto found = get("images/a.png");
  ASSERT_TRUE(found);
  EXPECT_EQ(core::json_text(*found), R"({"png":"data:image/png;base64,iVBORw0KGgo="})");
  EXPECT_FALSE(get("images/a.png", 1)) << "there is no such row";
  EXPECT_FALSE(get("images/gone.png"));
}

TEST_F(Images, LeadNowhereElse) {
  std::filesystem::create_symlink(directory.path() / "secret", run.path / "images" / "link.png");
  for (const char* file :
       {"images/../../secret", "../secret", "/etc/passwd", "images/link.png", "run.json", ""})
    EXPECT_FALSE(get(file)) << file;
  EXPECT_FALSE(get(std::string("images/..\0/..\0/secret", 21))) << "a NUL ends a name";
  std::filesystem::create_directory_symlink(run.path / "images", run.path / "images" / "again");
  EXPECT_TRUE(get("images/a.png"));
  EXPECT_FALSE(get("images/again/a.png"));
}

// The store may lie behind a link, its runs may not.
TEST_F(Images, AreNotThoseBehindALinkInTheStore) {
  std::filesystem::create_directory_symlink(directory.path(), directory.path() / "store");
  std::filesystem::create_directory_symlink(run.path, directory.path() / "link");
  run.path = directory.path() / "store" / "r1";
  EXPECT_TRUE(get("images/a.png"));
  run.path = directory.path() / "link";
  EXPECT_FALSE(get("images/a.png"));
}

TEST_F(Images, OfAnotherUsersRunAreNotGiven) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::chown(run.path.c_str(), test::attacker, test::attacker), 0);
  EXPECT_FALSE(get("images/a.png"));
}

}  // namespace
}  // namespace flor::dashboard
