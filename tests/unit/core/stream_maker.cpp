#include "stream_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

namespace eventloom::test {

StoredBuffer store(EpochBufferHeader header, const std::vector<std::uint32_t>& words) {
  header.n_words = static_cast<std::uint32_t>(words.size());
  std::vector<std::byte> bytes;
  append_stored(header, words, bytes);
  return {header, std::move(bytes), {}};
}

Stream make_stream(const std::vector<RefHit>& hits, std::uint32_t epoch_ticks,
                   const std::function<std::uint32_t()>& epochs_per_buffer) {
  Stream stream;
  std::uint64_t offset = 192;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < hits.size();) {
    EpochBufferHeader header{.first_epoch = epoch_of(hits[i].time, epoch_ticks), .n_epochs = epochs_per_buffer()};
    std::vector<std::uint32_t> words;
    MarkerWriter writer(words);
    const std::size_t begin = i;
    for (; i < hits.size() && header.epochs().contains(epoch_of(hits[i].time, epoch_ticks)); ++i) {
      const bool first = i == begin;
      const Epoch epoch = epoch_of(hits[i].time, epoch_ticks);
      if (first || epoch != epoch_of(hits[i - 1].time, epoch_ticks)) writer.epoch(epoch);
      if (first || hits[i].time != hits[i - 1].time)
        writer.time(static_cast<std::uint32_t>(hits[i].time % epoch_ticks));
      writer.channel(hits[i].channel, hits[i].payload);
    }
    writer.finish();
    header.n_hits = static_cast<std::uint32_t>(i - begin);
    header.hits_before = before;
    header.stream_offset = offset;
    header.sequence = stream.size();
    stream.push_back(store(header, words));
    stream.back().hits.assign(hits.begin() + static_cast<std::ptrdiff_t>(begin),
                              hits.begin() + static_cast<std::ptrdiff_t>(i));
    offset += stream.back().bytes.size();
    before += header.n_hits;
  }
  return stream;
}

Stream make_stream(const std::vector<RefHit>& hits, std::uint32_t epoch_ticks, std::uint32_t epochs_per_buffer) {
  return make_stream(hits, epoch_ticks, [=] { return epochs_per_buffer; });
}

SliceGeometry TestRun::geometry(std::uint64_t epochs_per_slice) const {
  return geometry_of({base, epochs_per_slice}, {definition, overlap});
}

std::vector<BuiltSlice> TestRun::build(std::uint64_t epochs_per_slice, SliceId first, SliceId last,
                                       std::vector<BuildProblem>& problems) const {
  const auto shape = geometry(epochs_per_slice);
  SliceBuilder builder({shape, {{definition, overlap}}, payload, with_payload});
  std::vector<BuiltSlice> out;
  std::vector<BuiltSlice> built;  // reused, as a builder does
  for (SliceId id = first; id <= last; ++id.value) {
    std::vector<std::vector<std::uint64_t>> memory(streams.size());
    std::vector<std::vector<Damage>> lost(streams.size());
    std::vector<SourceSlice> sources;
    const auto sent = shape.sent_epochs(id);
    for (std::size_t s = 0; s < streams.size(); ++s) {
      std::vector<std::byte> bytes;
      for (const auto& buffer : streams[s]) {
        if (buffer.header.epochs().overlaps(sent)) bytes.insert(bytes.end(), buffer.bytes.begin(), buffer.bytes.end());
      }
      memory[s].resize((bytes.size() + 7) / 8);
      if (!bytes.empty()) std::memcpy(memory[s].data(), bytes.data(), bytes.size());
      if (s < damage.size()) {
        for (const auto& d : damage[s]) {
          if (EpochRange{d.first_epoch, d.first_epoch + d.n_epochs}.overlaps(sent)) lost[s].push_back(d);
        }
      }
      sources.push_back({{std::as_bytes(std::span(memory[s])).first(bytes.size())}, lost[s]});
    }
    builder.build(id, sources, built, problems);
    out.push_back(built.front());
  }
  return out;
}

