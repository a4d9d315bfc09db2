#include "core/monitor/histogram_feed.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/control/agreement.hpp"
#include "core/runtime/activity.hpp"

namespace eventloom {

namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(20);
constexpr auto kLooking = std::chrono::seconds(5);
constexpr auto kRecently = std::chrono::minutes(1);
constexpr auto kBetweenSweeps = std::chrono::seconds(1);
/// Makes sweeps of large histograms rarer, so that they take about a percent of a rank's time.
constexpr auto kRestPerCell = std::chrono::microseconds(1);
/// Maximum rows on their way to rank 0, and of ranks that send them.
constexpr std::size_t kMostRows = 65536;
constexpr std::size_t kMostAsked = 64;
/// Maximum cells that a rank compares for a message: about a millisecond.
constexpr std::size_t kMostCompared = std::size_t{1} << 19;

[[noreturn]] void refuse_cells(const std::string& what) {
  throw std::runtime_error("a message about histograms " + what);
}

}  // namespace

HistogramFeed::HistogramFeed(Network& network, std::shared_ptr<const HistogramSet> set, std::size_t kinds,
                             std::vector<int> writers, Counting count)
    : set_(std::move(set)),
      writers_(std::move(writers)),
      count_(std::move(count)),
      rank_(network.ranks().rank()),
      most_rows_(kMostRows / std::min(writers_.size(), kMostAsked)),
      channel_(network.open_channel()),
      reported_(kinds * set_->specs().size()) {
  if (rank_ == 0) sums_.resize(reported_.size());
}

void HistogramFeed::want(std::size_t histogram, Time now) { sums_.at(histogram).wanted = now; }

void HistogramFeed::reset() {
  ++resets_;
  const bool writes = std::ranges::binary_search(writers_, rank_);
  for (std::size_t i = 0; i < reported_.size() && writes; ++i) {
    reported_[i].assign(cells_in(i), 0);
    count_(i, 0, reported_[i]);
  }
  for (auto& sum : sums_) std::ranges::fill(sum.cells, 0);
  complete_.clear();
}

void HistogramFeed::do_work(Time now) {
  if (now < next_look_) return;
  next_look_ = now + kLookEvery;
  while (receive()) {
  }
  if (rank_ == 0 && !sweep_) begin_next_sweep(now);
}

/// Begins with the histogram that is due and has waited longest.
void HistogramFeed::begin_next_sweep(Time now) {
  std::optional<std::size_t> longest;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const bool is_due = sums_[i].wanted && now - *sums_[i].wanted <= kLooking && now >= sums_[i].next;
    if (is_due && (!longest || sums_[i].next < sums_[*longest].next)) longest = i;
  }
  if (longest) begin_sweep(*longest, now);
}

void HistogramFeed::begin_sweep(std::size_t histogram, Time now) {
  auto& sum = sums_[histogram];
  sum.cells.resize(cells_in(histogram));
  sum.next = now + kBetweenSweeps + kRestPerCell * sum.cells.size();
  sweep_ = {histogram, std::min(writers_.size(), kMostAsked), writers_.size()};
  for (std::size_t i = 0; i < sweep_->begun; ++i) ask(writers_[i], 0);
}

void HistogramFeed::ask(int rank, std::size_t begin) {
  send(rank, {CellsHead::kAsk, static_cast<std::uint32_t>(sweep_->histogram), static_cast<std::uint32_t>(begin),
              static_cast<std::uint32_t>(cells_in(sweep_->histogram)), resets_});
}

bool HistogramFeed::receive() {
  const auto from = channel_->receive(buffer_);
  if (!from) return false;
  bytes_received_ += buffer_.size();
  CellsHead head;
  if (buffer_.size() < sizeof(head)) refuse_cells("is too short");
  std::memcpy(&head, buffer_.data(), sizeof(head));
  const auto rows = std::span<const std::byte>(buffer_).subspan(sizeof(head));
  if (head.kind == CellsHead::kDone) {
    done_ = true;
    return true;
  }
  const bool is_known = head.histogram < reported_.size() && head.begin <= head.end;
  if (!is_known || head.end > cells_in(head.histogram)) refuse_cells("names cells that no histogram has");
  if (head.kind == CellsHead::kAsk) {
    answer(head);
  } else {
    add(*from, head, rows);
  }
  return true;
}

