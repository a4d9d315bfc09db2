#include "io/run_input/run_events.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/runtime/error.hpp"
#include "formats/utc_time.hpp"
#include "io/event_files/event_items.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_input/run_to_merge.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kReadAheadBytes = std::size_t{64} << 20;

/// Unix time when the run began: if it is not recorded, as in merged files, that of tick 0, or else the current time.
std::int64_t began_of(const RunRecord& record) {
  const auto& text = record.began.empty() ? record.time_of_tick_0 : record.began;
  if (const auto utc = parse_utc(text)) return utc->seconds;
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Throws UserError if subevents, which are the payload of hits, were not written.
void require_subevents(const RunRecord& record, const std::filesystem::path& file) {
  const auto has_subevents = [](const SourceRecord& source) {
    return hit_origin_of(source.description).kind != HitKind::plain;
  };
  if (record.with_payload || std::ranges::none_of(record.sources, has_subevents)) return;
  throw UserError(
      "'" + file.string() +
      "' was written with --no-payload and has no subevents; with --also, the run wrote them to LMD or HLD files");
}

}  // namespace

EventFileRun event_file_run(const RunRecord& record) {
  EventFileRun run{{}, record.base.tick_ps, record.numbered, {}, began_of(record)};
  for (const auto& source : record.sources) run.descriptions.push_back(source.description);
  if (!record.time_of_tick_0.empty()) run.tick_0_ns = parse_unix_ns(record.time_of_tick_0);
  return run;
}

RunToExport open_run_to_export(const std::filesystem::path& file, bool partial) {
  if (is_merged_file(file)) {
    auto run = open_run_tables(file);
    auto missing = run.record.missing;
    return {std::move(run), std::move(missing)};
  }
  auto opened = open_run_to_merge(file, partial);
  return {{std::move(opened.run.record), file.parent_path(), std::move(opened.run.parts)}, std::move(opened.missing)};
}

RunEvents::RunEvents(const std::filesystem::path& file, bool partial) {
  auto opened = open_run_to_export(file, partial);
  run_ = std::move(opened.run);
  missing_ = std::move(opened.missing);
  require_subevents(run_.record, file);
}

bool RunEvents::next() {
  if (!stream_) stream_ = std::make_unique<EventStream>(run_, kReadAheadBytes);
  if (!stream_->next()) return false;
  read_hits();
  const auto& event = stream_->event();
  event_ = {.number = stream_->number(),
            .time = event.time,
            .duration = event.duration,
            .times = hits_.time,
            .channels = hits_.channel,
            .sources = hits_.source,
            .payload_words = hits_.payload_words,
            .payload = hits_.payload};
  return true;
}

/// Reads all hits of the current event.
void RunEvents::read_hits() {
  hits_.clear();
  for (stream_->read_hits(piece_); !piece_.time.empty(); stream_->read_hits(piece_)) {
    hits_.time.insert(hits_.time.end(), piece_.time.begin(), piece_.time.end());
    hits_.channel.insert(hits_.channel.end(), piece_.channel.begin(), piece_.channel.end());
    hits_.source.insert(hits_.source.end(), piece_.source.begin(), piece_.source.end());
    for (const auto n : piece_.words) hits_.payload_words.push_back(static_cast<std::uint32_t>(n));
    read_payload();
  }
}

void RunEvents::read_payload() {
  for (stream_->read_words(words_); !words_.empty(); stream_->read_words(words_)) {
    if (hits_.payload.empty()) {
      std::swap(hits_.payload, words_);  // avoids a copy: most events have only one piece
    } else {
      hits_.payload.insert(hits_.payload.end(), words_.begin(), words_.end());
    }
  }
}

}  // namespace eventloom