std::vector<BuiltSlice> TestRun::build(std::uint64_t epochs_per_slice, std::vector<BuildProblem>& problems) const {
  Epoch first = std::numeric_limits<Epoch>::max();
  Epoch last = 0;
  for (const auto& stream : streams) {
    if (stream.empty()) continue;
    first = std::min(first, stream.front().header.first_epoch);
    last = std::max(last, stream.back().header.epochs().end - 1);
  }
  if (first > last) first = last = 0;
  const auto shape = geometry(epochs_per_slice);
  const std::uint64_t begin = shape.slice_of(first).value;
  return build(epochs_per_slice, {begin - std::min<std::uint64_t>(begin, 1)}, {shape.slice_of(last).value + 1},
               problems);
}

namespace {

std::vector<RefHit> hits_of(const BuiltSlice& slice, std::size_t from, std::size_t n, std::size_t& word) {
  std::vector<RefHit> out;
  for (std::size_t i = from; i < from + n; ++i) {
    RefHit hit{slice.hits.time[i], slice.hits.channel[i], {}, slice.hits.source[i]};
    if (!slice.hits.payload_words.empty()) {
      for (std::uint32_t w = 0; w < slice.hits.payload_words[i]; ++w) {
        hit.payload.push_back(slice.hits.payload.at(word++));
      }
    }
    out.push_back(std::move(hit));
  }
  return out;
}

std::uint64_t inside(const std::vector<RefHit>& hits, TickRange ticks) {
  return static_cast<std::uint64_t>(
      std::count_if(hits.begin(), hits.end(), [&](const RefHit& h) { return ticks.contains(h.time); }));
}

/// The events of `expected` that `slice` must list, in order.
std::vector<const RefEvent*> listed(const std::vector<RefEvent>& expected, TickRange ticks) {
  std::vector<const RefEvent*> out;
  for (const auto& event : expected) {
    if (inside(event.hits, ticks) > 0) out.push_back(&event);
  }
  return out;
}

void expect_slice(const BuiltSlice& slice, const std::vector<RefEvent>& expected,
                  const std::vector<std::vector<RefHit>>& hits, TickRange ticks, bool with_payload) {
  const auto wanted = listed(expected, ticks);
  const auto& events = slice.events;
  ASSERT_EQ(events.size(), wanted.size()) << "slice " << slice.ledger.slice;
  std::size_t at = 0;
  std::size_t word = 0;
  std::uint64_t in_events = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(events.n_hits[i], wanted[i]->hits.size()) << "slice " << slice.ledger.slice << " event " << i;
    EXPECT_EQ(hits_of(slice, at, events.n_hits[i], word), wanted[i]->hits);
    at += events.n_hits[i];
    EXPECT_EQ(events.time[i], wanted[i]->first());
    EXPECT_EQ(events.duration[i], wanted[i]->last() - wanted[i]->first());
    EXPECT_EQ((events.flags[i] & kTruncated) != 0, wanted[i]->truncated);
    EXPECT_EQ(events.owned[i] != 0, ticks.contains(wanted[i]->first()));
    EXPECT_EQ(events.hits_in_slice[i], inside(wanted[i]->hits, ticks));
    in_events += inside(wanted[i]->hits, ticks);
  }
  EXPECT_EQ(slice.hits.size(), at);
  EXPECT_EQ(slice.hits.payload.size(), word);
  EXPECT_EQ(slice.hits.payload_words.size(), with_payload ? at : 0);
  std::uint64_t all = 0;
  for (const auto& stream : hits) all += inside(stream, ticks);
  EXPECT_EQ(slice.ledger.hits_in_events, in_events);
  EXPECT_EQ(slice.ledger.hits_outside, all - in_events);
  EXPECT_EQ(slice.ledger.hits_in, all + slice.ledger.dropped());
  EXPECT_EQ(slice.ledger.hits_rejected, 0U);
  EXPECT_TRUE(slice.ledger.balances());
}

}  // namespace

void expect_events(const std::vector<BuiltSlice>& slices, const std::vector<RefEvent>& expected,
                   const std::vector<std::vector<RefHit>>& hits, const SliceGeometry& geometry, bool with_payload) {
  std::size_t owned = 0;
  for (const auto& slice : slices) {
    expect_slice(slice, expected, hits, geometry.owned_ticks(slice.slice()), with_payload);
    if (::testing::Test::HasFailure()) return;
    owned += static_cast<std::size_t>(std::count(slice.events.owned.begin(), slice.events.owned.end(), 1));
  }
  EXPECT_EQ(owned, expected.size());
}

}  // namespace eventloom::test
