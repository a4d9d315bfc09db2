#include "io/mbs/mbs_feed.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/runtime/error.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/lmd/lmd_reader.hpp"
#include "io/recorded/encoded_stream.hpp"
#include "loopback_server.hpp"
#include "mbs_maker.hpp"

namespace eventloom {
namespace {

using namespace test;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{60};
constexpr TimeBase kNumbered{1000, 16};

std::unique_ptr<LiveFeed> open(const std::string& place, const TimeBase& base = kNumbered,
                               const LiveInputSettings& settings = {}) {
  const auto question = place.find('?');
  auto uri = SourceUri::of_path("lmd", place.substr(0, question));
  for (auto at = question; at != std::string::npos;) {
    const auto next = place.find('&', at + 1);
    const auto item = place.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    uri = uri.with(item.substr(0, item.find('=')), item.substr(item.find('=') + 1));
    at = next;
  }
  return open_mbs(uri, SourceId{3}, base, settings);
}

/// The contents of an epoch buffer, independent of its offset in a file.
struct Stored {
  EpochBufferHeader header;
  std::vector<std::uint32_t> words;
};

std::vector<Stored> split(std::span<const std::byte> bytes) {
  std::vector<Stored> buffers;
  while (!bytes.empty()) {
    const auto header = read_epoch_buffer_header(bytes);
    if (!header || header->stored_bytes() > bytes.size()) {
      ADD_FAILURE() << "not a whole epoch buffer";
      return buffers;
    }
    const auto words = words_of(*header, bytes);
    EXPECT_TRUE(words_intact(*header, words));
    buffers.push_back({*header, {words.begin(), words.end()}});
    bytes = bytes.subspan(header->stored_bytes());
  }
  return buffers;
}

void expect_same(const std::vector<Stored>& live, const std::vector<Stored>& file) {
  ASSERT_EQ(live.size(), file.size());
  for (std::size_t i = 0; i < file.size(); ++i) {
    auto header = live[i].header;
    header.stream_offset = file[i].header.stream_offset;  // after a text of another length
    header.header_crc = file[i].header.header_crc;
    EXPECT_EQ(std::memcmp(&header, &file[i].header, sizeof header), 0) << i;
    EXPECT_EQ(live[i].words, file[i].words) << i;
  }
}

/// Takes data until `done`, or fails if that does not happen.
template <class Done>
FeedBatch take_until(LiveFeed& feed, Done done) {
  FeedBatch batch;
  for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
    feed.take(batch);
    if (done(batch)) return batch;
    std::this_thread::yield();
  }
  ADD_FAILURE() << "it has not come";
  return batch;
}
FeedBatch take_all(LiveFeed& feed) {
  return take_until(feed, [](const FeedBatch& batch) { return batch.ended; });
}

std::vector<Stored> buffers_of_file(const std::string& path, const std::string& query, const TimeBase& base,
                                    std::size_t reorder) {
  const auto uri = SourceUri::parse("lmd:" + path + query);
  EncodedStream stream(open_lmd(uri, std::vector{path}, SourceId{3}, base), ReorderLimits{reorder});
  SliceData data;
  stream.collect({0, std::numeric_limits<Epoch>::max()}, data);
  std::vector<std::byte> bytes;
  for (const auto& piece : data.pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return split(bytes);
}

/// Makes a server's thread wait for the test.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

TEST(MbsFeed, EpochBuffersOfTheFile) {
  for (const std::string name : {"classic_16k.lmd", "gen_partial_0000.lmd", "var_2byte.lmd"}) {
    const auto path = std::string(TEST_DATA_DIR) + "/lmd/" + name;
    const auto expected = buffers_of_file(path, "", kNumbered, 1);
    const auto events = events_of(path);
    for (const bool native : {true, false}) {
      const auto sent = native ? handshake(4096, 4, 1) + joined(native_buffers(events, 4096))
                               : variable_handshake() + joined(variable_buffers(events, 60000));
      Server server({sends(sent, 3000)});
      const auto feed = open(server.place() + "/transport");
      const auto batch = take_all(*feed);
      expect_same(split(batch.buffers), expected);
      EXPECT_EQ(batch.damage.empty(), name != "gen_partial_0000.lmd");
      EXPECT_EQ(feed->counts().counters[Metric::source_events], events.size());
      EXPECT_FALSE(feed->is_connected());
      EXPECT_EQ(feed->anomalies(), 0U);
    }
  }
}

TEST(MbsFeed, EpochBuffersOfTheFileByTimeStamps) {
  const auto path = std::string(TEST_DATA_DIR) + "/lmd/var_small.lmd";
  const std::string query = "?time=word:0,1";
  const auto expected = buffers_of_file(path, query, {}, 10'000);
  Server server({sends(variable_handshake() + joined(variable_buffers(events_of(path), 4000)))});
  const auto feed = open(server.place() + "/transport" + query, {});
  expect_same(split(take_all(*feed).buffers), expected);
}

TEST(MbsFeed, BuffersComeWhileTheServerWaits) {
  Gate seen;
  std::vector<std::string> events;
  for (std::uint32_t i = 1; i <= 300; ++i) events.push_back(plain_event(i));
  Server server({[&](const Peer& peer) {
    peer.send(variable_handshake() + joined(variable_buffers(events, 60000)));
    seen.wait();
  }});
  const auto feed = open(server.place() + "/transport");
  const auto batch = take_until(*feed, [](const FeedBatch& b) { return b.complete >= 300 / 16 - 1; });
  EXPECT_FALSE(batch.ended);
  EXPECT_TRUE(feed->is_connected());
  const auto buffers = split(batch.buffers);
  ASSERT_FALSE(buffers.empty());
  EXPECT_LE(buffers.back().header.epochs().end, batch.complete);
  seen.open();
  const auto rest = take_all(*feed);
  EXPECT_GE(split(rest.buffers).front().header.first_epoch, batch.complete);
}

/// A run that ends, while its source goes on, has all hits received: no number that follows confirms the last one.
TEST(MbsFeed, WhatWaitsForAnotherNumberIsDeliveredOnRequest) {
  Gate over;
  std::vector<std::string> events;
  for (std::uint32_t i = 1; i <= 37; ++i) events.push_back(plain_event(i));
  Server server({[&](const Peer& peer) {
    peer.send(variable_handshake() + joined(variable_buffers(events, 60000)));
    over.wait();
  }});
  const auto feed = open(server.place() + "/transport");
  const Epoch last_end = 37 / 16 + 1;
  const auto before = take_until(*feed, [last_end](const FeedBatch& b) { return b.seen_end == last_end; });
  EXPECT_LT(before.complete, last_end);
  EXPECT_TRUE(feed->settle(last_end + 7));
  const auto batch = take_until(*feed, [last_end](const FeedBatch& b) { return b.complete >= last_end + 7; });
  std::uint64_t hits = 0;
  for (const auto* part : {&before, &batch}) {
    for (const auto& buffer : split(part->buffers)) hits += buffer.header.n_hits;
  }
  EXPECT_EQ(hits, 2 * 37U);
  EXPECT_TRUE(feed->is_connected());
  over.open();
}

TEST(MbsFeed, StoppedThoughTheServerIsSilent) {
  Gate over;
  Server server({[&](const Peer& peer) {
    peer.send(handshake(512, 1, 1) + std::string(100, '\0'));
    over.wait();
  }});
  const auto feed = open(server.place() + "/transport");
  feed->stop();
  const auto batch = take_all(*feed);
  EXPECT_TRUE(batch.damage.empty()) << "no loss is known";
  EXPECT_EQ(feed->anomalies(), 0U);
  over.open();
}

TEST(MbsFeed, EndsAlthoughNothingIsTakenAndTheServerIsSilent) {
  Gate over;
  Server server({[&](const Peer&) { over.wait(); }});
  open(server.place() + "/stream").reset();
  over.open();
}

TEST(MbsFeed, WhoDoesNotTakeHoldsTheServerUp) {
  const std::string body = subevent(1, Words(15000, 7));
  std::atomic<std::uint32_t> sent{0};
  constexpr std::uint32_t kEvents = 2000;  // 120 MB
  Server server({[&](const Peer& peer) {
    peer.send(variable_handshake());
    for (std::uint32_t i = 1; i <= kEvents && peer.send(variable_buffer(event(i, body))); ++i) sent = i;
  }});
  const auto feed = open(server.place() + "/transport", kNumbered, {.buffer_bytes = 1U << 20});
  int still = 0;  // polls of a server that does not progress
  for (std::uint32_t last = 0; still < 300 && last < kEvents;
       std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    still = sent == last ? still + 1 : 0;
    last = sent;
  }
  EXPECT_LT(sent, kEvents / 2) << "data not taken stay with the server";
  std::size_t most = 0;
  std::uint64_t hits = 0;
  take_until(*feed, [&](FeedBatch& batch) {
    for (const auto& buffer : split(batch.buffers)) hits += buffer.header.n_hits;
    most = std::max(most, batch.buffers.size());
    batch.clear();
    return batch.ended;
  });
  EXPECT_EQ(hits, kEvents);
  EXPECT_LE(most, (1U << 20) + (2U << 20)) << "the limit, and one piece more";
}

TEST(MbsFeed, LateHitsAreLostAndDoNotEndIt) {
  std::vector<std::string> events;
  for (std::uint32_t i = 1; i <= 100; ++i) {
    events.push_back(event(i, subevent(1, {i == 50 ? 5 : 20'000 * i})));
  }
  Server server({sends(variable_handshake() + joined(variable_buffers(events, 60000)))});
  const auto feed = open(server.place() + "/transport?time=word:0,1&reorder=10", {});
  const auto batch = take_all(*feed);
  std::uint64_t hits = 0;
  for (const auto& buffer : split(batch.buffers)) hits += buffer.header.n_hits;
  EXPECT_EQ(hits, 100U) << "all came at once, and were put in order";
}

TEST(MbsFeed, WhatIsLateForAnEpochThatWasClosedIsDamage) {
  Gate closed;
  const auto at = [](std::uint32_t number, std::uint32_t time) { return event(number, subevent(1, {time})); };
  Server server({[&](const Peer& peer) {
    peer.send(variable_handshake() + joined(variable_buffers({at(1, 20'000), at(2, 40'000)}, 60000)));
    closed.wait();
    peer.send(joined(variable_buffers({at(3, 30'000)}, 60000)));
  }});
  const auto feed = open(server.place() + "/transport?time=word:0,1&reorder=1", {});
  const auto before = take_until(*feed, [](const FeedBatch& b) { return b.complete > 0 && b.complete == b.seen_end; });
  EXPECT_FALSE(before.ended);
  closed.open();
  const auto rest = take_all(*feed);
  ASSERT_EQ(rest.damage.size(), 1U);
  EXPECT_EQ(rest.damage.front().n_hits, 1U);
  EXPECT_EQ(rest.damage.front().cause, DropCause::late);
}

TEST(MbsFeed, ReportsConnectionsLost) {
  const auto path = std::string(TEST_DATA_DIR) + "/lmd/var_small.lmd";
  const auto sent = variable_handshake() + joined(variable_buffers(events_of(path), 4000));
  Server server({sends(sent.substr(0, sent.size() / 2)), sends(sent)});
  const auto feed = open(server.place() + "/transport", kNumbered, {.reconnect_seconds = 0.2});
  const auto batch = take_all(*feed);
  expect_same(split(batch.buffers), buffers_of_file(path, "", kNumbered, 1));
  EXPECT_EQ(feed->counts().counters[Metric::reconnects], 1U);
  EXPECT_GE(feed->anomalies(), 1U);
}

TEST(MbsFeed, KeysThatItDoesNotHave) { EXPECT_THROW(open("//127.0.0.1:1/transport?time=tomorrow"), UserError); }

}  // namespace
}  // namespace eventloom
