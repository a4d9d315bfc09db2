#include "app/tools/send/generate_live.hpp"

#include <algorithm>
#include <limits>

namespace eventloom {

namespace {

constexpr std::uint32_t kWordsPerBuffer = 512;

/// The number of epochs that cover a duration.
Epoch epochs_over(Tick duration, std::uint32_t epoch_ticks) {
  return epoch_of(duration, epoch_ticks) + Epoch(duration % epoch_ticks != 0);
}

}  // namespace

LiveCutter::LiveCutter(const GenerateSettings& settings, std::uint32_t source, Tick flush_after)
    : encoder_(source, settings.base.epoch_ticks, 0, {settings.epochs_per_buffer, kWordsPerBuffer}),
      epoch_ticks_(settings.base.epoch_ticks),
      epochs_per_buffer_(settings.epochs_per_buffer),
      flush_after_(flush_after) {}

/// Returns the epoch before which the open buffer must be closed if no further hit is added.
Epoch LiveCutter::closes_at() const {
  const Epoch next = last_ + 1;
  if (encoder_.must_close_before(tick_of_epoch(next, epoch_ticks_))) return next;
  const Epoch multiple = (last_ / epochs_per_buffer_ + 1) * epochs_per_buffer_;
  return std::max(next, std::min(multiple, epoch_of(oldest_ + flush_after_, epoch_ticks_) + 1));
}

void LiveCutter::take(const HitBlock& hits, Epoch made) {
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const Tick time = hits.time[i];
    const Epoch epoch = epoch_of(time, epoch_ticks_);
    if (epoch != last_ && encoder_.open_from() && epoch >= closes_at()) close(closes_at());
    if (!encoder_.open_from()) oldest_ = time;
    encoder_.add(time, hits.channel[i], hits.payload_of(i));
    last_ = epoch;
  }
  if (encoder_.open_from() && made >= closes_at()) close(closes_at());
}

void LiveCutter::end(Epoch due) {
  if (encoder_.open_from()) close(due);
}

void LiveCutter::close(Epoch due) {
  auto& cut = cuts_.emplace_back();
  if (!spares_.empty()) {
    cut.bytes = std::move(spares_.back());
    spares_.pop_back();
  }
  const auto header = encoder_.close(cut.bytes);
  cut.buffer = {cut.bytes, header->first_epoch, due};
}

void LiveCutter::pop() {
  spares_.push_back(std::move(cuts_.front().bytes));
  spares_.back().clear();
  cuts_.pop_front();
}

std::optional<Epoch> LiveCutter::first() const {
  return cuts_.empty() ? encoder_.open_from() : std::optional(cuts_.front().buffer.first);
}

LiveGenerator::LiveGenerator(const GenerateSettings& settings, Tick flush_after, RecordingWriter* writer)
    : settings_(settings), generator_(settings), writer_(writer), duration_(settings.duration) {
  for (std::uint32_t s = 0; s < settings.sources; ++s) cutters_.emplace_back(settings, s, flush_after);
}

void LiveGenerator::make_until(Epoch epoch) {
  if (ended_ || epoch <= made_) return;
  make(std::min(epoch, epochs_over(duration_, settings_.base.epoch_ticks)));
}

void LiveGenerator::make(Epoch epoch) {
  const Tick end = tick_of_epoch(epoch, settings_.base.epoch_ticks);
  const bool all = end >= duration_;
  generator_.make_until(all ? duration_ : end);
  for (std::uint32_t s = 0; s < cutters_.size(); ++s) {
    cutters_[s].take(generator_.hits(s), epoch);
    if (all) cutters_[s].end(epoch);
  }
  if (writer_ != nullptr) writer_->take(generator_);
  generator_.clear();
  made_ = epoch;
  ended_ = all;
}

void LiveGenerator::stop() {
  if (ended_) return;
  duration_ = generator_.stop();
  make(std::max(made_, epochs_over(duration_, settings_.base.epoch_ticks)));
}

GeneratedStream::GeneratedStream(LiveGenerator& generator, const GenerateSettings& settings, std::uint32_t source)
    : generator_(generator),
      cutter_(generator.cutter(source)),
      header_(header_of(settings, source)),
      name_("source " + std::to_string(source)) {}

const PacedBuffer* GeneratedStream::peek(Epoch horizon) {
  generator_.make_until(horizon);
  return cutter_.front();
}

std::optional<Epoch> GeneratedStream::ended() const {
  return cutter_.front() == nullptr ? generator_.ended() : std::nullopt;
}

Epoch GeneratedStream::complete(Epoch epoch) const {
  const Epoch made = std::min(epoch, generator_.made());
  return std::min(made, cutter_.first().value_or(made));
}

}  // namespace eventloom
