#include "app/view/inspect/shown_events.hpp"

#include <algorithm>
#include <ostream>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kWordsInLine = 8;
constexpr int kHexDigits = 8;
constexpr int kDecimalDigits = 10;

std::string name_text(const std::string& name) { return name.empty() ? "" : "  " + name; }

}  // namespace

void ShownEvents::add(Tick time, std::uint32_t channel, std::span<const std::uint32_t> payload) {
  if (time != time_ || !style_.numbered) complete();
  time_ = time;
  event_.push_back({channel, {payload.begin(), payload.end()}});
}

void ShownEvents::complete() {
  if (!event_.empty()) show();
}

void ShownEvents::show() {
  ++events_;
  hits_ += event_.size();
  const bool wanted = !style_.only || *style_.only == time_;
  if (wanted) found_ = style_.only.has_value();
  if (wanted && out_ != nullptr) {
    std::vector<HitText> hits;
    for (const auto& hit : event_) hits.push_back(text_of_hit(origin_, hit.channel, hit.payload));
    if (style_.numbered) {
      write_event(hits);
    } else {
      write_hit(hits.front());
    }
  }
  event_.clear();
}

/// Writes a line for the event, one for each subevent or hit, and its data.
void ShownEvents::write_event(std::span<const HitText> hits) {
  const auto known = std::ranges::find_if(hits, &HitText::stands_for_event);
  const auto items = std::ranges::count_if(hits, &HitText::has_item);
  *out_ << "event " << time_.value;
  if (known == hits.end()) {
    *out_ << "  hits " << items;
  } else {
    auto bytes = known->head_bytes;
    for (const auto& hit : hits) bytes += hit.item_bytes;
    if (Tick(known->number) != time_) *out_ << "  number " << known->number;
    *out_ << "  " << known->event << "  subevents " << items << "  bytes " << bytes;
  }
  *out_ << name_text(style_.name) << '\n';
  for (const auto& hit : hits) {
    if (hit.has_item) write_item(hit, "");
  }
}

/// Writes a single hit with its time.
void ShownEvents::write_hit(const HitText& hit) {
  *out_ << fmt::format("{:>16}", time_.value);
  if (hit.stands_for_event) *out_ << "  number " << hit.number << "  " << hit.event;
  if (hit.has_item) {
    write_item(hit, name_text(style_.name));
  } else {
    *out_ << name_text(style_.name) << '\n';
  }
}

/// Data of a subevent follow below it, eight words per line; the short payload of other hits is on the same line.
void ShownEvents::write_item(const HitText& hit, const std::string& behind) {
  *out_ << "  " << hit.item;
  if (!hit.stands_for_event && !hit.words.empty()) {
    *out_ << "  payload";
    for (const auto word : hit.words) *out_ << ' ' << word_text(word);
  }
  *out_ << behind << '\n';
  if (!hit.stands_for_event) return;
  for (auto rest = hit.words; !rest.empty(); rest = rest.subspan(std::min(rest.size(), kWordsInLine))) {
    *out_ << "   ";
    for (const auto word : rest.first(std::min(rest.size(), kWordsInLine))) {
      *out_ << fmt::format(" {:>{}}", word_text(word), style_.hex ? kHexDigits : kDecimalDigits);
    }
    *out_ << '\n';
  }
}

std::string ShownEvents::word_text(std::uint32_t word) const {
  return style_.hex ? fmt::format("{:08x}", word) : fmt::format("{}", word);
}

}  // namespace eventloom
