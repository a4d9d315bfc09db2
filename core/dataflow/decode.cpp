#include "core/dataflow/decode.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/dataflow/hit_writer.hpp"
#include "core/definitions/hit_key.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/setting.hpp"
#include "formats/marker_reader.hpp"
#include "formats/plain_hits.hpp"

namespace eventloom {

namespace {

/// Converts `damage` from recorded epochs to epochs of corrected times.
Damage corrected(Damage damage, OffsetSpan offsets, std::uint32_t epoch_ticks) {
  if (offsets.none()) return damage;
  const auto epochs = epochs_of(damage);
  const bool hole = damage.n_epochs != 0;
  damage.first_epoch = first_corrected(epochs.begin, offsets, epoch_ticks);
  if (hole) damage.n_epochs = last_corrected(epochs.end - 1, offsets, epoch_ticks) + 1 - damage.first_epoch;
  return damage;
}

PlainHitUnpacker unpacker_for(const EpochBufferHeader& header) {
  return is_dense(header.n_words, header.n_epochs, header.n_hits) ? dense_hit_unpacker() : sparse_hit_unpacker();
}

Damage damage_of(const EpochBufferHeader& header, DropCause cause) {
  return {.first_epoch = header.first_epoch,
          .n_epochs = Epoch(header.n_epochs),
          .file_offset = header.stream_offset,
          .n_hits = header.n_hits,
          .cause = cause};
}

/// Whether cause and origin are valid.
bool known(const Damage& damage, const std::optional<SortedInput>& sorted) {
  return known(damage.cause) && (!sorted || damage.origin == kAllOrigins || damage.origin < sorted->n_sources);
}

[[noreturn]] void refuse(std::size_t source) {
  throw std::runtime_error("a loss of unknown cause or of a source that does not exist, reported by source " +
                           std::to_string(source));
}

}  // namespace

void SliceDecoder::decode(SliceId slice, std::span<const SourceSlice> sources, std::vector<BuildProblem>& problems) {
  window_ = settings_.geometry.sent_epochs(slice);
  owned_ = settings_.geometry.owned_epochs(slice);
  problems_ = &problems;
  make_room(sources);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto number = static_cast<std::uint16_t>(i);
    set_range(number, slice);
    for (const auto& damage : sources[i].damage) {
      if (!known(damage, settings_.sorted)) refuse(i);
      add_damage(settings_.sorted ? damage.origin : number, in_corrected_epochs(number, damage));
    }
    decode_source(number, sources[i].pieces);
  }
}

void SliceDecoder::set_range(std::uint16_t stream, SliceId slice) {
  const std::uint32_t epoch_ticks = settings_.geometry.base.epoch_ticks;
  sent_ = read_ = offsets_.empty() ? window_ : sent_epochs(settings_.geometry, slice, offsets_[stream]);
  // Slice 0 includes hits long before tick 0, whose ticks may not fit the keys.
  const Epoch most = epoch_of(Tick(kMostSliceTicks - 1), epoch_ticks);
  if (sent_.end - sent_.begin > most) read_.begin = sent_.end - most;
  hits_.sources[stream].start = tick_of_epoch(read_.begin, epoch_ticks);
  hits_.sources[stream].early = 0;
}

Damage SliceDecoder::in_corrected_epochs(std::uint16_t stream, const Damage& damage) const {
  return offsets_.empty() ? damage : corrected(damage, offsets_[stream], settings_.geometry.base.epoch_ticks);
}

void SliceDecoder::make_room(std::span<const SourceSlice> sources) {
  hits_.size = 0;
  hits_.tags.clear();
  damage_.clear();
  left_out_.clear();
  hits_.sources.resize(sources.size());
  std::size_t words = 0;  // every hit has at least one
  for (const auto& source : sources) {
    for (const auto piece : source.pieces) words += piece.size() / sizeof(std::uint32_t);
  }
  if (words > std::numeric_limits<std::uint32_t>::max()) {
    throw UserError("a slice holds more than 16 GiB of epoch buffers: choose a smaller " +
                    name_of(Setting::epochs_per_slice));
  }
  hits_.tick.require(words + kPlainVector);
  hits_.channel.require(words + kPlainVector);
  hits_.source.require(words + 1);  // read in pairs
  if (settings_.with_payload) {
    hits_.payload.require(words);
    hits_.payload_words.require(words);
  }
}

void SliceDecoder::decode_source(std::uint16_t source, std::span<const std::span<const std::byte>> pieces) {
  auto& decoded = hits_.sources[source];
  decoded.begin = hits_.size;
  decoded.ordered = true;
  decoded.marks.clear();
  Epoch next_epoch = 0;
  for (const auto piece : pieces) {
    if (!decode_piece(source, piece, next_epoch)) break;
  }
  decoded.end = hits_.size;
  if (settings_.sorted) return;
  std::fill(hits_.source.data() + decoded.begin, hits_.source.data() + decoded.end, source);
}

