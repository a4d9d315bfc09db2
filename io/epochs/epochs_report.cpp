#include "io/epochs/epochs_report.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/runtime/format.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/marker_reader.hpp"
#include "io/epochs/epoch_steps.hpp"
#include "io/epochs/epochs_source.hpp"
#include "io/epochs/mapped_file.hpp"

namespace eventloom {

namespace {

/// Visits and counts every item of a buffer.
struct HitCounter : CountsMarkers {
  HitCounter(std::uint32_t ticks, std::uint64_t n_hits) : epoch_ticks(ticks), kept(n_hits) {}

  std::uint32_t epoch_ticks;
  std::uint64_t kept;  ///< number of first hits to keep
  std::vector<RecordedHit> first_hits;
  Tick epoch_start = 0;
  std::uint64_t hits = 0;
  std::uint64_t payload_words = 0;
  Tick first = std::numeric_limits<Tick>::max();
  Tick last = 0;

  void epoch(Epoch epoch) { epoch_start = tick_of_epoch(epoch, epoch_ticks); }
  void hit(std::uint32_t tick, std::uint32_t channel, std::span<const std::uint32_t> payload) {
    const Tick time = epoch_start + Tick(tick);
    if (hits < kept) {
      first_hits.push_back({time, channel, std::vector<std::uint32_t>(payload.begin(), payload.end())});
    }
    ++hits;
    payload_words += payload.size();
    first = std::min(first, time);
    last = std::max(last, time);
  }
};

class EpochsReader {
 public:
  EpochsReader(const StreamHeader& header, std::uint64_t n_hits) : counter_(header.base.epoch_ticks, n_hits) {
    report_.header = header;
  }

  /// Takes the result of a collect() of epochs that begin at `begin`.
  void take(const SliceData& data, Epoch begin) {
    for (const auto& piece : data.pieces) take_buffers(piece, begin);
    for (const auto& damage : data.damage) {
      if (std::max(damage.first_epoch, first_epoch_) >= begin) report_.damage.push_back(damage);
    }
  }

  void starts_at(Epoch epoch) { first_epoch_ = epoch; }

  EpochsReport finish() {
    if (counter_.hits > 0) {
      report_.first_tick = counter_.first;
      report_.last_tick = counter_.last;
    }
    report_.hits = counter_.hits;
    report_.first_hits = std::move(counter_.first_hits);
    report_.others = counter_.others;
    report_.payload_words = counter_.payload_words;
    return std::move(report_);
  }

 private:
  void take_buffers(std::span<const std::byte> bytes, Epoch begin) {
    while (const auto header = read_epoch_buffer_header(bytes)) {
      if (header->stored_bytes() > bytes.size()) break;
      // A buffer that extends into these epochs was counted with the earlier ones.
      if (std::max(header->first_epoch, first_epoch_) >= begin) take_buffer(*header, words_of(*header, bytes));
      bytes = bytes.subspan(header->stored_bytes());
    }
  }

  void take_buffer(const EpochBufferHeader& header, std::span<const std::uint32_t> words) {
    ++report_.buffers;
    report_.words += header.n_words;
    cover(header.epochs());
    if (header.is_loss()) {
      return wrong(header, is_unknown_loss(header)
                               ? "an unknown number of hits was lost before it was recorded"
                               : fmt::format("its {} hits were lost before it was recorded", header.n_hits));
    }
    if (!words_intact(header, words)) return wrong(header, "the checksum of its words is wrong");
    const auto hits_before = counter_.hits;
    const MarkerContext context{header.epochs(), report_.header.base.epoch_ticks, report_.header.payload};
    const auto error = MarkerReader<HitCounter>(words, context, counter_).read();
    if (error) return wrong(header, fmt::format("word {}: {}", error->word, error->reason));
    if (counter_.hits - hits_before != header.n_hits) {
      wrong(header, fmt::format("it has {} hits, its header says {}", counter_.hits - hits_before, header.n_hits));
    }
  }

  void cover(EpochRange epochs) {
    if (report_.buffers == 1) {
      report_.epochs = epochs;
    } else if (epochs.begin > report_.epochs.end) {
      ++report_.gaps;
      report_.epochs_in_gaps += epochs.begin - report_.epochs.end;
    }
    report_.epochs.end = std::max(report_.epochs.end, epochs.end);
  }

  void wrong(const EpochBufferHeader& header, const std::string& reason) {
    report_.problems.push_back(fmt::format("epoch buffer at offset {} (epoch {}): {}", header.stream_offset,
                                           header.first_epoch.value, reason));
  }

  EpochsReport report_;
  HitCounter counter_;
  Epoch first_epoch_ = 0;
};

std::string index_state(std::span<const std::byte> file) {
  bool damaged = false;
  if (find_index(file, damaged)) return "whole";
  return damaged ? "damaged" : "missing";
}

}  // namespace

EpochsReport read_epochs_report(const std::string& path, std::uint64_t n_hits) {
  EpochsSource source(path);
  EpochsReader reader(source.header(), n_hits);
  SliceData data;
  reader.starts_at(source.first_epoch().value_or(0));
  for_each_step(source, [&](EpochRange epochs) {
    data.clear();
    source.collect(epochs, data);
    reader.take(data, epochs.begin);
  });
  auto report = reader.finish();
  const MappedFile file(path);
  report.file_bytes = file.bytes().size();
  report.index = index_state(file.bytes());
  report.anomalies = source.anomalies();
  for (const auto& problem : source.problems()) {
    report.problems.push_back(fmt::format("offset {}: {}", problem.offset, problem.text));
  }
  return report;
}

}  // namespace eventloom
