// The file with the dashboard's token.
#include "commands/base/token.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "core/base/error.h"
#include "support/temporary.h"

namespace flor::commands {
namespace {

class TokenFile : public ::testing::Test {
 protected:
  void write(const std::string& text, mode_t mode = 0600) {
    std::ofstream(file_) << text;
    ASSERT_EQ(::chmod(file_.c_str(), mode), 0);
  }
  std::string refused() {
    try {
      return "taken: " + token_in(file_);
    } catch (const core::UsageError& problem) {
      return problem.what();
    }
  }

  test::TemporaryDirectory directory_;
  std::filesystem::path file_ = directory_.path() / "token";
};

TEST_F(TokenFile, IsMadeOnceForThisUserAlone) {
  const std::string token = token_in(file_);
  EXPECT_EQ(token.size(), 32U);
  EXPECT_EQ(token_in(file_), token);
  struct stat info = {};
  ASSERT_EQ(::stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  std::filesystem::remove(file_);
  EXPECT_NE(token_in(file_), token);
}

TEST_F(TokenFile, OfTheUserIsTaken) {
  write("My-own_token-0123456789");
  EXPECT_EQ(token_in(file_), "My-own_token-0123456789");
}

TEST_F(TokenFile, ThatOthersMayReadIsRefused) {
  write("0123456789abcdef0123\n", 0640);
  EXPECT_NE(refused().find("mode 0600"), std::string::npos) << refused();
}

TEST_F(TokenFile, WithoutATokenIsRefused) {
  for (const char* text :
       {"", "\n", "short", "0123456789abcdef 0123456789", "0123456789abcdef\n0123456789abcdef"}) {
    write(text);
    EXPECT_NE(refused().find("holds no token"), std::string::npos) << text << ": " << refused();
  }
}

TEST_F(TokenFile, ThatIsALinkIsNotFollowed) {
  const auto secret = directory_.path() / "secret";
  std::ofstream(secret) << "0123456789abcdef0123\n";
  std::filesystem::create_symlink(secret, file_);
  EXPECT_ANY_THROW(token_in(file_));
}

}  // namespace
}  // namespace flor::commands
