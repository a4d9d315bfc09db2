#include "io/udp/board_stream.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <variant>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

/// Number of former sessions remembered; more senders than can be confused with one another.
constexpr std::size_t kFormerSessions = 8;

std::size_t index_of(DropCause cause) { return static_cast<std::size_t>(cause); }

Defect defect_of(DropCause cause) {
  if (cause == DropCause::late) return Defect::late;
  return cause == DropCause::out_of_step ? Defect::out_of_step : Defect::damage;
}

Metric buffers_left_out(DropCause cause) {
  if (cause == DropCause::late) return Metric::late_buffers;
  return cause == DropCause::out_of_step ? Metric::out_of_step_buffers : Metric::corrupt_buffers;
}

bool words_intact_in(const EpochBufferHeader& header, std::span<const std::byte> stored) {
  return crc32c(stored.subspan(sizeof header, std::size_t{header.n_words} * 4)) == header.words_crc;
}

}  // namespace

std::uint64_t BoardStream::Gap::dropped_hits() const {
  std::uint64_t hits = 0;
  for (const auto& one : dropped) hits += one.hits;
  return hits;
}

Counters BoardStream::counters() const {
  auto counters = counters_;
  counters[Metric::reordered] = reordered_before_ + fragments_.reordered();
  return counters;
}

void BoardStream::take(const Datagram& datagram, std::int64_t now_ns, FeedBatch& out) {
  if (finished_) return;
  ++counters_[Metric::datagrams];
  counters_[Metric::bytes] += sizeof datagram.header + datagram.contents.size();
  if (ended_) {
    // The end is sent several times, and repeated datagrams may follow: those that were requested come twice at times.
    const auto& header = datagram.header;
    const bool again = resends_ && header.session == session_ && header.sequence < end_sequence_;
    if (header.session != session_ || (header.kind == DatagramKind::data && !again)) note_after_end();
    return;
  }
  if (!is_of_session(datagram.header, now_ns, out)) return;
  // Closing the previous session may have released a pending end mark.
  if (ended_) {
    note_after_end();
    return;
  }
  switch (datagram.header.kind) {
    case DatagramKind::header: return take_header(datagram);
    case DatagramKind::data: put(datagram, now_ns); break;
    case DatagramKind::mark:
    case DatagramKind::end: fragments_.put_mark(datagram, now_ns); break;
    default: return;
  }
  drain(ReassemblyBuffer::kNever, now_ns, out);
}

void BoardStream::note_after_end() {
  if (counters_[Metric::after_end]++ != 0) return;
  ++anomalies_;
  defect_log_.say(Defect::restart, [] { return "it sends again after its end: the run ignores it"; });
}

void BoardStream::pass_time(std::int64_t now_ns, FeedBatch& out) {
  drain(now_ns - (resends_ ? kResendPatience_ns : kPatience_ns), now_ns, out);
}

std::span<const std::byte> BoardStream::request(std::int64_t now_ns, std::size_t most_bytes) {
  constexpr std::size_t kMostListed = 1024;
  if (!resends_ || ended_ || !waiting() || !requests_.may_ask(now_ns)) return {};
  DatagramHeader header{.kind = DatagramKind::request, .source = source_, .session = *session_};
  const std::size_t room = (std::max(most_bytes, sizeof header) - sizeof header) / sizeof(MissingPiece);
  const auto missing = fragments_.missing(kMostListed, begins_);
  const auto pieces = requests_.due(missing, now_ns, std::min(room, kMostMissingPieces));
  if (pieces.empty()) return {};
  counters_[Metric::pieces_requested] += pieces.size();
  request_.resize(sizeof header + pieces.size() * sizeof(MissingPiece));
  return compose_datagram(header, std::as_bytes(std::span(pieces)), request_);
}

void BoardStream::finish(FeedBatch& out) {
  if (!ended_) close_session(out);
  ended_ = finished_ = true;
  out.ended = true;
}

bool BoardStream::is_of_session(const DatagramHeader& header, std::int64_t now_ns, FeedBatch& out) {
  const bool known = std::ranges::find(former_sessions_, header.session) != former_sessions_.end();
  if (session_ != header.session) {
    if (session_ && known && now_ns - session_ns_ < kSessionSilence_ns) {
      ++counters_[Metric::former_session];
      return false;
    }
    begin_session(header, out);
    // How much a resumed session sent in the meantime is unknown.
    if (counters_[Metric::restarts] != 0 && !known) accounted_ = 0;
  }
  session_ns_ = now_ns;
  return true;
}

