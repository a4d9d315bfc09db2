#include "io/mbs/mbs_reader.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/lmd/lmd_reader.hpp"
#include "loopback_server.hpp"
#include "mbs_maker.hpp"

namespace eventloom {
namespace {

using namespace test;
using std::chrono::duration;

std::unique_ptr<MbsReader> connect(const std::string& place, const MbsStop& stop, const std::string& query = "",
                                   double reconnect = 0) {
  const auto uri = SourceUri::of_path("lmd", place);  // the keys are those of lmd:
  const auto keys = SourceUri::parse("lmd:x" + (query.empty() ? "" : "?" + query));
  const LmdTime time(keys, 1000);
  return std::make_unique<MbsReader>(MbsAddress::of(uri), time, lmd_stream_header(uri, SourceId{3}, {}, time),
                                     duration<double>(reconnect), std::nullopt, EraRule::automatic, stop);
}

/// All blocks of a reader combined.
struct Read {
  HitBlock all;
  CountsByName counts;

  [[nodiscard]] Words numbers() const {
    Words numbers;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (numbers.empty() || numbers.back() != all.payload_of(i)[2]) numbers.push_back(all.payload_of(i)[2]);
    }
    return numbers;
  }
  [[nodiscard]] std::uint64_t lost(DropCause cause) const {
    std::uint64_t hits = 0;
    for (const auto& loss : all.losses) hits += loss.cause == cause ? loss.hits : 0;
    return hits;
  }
  [[nodiscard]] std::size_t holes() const {
    return static_cast<std::size_t>(std::ranges::count_if(all.losses, &Loss::leaves_hole));
  }
  [[nodiscard]] bool breaks_off() const { return std::ranges::any_of(all.losses, &Loss::breaks_off); }
};

void append(const HitBlock& block, HitBlock& all) {
  for (auto loss : block.losses) {
    EXPECT_LE(loss.before, block.size());
    loss.before += all.size();
    all.losses.push_back(loss);
  }
  for (const auto begin : block.payload_begin) {
    all.payload_begin.push_back(static_cast<std::uint32_t>(begin + all.payload.size()));
  }
  all.time.insert(all.time.end(), block.time.begin(), block.time.end());
  all.channel.insert(all.channel.end(), block.channel.begin(), block.channel.end());
  all.payload.insert(all.payload.end(), block.payload.begin(), block.payload.end());
}

Read read(HitReader& reader) {
  Read result;
  HitBlock block;
  while (reader.read(block)) append(block, result.all);
  EXPECT_FALSE(reader.read(block));
  result.counts = reader.counts().by_name();
  return result;
}

Read read_server(std::vector<Server::Serve> clients, const std::string& query = "", double reconnect = 0,
                 const std::string& service = "/transport") {
  Server server(std::move(clients));
  const MbsStop stop;
  return read(*connect(server.place() + service, stop, query, reconnect));
}

Read read_file(const std::string& path, const std::string& query = "") {
  const auto uri = SourceUri::parse("lmd:" + path + (query.empty() ? "" : "?" + query));
  return read(*open_lmd(uri, std::vector{path}, SourceId{3}, {}));
}

void expect_same(const Read& server, const Read& file) {
  EXPECT_EQ(server.all.time, file.all.time);
  EXPECT_EQ(server.all.channel, file.all.channel);
  EXPECT_EQ(server.all.payload, file.all.payload);
  EXPECT_EQ(server.all.payload_begin, file.all.payload_begin);
  ASSERT_EQ(server.all.losses.size(), file.all.losses.size());
  for (std::size_t i = 0; i < file.all.losses.size(); ++i) {
    EXPECT_EQ(server.all.losses[i].before, file.all.losses[i].before);
    EXPECT_EQ(server.all.losses[i].hits, file.all.losses[i].hits);
    EXPECT_EQ(server.all.losses[i].cause, file.all.losses[i].cause);
  }
  for (const auto* name : {"events", "subevents", "empty_events", "trigger_1", "duplicate_numbers"}) {
    const auto count = [name](const Read& read) { return read.counts.contains(name) ? read.counts.at(name) : 0; };
    EXPECT_EQ(count(server), count(file)) << name;
  }
}

std::vector<std::string> numbered_events(std::uint32_t first, std::uint32_t last) {
  std::vector<std::string> events;
  for (std::uint32_t i = first; i <= last; ++i) {
    events.push_back(event(i, subevent(0x01000005, {1000 * i, i}) + subevent(7, Words(i % 5, i))));
  }
  return events;
}

Words from_to(std::uint32_t first, std::uint32_t last) {
  Words numbers;
  for (std::uint32_t i = first; i <= last; ++i) numbers.push_back(i);
  return numbers;
}

class RecordedEvents : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedEvents, GiveTheHitsOfTheFile) {
  const std::string path = std::string(TEST_DATA_DIR) + "/lmd/" + GetParam();
  const auto file = read_file(path);
  const auto events = events_of(path);
  const auto native = native_buffers(events, 4096);
  const auto variable = variable_buffers(events, 60000);
  expect_same(read_server({sends(handshake(4096, 8, 1) + joined(native))}), file);
  expect_same(read_server({sends(swapped(handshake(4096, 8, 1)) + joined_swapped(native), 777)}), file);
  expect_same(read_server({sends(variable_handshake() + joined(variable))}), file);
  expect_same(read_server({sends(swapped(variable_handshake()) + joined_swapped(variable), 5000)}), file);
}

