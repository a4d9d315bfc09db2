#include "formats/built_slice_wire.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

namespace eventloom::test {
namespace {

/// Two events, of two hits and one hit, with payload and all fields for losses.
BuiltSlice some_slice() {
  BuiltSlice slice;
  slice.ledger.slice = 7;
  slice.events = {.time = {10, 20},
                  .duration = {3, 0},
                  .n_hits = {2, 1},
                  .flags = {0, kIncomplete},
                  .sources_missing = {0, 4},
                  .hits_in_slice = {2, 1},
                  .owned = {1, 1}};
  slice.hits = {.time = {10, 13, 20},
                .channel = {1, 2, 3},
                .source = {0, 1, 0},
                .payload_words = {1, 0, 2},
                .payload = {5, 6, 7}};
  slice.sources_missing = {2};
  slice.losses = {{2, DropCause::lost, 9}};
  slice.live_hits = {{.source = 1, .n_hits = 3}, {.source = 2, .n_hits = 9}};
  slice.filled = {{3, 2}, {70'000, 1}};
  return slice;
}

std::vector<std::byte> wire_of(const std::vector<BuiltSlice>& slices) {
  std::vector<BuiltSliceHead> heads;
  std::vector<std::byte> bytes;
  for (const auto piece : to_wire(slices, heads)) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

TEST(BuiltSliceWire, ComesBackAsItWas) {
  const auto slice = some_slice();
  BuiltSlice back;
  from_wire(wire_of({slice}), {&back, 1});
  EXPECT_EQ(back.ledger.slice, 7U);
  EXPECT_EQ(back.events.n_hits, slice.events.n_hits);
  EXPECT_EQ(back.hits.time, slice.hits.time);
  EXPECT_EQ(back.hits.payload, slice.hits.payload);
  EXPECT_EQ(back.sources_missing, slice.sources_missing);
  ASSERT_EQ(back.losses.size(), 1U);
  EXPECT_EQ(back.losses[0].cause, DropCause::lost);
  EXPECT_EQ(back.live_hits, slice.live_hits);
  EXPECT_EQ(back.filled, slice.filled);
}

TEST(BuiltSliceWire, RefusesCountsThatContradictOneAnother) {
  const std::vector<std::function<void(BuiltSlice&)>> lies = {
      [](BuiltSlice& s) { s.events.n_hits[0] = 3; },
      [](BuiltSlice& s) { s.events.n_hits[0] = 0xffffffff; },
      [](BuiltSlice& s) { s.events.hits_in_slice[1] = 2; },
      [](BuiltSlice& s) { s.hits.payload_words[1] = 1; },
      [](BuiltSlice& s) { s.hits.payload_words.pop_back(); },
      [](BuiltSlice& s) { s.losses[0].cause = static_cast<DropCause>(kDropCauses); },
  };
  for (std::size_t i = 0; i < lies.size(); ++i) {
    auto slice = some_slice();
    lies[i](slice);
    BuiltSlice back;
    EXPECT_THROW(from_wire(wire_of({slice}), {&back, 1}), std::runtime_error) << "lie " << i;
  }
}

TEST(BuiltSliceWire, CarriesAllKindsOfEventsOfASlice) {
  auto other = some_slice();
  other.events = {};
  other.hits = {};
  other.ledger.hits_outside = 4;
  std::vector<BuiltSlice> back(3);
  from_wire(wire_of({some_slice(), other, some_slice()}), back);
  EXPECT_EQ(back[0].hits.payload, some_slice().hits.payload);
  EXPECT_EQ(back[1].events.size(), 0U);
  EXPECT_EQ(back[1].ledger.hits_outside, 4U);
  EXPECT_EQ(back[2].hits.payload, some_slice().hits.payload);
  back.resize(2);
  EXPECT_THROW(from_wire(wire_of({some_slice(), other, some_slice()}), back), std::runtime_error);
  back.resize(4);
  EXPECT_THROW(from_wire(wire_of({some_slice(), other, some_slice()}), back), std::runtime_error);
  other.ledger.slice = 8;
  back.resize(2);
  EXPECT_THROW(from_wire(wire_of({some_slice(), other}), back), std::runtime_error);
}

TEST(BuiltSliceWire, RefusesAnotherLengthThanItsHeadSays) {
  auto bytes = wire_of({some_slice()});
  BuiltSlice back;
  bytes.resize(bytes.size() + 8);
  EXPECT_THROW(from_wire(bytes, {&back, 1}), std::runtime_error);
  bytes.resize(bytes.size() - 16);
  EXPECT_THROW(from_wire(bytes, {&back, 1}), std::runtime_error);
  std::uint64_t events = std::uint64_t{1} << 61;
  std::memcpy(bytes.data() + offsetof(BuiltSliceHead, n_events), &events, sizeof events);
  EXPECT_THROW(from_wire(bytes, {&back, 1}), std::runtime_error);
}

}  // namespace
}  // namespace eventloom::test
