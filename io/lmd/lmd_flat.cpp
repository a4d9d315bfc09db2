#include "io/lmd/lmd_flat.hpp"

#include <algorithm>
#include <utility>

#include "io/lmd/lmd_search.hpp"

namespace eventloom {

namespace {

/// An element of unknown type is skipped if a chain of up to this many elements leads to a known type.
constexpr int kChainLength = 8;
constexpr std::uint64_t kMaxUnknownBytes = std::uint64_t{1} << 20;
/// Limits the searches for the next event, to bound the time: this many, plus one per kBytesPerSearch of the file.
constexpr std::uint64_t kFreeSearches = 100;
constexpr std::uint64_t kBytesPerSearch = std::uint64_t{64} << 10;

bool is_known(const LmdElement& element) {
  const auto type = element.type;
  return element.is_event() || element.is_index() || type == 4 || type == 6 || type == 11 || element.is(100, 1);
}

}  // namespace

bool FlatLmd::next(LmdEvent& event) {
  for (;;) {
    bytes_.skip(given_);
    given_ = 0;
    pauses_ = awaits_element();
    if (pauses_) return false;
    const auto front = bytes_.front(sizeof(LmdElement));
    if (front.size() < sizeof(LmdElement)) return end(front.size());
    const auto element = load_lmd<LmdElement>(front);
    if (element.is_event()) {
      if (take_event(element, event)) return true;
      if (given_ != 0) continue;
    } else if (skip_other(element)) {
      continue;
    }
    if (!search(element)) return end(0);
  }
}

/// Whether the next element of a followed file is incomplete. Data that are not an element, or of unknown type, are
/// judged by what follows.
bool FlatLmd::awaits_element() {
  if (bytes_.awaits(sizeof(LmdElement))) return true;
  const auto front = bytes_.front(sizeof(LmdElement));
  if (front.size() < sizeof(LmdElement)) return false;
  const auto element = load_lmd<LmdElement>(front);
  if (element.is(100, 1)) return bytes_.awaits(kLmdHeaderBytes);
  const bool sane = is_known(element) && element.bytes() <= kMaxLmdEventBytes;
  return bytes_.awaits(sane ? element.bytes() : std::uint64_t{kLmdSearchBytes});
}

/// Reads the event at the front. Returns false if it is damaged; given_ is then 0 if its length is wrong.
bool FlatLmd::take_event(const LmdElement& element, LmdEvent& event) {
  const std::uint64_t size = element.bytes();
  if (size > kMaxLmdEventBytes || size > bytes_.left()) return false;
  const auto front = bytes_.front(static_cast<std::size_t>(size));
  if (front.size() < size) return false;
  event.offset = bytes_.offset();
  if (!read_lmd_event(front.first(static_cast<std::size_t>(size)), event)) {
    if (!leads_on(size)) return false;
    drop(element, event);
    given_ = size;
    return false;
  }
  index_.expect(event.offset);
  last_number_ = event.number;
  given_ = size;
  return true;
}

/// Drops an event whose own length is right but whose subevent lengths are not.
void FlatLmd::drop(const LmdElement& element, const LmdEvent& event) {
  notes_.add({.offset = event.offset,
              .effect = LmdEffect::loss,
              .hits = static_cast<std::uint32_t>(event.subevents.size()) + 1,
              .text = "the subevents of an event do not fill its " + std::to_string(element.bytes()) +
                      " bytes; the event is dropped"});
  index_.expect(event.offset);
}

bool FlatLmd::fits(const LmdElement& element, std::uint64_t at) const {
  return at <= bytes_.left() && element.bytes() <= bytes_.left() - at;
}

/// Whether the file ends or a valid element begins `size` bytes after the front.
bool FlatLmd::leads_on(std::uint64_t size) {
  if (size == bytes_.left()) return true;
  const auto front = bytes_.front(static_cast<std::size_t>(size) + sizeof(LmdElement));
  if (front.size() < size + sizeof(LmdElement)) return false;
  const auto behind = load_lmd<LmdElement>(front.subspan(static_cast<std::size_t>(size)));
  const bool long_enough = !behind.is_event() || behind.dlen >= LmdEventHeader::kMinDlen;
  return is_known(behind) && long_enough && fits(behind, size);
}

/// Skips an element that is not an event. Returns false if this is not an element.
bool FlatLmd::skip_other(const LmdElement& element) {
  if (element.is_index()) {
    read_index(element);
    return true;
  }
  if (element.is(100, 1) && skip_buffer_header(element)) return true;
  if (!is_chained(element)) return false;
  index_.expect(bytes_.offset());
  ++notes_.counters[Metric::skipped_elements];
  bytes_.skip(element.bytes());
  return true;
}

/// Skips a buffer header as DABC writes it; the buffer's events follow as usual.
bool FlatLmd::skip_buffer_header(const LmdElement& element) {
  const auto front = bytes_.front(kLmdHeaderBytes);
  if (front.size() < kLmdHeaderBytes) return false;
  const auto buffer = load_lmd<LmdBufferHeader>(front);
  if (buffer.byte_order != 1 || buffer.used_long != element.dlen) return false;
  ++notes_.counters[Metric::buffers];
  bytes_.skip(kLmdHeaderBytes);
  return true;
}

/// Whether the lengths of an element and its successors lead to an element of known type or the end of the file.
bool FlatLmd::is_chained(const LmdElement& element) {
  if (!fits(element, 0)) return false;
  LmdElement last = element;
  std::uint64_t size = element.bytes();
  for (int i = 0; i < kChainLength && !is_known(last) && size < bytes_.left(); ++i) {
    if (last.bytes() > kMaxUnknownBytes) return false;
    const auto front = bytes_.front(static_cast<std::size_t>(size) + sizeof(LmdElement));
    if (front.size() < size + sizeof(LmdElement)) return false;
    last = load_lmd<LmdElement>(front.subspan(static_cast<std::size_t>(size)));
    if (!fits(last, size)) return false;
    size += last.bytes();
  }
  return true;
}

void FlatLmd::read_index(const LmdElement& element) {
  const std::uint64_t offset = bytes_.offset();
  const auto wrong = index_.check(bytes_, element, header_);
  notes_.index = wrong.empty() ? LmdIndexState::whole : LmdIndexState::damaged;
  if (!wrong.empty()) notes_.add({.offset = offset, .effect = LmdEffect::none, .hits = 0, .text = wrong});
}

/// The defect of the element at the front.
std::string FlatLmd::defect(const LmdElement& element) const {
  const auto lengths =
      " of " + std::to_string(element.bytes()) + " bytes where the file has " + std::to_string(bytes_.left());
  if (!element.is_event()) {
    return "type " + std::to_string(element.type) + "/" + std::to_string(element.subtype) + ", an element" + lengths;
  }
  if (element.bytes() > kMaxLmdEventBytes) return "an event" + lengths + ", the longest events have 256 MiB";
  return "an event" + lengths + (fits(element, 0) ? ", which its subevents do not fill" : "");
}

/// Advances to the next event after an impossible length. Returns false when none is found.
bool FlatLmd::search(const LmdElement& element) {
  const std::uint64_t offset = bytes_.offset();
  LmdProblem problem{.offset = offset, .effect = LmdEffect::hole, .hits = 0, .text = defect(element)};
  std::optional<std::size_t> found;
  const auto view = bytes_.front(static_cast<std::size_t>(std::min<std::uint64_t>(kLmdSearchBytes, bytes_.left())));
  if (++searches_ <= kFreeSearches + offset / kBytesPerSearch) {
    found = find_lmd_event(view, view.size() == bytes_.left(), last_number_);
  }
  if (found) {
    problem.text += "; reading continues at offset " + std::to_string(offset + *found);
  } else {
    const auto seen = std::min<std::uint64_t>(view.size(), element.bytes());
    problem.effect = LmdEffect::breaks_off;
    problem.hits = element.is_event() ? count_lmd_items(view.first(static_cast<std::size_t>(seen))) : 0;
    problem.text += "; no further event is found";
  }
  notes_.add(std::move(problem));
  bytes_.skip(found ? *found : bytes_.left());
  return found.has_value();
}

bool FlatLmd::end(std::size_t stray) {
  if (stray != 0) {
    notes_.add(
        {.offset = bytes_.offset(),
         .effect = LmdEffect::breaks_off,
         .hits = 0,
         .text = "the file ends in the middle of a header, of which it has " + std::to_string(stray) + " bytes"});
    bytes_.skip(stray);
  }
  if (header_.table != 0 && notes_.index == LmdIndexState::none) {
    notes_.index = LmdIndexState::damaged;
    notes_.add({.offset = bytes_.offset(),
                .effect = LmdEffect::none,
                .hits = 0,
                .text = "no index, though the file header states one at 4 * " + std::to_string(header_.table)});
  }
  return false;
}

}  // namespace eventloom
