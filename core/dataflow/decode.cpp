#include "core/dataflow/decode.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/definitions/hit_key.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/setting.hpp"
#include "formats/falling_ticks.hpp"
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

/// Writes the hits of one buffer to the columns, which have room as a PlainHitUnpacker requires it. kClip: the
/// buffer may hold epochs outside `range`. kSorted: hits carry their source.
template <bool kClip, bool kPayload, bool kSorted>
struct HitWriter {
  HitWriter(DecodedHits& hits, DecodedSource& source, EpochRange range, std::uint32_t epoch_ticks,
            PlainHitUnpacker unpack)
      : unpack_(unpack),
        hits_(hits),
        tick_(hits.tick.data()),
        channel_(hits.channel.data()),
        origin_(hits.source.data()),
        payload_(hits.payload.data()),
        payload_words_(hits.payload_words.data()),
        at_(hits.size),
        source_(source),
        next_mark_(source.marks.empty() ? 0 : source.marks.back().tick + DecodedSource::kMarkDistance),
        range_(range),
        epoch_ticks_(epoch_ticks) {}

  void epoch(Epoch epoch) {
    epoch_ = epoch;
    if constexpr (kClip) {
      inside_ = range_.contains(epoch);
      is_early_ = epoch < range_.begin ? 1 : 0;
      if (!inside_) return;
    }
    const std::uint64_t base = (epoch - range_.begin).value * epoch_ticks_;
    base_ = static_cast<std::uint32_t>(base);
    if (at_ == hits_.size) first_tick_ = base;
    last_tick_ = base;
    if (base < next_mark_) return;
    source_.marks.push_back({base, at_});
    next_mark_ = base + DecodedSource::kMarkDistance;
  }
  /// Whether a time is earlier than the one before it. As epochs ascend, one look at the whole buffer suffices. A
  /// buffer longer than 2^32 ticks always counts as falling.
  [[nodiscard]] bool falls() const {
    const auto first = hits_.size;
    if (at_ == first) return false;
    if (last_tick_ - first_tick_ + epoch_ticks_ > std::uint64_t{1} << 32) return true;
    return falls_anywhere({tick_ + first, at_ - first}, static_cast<std::uint32_t>(first_tick_));
  }
  void hit(std::uint32_t tick_in_epoch, std::uint32_t channel, std::span<const std::uint32_t> payload) {
    if constexpr (kClip) {
      ++clipped_;
      early_ += is_early_;
      if (!inside_) return;
      --clipped_;
    }
    const std::uint32_t tick = base_ + tick_in_epoch;
    tick_[at_] = tick;
    channel_[at_] = channel;
    if constexpr (kSorted) {
      if (payload.size() < kSortedPrefix || payload[1] >= n_origins_) {
        wrong_ = true;
        return;
      }
      origin_[at_] = static_cast<std::uint16_t>(payload[1]);
      payload = payload.subspan(kSortedPrefix);
    }
    if constexpr (kPayload) {
      payload_[at_] = payload.data();
      payload_words_[at_] = static_cast<std::uint32_t>(payload.size());
    }
    ++at_;
  }
  /// Time-sorted hits always have payload.
  std::size_t plain_hits(std::span<const std::uint32_t> words, EpochRange epochs, Epoch& open) requires(!kSorted) {
    if constexpr (kClip) epochs = alike(epochs);
    const std::uint64_t n_epochs = (epochs.end - epochs.begin).value;
    const std::uint64_t begin = (epochs.begin - range_.begin).value * epoch_ticks_;
    EpochCount count{.first_epoch = static_cast<std::uint32_t>(epochs.begin.value) & kValueMask,
                     .first_tick = static_cast<std::uint32_t>(begin),
                     .epoch_ticks = epoch_ticks_,
                     .end = inside_ ? unmarked_epochs(begin, n_epochs) : at_most_28_bits(n_epochs),
                     .open = static_cast<std::uint32_t>((open - epochs.begin).value)};
    const auto done = unpack_(words, count, {tick_ + at_, channel_ + at_});
    epoch_ = open = epochs.begin + Epoch(count.open);
    if constexpr (kClip) {
      if (!inside_) {
        clipped_ += done.n_hits;
        early_ += is_early_ * done.n_hits;
        return done.n_words;
      }
    }
    if constexpr (kPayload) {
      std::fill_n(payload_ + at_, done.n_hits, nullptr);
      std::fill_n(payload_words_ + at_, done.n_hits, 0U);
    }
    at_ += done.n_hits;
    last_tick_ = begin + std::uint64_t{count.open} * epoch_ticks_;
    base_ = static_cast<std::uint32_t>(last_tick_);
    return done.n_words;
  }
  /// Returns those epochs of a buffer that lie, like the open one, before, in or after the range.
  [[nodiscard]] EpochRange alike(EpochRange epochs) const {
    if (inside_) return {std::max(epochs.begin, range_.begin), std::min(epochs.end, range_.end)};
    if (is_early_ != 0) return {epochs.begin, range_.begin};
    return {std::max(epochs.begin, range_.end), epochs.end};
  }
  static std::uint32_t at_most_28_bits(std::uint64_t n) {
    return static_cast<std::uint32_t>(std::min(n, std::uint64_t{kValueMask}));
  }
  /// Counts the epochs before the first that needs a mark, of `n` that begin at tick `begin`.
  [[nodiscard]] std::uint32_t unmarked_epochs(std::uint64_t begin, std::uint64_t n) const {
    const std::uint64_t unmarked = next_mark_ <= begin ? 0 : (next_mark_ - begin + epoch_ticks_ - 1) / epoch_ticks_;
    return at_most_28_bits(std::min(n, unmarked));
  }
  void tag(std::uint32_t value) {
    if constexpr (kSorted) {
      if (inside_) hits_.tags.push_back({at_, decode_tag(value)});
    } else {
      leave_out(OtherMarker::tag);
    }
  }
  void peak(Peak) { leave_out(OtherMarker::peak); }
  void histogram(std::uint32_t, std::span<const std::uint32_t>) { leave_out(OtherMarker::histogram); }
  void schedule(std::span<const std::uint32_t>) { leave_out(OtherMarker::schedule); }
  /// Counts the marker in the slice that owns its epoch, after correction of the epoch's first hits.
  void leave_out(OtherMarker marker) {
    if (owned_.contains(first_corrected(epoch_, offsets_, epoch_ticks_))) left_out_.count(marker);
  }

