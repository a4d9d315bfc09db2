#include "io/packed/record_hits.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "io/recorded/block_losses.hpp"

namespace eventloom {

namespace {

constexpr unsigned kSystemBits = 6;

/// Sets all bits of values that exceed `bits` bits, so that they remain too large after any shift. Returns whether
/// there are any.
bool mark_misfits(std::span<std::uint64_t> values, unsigned bits) {
  std::uint64_t all = 0;
  for (const auto value : values) all |= value;
  if (all >> bits == 0) return false;
  for (auto& value : values) {
    if (value >> bits != 0) value = ~std::uint64_t{0};
  }
  return true;
}

}  // namespace

RecordHits::RecordHits(const SourceUri& uri, RecordFormat format, std::string name, std::uint64_t tick_ps)
    : format_(std::move(format)), name_(std::move(name)) {
  if (!format_.time) return;
  clocks_.emplace(uri, [&](const SourceUri& of_unit) { return PackedClock(of_unit, format_.time->field(), tick_ps); });
}

/// Reads all records at once, column by column.
void RecordHits::read(const std::byte* records, std::size_t n, std::uint64_t offset, Tick time, HitBlock& block) {
  block.clear();
  records_ += n;
  offset_ = offset;
  block.time.resize(n, time);
  block.channel.resize(n);
  if (format_.time) format_.time->extract(records, block.time);
  const bool all_chosen = choose(records, n);
  const bool times_fit = !clocks_ || (clocks_->is_one() && clocks_->first().convert(block.time));
  const bool channels_fit = put_channels(records, block);
  const bool payload_fits = put_payload(records, block);
  if (!all_chosen || !times_fit || !channels_fit || !payload_fits) keep_good(records, times_fit, block);
}

/// Puts what each record is into choices_. Returns false when not all make hits.
bool RecordHits::choose(const std::byte* records, std::size_t n) {
  choices_.clear();
  if (format_.where.empty() && format_.overflow.empty()) return true;
  choices_.assign(n, Choice::kept);
  const auto take = [&](const std::vector<RecordCondition>& condition, Truth truth, Choice choice) {
    if (condition.empty()) return;
    evaluate(condition, records, truths_);
    for (std::size_t i = 0; i < n; ++i) {
      if (choices_[i] != Choice::kept) continue;
      if (truths_[i] == truth) choices_[i] = choice;
      if (truths_[i] == Truth::unknown) choices_[i] = Choice::unknown;
    }
  };
  take(format_.overflow, Truth::yes, Choice::marks_turn);
  take(format_.where, Truth::no, Choice::left_out);
  return std::ranges::all_of(choices_, [](Choice choice) { return choice == Choice::kept; });
}

/// Whether all terms hold for each record; unknown if a decisive number is NaN.
void RecordHits::evaluate(const std::vector<RecordCondition>& condition, const std::byte* records,
                          std::vector<Truth>& truths) {
  truths.assign(choices_.size(), Truth::yes);
  numbers_.resize(choices_.size());
  for (const auto& [field, term] : condition) {
    field.extract(records, numbers_);
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (truths[i] != Truth::yes) continue;
      const auto whole = field.whole(numbers_[i]);
      const double real = whole ? 0 : field.real(numbers_[i]);
      const bool holds = whole ? term.holds(*whole) : term.holds(real);
      truths[i] = std::isnan(real) ? Truth::unknown : (holds ? Truth::yes : Truth::no);
    }
  }
}

/// Returns false when a channel does not fit; its value in channels_ then exceeds 28 bits.
bool RecordHits::put_channels(const std::byte* records, HitBlock& block) {
  channels_.assign(block.size(), format_.fixed_channel.value_or(0));
  if (format_.channel) format_.channel->extract(records, channels_);
  if (format_.channel && (!format_.channel->is_plain() || format_.channels.has_table())) look_up_channels();
  bool fit = !mark_misfits(channels_, format_.channel_bits);
  if (format_.system) fit = join(*format_.system, records, RecordFormat::kSystemShift) && fit;
  if (format_.subsystem) fit = join(*format_.subsystem, records, RecordFormat::kSubsystemShift) && fit;
  for (std::size_t i = 0; i < channels_.size(); ++i) block.channel[i] = static_cast<std::uint32_t>(channels_[i]);
  return fit;
}

