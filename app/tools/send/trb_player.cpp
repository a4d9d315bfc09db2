#include "app/tools/send/trb_player.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "app/tools/send/sending_options.hpp"
#include "core/runtime/clock.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "formats/trb.hpp"

namespace eventloom {

namespace {

/// Datagrams due within this time are sent together.
constexpr std::int64_t kStep_ns = 1'000'000;
constexpr std::size_t kMostSubevents = kTrbMostDatagramBytes - kTrbUnitHeaderBytes - kTrbTrailerBytes;

std::uint32_t number_of(const HldEvent& event) { return event.subevents.front().trigger_number >> kTrbTagBits; }

}  // namespace

TrbPlayer::TrbPlayer(TrbPlaySettings settings) : settings_(std::move(settings)) {
  for (const auto& to : settings_.to) {
    boards_.push_back({.to = to, .sender = std::make_unique<UdpSender>(to, kTrbMostDatagramBytes)});
  }
}

void TrbPlayer::play(const std::vector<std::string>& files, const std::function<bool()>& stopped) {
  start_ns_ = steady_ns();
  for (std::uint64_t pass = 0; pass < settings_.passes && !stopped(); ++pass) {
    for (const auto& path : files) play_file(path, stopped);
    if (!first_) break;
    shift_ += last_ - *first_ + 1;
  }
  for (const auto& board : boards_) board.sender->flush();
  end_ns_ = steady_ns();
}

void TrbPlayer::play_file(const std::string& path, const std::function<bool()>& stopped) {
  HldFile file(path);
  for (auto item = file.next(); item != HldFile::Item::end && !stopped(); item = file.next()) {
    if (item == HldFile::Item::damage) ++left_out_;
    if (item != HldFile::Item::event || file.event().subevents.empty()) continue;
    keep_pace();
    note_number(file.event());
    send(file.event());
  }
}

void TrbPlayer::note_number(const HldEvent& event) {
  last_ = number_of(event);
  if (!first_) first_ = last_;
}

void TrbPlayer::send(const HldEvent& event) {
  for (const auto& subevent : event.subevents) append(subevent, board_of(subevent).subevents);
  for (auto& board : boards_) {
    if (!board.subevents.empty()) send(board);
  }
  ++events_;
}

TrbPlayer::Board& TrbPlayer::board_of(const HldSubevent& subevent) {
  const auto found =
      std::ranges::find_if(boards_, [&](const Board& board) { return !board.id || *board.id == subevent.id; });
  if (found == boards_.end()) {
    throw UserError(fmt::format("--to has no port for subevent id {:#x}; name one for each id", subevent.id));
  }
  found->id = subevent.id;
  return *found;
}

/// Appends the subevent with its header, padded.
void TrbPlayer::append(const HldSubevent& subevent, std::vector<std::byte>& out) const {
  constexpr std::size_t kNumberAt = 12;
  const auto begin = out.size();
  const auto* const stored = subevent.data.data() - kHldSubeventHeaderBytes;
  out.insert(out.end(), stored, stored + subevent.size);
  out.resize(begin + hld_padded(subevent.size));
  if (shift_ == 0) return;
  const auto word = subevent.trigger_number + (shift_ << kTrbTagBits);
  const auto as_stored = subevent.big_endian ? __builtin_bswap32(word) : word;
  std::memcpy(out.data() + begin + kNumberAt, &as_stored, sizeof as_stored);
}

void TrbPlayer::send(Board& board) {
  if (board.subevents.size() > kMostSubevents) {
    ++left_out_;
  } else {
    datagram_.clear();
    append_trb_datagram(board.subevents, datagram_);
    std::ranges::copy(datagram_, board.sender->next(datagram_.size()).begin());
    bytes_ += datagram_.size();
  }
  board.subevents.clear();
}

/// Waits until the next event is due.
void TrbPlayer::keep_pace() {
  double due = 0;  // seconds since the start
  if (settings_.rate > 0) due = static_cast<double>(events_) / settings_.rate;
  if (settings_.bandwidth != 0) {
    due = std::max(due, static_cast<double>(bytes_) / static_cast<double>(settings_.bandwidth));
  }
  const auto ahead = static_cast<std::int64_t>(due * 1e9) - (steady_ns() - start_ns_);
  if (ahead <= 0) return;
  for (const auto& board : boards_) board.sender->flush();
  std::this_thread::sleep_for(std::chrono::nanoseconds(std::max(ahead, kStep_ns)));
}

void TrbPlayer::print(std::ostream& out) const {
  const double seconds = static_cast<double>(end_ns_ - start_ns_) / 1e9;
  for (const auto& board : boards_) {
    const auto& n = board.sender->count();
    out << fmt::format("subevents {} to {}: {} datagrams, {} bytes in {:.3f} s{}\n",
                       board.id ? fmt::format("{:#x}", *board.id) : "of no id", board.to, n.datagrams, n.bytes, seconds,
                       trouble_text(n));
  }
}

}  // namespace eventloom
