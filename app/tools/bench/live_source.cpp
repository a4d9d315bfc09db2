#include "app/tools/bench/live_source.hpp"

#include <algorithm>
#include <limits>

namespace eventloom {

namespace {

constexpr std::int64_t kMostMadeAtOnceNs = 1'000'000;
constexpr std::int64_t kMissedAfterNs = 20'000'000;

constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void LiveCount::add(const LiveCount& other) {
  made += other.made;
  missed += other.missed;
  sent += other.sent;
  dropped += other.dropped;
  late += other.late;
  packets += other.packets;
  behind_ns = std::max(behind_ns, other.behind_ns);
}

LiveSource::LiveSource(LiveSettings settings)
    : settings_(std::move(settings)),
      engine_(settings_.id.value + 1U),
      process_(settings_.timing, 1e9 * settings_.bunch / settings_.hits_per_second),
      encoder_(settings_.id.value, settings_.geometry.base.epoch_ticks, 0,
               {.epochs_per_buffer = kNoLimit, .words_per_buffer = kNoLimit}),
      epoch_end_(settings_.geometry.base.epoch_ticks) {
  header_.source = settings_.id.value;
  header_.base = settings_.geometry.base;
  for (std::uint32_t i = 0; i < settings_.bunch; ++i) channels_.push_back(uniform_below(engine_, 1U << 16));
  plan_next();
}

std::size_t LiveSource::make() {
  if (finished_) return 0;
  const std::int64_t due = std::min(settings_.since_start(), settings_.duration_ns);
  count_.behind_ns = std::max(count_.behind_ns, due - made_);
  miss_before(due - kMissedAfterNs);
  const std::int64_t upto = std::min(due, made_ + kMostMadeAtOnceNs);
  if (upto <= made_) return 0;
  const std::uint64_t before = count_.made;
  while (next_ < upto) make_bunch();
  made_ = upto;
  end_epoch_before(static_cast<Tick>(made_));
  if (made_ == settings_.duration_ns) {
    close_packet();
    finished_ = true;
  }
  return count_.made - before;
}

void LiveSource::miss_before(std::int64_t time) {
  for (; next_ < time; plan_next()) count_.missed += settings_.bunch;
  made_ = std::max(made_, time);
}

void LiveSource::make_bunch() {
  const Tick time = static_cast<Tick>(next_);
  end_epoch_before(time);
  if (!encoder_.open_from()) oldest_ = time;
  for (const auto channel : channels_) encoder_.add(time, channel, {});
  count_.made += settings_.bunch;
  plan_next();
}

void LiveSource::end_epoch_before(Tick time) {
  if (time < epoch_end_) return;
  if (encoder_.open_from() && packet_ends()) close_packet();
  const Tick ticks(settings_.geometry.base.epoch_ticks);
  // Subsequent epochs without hits may also contain cuts.
  while (epoch_end_ + ticks <= time) {
    epoch_end_ += ticks;
    if (encoder_.open_from() && packet_ends()) close_packet();
  }
  epoch_end_ += ticks;
}

/// Whether the open packet ends with the current epoch.
bool LiveSource::packet_ends() const {
  if (encoder_.hits() - closed_hits_ >= settings_.packet || epoch_end_ - oldest_ >= settings_.flush_after) return true;
  const Epoch next = epoch_of(epoch_end_, settings_.geometry.base.epoch_ticks);
  const Epoch slice(settings_.geometry.epochs_per_slice);
  const Epoch margin = settings_.geometry.margin_epochs() % slice;
  const Epoch in_slice = next % slice;
  return in_slice == 0 || in_slice == margin || in_slice == slice - margin;
}

void LiveSource::close_packet() {
  Packet packet;
  if (!spare_.empty()) {
    packet.bytes = std::move(spare_.back());
    packet.bytes.clear();
    spare_.pop_back();
  }
  const auto header = encoder_.close(packet.bytes);
  if (!header) return;
  packet.header = *header;
  packet.oldest = oldest_;
  data_end_ = header->epochs().end;
  closed_hits_ = encoder_.hits();
  ++count_.packets;
  packets_.push_back(std::move(packet));
}

bool LiveSource::ready(SliceId slice) const {
  const auto& geometry = settings_.geometry;
  const Tick end = tick_of_epoch(geometry.sent_epochs(slice).end, geometry.base.epoch_ticks);
  return finished_ || static_cast<Tick>(made_) >= end;
}

void LiveSource::collect(EpochRange epochs, SliceData& out) {
  const std::int64_t now = settings_.since_start();
  for (auto& packet : packets_) {
    if (packet.header.first_epoch >= epochs.end) break;
    if (!packet.header.epochs().overlaps(epochs)) continue;
    if (packet.state == Packet::State::waiting) judge(packet, now);
    if (packet.state == Packet::State::sent) {
      out.pieces.emplace_back(packet.bytes);
    } else {
      const auto& h = packet.header;
      out.damage.push_back({.first_epoch = h.first_epoch,
                            .n_epochs = Epoch(h.n_epochs),
                            .file_offset = h.stream_offset,
                            .n_hits = h.n_hits,
                            .cause = DropCause::corrupt});
    }
  }
}

void LiveSource::judge(Packet& packet, std::int64_t now) {
  const std::uint64_t hits = packet.header.n_hits;
  const bool late = settings_.limit_ns != 0 && now - static_cast<std::int64_t>(packet.oldest) > settings_.limit_ns;
  if (late) count_.late += hits;
  if (late && settings_.drop_late) {
    packet.state = Packet::State::dropped;
    count_.dropped += hits;
    return;
  }
  packet.state = Packet::State::sent;
  count_.sent += hits;
  sent_.push_back({settings_.geometry.slice_of(packet.header.first_epoch), packet.oldest});
}

std::optional<Epoch> LiveSource::end_epoch() const { return finished_ ? std::optional(data_end_) : std::nullopt; }

void LiveSource::release_before(Epoch epoch) {
  while (!packets_.empty() && packets_.front().header.epochs().end <= epoch) {
    spare_.push_back(std::move(packets_.front().bytes));
    packets_.pop_front();
  }
}

}  // namespace eventloom
