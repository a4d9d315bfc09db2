#include "io/lmd/lmd_search.hpp"

#include <algorithm>
#include <cstring>

#include "formats/lmd.hpp"

namespace eventloom {

namespace {

/// Largest accepted difference between the numbers of neighbouring events.
constexpr std::uint32_t kMaxStep = 1U << 16;
/// Maximum number of subevents examined in one search, since data may be full of false headers.
constexpr std::size_t kMaxSteps = std::size_t{1} << 20;

enum class Fit { no, whole, cut };

class EventSearch {
 public:
  EventSearch(std::span<const std::byte> view, bool to_the_end, std::optional<std::uint32_t> last_number)
      : view_(view), to_the_end_(to_the_end), last_number_(last_number) {}

  std::optional<std::size_t> run() {
    const std::size_t end = std::min(view_.size(), kLmdSearchBytes / 2);
    for (std::size_t at = 2; at + sizeof(LmdEventHeader) <= end && steps_ < kMaxSteps; at += 2) {
      if (is_event(at)) return at;
    }
    return std::nullopt;
  }

 private:
  bool is_event(std::size_t at) {
    if (!load_lmd<LmdElement>(view_.subspan(at)).is_event()) return false;
    const auto head = load_lmd<LmdEventHeader>(view_.subspan(at));
    if (last_number_ && head.number - *last_number_ > kMaxStep) return false;
    return fit(at) == Fit::whole && event_follows(at + static_cast<std::size_t>(head.element.bytes()), head.number);
  }

  bool event_follows(std::size_t at, std::uint32_t number) {
    if (at == view_.size() && to_the_end_) return true;
    if (view_.size() - at < sizeof(LmdElement)) return false;
    if (load_lmd<LmdElement>(view_.subspan(at)).is_index()) return true;
    if (view_.size() - at < sizeof(LmdEventHeader)) return false;
    const auto head = load_lmd<LmdEventHeader>(view_.subspan(at));
    return head.element.is_event() && head.number - number <= kMaxStep && fit(at) != Fit::no;
  }

  /// Whether subevents fill the event at `at`; Fit::cut if the view ends first.
  Fit fit(std::size_t at) {
    const auto element = load_lmd<LmdElement>(view_.subspan(at));
    if (element.dlen < LmdEventHeader::kMinDlen) return Fit::no;
    const std::uint64_t end = at + element.bytes();
    std::uint64_t sub = at + sizeof(LmdEventHeader);
    while (sub < end) {
      if (++steps_ > kMaxSteps || end - sub < sizeof(LmdSubeventHeader)) return Fit::no;
      if (sub + sizeof(LmdSubeventHeader) > view_.size()) return Fit::cut;
      const auto inner = load_lmd<LmdElement>(view_.subspan(static_cast<std::size_t>(sub)));
      if (inner.dlen < LmdSubeventHeader::kMinDlen || inner.bytes() > end - sub) return Fit::no;
      sub += inner.bytes();
    }
    return end <= view_.size() ? Fit::whole : Fit::cut;
  }

  std::span<const std::byte> view_;
  bool to_the_end_;
  std::optional<std::uint32_t> last_number_;
  std::size_t steps_ = 0;
};

}  // namespace

std::optional<std::size_t> find_lmd_event(std::span<const std::byte> view, bool to_the_end,
                                          std::optional<std::uint32_t> last_number) {
  return EventSearch(view, to_the_end, last_number).run();
}

}  // namespace eventloom