INSTANTIATE_TEST_SUITE_P(Mbs, RecordedEvents,
                         ::testing::Values("be_flat.lmd", "classic_16k.lmd", "classic_nospan.lmd", "comb_0002.lmd",
                                           "gen_partial_0000.lmd", "index.lmd", "var_2byte.lmd", "var_small.lmd"),
                         [](const auto& instance) {
                           const std::string name = instance.param;
                           return name.substr(0, name.size() - 4);
                         });

TEST(MbsReader, BuffersOfAClassicFileAsTheyAre) {
  const std::string path = std::string(TEST_DATA_DIR) + "/lmd/classic_16k.lmd";
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const auto server = read_server({sends(handshake(16384, 8, 1) + bytes.substr(16384))});
  const auto file = read_file(path);
  expect_same(server, file);
  EXPECT_EQ(server.counts.at("buffers_continued"), 76U);
  EXPECT_EQ(server.counts.at("mbs_buffers"), 90U);
  EXPECT_EQ(server.counts.at("mbs_bytes"), bytes.size() - 16384 + 16);
}

TEST(MbsReader, OneByteAtATime) {
  const auto buffers = native_buffers(numbered_events(1, 40), 256);
  const auto result = read_server({sends(handshake(256, 1, 1) + joined(buffers), 1)});
  EXPECT_EQ(result.numbers(), from_to(1, 40));
  EXPECT_TRUE(result.all.losses.empty());
}

TEST(MbsReader, HandsOverWhatIsThereBeforeMoreComes) {
  std::promise<void> seen;
  const auto send = [&seen](const Peer& peer) {
    peer.send(variable_handshake() + joined(variable_buffers(numbered_events(1, 9), 60000)));
    seen.get_future().wait();
    peer.send(joined(variable_buffers(numbered_events(10, 10), 60000)));
  };
  Server server({send});
  const MbsStop stop;
  const auto reader = connect(server.place() + "/transport", stop);
  Read result;
  HitBlock block;
  while (result.numbers().size() < 8 && reader->read(block)) append(block, result.all);
  EXPECT_EQ(result.numbers(), from_to(1, 8)) << "the ninth may be an unfinished copy of what follows";
  seen.set_value();
  while (reader->read(block)) append(block, result.all);
  EXPECT_EQ(result.numbers(), from_to(1, 10));
}