/// Replaces numbers by their channels; those without one become too large.
void RecordHits::look_up_channels() {
  for (auto& number : channels_) {
    const auto channel = format_.channels.channel(format_.channel->whole(number));
    number = channel ? *channel : ~std::uint64_t{0};
  }
}

/// Puts the values of `field` into the channels. Returns false when a value does not fit.
bool RecordHits::join(const PackedField& field, const std::byte* records, unsigned shift) {
  systems_.resize(channels_.size());
  field.extract(records, systems_);
  const bool fit = !mark_misfits(systems_, kSystemBits);
  for (std::size_t i = 0; i < channels_.size(); ++i) channels_[i] |= systems_[i] << shift;
  return fit;
}

/// Returns false when a value does not fit a word; misfits_ then marks its record.
bool RecordHits::put_payload(const std::byte* records, HitBlock& block) {
  constexpr unsigned kWordBits = 32;
  const std::size_t stride = format_.payload_words;
  block.payload.resize(block.size() * stride);
  misfits_.clear();
  std::uint32_t* out = block.payload.data();
  bool fit = true;
  for (const auto& field : format_.payload) {
    if (field.is_plain()) {
      field.extract_words(records, block.size(), 0, out++, stride);
      if (field.bits() > kWordBits) field.extract_words(records, block.size(), kWordBits, out++, stride);
    } else {
      numbers_.resize(block.size());
      fit = put_words(field, records, out) && fit;
      out += payload_words_of(field);
    }
  }
  return fit;
}

/// Converts the values of a field that is not plain. Returns false when one does not fit.
bool RecordHits::put_words(const PackedField& field, const std::byte* records, std::uint32_t* out) {
  field.extract(records, numbers_);
  bool fit = true;
  const bool two = payload_words_of(field) == 2;
  for (std::size_t i = 0; i < numbers_.size(); ++i, out += format_.payload_words) {
    const auto bits = field.to_payload(numbers_[i]);
    out[0] = static_cast<std::uint32_t>(bits.value_or(0));
    if (two) out[1] = static_cast<std::uint32_t>(bits.value_or(0) >> 32);
    if (bits) continue;
    misfits_.resize(numbers_.size());
    misfits_[i] = true;
    fit = false;
  }
  return fit;
}

/// Converts the records one by one and drops those that do not fit.
void RecordHits::keep_good(const std::byte* records, bool times_converted, HitBlock& block) {
  const std::size_t n = block.size();
  const auto words = static_cast<std::ptrdiff_t>(format_.payload_words);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (makes_no_hit(i, kept, block)) continue;
    const bool channel_fits = channels_[i] >> RecordFormat::kChannelBits == 0;
    const bool is_known = choices_.empty() || choices_[i] == Choice::kept;
    const auto time =
        times_converted || !channel_fits || !is_known ? std::optional(block.time[i]) : converted(i, block);
    const bool payload_fits = misfits_.empty() || !misfits_[i];
    if (!time || !channel_fits || !payload_fits || !is_known) {
      lose(kept, offset_ + i * format_.bytes, defect(records, i, time.has_value(), block), block);
      continue;
    }
    block.time[kept] = *time;
    block.channel[kept] = block.channel[i];
    const auto from = block.payload.begin() + static_cast<std::ptrdiff_t>(i) * words;
    if (kept != i) std::copy_n(from, words, block.payload.begin() + static_cast<std::ptrdiff_t>(kept) * words);
    ++kept;
  }
  block.truncate(kept);
}

