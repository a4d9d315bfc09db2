#include "io/hld/trb_tdc.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kMaxTrbAddress = 0xffff;
/// Maximum number of defects of one subevent recorded separately. Further ones are added to the first of their kind.
constexpr std::size_t kMaxFaults = 100;

std::uint32_t parse_address(std::string_view text) {
  const auto digits = text.starts_with("0x") || text.starts_with("0X") ? text.substr(2) : std::string_view{};
  std::uint32_t address = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || address > kMaxTrbAddress) {
    throw std::invalid_argument(fmt::format(
        "'{}' is not the address of a TDC, which looks like 0xe000; lists like 0xe000-0xe00f,0xe100", text));
  }
  return address;
}

/// Whether the word may appear between the header and the trailer of a TDC.
bool is_inner(std::uint32_t word) { return tdc_kind(word) >= static_cast<std::uint32_t>(TdcWord::debug); }

std::uint32_t count_times(std::span<const std::uint32_t> words) {
  return static_cast<std::uint32_t>(std::ranges::count_if(words, is_tdc_time));
}

}  // namespace

TdcAddresses::TdcAddresses(std::string_view list) : listed_(!list.empty() && list != "yes") {
  while (listed_) {
    const auto comma = list.find(',');
    const auto item = list.substr(0, comma);
    const auto dash = item.find('-');
    const auto first = parse_address(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_address(item.substr(dash + 1));
    if (last < first) throw std::invalid_argument(fmt::format("'{}' ends before it begins", item));
    for (auto address = first; address <= last; ++address) known_[address] = true;
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

bool TdcAddresses::is_tdc(TrbHead head, std::span<const std::uint32_t> words) {
  if (listed_ || known_[head.address]) return known_[head.address];
  if (words.empty() || !is_tdc_word(words.front(), TdcWord::header)) return false;
  auto inner = words.subspan(1);
  if (!inner.empty() && is_tdc_word(inner.back(), TdcWord::trailer)) inner = inner.first(inner.size() - 1);
  const bool found = std::ranges::all_of(inner, is_inner);
  known_[head.address] = found && inner.size() > 1 && is_tdc_word(inner[0], TdcWord::epoch) && is_tdc_time(inner[1]);
  return found;
}

std::string TdcFault::text() const {
  switch (kind) {
    case Kind::cut:
      return fmt::format("the subevent ends inside the data of {:#06x}, {} times are lost", address, hits);
    case Kind::no_epoch: return fmt::format("TDC {:#06x}: a time without an epoch counter before it", address);
    case Kind::late: return fmt::format("TDC {:#06x}: a time that is too large", address);
    case Kind::unknown_word: break;
  }
  return fmt::format("TDC {:#06x}: a word that is neither header, epoch, time nor debug word", address);
}

void TrbTdcDecoder::decode(std::span<const std::uint32_t> words) {
  hits_.clear();
  faults_.clear();
  std::uint32_t at = 0;
  while (at < words.size()) {
    const auto head = trb_head(words[at++]);
    const auto rest = words.subspan(at);
    if (head.words > rest.size()) return cut(head, rest, at);
    const auto part = rest.first(head.words);
    if (addresses_.is_tdc(head, part)) decode_tdc(head.address, part, at);
    at += head.words;
  }
}

/// `first`: index in the subevent of the first of `words`.
void TrbTdcDecoder::decode_tdc(std::uint32_t address, std::span<const std::uint32_t> words, std::uint32_t first) {
  std::optional<std::uint32_t> epoch;
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    const auto word = words[i];
    const bool trailer = i + 1 == words.size() && is_tdc_word(word, TdcWord::trailer);
    const bool header = i == 0 && is_tdc_word(word, TdcWord::header);
    if (is_tdc_time(word) && epoch) {
      hits_.push_back({address, word, *epoch, first + i});
    } else if (is_tdc_time(word)) {
      add_fault(TdcFault::Kind::no_epoch, address, first + i, 1);
    } else if (is_tdc_word(word, TdcWord::epoch)) {
      epoch = tdc_epoch(word);
    } else if (!header && !trailer && !is_inner(word)) {
      add_fault(TdcFault::Kind::unknown_word, address, first + i, 0);
    }
  }
}

/// Reports that the subevent has fewer words than `head` announces; `words` are those present.
void TrbTdcDecoder::cut(TrbHead head, std::span<const std::uint32_t> words, std::uint32_t first) {
  add_fault(TdcFault::Kind::cut, head.address, first - 1, addresses_.is_tdc(head, words) ? count_times(words) : 0);
}

void TrbTdcDecoder::add_fault(TdcFault::Kind kind, std::uint32_t address, std::uint32_t place, std::uint32_t hits) {
  if (faults_.size() >= kMaxFaults) {
    const auto alike = std::ranges::find(faults_, kind, &TdcFault::kind);
    if (alike != faults_.end()) {
      alike->hits += hits;
      ++alike->count;
      return;
    }
  }
  faults_.push_back({.kind = kind, .address = address, .place = place, .hits = hits, .hits_before = hits_.size()});
}

TdcClock::TdcClock(std::uint64_t tick_ps, std::uint64_t first_turn)
    : factor_(kTdcCoarsePs / tick_ps), epochs_(kTdcEpochBits, first_turn) {
  if (kTdcCoarsePs % tick_ps == 0) return;
  throw std::invalid_argument(fmt::format(
      "times of TDCs come in steps of {} ps, which a tick of {} ps does not divide; choose another --tick, such as 1ns",
      kTdcCoarsePs, tick_ps));
}

std::optional<Tick> TdcClock::ticks(const TdcHit& hit) {
  const auto epoch = epochs_.extend(hit.epoch, 0);
  if (!epoch || *epoch >= (std::numeric_limits<Tick>::max() / factor_).value >> kTdcCoarseBits) return std::nullopt;
  return Tick((*epoch << kTdcCoarseBits | tdc_coarse(hit.word)) * factor_);
}

}  // namespace eventloom
