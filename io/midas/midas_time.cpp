#include "io/midas/midas_time.hpp"

#include <algorithm>
#include <cstring>
#include <regex>

namespace eventloom {

MidasTime::MidasTime(const SourceUri& uri, std::uint64_t tick_ps)
    : scale_(uri, tick_ps), text_(uri.get("time", "tag")) {
  if (text_ != "tag") read(uri, text_);
  if (numbered()) TickScale::refuse_keys(uri);
}

void MidasTime::read(const SourceUri& uri, const std::string& text) {
  static const std::regex form("(.{4}):([0-9]{1,8})(?:,([12]))?");
  std::smatch parts;
  if (!std::regex_match(text, parts, form)) {
    uri.refuse("time=" + text + " is neither tag nor NAME:OFFSET,COUNT, 1 or 2 words of a bank at word OFFSET");
  }
  bank_ = midas_name(parts[1].str());
  offset_ = std::stoul(parts[2]);
  count_ = parts[3].matched ? std::stoul(parts[3]) : 1;
}

std::optional<Tick> MidasTime::of(const MidasEvent& event) const {
  const auto bank = std::ranges::find(event.banks, *bank_, &MidasBank::name);
  if (bank == event.banks.end() || bank->data.size() / sizeof(std::uint32_t) < offset_ + count_) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, bank->data.data() + offset_ * sizeof(std::uint32_t), count_ * sizeof(std::uint32_t));
  return scale_.ticks(value);
}

std::string MidasTime::description() const {
  return numbered() ? "the serial number, unwrapped" : "words of the bank " + text_;
}

}  // namespace eventloom