/// Whether the record marks a turn, which is taken, or is left out, which is counted. `kept`: number of hits before it.
bool RecordHits::makes_no_hit(std::size_t i, std::size_t kept, HitBlock& block) {
  if (choices_.empty()) return false;
  if (choices_[i] == Choice::marks_turn) {
    if (clocks_) clocks_->first().turns().mark_turns(block.time[i].value);
    return true;
  }
  if (choices_[i] != Choice::left_out) return false;
  join_loss(block, {.before = kept, .offset = offset_ + i * format_.bytes, .hits = 1, .cause = DropCause::cut});
  return true;
}

/// The tick of record `i`; std::nullopt if its time does not fit, or its channel has no unit.
std::optional<Tick> RecordHits::converted(std::size_t i, const HitBlock& block) {
  auto* const clock = clocks_->of(block.channel[i]);
  const auto number = block.time[i].value;
  const auto time = clock == nullptr ? std::nullopt : clock->convert(number, block.channel[i]);
  if (time && clock->is_imprecise(number) && imprecise_.admit()) {
    log::warn("{}: offset {}: {}. This and later ones are rounded", name_, offset_ + i * format_.bytes,
              clock->precision_defect(number));
  }
  return time;
}

/// Why record `i` makes no hit. `timed`: its time fits.
std::string RecordHits::defect(const std::byte* records, std::size_t i, bool timed, const HitBlock& block) {
  if (!choices_.empty() && choices_[i] != Choice::kept) return "the number of where= or overflow= is NaN";
  if (channels_[i] >> RecordFormat::kChannelBits != 0) return channel_defect(records + i * format_.bytes);
  if (timed) return "the payload does not fit";
  auto* const clock = clocks_->of(block.channel[i]);
  if (clock == nullptr) return "the channel has no unit in unit=";
  return clock->defect(fmt::format("'{}': offset {}", name_, offset_ + i * format_.bytes), block.time[i].value,
                       block.channel[i]);
}

/// Why the numbers in a record make no channel.
std::string RecordHits::channel_defect(const std::byte* record) const {
  const auto number_in = [record](const PackedField& field) {
    std::uint64_t number = 0;
    field.extract(record, std::span(&number, 1));
    return number;
  };
  const auto value = format_.channel ? number_in(*format_.channel) : 0;
  const auto whole = format_.channel ? format_.channel->whole(value) : std::nullopt;
  const auto channel = format_.channels.channel(whole);
  if (format_.channel && !channel) {
    const auto text = whole ? fmt::format("{}", *whole) : fmt::format("{}", format_.channel->real(value));
    return fmt::format("{} is not {}", text, format_.channels.expected());
  }
  if (channel && *channel >> format_.channel_bits != 0) {
    return fmt::format("the channel {} does not fit the {} bits beside system= and subsystem=", *channel,
                       format_.channel_bits);
  }
  const bool of_system = format_.system && number_in(*format_.system) >> kSystemBits != 0;
  const auto number = number_in(of_system ? *format_.system : *format_.subsystem);
  return fmt::format("the {} {} is above {}", of_system ? "system" : "subsystem", number, (1U << kSystemBits) - 1);
}

void RecordHits::lose(std::size_t before, std::uint64_t offset, const std::string& what, HitBlock& block) {
  if (bad_.admit()) {
    log::error("{}: offset {}: {}: the record is dropped", name_, offset, what);
  }
  block.losses.push_back({.before = before, .offset = offset, .hits = 1});
}

Counters RecordHits::counters() const {
  Counters counters{{Metric::records, records_}, {Metric::bad_records, bad_.count()}};
  counters[Metric::imprecise_times] = imprecise_.count();
  counters[Metric::clock_turns] = clocks_ ? clocks_->first().turns().turns() : 0;
  return counters;
}

void RecordHits::sum_up() const {
  if (bad_.exceeded()) log::error("{}: {} records in all do not fit", name_, bad_.count());
}

}  // namespace eventloom
