#include "io/recorded/hit_summary.hpp"

#include <algorithm>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kChannelsEach = 65536;
constexpr std::size_t kWordBits = 64;

std::string to_text(const Loss& loss) {
  auto text = fmt::format("offset {}: {} hits lost ({})", loss.offset, loss.hits,
                          kDropCauseNames[static_cast<std::size_t>(loss.cause)]);
  if (loss.leaves_hole && !loss.breaks_off) text += ", more may be missing";
  if (loss.breaks_off) text += ", the file ends there";
  return text;
}

}  // namespace

HitSummary::HitSummary(HitReader& reader, std::uint64_t n_events) {
  const auto& header = reader.header();
  for (std::size_t i = 0; i < header.payload_names.size(); ++i) kinds_.push_back(payload_kind(header.flags, i));
  HitBlock block;
  while (reader.read(block)) take(block, n_events);
}

void HitSummary::take(const HitBlock& block, std::uint64_t n_events) {
  for (const auto& loss : block.losses) {
    if (wanted(loss.cause)) continue;
    problems_.add([&loss] { return to_text(loss); });
  }
  if (block.size() == 0) return;
  for (std::size_t i = 0; i < block.size() && hits_ + i < n_events; ++i) {
    Json event = {{"time", block.time[i].value}, {"channel", block.channel[i]}};
    if (const auto payload = block.payload_of(i); !payload.empty()) event["payload"] = numbers_in(payload);
    events_.push_back(std::move(event));
  }
  for (Tick newest = last_time_; const auto time : block.time) {
    newest = std::max(newest, time);
    largest_step_back_ = std::max(largest_step_back_, newest - time);
  }
  const auto times = std::ranges::minmax(block.time);
  const auto channels = std::ranges::minmax(block.channel);
  first_time_ = std::min(first_time_, times.min);
  last_time_ = std::max(last_time_, times.max);
  first_channel_ = std::min(first_channel_, channels.min);
  last_channel_ = std::max(last_channel_, channels.max);
  for (const auto channel : block.channel) count(channel);
  hits_ += block.size();
}

Json HitSummary::numbers_in(std::span<const std::uint32_t> payload) const {
  if (kinds_.empty()) return payload;
  auto numbers = Json::array();
  for (const auto kind : kinds_) {
    if (payload.size() < words_of(kind)) break;
    const double number = payload_number(kind, payload);
    const bool whole = kind == PayloadKind::u32 || kind == PayloadKind::i32;
    numbers.push_back(whole ? Json(static_cast<std::int64_t>(number)) : Json(number));
    payload = payload.subspan(words_of(kind));
  }
  return numbers;
}

void HitSummary::count(std::uint32_t channel) {
  auto& seen = seen_[channel / kChannelsEach % seen_.size()];
  if (seen.empty()) seen.resize(kChannelsEach / kWordBits);
  auto& word = seen[channel % kChannelsEach / kWordBits];
  const auto bit = std::uint64_t{1} << channel % kWordBits;
  channels_ += (word & bit) == 0 ? 1 : 0;
  word |= bit;
}

void HitSummary::put_ranges(Json& out) const {
  const bool any = hits_ != 0;
  out["hits"] = hits_;
  out["channels"] = channels_;
  out["first_time"] = any ? first_time_.value : 0;
  out["last_time"] = last_time_.value;
  out["largest_step_back"] = largest_step_back_.value;
  out["first_channel"] = any ? first_channel_ : 0;
  out["last_channel"] = last_channel_;
}

void HitSummary::put_lists(Json& out) const {
  out["problems"] = problems_.lines();
  if (!events_.empty()) out["first_events"] = events_;
}

}  // namespace eventloom