TEST(MbsReader, UnfinishedCopyAtTheEndOfABufferGoes) {
  const auto copy = event(2, subevent(1, {1}));
  const auto whole = event(2, subevent(1, {1}) + subevent(2, {2}));
  std::promise<void> seen;
  const auto send = [&](const Peer& peer) {
    peer.send(variable_handshake() + variable_buffer(plain_event(1) + copy));
    seen.get_future().wait();
    peer.send(variable_buffer(whole + plain_event(3)));
  };
  Server server({send});
  const MbsStop stop;
  const auto reader = connect(server.place() + "/transport", stop);
  Read result;
  HitBlock block;
  for (bool idle = false; !idle && reader->read(block); append(block, result.all)) {
    idle = result.all.size() == 2 && block.size() == 0;  // all existing data have been seen
  }
  seen.set_value();
  while (reader->read(block)) append(block, result.all);
  EXPECT_EQ(result.numbers(), from_to(1, 3));
  EXPECT_EQ(result.all.size(), 6U);
  EXPECT_EQ(result.lost(DropCause::repeated_incomplete), 1U);
}

/// A hit each, once the number that follows shows that the first new one is right. What the server leaves out
/// afterwards is no loss.
TEST(MbsReader, NumbersThatAReconnectionHasCostAreLost) {
  const auto events = [](const Words& numbers) {
    std::vector<std::string> made;
    for (const auto number : numbers) made.push_back(plain_event(number));
    return variable_handshake() + joined(variable_buffers(made, 60000));
  };
  for (const Words& after : {Words{31, 32, 40}, Words{31}, Words{21, 22, 40}, Words{19, 20, 21, 40}}) {
    const auto result = read_server({sends(events(from_to(1, 20))), sends(events(after))}, "", 0.2);
    EXPECT_EQ(result.lost(DropCause::lost), after[0] == 31 ? 10U : 0U) << after[0];
    EXPECT_EQ(result.numbers().back(), after.back());
  }
}

// ---------------------------------------------------------------- asking for data

/// Answers each request with `per_reply` of the buffers.
Server::Serve answers(std::string greeting, std::vector<std::string> buffers, std::size_t per_reply,
                      std::string& farewell) {
  return [greeting = std::move(greeting), buffers = std::move(buffers), per_reply, &farewell](const Peer& peer) {
    const std::string request("GETEVT\0\0\0\0\0\0", 12);
    peer.send(greeting);
    for (std::size_t i = 0; i < buffers.size(); i += per_reply) {
      EXPECT_EQ(peer.receive(12), request);
      for (std::size_t k = i; k < i + per_reply; ++k) {
        EXPECT_TRUE(peer.is_quiet()) << "the next request follows the whole reply";
        peer.send(buffers[k]);
      }
    }
    EXPECT_EQ(peer.receive(12), request);
    peer.send(greeting.substr(4, 4) == Bytes().u32(512).text() ? with_count(buffer({.size = 512}, ""), 0xffffffff)
                                                               : variable_buffer(""));
    farewell = peer.receive(12);
  };
}

TEST(MbsStream, AsksForEachReplyOfNativeBuffers) {
  auto buffers = native_buffers(numbered_events(1, 60), 512);
  while (buffers.size() % 4 != 0) buffers.push_back(buffer({.size = 512}, ""));
  std::string farewell;
  const auto result = read_server({answers(handshake(512, 4, 1), buffers, 4, farewell)}, "", 0, "/stream");
  EXPECT_EQ(result.numbers(), from_to(1, 60));
  EXPECT_TRUE(result.all.losses.empty());
}