void BoardStream::begin_session(const DatagramHeader& header, FeedBatch& out) {
  if (session_) {
    close_session(out);
    ++counters_[Metric::restarts];
    ++anomalies_;
    defect_log_.say(Defect::restart, [] { return "the sender has restarted; its data in transit are lost"; });
    former_sessions_.push_back(*session_);
    if (former_sessions_.size() > kFormerSessions) former_sessions_.pop_front();
    gap_.break_in_stream = true;
  }
  session_ = header.session;
  source_ = header.source;
  clear_window();
  requests_ = ResendRequests();
  resends_ = begins_ = false;
  accounted_.reset();
  known_hits_ = 0;
  jump_ = {};
  session_begin_ = next_;
}

void BoardStream::close_session(FeedBatch& out) {
  drain(ReassemblyBuffer::kAlways, session_ns_, out);
  const std::uint64_t before = accounted_.value_or(0);
  const std::uint64_t missing = std::max(gap_.dropped_hits(), std::max(known_hits_, before) - before);
  account_for_gap(before + missing, next_, out);
}

void BoardStream::take_header(const Datagram& datagram) {
  std::optional<std::string> why;
  try {
    const auto stream = stream_of(datagram);
    why = header_.take(stream);
    resends_ = stream.resends;
    begins_ |= stream.begins;
  } catch (const std::runtime_error& error) {
    why = error.what();
  }
  if (why && !refused_) {
    ++anomalies_;
    defect_log_.say(Defect::contradiction, [&] { return "not used from here on: " + *why; });
  }
  refused_ = why.has_value();
}

void BoardStream::put(const Datagram& datagram, std::int64_t now_ns) {
  switch (fragments_.put(datagram, now_ns)) {
    case ReassemblyBuffer::Placement::taken:
      if (requests_.has_asked(datagram.header.sequence, datagram.header.offset)) ++counters_[Metric::pieces_recovered];
      return;
    case ReassemblyBuffer::Placement::duplicate: ++counters_[Metric::duplicates]; return;
    case ReassemblyBuffer::Placement::contradiction: break;
  }
  ++counters_[Metric::contradictions];
  ++anomalies_;
  defect_log_.say(Defect::contradiction, [&] {
    return "a fragment of epoch buffer " + std::to_string(datagram.header.sequence) + " does not fit the others";
  });
}

void BoardStream::drain(std::int64_t noticed_by, std::int64_t now_ns, FeedBatch& out) {
  while (!ended_) {
    const auto item = fragments_.next(noticed_by);
    if (!item) return;
    std::visit([&](const auto& one) { accept(one, now_ns, out); }, *item);
  }
}

void BoardStream::accept(const WholeBuffer& whole, std::int64_t now_ns, FeedBatch& out) {
  const auto header = read_epoch_buffer_header(whole.bytes);
  if (const char* reason = defect(header, whole)) return drop({DropCause::corrupt, reason}, header, whole.sequence);
  count_hits_of(*header);
  if (!words_intact_in(*header, whole.bytes)) {
    return drop({DropCause::corrupt, "the checksum of its words is wrong"}, header, whole.sequence);
  }
  if (const auto refusal = misplaced(*header, now_ns)) {
    drop(*refusal, header, whole.sequence);
    // Otherwise, the last session might never end.
    if (placed_) {
      account_for_gap(header->hits_before + header->n_hits, next_, out);
      gap_.break_in_stream = true;
    }
    return;
  }
  hand_over(*header, whole, now_ns, out);
}

void BoardStream::accept(const MissingBuffers& missing, std::int64_t /*now_ns*/, FeedBatch& /*out*/) {
  if (missing.header && missing.header->source == source_ && counts_fit(*missing.header))
    count_hits_of(*missing.header);
  // Data before the first one received are not accounted for.
  if (!accounted_) return;
  gap_.buffers += missing.n_buffers;
  counters_[Metric::lost_buffers] += missing.n_buffers;
  defect_log_.say(Defect::loss, [&] { return std::to_string(missing.n_buffers) + " epoch buffers were lost"; });
}

