#include "core/base/printable.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

TEST(Printable, TextStaysWhatItIs) {
  const std::string text = "grüße, 模型 and \xf0\x9f\x98\x80 at 100 % \\n";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, WhatSteersATerminalIsEscaped) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\u001b[31mb");
  EXPECT_EQ(printable("a\nb\tc\r\x7f"), "a\\u000ab\\u0009c\\u000d\\u007f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");  // CSI in one character
  EXPECT_EQ(printable("run\xe2\x80\xae"
                      "gnp"),
            "run\\u202egnp");  // written from right to left
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\u0000b");
}

TEST(Printable, WhatIsNoUtf8IsReplaced) {
  const std::string replaced = "\xef\xbf\xbd";
  EXPECT_EQ(printable("a\x9b"
                      "b"),
            "a" + replaced + "b");
  EXPECT_EQ(printable("\xc0\x80"), replaced + replaced);                 // longer than it need be
  EXPECT_EQ(printable("\xe2\x82"), replaced + replaced);                 // cut off
  EXPECT_EQ(printable("\xed\xa0\x80"), replaced + replaced + replaced);  // a surrogate
}

TEST(Printable, LinesKeepTheirBreaksAndTabs) {
  EXPECT_EQ(printable_lines("a\tb\nc\x1b"), "a\tb\nc\\u001b");
}

}  // namespace
}  // namespace flor::core