TEST(MbsStream, SaysWhenItStops) {
  std::string farewell;
  Read result;
  {
    const auto buffers = variable_buffers(numbered_events(1, 60), 600);
    const auto answer = [&](const Peer& peer) {
      peer.send(handshake(65536, 7, 0));
      for (const auto& buffer : buffers) {
        EXPECT_EQ(peer.receive(12).size(), 12U);
        peer.send(buffer);
      }
      EXPECT_EQ(peer.receive(12).size(), 12U);
      farewell = peer.receive(12);
    };
    Server server({answer});
    MbsStop stop;
    const auto reader = connect(server.place() + "/stream", stop);
    HitBlock block;
    while (result.numbers().size() < 59 && reader->read(block)) append(block, result.all);
    stop.stop();
    while (reader->read(block)) append(block, result.all);
  }
  EXPECT_EQ(farewell, std::string("CLOSE\0\0\0\0\0\0\0", 12));
  EXPECT_EQ(result.numbers(), from_to(1, 60)) << "data received are handed over";
  EXPECT_TRUE(result.all.losses.empty());
}

// ---------------------------------------------------------------- what goes wrong

TEST(MbsReader, NothingListens) {
  std::string place;
  { place = Server({}).place(); }
  const MbsStop stop;
  try {
    connect(place + "/transport", stop);
    FAIL() << "connected to nothing";
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(),
              "mbs:" + place +
                  "/transport: connection refused; start the server first (--reconnect TIME of run and convert waits "
                  "for it)");
  }
}

TEST(MbsReader, GarbageInPlaceOfAHandshake) {
  const auto result = read_server({sends("HTTP/1.1 400 Bad Request\r\n")});
  EXPECT_EQ(result.all.size(), 0U);
  EXPECT_TRUE(result.breaks_off());
}

TEST(MbsReader, ServerThatSaysNothingAndGoes) { EXPECT_TRUE(read_server({sends("")}).breaks_off()); }

TEST(MbsReader, AbsurdLengthEndsTheConnection) {
  auto buffers = variable_buffers(numbered_events(1, 60), 600);
  buffers[3].replace(0, 4, "\xff\xff\xff\x7f").replace(40, 4, "\xff\xff\xff\x7f");
  const auto result = read_server({sends(variable_handshake() + joined(buffers))});
  EXPECT_GT(result.numbers().size(), 5U);
  EXPECT_LT(result.numbers().size(), 60U);
  EXPECT_TRUE(result.breaks_off());
}

TEST(MbsReader, CutAnywhere) {
  const auto buffers = native_buffers(numbered_events(1, 12), 256);
  const auto all = handshake(256, 1, 1) + joined(buffers);
  for (std::size_t end = 17; end <= all.size(); end += 13) {
    const bool whole = (end - 16) % 256 == 0;
    const auto result = read_server({sends(all.substr(0, end))});
    EXPECT_EQ(result.numbers(), from_to(1, static_cast<std::uint32_t>(result.numbers().size())));
    EXPECT_EQ(result.breaks_off() || whole, true) << end;
  }
  EXPECT_FALSE(read_server({sends(all)}).breaks_off());
}

TEST(MbsReader, ResetIsALoss) {
  std::promise<void> connected;
  Server server({[&connected](const Peer& peer) {
    peer.send(variable_handshake());
    connected.get_future().wait();
    peer.reset_at_the_end();
  }});
  const MbsStop stop;
  const auto reader = connect(server.place() + "/transport", stop);
  connected.set_value();
  EXPECT_TRUE(read(*reader).breaks_off());
}

TEST(MbsReader, DamageIsLeftWithItsBuffer) {
  auto buffers = native_buffers(numbered_events(1, 60), 512);
  const auto whole = read_server({sends(handshake(512, 1, 1) + joined(buffers))});
  EXPECT_EQ(whole.numbers(), from_to(1, 60));
  buffers[2].replace(0, 12, std::string(12, '\x5a'));
  const auto result = read_server({sends(handshake(512, 1, 1) + joined(buffers))});
  EXPECT_GT(result.numbers().size(), 40U);
  EXPECT_LT(result.numbers().size(), 60U);
  EXPECT_EQ(result.numbers().back(), 60U);
  EXPECT_GE(result.holes(), 1U);
  EXPECT_FALSE(result.breaks_off());
}

