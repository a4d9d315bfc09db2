#include "app/tools/send/recorded_stream.hpp"

#include <algorithm>
#include <limits>

#include "formats/epoch_buffer.hpp"

namespace eventloom {

namespace {

constexpr Epoch kLast = std::numeric_limits<Epoch>::max();
constexpr Epoch kEpochsPerStep = 512;

}  // namespace

RecordedStream::RecordedStream(std::unique_ptr<Source> source, std::uint32_t id)
    : source_(std::move(source)), header_(source_->header()), at_(source_->first_epoch()) {
  header_.source = id;
}

const PacedBuffer* RecordedStream::peek(Epoch /*horizon*/) {
  while (next_ == buffers_.size()) {
    if (!read_on()) return nullptr;
  }
  return &buffers_[next_];
}

/// Takes the next step through the source; returns false at the end.
bool RecordedStream::read_on() {
  buffers_.clear();
  next_ = 0;
  if (ended_ || !at_ || *at_ >= source_->end_epoch().value_or(kLast)) {
    ended_ = true;
    return false;
  }
  source_->release_before(*at_);
  const EpochRange step{*at_, *at_ + std::min(kEpochsPerStep, kLast - *at_)};
  take(step);
  at_ = source_->next_beginning(step.end);
  return true;
}

/// Collects the buffers that begin in `step`. Buffers that only extend into it came in an earlier step.
void RecordedStream::take(EpochRange step) {
  data_.clear();
  source_->collect(step, data_);
  for (const auto& damage : data_.damage) damaged_ += step.contains(damage.first_epoch) ? 1 : 0;
  for (auto piece : data_.pieces) {
    while (!piece.empty()) {
      const auto header = read_epoch_buffer_header(piece);
      const auto stored = piece.first(header->stored_bytes());
      const auto epochs = header->epochs();
      if (step.contains(epochs.begin)) buffers_.push_back({stored, epochs.begin, epochs.end});
      piece = piece.subspan(stored.size());
    }
  }
}

std::optional<Epoch> RecordedStream::ended() const { return ended_ ? std::optional(end_) : std::nullopt; }

Epoch RecordedStream::complete(Epoch epoch) const {
  return next_ < buffers_.size() ? std::min(epoch, buffers_[next_].first) : epoch;
}

void RecordedStream::stop() {
  at_.reset();
  buffers_.clear();
  next_ = 0;
  ended_ = true;
}

}  // namespace eventloom
