#include "io/packed/packed_reader.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "core/runtime/message_limit.hpp"
#include "io/files/file_checksum.hpp"
#include "io/files/file_reader.hpp"
#include "io/packed/field.hpp"
#include "io/packed/packed_clock.hpp"
#include "io/recorded/file_end.hpp"
#include "io/recorded/payload_columns.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kBlockWords = std::size_t{32} << 10;
constexpr std::uint64_t kMaxRecordBytes = 65536;
constexpr unsigned kSystemBits = 6;
constexpr unsigned kSystemShift = 22;
constexpr unsigned kSubsystemShift = 16;
constexpr unsigned kChannelBits = 28;

/// Layout of a record.
struct RecordFormat {
  explicit RecordFormat(const SourceUri& uri);

  std::size_t bytes;
  PackedField time;
  PackedField channel;
  std::optional<PackedField> system;
  std::optional<PackedField> subsystem;
  unsigned channel_bits;  ///< maximum width of `channel`
  std::vector<PackedField> payload;
  std::vector<PayloadColumn> columns;
  std::size_t payload_words = 0;
};

std::size_t record_bytes(const SourceUri& uri) {
  (void)uri.require("record");
  return uri.get_count("record", 0, 1, kMaxRecordBytes);
}

PackedField parse_field(const SourceUri& uri, const std::string& key, const std::string& text, std::size_t bytes) {
  auto field = PackedField::parse(text, bytes, "source '" + uri.text() + "': " + key + "=");
  if (field.is_signed() && key != "payload") uri.refuse(key + "=" + text + ": only payload may be signed");
  const bool whole = key != "time" && key != "payload";
  if (whole && !field.is_plain()) uri.refuse(key + "=" + text + ": only times and payload may be f32, f64 or scaled");
  return field;
}

/// Number of payload words that a field yields.
std::size_t payload_words_of(const PackedField& field) {
  return field.is_plain() ? (field.bits() > 32 ? 2 : 1) : words_of(field.payload_kind());
}

/// The columns of a field: its number, or the low and the high word of a plain one.
void add_columns(const std::string& name, const PackedField& field, std::vector<PayloadColumn>& columns) {
  columns.push_back({name, field.payload_kind()});
  if (field.is_plain() && field.bits() > 32) columns.push_back({name + " high word", PayloadKind::u32});
}

std::optional<PackedField> system_field(const SourceUri& uri, const std::string& key, std::size_t bytes) {
  // The value of the common key system=N has no offset.
  const bool field = key != "system" || uri.get(key, "").find('@') != std::string::npos;
  if (!uri.has(key) || !field) return std::nullopt;
  return parse_field(uri, key, uri.require(key), bytes);
}

RecordFormat::RecordFormat(const SourceUri& uri)
    : bytes(record_bytes(uri)),
      time(parse_field(uri, "time", uri.require("time"), bytes)),
      channel(parse_field(uri, "channel", uri.require("channel"), bytes)),
      system(system_field(uri, "system", bytes)),
      subsystem(system_field(uri, "subsystem", bytes)),
      channel_bits(subsystem ? kSubsystemShift : (system ? kSystemShift : kChannelBits)) {
  for (const auto& text : payload_columns(uri)) {
    payload.push_back(parse_field(uri, "payload", text, bytes));
    payload_words += payload_words_of(payload.back());
    add_columns(text, payload.back(), columns);
  }
  require_typed_columns(uri, columns);
}

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

class PackedReader final : public HitReader {
 public:
  PackedReader(const SourceUri& uri, SourceId id, const TimeBase& base);

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return input_; }
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<double> share_read() const override { return file_.share_read(); }
  [[nodiscard]] SourceCounts counts() const override {
    SourceCounts counts{{{Metric::records, records_}, {Metric::bad_records, bad_.count()}}, {}};
    counts.counters[Metric::imprecise_times] = imprecise_.count();
    counts.counters[Metric::clock_turns] = clock_.turns();
    return counts;
  }

 private:
  void read_records(const std::byte* records, std::size_t n, HitBlock& block);
  [[nodiscard]] bool put_channels(const std::byte* records, HitBlock& block);
  [[nodiscard]] bool join(const PackedField& field, const std::byte* records, unsigned shift);
  [[nodiscard]] bool put_payload(const std::byte* records, HitBlock& block);
  [[nodiscard]] bool put_words(const PackedField& field, const std::byte* records, std::uint32_t* out);
  void keep_good(bool times_converted, HitBlock& block);
  void check_precision(std::uint64_t number, std::uint64_t offset);
  void lose(std::size_t before, std::uint64_t offset, const char* what, HitBlock& block);
  void end(HitBlock& block);

  std::string name_;
  InputFile input_;
  RecordFormat format_;
  PackedClock clock_;
  FileReader file_;
  StreamHeader header_;
  std::size_t block_records_;
  std::vector<std::uint64_t> channels_;  ///< unchecked channels of a block's records
  std::vector<std::uint64_t> systems_;
  std::vector<std::uint64_t> numbers_;  ///< values of a payload field
  std::vector<bool> misfits_;           ///< records whose payload does not fit; empty: none
  std::uint64_t records_ = 0;
  MessageLimit bad_;
  MessageLimit imprecise_{1};  ///< hits with an imprecise time
  bool ended_ = false;
};