TEST(MbsReader, MissingBuffersAreAHole) {
  auto buffers = native_buffers(numbered_events(1, 60), 512);
  buffers.erase(buffers.begin() + 2, buffers.begin() + 4);
  const auto result = read_server({sends(handshake(512, 1, 1) + joined(buffers))});
  EXPECT_EQ(result.counts.at("missing_buffers"), 2U);
  EXPECT_EQ(result.numbers().back(), 60U);
  EXPECT_EQ(result.holes(), 1U);
}

TEST(MbsReader, BuffersBeforeTheFirstAreCountedAndNoHole) {
  auto buffers = native_buffers(numbered_events(1, 60), 512);
  buffers.erase(buffers.begin(), buffers.begin() + 3);
  const auto result = read_server({sends(handshake(512, 1, 1) + joined(buffers))});
  EXPECT_EQ(result.counts.at("missing_buffers"), 3U);
  EXPECT_GT(result.numbers().front(), 1U);
  const auto whole = read_server({sends(handshake(512, 1, 1) + joined(native_buffers(numbered_events(1, 60), 512)))});
  EXPECT_EQ(whole.counts.at("missing_buffers"), 0U);
}

TEST(MbsReader, EmptyBuffersBetweenFragments) {
  for (const bool counted : {false, true}) {
    const auto buffers = native_buffers(numbered_events(1, 60), 256);
    std::string sent;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      auto next = buffers[i];
      if (counted) next.replace(12, 4, Bytes().u32(2 * i + 1).text());
      sent += next + buffer({.size = 256, .number = counted ? static_cast<unsigned>(2 * i + 2) : 0}, "");
    }
    const auto result = read_server({sends(handshake(256, 1, 1) + sent)});
    EXPECT_EQ(result.numbers(), from_to(1, 60));
    EXPECT_TRUE(result.all.losses.empty());
    EXPECT_EQ(result.counts.at("mbs_empty_buffers"), buffers.size());
  }
}

// ---------------------------------------------------------------- connecting again

std::string all_of(std::uint32_t first, std::uint32_t last) {
  return handshake(256, 1, 1) + joined(native_buffers(numbered_events(first, last), 256));
}

TEST(MbsReconnect, AServerThatBeginsAgainDoublesNothing) {
  const auto part = all_of(1, 60).substr(0, 16 + 256 * 9 + 100);
  for (const auto* query : {"", "time=word:0,1&from=01000005"}) {
    const auto result = read_server({sends(part), sends(all_of(1, 60))}, query, 0.3);
    EXPECT_EQ(result.numbers(), from_to(1, 60)) << query;
    EXPECT_GT(result.lost(DropCause::duplicate), 20U) << query;
    EXPECT_EQ(result.counts.at("reconnects"), 1U);
    EXPECT_EQ(result.holes(), 1U) << query;
    EXPECT_FALSE(result.breaks_off()) << "a server that ends cleanly, and is not found again, has ended";
    const auto whole = read_server({sends(all_of(1, 60))}, query);
    EXPECT_EQ(result.all.time, whole.all.time);
    EXPECT_EQ(result.all.payload, whole.all.payload);
  }
}

/// A place where something listens but no MBS server answers is tried less and less often, and eventually given up.
TEST(MbsReconnect, ASearchSlowsDownAndEnds) {
  constexpr int kMost = 40;
  int tried = 0;
  std::vector<Server::Serve> clients{
      sends(variable_handshake() + joined(variable_buffers(numbered_events(1, 5), 60000)))};
  for (int i = 0; i < kMost; ++i) clients.emplace_back([&tried](const Peer& /*peer*/) { ++tried; });
  {
    Server server(std::move(clients));
    const MbsStop stop;
    const auto result = read(*connect(server.place() + "/transport", stop, "", 1.2));
    EXPECT_EQ(result.numbers(), from_to(1, 5));
    EXPECT_EQ(result.counts.at("connections_lost"), 1U);
  }
  EXPECT_GE(tried, 1);
  EXPECT_LE(tried, 5) << "after 0.1, 0.3, 0.7 and 1.2 s";
}

