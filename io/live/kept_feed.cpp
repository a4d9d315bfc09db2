#include "io/live/kept_feed.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "formats/epoch_buffer.hpp"

namespace eventloom {

namespace {

bool holds_any(const FeedBatch& batch) { return !batch.buffers.empty() || !batch.damage.empty(); }

/// Hits of a batch, lost ones included; `end` becomes the end of its last epoch, unless that is earlier.
std::uint64_t count_hits(const FeedBatch& batch, Epoch& end) {
  std::uint64_t hits = 0;
  std::span<const std::byte> rest(batch.buffers);
  while (const auto header = read_epoch_buffer_header(rest)) {
    hits += header->n_hits;
    end = std::max(end, header->epochs().end);
    rest = rest.subspan(header->stored_bytes());
  }
  for (const auto& damage : batch.damage) hits += damage.n_hits;
  return hits;
}

}  // namespace

/// Takes the data put back first, then those of the feed.
void KeptFeed::take(FeedBatch& batch) {
  if (holds_any(rest_)) {
    batch = std::exchange(rest_, {});
    batch.ended = false;
    return;
  }
  feed_->take(batch);
  complete_ = std::max(complete_, batch.complete);
  ended_ = batch.ended;
}

std::uint64_t KeptFeed::discard() {
  idled_ = true;
  std::uint64_t hits = 0;
  for (bool more = true; more;) {
    discarded_.clear();
    take(discarded_);
    more = holds_any(discarded_);
    hits += count_hits(discarded_, begin_);
    begin_ = std::max(begin_, complete_);
  }
  hits_discarded_ += hits;
  return hits;
}

LeasedFeed::LeasedFeed(std::shared_ptr<KeptFeed> kept) : kept_(std::move(kept)), begin_(kept_->begin_) {
  ++kept_->leases_;
  kept_->before_ = {feed().counts(), feed().anomalies(), feed().remarks().size()};
  if (is_first() && !kept_->idled_) kept_->before_ = {};
}

void LeasedFeed::take(FeedBatch& batch) {
  kept_->take(batch);
  if (!std::exchange(joined_, true) && begin_ != 0) add_discarded(batch);
  if (batch.first_epoch) batch.first_epoch = std::max(*batch.first_epoch, begin_);
  if (!stopping_ || batch.ended) return;
  const bool past_end = end_ && batch.complete >= *end_;
  const bool holds_back = batch.seen_end > batch.complete;
  batch.ended = past_end || (!holds_any(batch) && !(holds_back && feed().settle(end_.value_or(batch.seen_end))));
}

/// A stretch before the first data: the source was sending already.
void LeasedFeed::add_discarded(FeedBatch& batch) {
  const bool was_over = batch.ended && !holds_any(batch) && kept_->hits_discarded_ == 0;
  if (was_over) return;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  auto left = std::exchange(kept_->hits_discarded_, 0);
  std::vector<Damage> damage;
  do {
    const auto n = static_cast<std::uint32_t>(std::min(left, kMost));
    damage.push_back({.first_epoch = 0, .n_epochs = begin_, .n_hits = n, .cause = DropCause::lost});
    left -= n;
  } while (left != 0);
  batch.damage.insert(batch.damage.begin(), damage.begin(), damage.end());
}

void LeasedFeed::put_back(FeedBatch rest) {
  kept_->rest_ = std::move(rest);
  kept_->begin_ = end_.value_or(kept_->complete_);
}

std::vector<std::string> LeasedFeed::remarks() const {
  auto remarks = feed().remarks();
  const auto before = std::min(kept_->before_.remarks, remarks.size());
  remarks.erase(remarks.begin(), remarks.begin() + static_cast<std::ptrdiff_t>(before));
  return remarks;
}

std::unique_ptr<LiveFeed> FeedShelf::lease(SourceId id, const Open& open) {
  keep(id, open);
  return std::make_unique<LeasedFeed>(feeds_.at(id.value));
}

void FeedShelf::keep(SourceId id, const Open& open) {
  if (!feeds_.contains(id.value)) feeds_.emplace(id.value, std::make_shared<KeptFeed>(open()));
}

bool FeedShelf::had_run(SourceId id) const {
  const auto found = feeds_.find(id.value);
  return found != feeds_.end() && found->second->had_run();
}

std::vector<FeedShelf::Feed> FeedShelf::feeds() const {
  std::vector<Feed> all;
  for (const auto& [id, kept] : feeds_) {
    const auto& feed = kept->feed();
    all.push_back({id, kept->hits_discarded(), feed.is_connected(), kept->ended(), feed.counts().counters});
  }
  return all;
}

bool FeedShelf::close_waiting(std::uint64_t bytes) {
  return std::erase_if(feeds_, [&](const auto& kept) {
           if (!kept.second->awaits_run()) return false;
           const auto counters = kept.second->feed().counts().counters;
           return counters[Metric::bytes] + counters[Metric::mbs_bytes] > bytes;
         }) != 0;
}

std::uint64_t FeedShelf::discard() {
  std::uint64_t hits = 0;
  for (auto& [id, feed] : feeds_) hits += feed->discard();
  return hits;
}

std::uint64_t FeedShelf::close_ended(std::span<const std::optional<std::uint32_t>> ports) {
  std::set<std::uint32_t> open;
  for (const auto& [id, feed] : feeds_) {
    if (!feed->ended() && ports[id]) open.insert(*ports[id]);
  }
  std::uint64_t hits = 0;
  std::erase_if(feeds_, [&](const auto& kept) {
    const auto& port = ports[kept.first];
    if (!port || open.contains(*port)) return false;
    hits += kept.second->discard();
    return true;
  });
  return hits;
}

}  // namespace eventloom