void BoardStream::accept(const MarkReached& reached, std::int64_t now_ns, FeedBatch& out) {
  const auto& mark = reached.mark;
  if (!accounted_) {
    accounted_ = mark.hits;
    gap_.break_in_stream |= mark.hits != 0;
  }
  const bool hits_fit = mark.hits >= *accounted_ && mark.hits - *accounted_ <= kMostHitsLost;
  const bool known_epochs = !refused_ && mark.complete <= max_epoch(header_.base().epoch_ticks) + 1 &&
                            (!placed_ || in_step(next_, mark.complete, now_ns - placed_ns_));
  if (!hits_fit || (!refused_ && !known_epochs)) {
    ++counters_[Metric::contradictions];
    ++anomalies_;
    defect_log_.say(Defect::contradiction, [&] {
      return "a mark states " + std::to_string(mark.hits) + " hits to epoch " + std::to_string(mark.complete.value) +
             ", which does not follow from " + std::to_string(*accounted_) + " to epoch " + std::to_string(next_.value);
    });
  }
  const Epoch until = known_epochs ? std::max(mark.complete, next_) : next_;
  account_for_gap(hits_fit ? mark.hits : *accounted_ + gap_.dropped_hits(), until, out);
  if (known_epochs) {
    placed_ = true;
    placed_ns_ = now_ns;
  }
  next_ = until;
  out.complete = next_;
  if (!reached.end) return;
  ended_ = out.ended = true;
  end_sequence_ = fragments_.next_sequence();
  clear_window();
}

void BoardStream::clear_window() {
  reordered_before_ += fragments_.reordered();
  fragments_ = {};
}

void BoardStream::hand_over(const EpochBufferHeader& header, const WholeBuffer& whole, std::int64_t now_ns,
                            FeedBatch& out) {
  const auto epochs = header.epochs();
  account_for_gap(header.hits_before, std::max(epochs.begin, next_), out);
  out.buffers.insert(out.buffers.end(), whole.bytes.begin(), whole.bytes.end());
  accounted_ = header.hits_before + header.n_hits;
  if (placed_ && is_far(epochs, now_ns)) former_ = {next_, placed_ns_};
  next_ = epochs.end;
  out.complete = next_;
  placed_ = true;
  placed_ns_ = now_ns;
  jump_ = {};
  ++counters_[Metric::buffers];
  counters_[Metric::hits] += header.n_hits;
}

void BoardStream::drop(const Refusal& refusal, const std::optional<EpochBufferHeader>& header, std::uint64_t sequence) {
  auto& dropped = gap_.dropped[index_of(refusal.cause)];
  ++dropped.buffers;
  // A hit takes at least one word.
  const std::uint64_t hits = header && header->n_hits <= header->n_words ? header->n_hits : 0;
  dropped.hits += hits;
  ++counters_[buffers_left_out(refusal.cause)];
  defect_log_.say(defect_of(refusal.cause), [&] {
    return "epoch buffer " + std::to_string(sequence) + " with " + std::to_string(hits) +
           " hits is dropped: " + refusal.reason;
  });
}

/// The reason why nothing in the buffer can be used, or null.
const char* BoardStream::defect(const std::optional<EpochBufferHeader>& header, const WholeBuffer& whole) const {
  if (!header) return "its header is damaged";
  if (header->stored_bytes() != whole.bytes.size()) return "its header states another length";
  if (header->sequence != whole.sequence) return "its header states another number";
  if (std::uint64_t{header->n_hits} + header->n_payload_words > header->n_words) return "it has more hits than words";
  if (header->source != source_) return "its header states another source";
  return counts_fit(*header) ? nullptr : "its number of earlier hits does not match the previous buffer";
}

/// The reason why the buffer's place in the stream is wrong, if it is.
std::optional<BoardStream::Refusal> BoardStream::misplaced(const EpochBufferHeader& header, std::int64_t now_ns) {
  if (refused_) return Refusal{DropCause::corrupt, "the board's header does not match the run"};
  const auto epochs = header.epochs();
  if (epochs.end - 1 > max_epoch(header_.base().epoch_ticks)) {
    return Refusal{DropCause::corrupt, "the times of its epochs do not fit 64 bits"};
  }
  if (is_far(epochs, now_ns)) {
    if (is_believed(header, now_ns)) return std::nullopt;
    return Refusal{DropCause::out_of_step, "its epochs are too far from the previous ones"};
  }
  if (epochs.begin >= next_) return std::nullopt;
  if (epochs.begin < session_begin_) return Refusal{DropCause::late, "the board was further ahead before it restarted"};
  return Refusal{DropCause::corrupt, "its epochs have been received before"};
}

