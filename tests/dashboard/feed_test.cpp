// What a viewer gets who comes, goes, and comes back.
#include "dashboard/http/feed.h"

#include <gtest/gtest.h>

namespace flor::dashboard {
namespace {

TEST(Feed, BeginsWithASnapshotAndGoesOnWithChanges) {
  Feed feed;
  feed.publish("S1", "D1");
  const auto first = feed.since("");
  EXPECT_NE(first.text.find("event: snapshot\n"), std::string::npos);
  EXPECT_NE(first.text.find("data: S1\n\n"), std::string::npos);
  EXPECT_EQ(feed.since(first.last_id).text, "") << "nothing is sent when nothing changed";
  feed.publish("S2", "D2");
  feed.publish("S3", "D3");
  const auto next = feed.since(first.last_id);
  EXPECT_EQ(next.text.find("S3"), std::string::npos);
  EXPECT_LT(next.text.find("data: D2\n\n"), next.text.find("data: D3\n\n"));
  EXPECT_EQ(next.text.find("D1"), std::string::npos);
  EXPECT_EQ(feed.since(next.last_id).text, "");
}

TEST(Feed, WhoseIdIsUnknownGetsTheSnapshot) {
  Feed feed, another;
  for (int i = 0; i < 300; ++i) feed.publish("S" + std::to_string(i), "D" + std::to_string(i));
  another.publish("other", "other");
  const std::string own = feed.since("").last_id;
  const std::string birth = own.substr(0, own.rfind('-'));
  for (const std::string& id : {std::string("x"), another.since("").last_id, birth + "-10", birth + "-301",
                                birth + "--1", birth + "-", birth + "-18446744073709551616"})
    EXPECT_NE(feed.since(id).text.find("data: S299\n"), std::string::npos) << id;
  const std::string late = feed.since(birth + "-298").text;
  EXPECT_EQ(late, "event: change\nid: " + birth + "-299\ndata: D298\n\nevent: change\nid: " + own +
                      "\ndata: D299\n\n");
}

TEST(Feed, KnowsWhetherSomebodyLooks) {
  Feed feed;
  EXPECT_FALSE(feed.was_asked_within(std::chrono::hours(1)));
  feed.publish("S", "D");
  EXPECT_FALSE(feed.was_asked_within(std::chrono::hours(1)));
  (void)feed.since("");
  EXPECT_TRUE(feed.was_asked_within(std::chrono::hours(1)));
  EXPECT_FALSE(feed.was_asked_within(std::chrono::nanoseconds(0)));
  Feed other;
  (void)other.snapshot();
  EXPECT_FALSE(other.was_asked_within(std::chrono::hours(1))) << "a monitor asks day and night";
}

// One user of a shared store may change thousands of runs at once, again and again.
TEST(Feed, KeepsFewBytesOfChanges) {
  Feed feed;
  const std::string large(std::size_t{5} << 20, 'x');
  feed.publish("S1", "D1");
  const std::string first = feed.since("").last_id;
  feed.publish("S2", large);
  EXPECT_NE(feed.since(first).text.find("event: change\n"), std::string::npos);
  const std::string second = feed.since("").last_id;
  feed.publish("S3", large);
  EXPECT_NE(feed.since(first).text.find("data: S3\n"), std::string::npos) << "the oldest change is gone";
  EXPECT_NE(feed.since(second).text.find("event: change\n"), std::string::npos);
  const std::string third = feed.since("").last_id;
  feed.publish("S4", large + large);
  EXPECT_NE(feed.since(third).text.find("data: S4\n"), std::string::npos) << "it is too large by itself";
  feed.publish("S5", "D5");
  EXPECT_NE(feed.since(third).text.find("data: S5\n"), std::string::npos);
  EXPECT_EQ(*feed.snapshot(), "S5");
}

TEST(Feed, TellsOfEachChange) {
  Feed feed;
  int told = 0;
  feed.on_change([&told] { ++told; });
  feed.publish("S", "D");
  feed.publish("S", "D");
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace flor::dashboard