PackedReader::PackedReader(const SourceUri& uri, SourceId id, const TimeBase& base)
    : name_(uri.path()),
      input_(describe_file(uri.path())),
      format_(uri),
      clock_(uri, format_.time, base.tick_ps),
      file_(uri.path()),
      block_records_(std::min(kBlockHits, kBlockWords / std::max<std::size_t>(format_.payload_words, 1))) {
  header_ = {.source = id.value,
             .base = base,
             .payload = {},
             .text = uri.text(),
             .flags = clock_.numbered() ? std::uint32_t{kNumbered} : 0};
  set_payload(header_, format_.columns);
  const auto skip = uri.get_count("skip", 0, 0, std::numeric_limits<std::uint64_t>::max());
  if (skip > file_.size()) {
    uri.refuse("skip= is more than the " + std::to_string(file_.size()) + " bytes of the file");
  }
  file_.skip(skip);
}

bool PackedReader::read(HitBlock& block) {
  block.clear();
  if (ended_) return false;
  const auto bytes = file_.front(format_.bytes);
  const std::size_t n = std::min(bytes.size() / format_.bytes, block_records_);
  if (n == 0) {
    end(block);
    return !block.losses.empty();
  }
  read_records(bytes.data(), n, block);
  file_.skip(n * format_.bytes);
  return true;
}

/// Reads all records of the block at once, column by column.
void PackedReader::read_records(const std::byte* records, std::size_t n, HitBlock& block) {
  records_ += n;
  block.time.resize(n);
  block.channel.resize(n);
  format_.time.extract(records, block.time);
  const bool times_fit = clock_.convert(block.time);
  const bool channels_fit = put_channels(records, block);
  const bool payload_fits = put_payload(records, block);
  if (!times_fit || !channels_fit || !payload_fits) keep_good(times_fit, block);
}

/// Returns false when a channel does not fit; its value in channels_ then exceeds 28 bits.
bool PackedReader::put_channels(const std::byte* records, HitBlock& block) {
  channels_.resize(block.size());
  format_.channel.extract(records, channels_);
  bool fit = !mark_misfits(channels_, format_.channel_bits);
  if (format_.system) fit = join(*format_.system, records, kSystemShift) && fit;
  if (format_.subsystem) fit = join(*format_.subsystem, records, kSubsystemShift) && fit;
  for (std::size_t i = 0; i < channels_.size(); ++i) block.channel[i] = static_cast<std::uint32_t>(channels_[i]);
  return fit;
}

/// Puts the values of `field` into the channels. Returns false when a value does not fit.
bool PackedReader::join(const PackedField& field, const std::byte* records, unsigned shift) {
  systems_.resize(channels_.size());
  field.extract(records, systems_);
  const bool fit = !mark_misfits(systems_, kSystemBits);
  for (std::size_t i = 0; i < channels_.size(); ++i) channels_[i] |= systems_[i] << shift;
  return fit;
}

/// Returns false when a value does not fit a word; misfits_ then marks its record.
bool PackedReader::put_payload(const std::byte* records, HitBlock& block) {
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
bool PackedReader::put_words(const PackedField& field, const std::byte* records, std::uint32_t* out) {
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
void PackedReader::keep_good(bool times_converted, HitBlock& block) {
  const std::size_t n = block.size();
  const auto words = static_cast<std::ptrdiff_t>(format_.payload_words);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool channel_fits = channels_[i] >> kChannelBits == 0;
    const auto time = times_converted || !channel_fits ? std::optional(block.time[i])
                                                       : clock_.convert(block.time[i].value, block.channel[i]);
    const bool payload_fits = misfits_.empty() || !misfits_[i];
    if (!time || !channel_fits || !payload_fits) {
      const char* what = !channel_fits ? "channel" : (!time ? "time" : "payload");
      lose(kept, file_.offset() + i * format_.bytes, what, block);
      continue;
    }
    if (!times_converted) check_precision(block.time[i].value, file_.offset() + i * format_.bytes);
    block.time[kept] = *time;
    block.channel[kept] = block.channel[i];
    const auto from = block.payload.begin() + static_cast<std::ptrdiff_t>(i) * words;
    if (kept != i) std::copy_n(from, words, block.payload.begin() + static_cast<std::ptrdiff_t>(kept) * words);
    ++kept;
  }
  block.truncate(kept);
}

void PackedReader::check_precision(std::uint64_t number, std::uint64_t offset) {
  if (!clock_.is_imprecise(number) || !imprecise_.admit()) return;
  spdlog::warn("{}: offset {}: {}. This and later ones are rounded", name_, offset,
               clock_.complaint_of_precision(number));
}

void PackedReader::lose(std::size_t before, std::uint64_t offset, const char* what, HitBlock& block) {
  if (bad_.admit()) {
    spdlog::error("{}: offset {}: the {} of a record does not fit: the record is dropped", name_, offset, what);
  }
  block.losses.push_back({.before = before, .offset = offset, .hits = 1});
}

void PackedReader::end(HitBlock& block) {
  ended_ = true;
  const bool cut = file_.left() != 0;
  const auto how = cut ? fmt::format("the file ends {} bytes into a record of {}", file_.left(), format_.bytes) : "";
  if (const auto defect = end_defect(file_, how); !defect.empty()) {
    spdlog::error("{}: offset {}: {}", name_, file_.offset(), defect);
    block.losses.push_back({.offset = file_.offset(), .hits = cut ? 1U : 0U, .breaks_off = true});
  }
  if (bad_.exceeded()) spdlog::error("{}: {} records in all do not fit", name_, bad_.count());
}

}  // namespace

std::unique_ptr<HitReader> open_packed(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return std::make_unique<PackedReader>(uri, id, base);
}

}  // namespace eventloom