/// Whether `epochs` is too far from the position of the stream, forwards or back. Without a position, only their length
/// counts.
bool BoardStream::is_far(EpochRange epochs, std::int64_t now_ns) const {
  if (!placed_) return !in_step(epochs.begin, epochs.end - 1, 0);
  return !in_step(next_, epochs.end - 1, now_ns - placed_ns_) || !in_step(epochs.begin, next_, 0);
}

bool BoardStream::counts_fit(const EpochBufferHeader& header) const {
  if (header.hits_before > std::numeric_limits<std::uint64_t>::max() - header.n_hits) return false;
  return !accounted_ || (header.hits_before >= *accounted_ && header.hits_before - *accounted_ <= kMostHitsLost);
}

void BoardStream::count_hits_of(const EpochBufferHeader& header) {
  if (!accounted_) {
    accounted_ = header.hits_before;
    gap_.break_in_stream |= header.hits_before != 0;
  }
  known_hits_ = std::max(known_hits_, header.hits_before + header.n_hits);
}

/// Whether the epochs from `from` to `to` last no longer than the time passed plus the jump accepted at once.
bool BoardStream::in_step(Epoch from, Epoch to, std::int64_t passed_ns) const {
  if (to <= from) return true;
  const auto& base = header_.base();
  const double epoch_s = static_cast<double>(base.tick_ps) * base.epoch_ticks * 1e-12;
  const double passed_s = static_cast<double>(passed_ns) * 1e-9;
  return static_cast<double>(to - from) * epoch_s <= kMostJump_s + passed_s;
}

/// Whether enough epoch buffers agree on a jump, or the jump returns to the position before the last jump.
bool BoardStream::is_believed(const EpochBufferHeader& header, std::int64_t now_ns) {
  const auto epochs = header.epochs();
  if (former_ && epochs.begin >= former_->next && in_step(former_->next, epochs.end - 1, now_ns - former_->ns)) {
    return true;
  }
  const bool follows = jump_.buffers != 0 && epochs.begin >= jump_.end && in_step(jump_.end, epochs.end - 1, 0);
  jump_ = {follows ? jump_.buffers + 1 : 1, epochs.end};
  return jump_.buffers >= kJumpBuffers;
}

/// Accounts for the data between the last buffer delivered and `until`; `hits_sent` hits had been sent by then.
void BoardStream::account_for_gap(std::uint64_t hits_sent, Epoch until, FeedBatch& out) {
  std::uint64_t missing = hits_sent - std::min(hits_sent, accounted_.value_or(hits_sent));
  if (!accounted_) missing = gap_.dropped_hits();
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    const auto& dropped = gap_.dropped[i];
    if (dropped.buffers == 0) continue;
    const auto hits = std::min(dropped.hits, missing);
    missing -= hits;
    damage(static_cast<DropCause>(i), hits, until, out);
  }
  // The number of hits in a buffer with an unreadable header was unknown.
  if (missing != 0 && gap_.buffers == 0 && gap_.dropped[index_of(DropCause::corrupt)].buffers != 0) {
    damage(DropCause::corrupt, missing, until, out);
    missing = 0;
  }
  const bool break_shows = gap_.break_in_stream && until > next_;
  if (missing != 0 || gap_.buffers != 0 || break_shows) damage(DropCause::lost, missing, until, out);
  counters_[Metric::lost_hits] += missing;
  const bool break_stays = gap_.break_in_stream && until == next_;
  gap_ = {};
  gap_.break_in_stream = break_stays;
  if (accounted_) accounted_ = std::max(*accounted_, hits_sent);
}

void BoardStream::damage(DropCause cause, std::uint64_t hits, Epoch until, FeedBatch& out) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  do {
    const auto n = std::min(hits, kMost);
    out.damage.push_back({.first_epoch = next_,
                          .n_epochs = std::max<Epoch>(until - next_, 1),
                          .n_hits = static_cast<std::uint32_t>(n),
                          .cause = cause});
    hits -= n;
  } while (hits != 0);
}

}  // namespace eventloom
