#include "io/recorded/stored_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "io/epochs/stored_hits.hpp"
#include "io/recorded/block_losses.hpp"

namespace eventloom {

StoredReader::StoredReader(std::unique_ptr<Source> stream)
    : stream_(std::move(stream)), first_(stream_->first_epoch()), at_(first_), defect_log_(stream_->name()) {}

bool StoredReader::read(HitBlock& block) {
  block.clear();
  while (at_ && block.size() < kBlockHits) {
    at_ = stream_->next_beginning(*at_);
    if (!at_) break;
    const EpochRange step{*at_, *at_ + 1};
    take_step(step, block);
    stream_->release_before(step.end);
    at_ = step.end;
  }
  if (!at_) defect_log_.sum_up();
  return block.size() != 0 || !block.losses.empty();
}

std::optional<double> StoredReader::share_read() const {
  if (!at_) return 1;
  const auto end = stream_->end_epoch();
  if (!end) return std::nullopt;
  return static_cast<double>(std::min(*at_, *end) - *first_) / static_cast<double>(*end - *first_);
}

SourceCounts StoredReader::counts() const {
  SourceCounts counts;
  add_other_markers_of_source(counts.counters, left_out_);
  return counts;
}

/// Takes the data that begin in `step`; data that begin earlier and extend into it have already been taken.
void StoredReader::take_step(EpochRange step, HitBlock& block) {
  data_.clear();
  stream_->collect(step, data_);
  for (const auto& damage : data_.damage) {
    if (step.contains(damage.first_epoch)) take_damage(damage, block);
  }
  for (auto piece : data_.pieces) {
    while (!piece.empty()) {
      const auto header = read_epoch_buffer_header(piece);
      if (step.contains(header->first_epoch)) take_buffer(*header, piece.first(header->stored_bytes()), block);
      piece = piece.subspan(header->stored_bytes());
    }
  }
}

void StoredReader::take_damage(const Damage& damage, HitBlock& block) const {
  add_loss(block, {.before = block.size(),
                   .offset = damage.file_offset,
                   .hits = damage.n_hits,
                   .cause = damage.cause,
                   .leaves_hole = damage.n_epochs != 0,
                   .breaks_off = epochs_of(damage).end == std::numeric_limits<Epoch>::max()});
}

void StoredReader::take_buffer(const EpochBufferHeader& header, std::span<const std::byte> stored, HitBlock& block) {
  const std::size_t hits = block.size();
  const std::size_t words = block.payload.size();
  const auto defect =
      read_stored_hits(header, stored, stream_->header(), left_out_, [&block](Tick time, auto channel, auto payload) {
        block.time.push_back(time);
        block.channel.push_back(channel);
        block.payload_begin.push_back(static_cast<std::uint32_t>(block.payload.size()));
        block.payload.insert(block.payload.end(), payload.begin(), payload.end());
      });
  if (!defect) return;
  block.time.resize(hits);
  block.channel.resize(hits);
  block.payload_begin.resize(hits);
  block.payload.resize(words);
  defect_log_.say(Defect::damage, defect->offset, [&] {
    return std::string(defect->reason) + "; its " + std::to_string(header.n_hits) + " hits are dropped";
  });
  add_loss(
      block,
      {.before = hits, .offset = defect->offset, .hits = header.n_hits, .cause = defect->cause, .leaves_hole = true});
}

}  // namespace eventloom