/// Each loss on the way is a separate gap, also if an earlier connection was lost in the middle of a buffer.
TEST(MbsReconnect, EachLostConnectionLeavesAHole) {
  const auto part = [](std::uint32_t first, std::uint32_t last) {
    return variable_handshake() + joined(variable_buffers(numbered_events(first, last), 60000));
  };
  const auto cut = part(1, 20);
  const auto result =
      read_server({sends(cut.substr(0, cut.size() - 10)), sends(part(21, 40)), sends(part(41, 60))}, "", 0.3);
  EXPECT_EQ(result.numbers().back(), 60U);
  EXPECT_EQ(result.counts.at("reconnects"), 2U);
  EXPECT_EQ(result.holes(), 2U);
}

TEST(MbsReconnect, AServerThatContinuesLeavesAHole) {
  for (const auto* query : {"", "time=word:0,1&from=01000005"}) {
    const auto result = read_server({sends(all_of(1, 20)), sends(all_of(31, 60))}, query, 0.3);
    auto expected = from_to(1, 20);
    for (const auto number : from_to(31, 60)) expected.push_back(number);
    EXPECT_EQ(result.numbers(), expected);
    EXPECT_EQ(result.holes(), 1U);
    EXPECT_EQ(result.lost(DropCause::duplicate), 0U);
  }
}

TEST(MbsReconnect, ANewRunOfNumbersStaysWhereTimesContinue) {
  std::vector<std::string> events;
  for (std::uint32_t i = 1; i <= 5; ++i) events.push_back(event(i, subevent(0x01000005, {100'000 + i})));
  const auto second = variable_handshake() + joined(variable_buffers(events, 60000));
  const auto result = read_server({sends(all_of(1, 20)), sends(second)}, "time=word:0,1&from=01000005", 0.3);
  EXPECT_EQ(result.numbers().size(), 25U);
  EXPECT_EQ(result.lost(DropCause::duplicate), 0U);
}

TEST(MbsReconnect, GarbageIsALossAndTriedAgain) {
  const auto result =
      read_server({sends("no server of events"), sends("nor this one at all"), sends(all_of(1, 20))}, "", 2);
  EXPECT_EQ(result.numbers(), from_to(1, 20));
}

TEST(MbsReconnect, AServerThatComesLate) {
  std::string place;
  { place = Server({}).place(); }
  const MbsStop stop;
  const auto reader = connect(place + "/transport", stop, "", 0.2);
  const auto result = read(*reader);
  EXPECT_EQ(result.all.size(), 0U);
  EXPECT_TRUE(result.breaks_off()) << "it never came";
}

TEST(MbsReconnect, SpanningEventsAreNotPutTogetherOverConnections) {
  const auto buffers = native_buffers(numbered_events(1, 60), 256);
  std::size_t has_more = 3;
  while (buffers[has_more][11] == 0) ++has_more;  // the last event continues in the next buffer
  const auto first = handshake(256, 1, 1) + joined({buffers.begin(), buffers.begin() + has_more + 1});
  const auto second = handshake(256, 1, 1) + joined({buffers.begin() + has_more + 1, buffers.end()});
  const auto result = read_server({sends(first), sends(second)}, "", 0.3);
  EXPECT_EQ(result.numbers().size(), 59U);
  EXPECT_EQ(result.numbers().back(), 60U);
  EXPECT_EQ(result.counts.at("skipped_fragments"), 1U);
}

}  // namespace
}  // namespace eventloom
