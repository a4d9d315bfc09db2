#include "io/midas/midas_time.hpp"

#include <algorithm>
#include <cstring>
#include <regex>

#include "core/runtime/format.hpp"
#include "io/midas/midas_records.hpp"

namespace eventloom {

namespace {

bool counts_in_words(const SourceUri& uri) { return StampClock::makes_times(uri) && !MidasRecords::hold_times(uri); }

}  // namespace

MidasTime::MidasTime(const SourceUri& uri, std::uint64_t tick_ps)
    : clock_(TickScale(uri, tick_ps), counts_in_words(uri) ? ClockTurns(uri) : ClockTurns()),
      text_(uri.get("time", "tag")),
      in_records_(MidasRecords::hold_times(uri)),
      number_(in_records_ ? NumberPlace{} : read_number_place(uri, numbered())),
      from_(uri.get("from", "")) {
  if (in_records_ && uri.has("number")) uri.refuse("number= is valid only where times are event numbers");
  if (!numbered() && !in_records_) read(uri, text_);
  if (numbered()) TickScale::refuse_keys(uri);
  if (from_.empty()) return;
  if (!number_.word) uri.refuse("from= is valid only with number=");
  bank_ = midas_name(from_);
  if (!bank_) uri.refuse("from=" + from_ + " is not the name of a bank, four characters");
}

void MidasTime::read(const SourceUri& uri, const std::string& text) {
  static const std::regex form("(.{4}):([0-9]{1,8})(?:,([12]))?");
  std::smatch parts;
  if (!std::regex_match(text, parts, form)) {
    uri.refuse("time=" + text +
               " is neither tag nor NAME:OFFSET,COUNT, 1 or 2 words of a bank at word OFFSET, nor with bank= a field "
               "TYPE@OFFSET of its records");
  }
  bank_ = midas_name(parts[1].str());
  offset_ = std::stoul(parts[2]);
  count_ = parts[3].matched ? std::stoul(parts[3]) : 1;
}

std::optional<Tick> MidasTime::of(const MidasEvent& event) {
  const auto value = words(event, offset_, count_);
  return value ? clock_.ticks(*value) : std::nullopt;
}

DropCause MidasTime::cause_for_none(const MidasEvent& event, const std::string& place) {
  const auto value = words(event, offset_, count_);
  return value && clock_.misfit(place, *value) ? DropCause::corrupt : DropCause::untimed;
}

std::optional<std::uint32_t> MidasTime::number_of(const MidasEvent& event) const {
  if (!number_.word) return number_.of_header(event.header.serial);
  const auto word = words(event, number_.word->offset, 1);
  return word ? std::optional(number_.word->of(static_cast<std::uint32_t>(*word))) : std::nullopt;
}

/// Words of the first bank named bank_, or, without a name, of the first bank that is long enough.
std::optional<std::uint64_t> MidasTime::words(const MidasEvent& event, std::size_t offset, std::size_t count) const {
  const auto has_words = [&](const MidasBank& bank) {
    return bank_ ? bank.name == *bank_ : bank.data.size() / sizeof(std::uint32_t) >= offset + count;
  };
  const auto bank = std::ranges::find_if(event.banks, has_words);
  if (bank == event.banks.end() || bank->data.size() / sizeof(std::uint32_t) < offset + count) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, bank->data.data() + offset * sizeof(std::uint32_t), count * sizeof(std::uint32_t));
  return value;
}

std::string MidasTime::description() const {
  if (in_records_) return "the field " + text_ + " of the records";
  if (!numbered()) return "words of the bank " + text_;
  if (number_.word) {
    return fmt::format("{} of the first bank {}, unwrapped", number_.word->text(), bank_ ? from_ : "that has it");
  }
  return number_.bits == 32 ? "the serial number, unwrapped"
                            : fmt::format("the serial number, {} bits, unwrapped", number_.bits);
}

std::string MidasTime::reason_for_no_number() const {
  return fmt::format("no bank {}has data word {} with its number", bank_ ? from_ + " " : "", number_.word->offset);
}

}  // namespace eventloom
