#include "app/tools/send/generate_recording.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>

#include "core/runtime/format.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/epochs/stream_writer.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kAppendBytes = 1U << 20;
constexpr std::string_view kTruthHead = "event,time_first,time_last,n_hits\n";

/// Returns a time span that contains some ten thousand hits.
Tick step_of(const GenerateSettings& settings) {
  constexpr double kHits = 16384;
  const double per_second = static_cast<double>(settings.rate) * static_cast<double>(settings.hits) +
                            static_cast<double>(settings.noise) * settings.sources;
  const double ticks = kHits / per_second * 1e12 / static_cast<double>(settings.base.tick_ps);
  return static_cast<Tick>(std::clamp(ticks, 1.0, 1e18));
}

}  // namespace

class RecordingWriter::Stream {
 public:
  Stream(const GenerateSettings& settings, std::uint32_t source)
      : encoder_(source, settings.base.epoch_ticks, 0, {settings.epochs_per_buffer, 512}),
        writer_(stream_path(settings, source), header_of(settings, source)) {}

  void take(const HitBlock& hits) {
    for (std::size_t i = 0; i < hits.size(); ++i) {
      if (encoder_.must_close_before(hits.time[i])) close();
      encoder_.add(hits.time[i], hits.channel[i], hits.payload_of(i));
    }
  }

  StreamSummary finish() {
    encoder_.close(closed_);
    writer_.append(closed_);
    return writer_.finish();
  }

 private:
  void close() {
    encoder_.close(closed_);
    if (closed_.size() < kAppendBytes) return;
    writer_.append(closed_);
    closed_.clear();
  }

  EpochBufferEncoder encoder_;
  StreamWriter writer_;
  std::vector<std::byte> closed_;
};

RecordingWriter::RecordingWriter(const GenerateSettings& settings)
    : truth_(truth_csv_path(settings), is_truth_csv), truth_text_(kTruthHead) {
  for (std::uint32_t s = 0; s < settings.sources; ++s) streams_.push_back(std::make_unique<Stream>(settings, s));
}

RecordingWriter::~RecordingWriter() = default;

void RecordingWriter::take(const EventGenerator& generator) {
  for (const auto& event : generator.events()) {
    truth_text_ += fmt::format("{},{},{},{}\n", result_.events, event.first.value, event.last.value, event.hits);
    result_.events += 1;
    result_.event_hits += event.hits;
  }
  truth_.write(std::as_bytes(std::span(truth_text_)));
  truth_text_.clear();
  for (std::uint32_t s = 0; s < streams_.size(); ++s) streams_[s]->take(generator.hits(s));
}

GenerateResult RecordingWriter::finish() {
  for (auto& stream : streams_) {
    const auto summary = stream->finish();
    result_.hits.push_back(summary.hits);
    result_.bytes += summary.bytes;
  }
  truth_.write(std::as_bytes(std::span(truth_text_)));
  truth_.sync();
  truth_.publish();
  return result_;
}

std::string truth_csv_path(const GenerateSettings& settings) { return settings.output + "/truth.csv"; }
std::string truth_json_path(const GenerateSettings& settings) { return settings.output + "/truth.json"; }
bool is_truth_csv(const std::filesystem::path& file) { return head_of(file, kTruthHead.size()) == kTruthHead; }

std::string stream_path(const GenerateSettings& settings, std::uint32_t source) {
  char name[32];
  std::snprintf(name, sizeof name, "/source_%03u.epochs", source);
  return settings.output + name;
}

GenerateResult generate(const GenerateSettings& settings) {
  EventGenerator generator(settings);
  RecordingWriter writer(settings);
  const Tick step = step_of(settings);
  for (Tick made = 0; made < settings.duration;) {
    made += std::min(step, settings.duration - made);
    generator.make_until(made);
    writer.take(generator);
    generator.clear();
  }
  return writer.finish();
}

}  // namespace eventloom