/// `next_epoch`: the end of the buffers so far. Returns false if the buffers that follow cannot be found.
bool SliceDecoder::decode_piece(std::uint16_t source, std::span<const std::byte> bytes, Epoch& next_epoch) {
  while (!bytes.empty()) {
    const auto header = read_epoch_buffer_header(bytes);
    if (!header || header->stored_bytes() > bytes.size()) {
      // The next buffer cannot be found without a length.
      drop(source, unknown_from(source, next_epoch, header.value_or(EpochBufferHeader{})),
           header ? "an epoch buffer is cut off" : "the header of an epoch buffer is damaged");
      return false;
    }
    if (!header->epochs().overlaps(sent_)) {
      // Intact, but of another slice: this slice's data did not arrive.
      drop(source, unknown_from(source, next_epoch, {}),
           "an epoch buffer of another slice is in place of one of this slice");
      bytes = bytes.subspan(header->stored_bytes());
      continue;
    }
    if (header->first_epoch < next_epoch) {
      drop(source, in_corrected_epochs(source, damage_of(*header, DropCause::out_of_order)),
           "an epoch buffer starts before the previous one ends");
    } else {
      decode_buffer(source, *header, words_of(*header, bytes));
    }
    next_epoch = std::max(next_epoch, header->epochs().end);
    bytes = bytes.subspan(header->stored_bytes());
  }
  return true;
}

void SliceDecoder::decode_buffer(std::uint16_t source, const EpochBufferHeader& header,
                                 std::span<const std::uint32_t> words) {
  if (header.is_loss()) {
    drop(source, in_corrected_epochs(source, damage_of(header, DropCause::lost)),
         is_unknown_loss(header) ? "an unknown number of hits was lost before it was recorded"
                                 : "it was lost before it was recorded");
    return;
  }
  // Each hit has at least one word, even if a header contradicts its words.
  if (hits_.size + std::min<std::uint64_t>(header.n_hits, words.size()) > kMostHits) {
    throw UserError("a slice holds more than 2^" + std::to_string(kHitNumberBits) + " hits: choose a smaller " +
                    name_of(Setting::epochs_per_slice));
  }
  if (!words_intact(header, words)) {
    drop(source, in_corrected_epochs(source, damage_of(header, DropCause::corrupt)),
         "the checksum of an epoch buffer is wrong");
    return;
  }
  const bool clip = header.epochs().begin < read_.begin || header.epochs().end > read_.end;
  const auto read = [&]<bool kPayload, bool kSorted>() {
    clip ? read_words<true, kPayload, kSorted>(source, header, words)
         : read_words<false, kPayload, kSorted>(source, header, words);
  };
  if (settings_.sorted) {
    settings_.with_payload ? read.operator()<true, true>() : read.operator()<false, true>();
  } else {
    settings_.with_payload ? read.operator()<true, false>() : read.operator()<false, false>();
  }
}

template <bool kClip, bool kPayload, bool kSorted>
void SliceDecoder::read_words(std::uint16_t source, const EpochBufferHeader& header,
                              std::span<const std::uint32_t> words) {
  auto& decoded = hits_.sources[source];
  const std::size_t marks_before = decoded.marks.size();
  const std::uint32_t epoch_ticks = settings_.geometry.base.epoch_ticks;
  const std::size_t tags_before = hits_.tags.size();
  HitWriter<kClip, kPayload, kSorted> writer(hits_, decoded, read_, epoch_ticks, unpacker_for(header));
  if constexpr (kSorted) writer.n_origins_ = settings_.sorted->n_sources;
  writer.owned_ = owned_;
  if (!offsets_.empty()) writer.offsets_ = offsets_[source];
  const MarkerContext context{header.epochs(), epoch_ticks, settings_.payload[source]};
  const auto error = MarkerReader(words, context, writer).read();
  if (!error && !writer.wrong_ && writer.at_ - hits_.size + writer.clipped_ == header.n_hits) {
    decoded.ordered = decoded.ordered && !writer.falls();
    hits_.size = writer.at_;
    decoded.early += writer.early_;
    if (!settings_.sorted) leave_out(source, writer.left_out_);
    return;
  }
  decoded.marks.resize(marks_before);
  hits_.tags.resize(tags_before);
  auto damage = in_corrected_epochs(source, damage_of(header, DropCause::corrupt));
  if (error) damage.file_offset += sizeof header + sizeof(std::uint32_t) * error->word;
  drop(source, damage, error ? error->reason : "the number of hits in an epoch buffer differs from its header");
}

/// Must be called in ascending order of sources.
void SliceDecoder::leave_out(std::uint16_t source, const MarkerCounts& counts) {
  if (!counts.any()) return;
  if (left_out_.empty() || left_out_.back().source != source) left_out_.push_back({source, {}});
  left_out_.back().counts.add(counts);
}

/// Data of unknown extent, charged to this slice wherever they lie. Returns epochs of corrected times.
Damage SliceDecoder::unknown_from(std::uint16_t stream, Epoch epoch, const EpochBufferHeader& instead) const {
  Damage rest = damage_of(instead, DropCause::corrupt);
  rest.first_epoch = epoch;
  rest.first_epoch = std::clamp(in_corrected_epochs(stream, rest).first_epoch, owned_.begin, owned_.end - 1);
  rest.n_epochs = window_.end - rest.first_epoch;
  return rest;
}

void SliceDecoder::add_damage(std::uint16_t source, const Damage& damage) {
  if (!settings_.sorted || source != kAllOrigins) {
    damage_.push_back({{source}, damage});
    return;
  }
  Damage share = damage;
  for (std::uint16_t origin = 0; origin < settings_.sorted->n_sources; ++origin) {
    damage_.push_back({{origin}, share});
    share.n_hits = 0;  // count hits only once
  }
}

void SliceDecoder::drop(std::uint16_t source, const Damage& damage, std::string reason) {
  add_damage(settings_.sorted ? kAllOrigins : source, damage);
  if (owned_.contains(damage.first_epoch)) problems_->push_back({{source}, damage, std::move(reason)});
}

}  // namespace eventloom
