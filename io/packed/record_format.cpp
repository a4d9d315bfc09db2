#include "io/packed/record_format.hpp"

#include <string>
#include <utility>

#include "io/recorded/clock_turns.hpp"
#include "io/recorded/fixed_channel.hpp"
#include "io/recorded/payload_columns.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kMaxRecordBytes = 65536;

std::size_t record_bytes(const SourceUri& uri) {
  (void)uri.require("record");
  return uri.get_count("record", 0, 1, kMaxRecordBytes);
}

std::string named(const SourceUri& uri, const std::string& key) { return "source '" + uri.text() + "': " + key + "="; }

PackedField parse_field(const SourceUri& uri, const std::string& key, const std::string& text, std::size_t bytes) {
  auto field = PackedField::parse(text, bytes, named(uri, key));
  if (field.is_signed() && field.bits() > 32) uri.refuse(key + "=" + text + ": only times may be i64");
  const bool plain = key != "payload" && key != "channel";
  if (plain && !field.is_plain()) {
    uri.refuse(key + "=" + text + ": only times, channels and payload may be f32, f64 or scaled, and only channels " +
               "and payload signed");
  }
  return field;
}

std::optional<TimeField> time_field(const SourceUri& uri, std::size_t bytes, bool timed) {
  if (!timed) return std::nullopt;
  const auto text = uri.require("time");
  auto time = TimeField::parse(text, bytes, named(uri, "time"));
  if (time.field().is_signed() && !ClockTurns::are_stated(uri))
    uri.refuse("time=" + text + ": a time with a sign is the number of a counter that starts again: say where, bits=" +
               std::to_string(time.field().bits()) + " or modulus=N");
  return time;
}

/// The name and the field of a payload column, `energy:f64le@9`. Without a name, the field is the name.
std::pair<std::string, std::string> named_field(const std::string& text) {
  const auto colon = text.find(':');
  // Behind the offset, a colon begins the bits of the field.
  if (colon == 0 || colon == std::string::npos || colon > text.find('@')) return {text, text};
  return {text.substr(0, colon), text.substr(colon + 1)};
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

PackedField channel_field(const SourceUri& uri, std::size_t bytes) {
  if (!uri.has("channel")) {
    uri.refuse("'channel=' is missing: a field, or for records without channels fixed-channel=N");
  }
  return parse_field(uri, "channel", uri.get("channel", ""), bytes);
}

}  // namespace

/// Number of payload words that a field yields.
std::size_t payload_words_of(const PackedField& field) {
  return field.is_plain() ? (field.bits() > 32 ? 2 : 1) : words_of(field.payload_kind());
}

RecordFormat::RecordFormat(const SourceUri& uri, bool timed)
    : bytes(record_bytes(uri)),
      time(time_field(uri, bytes, timed)),
      fixed_channel(eventloom::fixed_channel(uri)),
      system(system_field(uri, "system", bytes)),
      subsystem(system_field(uri, "subsystem", bytes)),
      channel_bits(subsystem ? kSubsystemShift : (system ? kSystemShift : kChannelBits)) {
  if (!fixed_channel) channel = channel_field(uri, bytes);
  if (fixed_channel && *fixed_channel >> channel_bits != 0) {
    uri.refuse("fixed-channel= does not fit the " + std::to_string(channel_bits) +
               " bits beside system= and subsystem=");
  }
  channels = ChannelIds::of(uri);
  read_payload(uri);
  where = condition_in(uri, "where", row_condition(uri));
  overflow = condition_in(uri, "overflow", turn_condition(uri));
}

void RecordFormat::read_payload(const SourceUri& uri) {
  for (const auto& text : payload_columns(uri)) {
    const auto [name, field] = named_field(text);
    payload.push_back(parse_field(uri, "payload", field, bytes));
    payload_words += payload_words_of(payload.back());
    add_columns(name, payload.back(), columns);
  }
  require_typed_columns(uri, columns);
}

/// A term names a field, or a payload column by its name.
std::vector<RecordCondition> RecordFormat::condition_in(const SourceUri& uri, const std::string& key,
                                                        std::vector<RowTerm> terms) const {
  std::vector<RecordCondition> condition;
  for (auto& term : terms) {
    if (term.compares_words()) uri.refuse(key + "= compares a field with '" + term.value() + "', which is no number");
    auto text = term.column();
    for (const auto& column : payload_columns(uri)) {
      const auto [name, field] = named_field(column);
      if (name == term.column()) text = field;
    }
    const auto field = PackedField::parse(text, bytes, named(uri, key));
    if (field.is_float()) term = term.of_digits(field.digits(), named(uri, key) + text);
    condition.push_back({field, std::move(term)});
  }
  return condition;
}

}  // namespace eventloom
