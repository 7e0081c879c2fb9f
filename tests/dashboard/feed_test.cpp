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