  PlainHitUnpacker unpack_;
  DecodedHits& hits_;
  std::uint32_t* tick_;
  std::uint32_t* channel_;
  std::uint16_t* origin_;
  const std::uint32_t** payload_;
  std::uint32_t* payload_words_;
  std::uint32_t at_;
  std::uint32_t base_ = 0;        ///< low 32 bits of the epoch's first tick
  std::uint64_t first_tick_ = 0;  ///< the first tick of the first epoch with hits
  std::uint64_t last_tick_ = 0;   ///< the first tick of the last epoch
  std::uint32_t clipped_ = 0;
  std::uint32_t early_ = 0;  ///< clipped hits that precede the range
  std::uint32_t is_early_ = 0;
  bool inside_ = true;
  bool wrong_ = false;
  std::uint32_t n_origins_ = 0;
  DecodedSource& source_;
  std::uint64_t next_mark_;  ///< epochs from here on need separate marks
  EpochRange range_;
  std::uint32_t epoch_ticks_;
  Epoch epoch_ = 0;
  MarkerCounts left_out_;
  EpochRange owned_;  ///< epochs whose other markers are counted, by corrected times
  OffsetSpan offsets_;
};

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

std::uint64_t DecodedHits::count(Tick begin, Tick end) const {
  std::uint64_t sum = 0;
  for (std::size_t s = 0; s < sources.size(); ++s) sum += count_of(s, begin, end);
  return sum;
}

std::uint64_t DecodedHits::count_of(std::size_t stream, Tick begin, Tick end) const {
  const auto& of = sources[stream];
  const auto first = first_at(of, begin.value, of.begin);
  return first_at(of, end.value, first) - first;
}

std::uint32_t DecodedHits::first_at(const DecodedSource& stream, std::uint64_t time, std::uint32_t from) const {
  const auto next = std::ranges::lower_bound(stream.marks, time, {}, &DecodedSource::TickMark::tick);
  const std::uint32_t end = next == stream.marks.end() ? stream.end : next->hit;
  if (next == stream.marks.begin()) return std::max(from, end);
  const auto& mark = *std::prev(next);
  const auto earlier = [&](std::uint32_t low) { return tick_after(mark.tick, low) < time; };
  // The hit is usually near.
  const std::uint32_t* const ticks = tick.data();
  std::uint32_t begin = std::max(from, mark.hit);
  std::uint32_t step = 64;
  for (; begin + step < end && earlier(ticks[begin + step]); step *= 2) begin += step;
  const std::uint32_t* const last = ticks + std::min(end, begin + step);
  return static_cast<std::uint32_t>(std::partition_point(ticks + begin, last, earlier) - ticks);
}

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
  if (words.empty() && header.n_hits != 0) {
    drop(source, in_corrected_epochs(source, damage_of(header, DropCause::lost)), "it was lost before it was recorded");
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

std::uint64_t DecodedHits::tick_of_hit(std::uint32_t number) const {
  const auto low = tick.data()[number];
  const auto stream = std::ranges::upper_bound(sources, number, {}, &DecodedSource::end);
  const auto next = std::ranges::upper_bound(stream->marks, number, {}, &DecodedSource::TickMark::hit);
  return next == stream->marks.begin() ? low : tick_after(std::prev(next)->tick, low);
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