void HistogramFeed::answer(const CellsHead& asked) {
  auto& reported = reported_[asked.histogram];
  reported.resize(cells_in(asked.histogram));
  const std::size_t begin = asked.begin;
  counted_.assign(std::min<std::size_t>(asked.end - begin, kMostCompared), 0);
  count_(asked.histogram, begin, counted_);
  rows_.clear();
  std::size_t at = 0;
  for (; at < counted_.size() && rows_.size() < most_rows_; ++at) {
    const auto more = counted_[at] - reported[begin + at];
    if (more == 0) continue;
    const auto count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(more, std::numeric_limits<std::uint32_t>::max()));
    rows_.push_back({static_cast<std::uint32_t>(begin + at), count});
    reported[begin + at] += count;
    if (count < more) break;  // the next answer begins with this cell
  }
  send(0, {CellsHead::kAnswer, asked.histogram, asked.begin, static_cast<std::uint32_t>(begin + at), resets_}, rows_);
}

void HistogramFeed::add(int rank, const CellsHead& reported, std::span<const std::byte> rows) {
  if (rank_ != 0 || !sweep_ || reported.histogram != sweep_->histogram) refuse_cells("was not asked for");
  auto& cells = sums_[reported.histogram].cells;
  if (rows.size() % sizeof(FilledCell) != 0) refuse_cells("breaks off");
  for (std::size_t at = 0; at < rows.size(); at += sizeof(FilledCell)) {
    FilledCell row;
    std::memcpy(&row, rows.data() + at, sizeof(row));
    if (row.cell >= cells.size()) refuse_cells("has a cell of no histogram");
    // A rank that had not yet followed the last reset reports older entries.
    if (reported.resets == resets_) cells[row.cell] += row.count;
  }
  if (reported.end < cells.size()) return ask(rank, reported.end);
  if (sweep_->begun < writers_.size()) ask(writers_[sweep_->begun++], 0);
  if (--sweep_->left != 0) return;
  if (std::ranges::find(complete_, sweep_->histogram) == complete_.end()) complete_.push_back(sweep_->histogram);
  sweep_.reset();
}

void HistogramFeed::send(int rank, const CellsHead& head, std::span<const FilledCell> rows) {
  std::vector<std::byte> message(sizeof(head) + rows.size_bytes());
  std::memcpy(message.data(), &head, sizeof(head));
  if (!rows.empty()) std::memcpy(message.data() + sizeof(head), rows.data(), rows.size_bytes());
  channel_->send(rank, message);
}

void HistogramFeed::finish(Time now, IdlePolicy& idle) {
  const Activity activity(kWaitingForRanks);
  idle.reset();
  if (rank_ == 0) return complete_recent(now, idle);
  if (!std::ranges::binary_search(writers_, rank_)) return;
  while (!done_) {
    if (!receive()) idle.wait();
  }
}

void HistogramFeed::complete_recent(Time now, IdlePolicy& idle) {
  const auto end_sweep = [&] {
    while (sweep_) {
      if (!receive()) idle.wait();
    }
  };
  end_sweep();
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (!sums_[i].wanted || now - *sums_[i].wanted > kRecently) continue;
    begin_sweep(i, now);
    end_sweep();
  }
  for (const int rank : writers_) {
    if (rank != 0) send(rank, {CellsHead::kDone, 0, 0, 0, resets_});
  }
}

std::optional<std::size_t> HistogramFeed::take_complete() {
  if (complete_.empty()) return std::nullopt;
  const auto first = complete_.front();
  complete_.erase(complete_.begin());
  return first;
}

}  // namespace eventloom
