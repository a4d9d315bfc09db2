#include "run_maker.hpp"

#include <memory>

#include "io/run_output/run_file_writer.hpp"
#include "plain_hdf5.hpp"

namespace eventloom {

void WrittenRun::add(const BuiltSlice& built) {
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (const auto of : built.events.time) time.push_back(of.value);
  for (const auto of : built.events.duration) duration.push_back(of.value);
  append(n_hits, built.events.n_hits);
  append(flags, built.events.flags);
  append(missing, built.events.sources_missing);
  slice.insert(slice.end(), built.events.size(), built.ledger.slice);
  for (const auto n : built.events.n_hits) first_hit.push_back(first_hit.back() + n);
  for (const auto of : built.hits.time) hit_time.push_back(of.value);
  append(channel, built.hits.channel);
  append(source, built.hits.source);
  for (const auto n : built.hits.payload_words) first_payload.push_back(first_payload.back() + n);
  append(payload, built.hits.payload);
}

BuiltSlice make_slice(std::uint64_t number, std::size_t events, bool with_payload) {
  BuiltSlice built;
  built.ledger.slice = number;
  built.ledger.builder = static_cast<std::uint32_t>(number % 5);
  std::uint32_t random = static_cast<std::uint32_t>(number) * 2654435761U + 12345;
  const auto draw = [&](std::uint32_t below) { return (random = random * 1664525U + 1013904223U) / 65536 % below; };
  if (number % 3 == 2) events = 0;
  for (std::size_t i = 0; i < events; ++i) {
    const std::uint32_t n = 1 + draw(5);
    built.events.time.emplace_back(number * 1000 + i);
    built.events.duration.emplace_back(n - 1);
    built.events.n_hits.push_back(n);
    built.events.flags.push_back(draw(4));
    built.events.sources_missing.push_back(draw(2));
    built.events.hits_in_slice.push_back(n);
    built.events.owned.push_back(1);
    for (std::uint32_t k = 0; k < n; ++k) {
      built.hits.time.emplace_back(number * 1000 + i + k);
      built.hits.channel.push_back(draw(1U << 16) << 12 | draw(1U << 12));
      built.hits.source.push_back(static_cast<std::uint16_t>(draw(3)));
      if (!with_payload) continue;
      built.hits.payload_words.push_back(draw(3));
      for (std::uint32_t w = 0; w < built.hits.payload_words.back(); ++w) built.hits.payload.push_back(draw(65536));
    }
  }
  built.ledger.hits_in_events = built.hits.size();
  built.ledger.hits_outside = number % 7;
  built.ledger.hits_in = built.ledger.hits_in_events + built.ledger.hits_outside;
  return built;
}

std::vector<PartInfo> write_run(const std::filesystem::path& run_file, const RunShape& shape,
                                const std::vector<BuiltSlice>& slices) {
  std::vector<std::unique_ptr<PartWriter>> writers;
  for (std::uint32_t i = 0; i < shape.writers; ++i) {
    writers.push_back(std::make_unique<PartWriter>(PartWriterSettings{.run_file = run_file,
                                                                      .writer = i,
                                                                      .n_sources = 3,
                                                                      .with_payload = shape.with_payload,
                                                                      .compress = shape.compress,
                                                                      .segment_bytes = shape.segment_bytes,
                                                                      .chunk_bytes = 4096}));
  }
  for (const auto& slice : slices) writers[slice.ledger.slice / shape.stride % shape.writers]->write(slice);
  std::vector<PartInfo> parts;
  for (auto& writer : writers) {
    for (auto& part : writer->close()) parts.push_back(std::move(part));
  }
  write_run_file(run_file, record_of(slices, shape.with_payload), parts);
  return parts;
}

RunRecord record_of(const std::vector<BuiltSlice>& slices, bool with_payload) {
  RunRecord record;
  record.closed = true;
  record.with_payload = with_payload;
  record.sources.resize(3);
  record.totals[Metric::slices] = slices.size();
  for (const auto& slice : slices) {
    record.totals[Metric::events] += slice.events.size();
    record.totals[Metric::hits_in_events] += slice.hits.size();
    record.totals[Metric::hits_in] += slice.ledger.hits_in;
    record.totals[Metric::hits_outside] += slice.ledger.hits_outside;
  }
  return record;
}

void expect_tables(const std::filesystem::path& file, const WrittenRun& expected, bool with_payload) {
  EXPECT_EQ(plain::column<std::uint64_t>(file, "/events/time"), expected.time);
  EXPECT_EQ(plain::column<std::uint64_t>(file, "/events/duration"), expected.duration);
  EXPECT_EQ(plain::column<std::uint32_t>(file, "/events/n_hits"), expected.n_hits);
  EXPECT_EQ(plain::column<std::uint64_t>(file, "/events/slice"), expected.slice);
  EXPECT_EQ(plain::column<std::uint32_t>(file, "/events/flags"), expected.flags);
  EXPECT_EQ(plain::column<std::uint64_t>(file, "/events/sources_missing"), expected.missing);
  EXPECT_EQ(plain::column<std::uint64_t>(file, "/events/first_hit"), expected.first_hit);
  EXPECT_EQ(plain::column<std::uint64_t>(file, "/hits/time"), expected.hit_time);
  EXPECT_EQ(plain::column<std::uint32_t>(file, "/hits/channel"), expected.channel);
  EXPECT_EQ(plain::column<std::uint16_t>(file, "/hits/source"), expected.source);
  EXPECT_EQ(plain::has(file, "/payload"), with_payload);
  EXPECT_EQ(plain::has(file, "/hits/first_payload"), with_payload);
  if (!with_payload) return;
  EXPECT_EQ(plain::column<std::uint64_t>(file, "/hits/first_payload"), expected.first_payload);
  EXPECT_EQ(plain::column<std::uint32_t>(file, "/payload"), expected.payload);
}

}  // namespace eventloom
