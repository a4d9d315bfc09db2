#include "app/inspect/shown_events.hpp"

#include <spdlog/fmt/fmt.h>

#include <ostream>

namespace eventloom {

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
    const auto source = style_.name.empty() ? "" : fmt::format("  {}", style_.name);
    if (style_.numbered) {
      *out_ << fmt::format("event {}  hits {}{}\n", time_, event_.size(), source);
      for (const auto& hit : event_) *out_ << "  " << text_of(hit) << '\n';
    } else {
      *out_ << fmt::format("{:>16}  {}{}\n", time_, text_of(event_.front()), source);
    }
  }
  event_.clear();
}

std::string ShownEvents::text_of(const Hit& hit) const {
  auto text = fmt::format("channel 0x{:07x}", hit.channel);
  if (hit.payload.empty()) return text;
  return text + "  payload" +
         (style_.hex ? fmt::format(" {:08x}", fmt::join(hit.payload, " "))
                     : fmt::format(" {}", fmt::join(hit.payload, " ")));
}

}  // namespace eventloom
