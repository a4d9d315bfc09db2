#include "io/udp/board_stream.hpp"

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

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

Counters BoardStream::counters() const {
  auto counters = counters_;
  counters[Metric::reordered] = reordered_before_ + fragments_.reordered();
  return counters;
}

void BoardStream::take(const Datagram& datagram, std::int64_t now_ns, FeedBatch& out) {
  if (finished_) return;
  ++counters_[Metric::datagrams];
  counters_[Metric::bytes] += sizeof datagram.header + datagram.contents.size();
  if (ended()) {
    // The end is sent several times, and repeated datagrams may follow: those that were requested come twice at times.
    const auto& header = datagram.header;
    const bool again = resends_ && session_.repeats(header);
    if (header.session != session() || (header.kind == DatagramKind::data && !again)) note_after_end();
    return;
  }
  if (!is_of_session(datagram.header, now_ns, out)) return;
  // Closing the previous session may have released a pending end mark.
  if (ended()) return note_after_end();
  if (datagram.header.kind == DatagramKind::header) return take_header(datagram);
  if (session_.hears_beginning(datagram.header)) {
    hears_all_ = true;
    account_.begin_session(true);
  }
  switch (datagram.header.kind) {
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
  if (!resends_ || ended() || !waiting() || !requests_.may_ask(now_ns)) return {};
  DatagramHeader header{.kind = DatagramKind::request, .source = session_.source(), .session = *session()};
  const std::size_t room = (std::max(most_bytes, sizeof header) - sizeof header) / sizeof(MissingPiece);
  const auto missing = fragments_.missing(kMostListed, begins_);
  const auto pieces = requests_.due(missing, now_ns, std::min(room, kMostMissingPieces));
  if (pieces.empty()) return {};
  counters_[Metric::pieces_requested] += pieces.size();
  request_.resize(sizeof header + pieces.size() * sizeof(MissingPiece));
  return compose_datagram(header, std::as_bytes(std::span(pieces)), request_);
}

void BoardStream::finish(FeedBatch& out) {
  if (!ended()) close_session(out);
  session_.end(0);
  finished_ = true;
  out.ended = true;
}

bool BoardStream::is_of_session(const DatagramHeader& header, std::int64_t now_ns, FeedBatch& out) {
  using Sender = BoardSession::Sender;
  const auto sender = session_.sender_of(header, now_ns);
  if (sender == Sender::former) {
    ++counters_[Metric::former_session];
    return false;
  }
  if (sender != Sender::present) begin_session(header, sender == Sender::resumed, out);
  session_.note(now_ns);
  return true;
}

void BoardStream::begin_session(const DatagramHeader& header, bool resumed, FeedBatch& out) {
  const bool restarted = session_.has_begun();
  if (restarted) {
    close_session(out);
    ++counters_[Metric::restarts];
    ++anomalies_;
    defect_log_.say(Defect::restart, [] { return "the sender has restarted; its data in transit are lost"; });
    account_.note_break();
  }
  session_.begin(header);
  position_.begin_session();
  // How much a resumed session sent in the meantime is unknown.
  account_.begin_session(restarted && !resumed);
  clear_window();
  requests_ = ResendRequests();
  resends_ = begins_ = false;
}

void BoardStream::close_session(FeedBatch& out) {
  drain(ReassemblyBuffer::kAlways, session_.heard_ns(), out);
  counters_[Metric::lost_hits] += account_.settle_all(position_.next(), out);
}

void BoardStream::take_header(const Datagram& datagram) {
  session_.note_header();
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
  while (!ended()) {
    const auto item = fragments_.next(noticed_by);
    if (!item) return;
    std::visit([&](const auto& one) { accept(one, now_ns, out); }, *item);
  }
}

void BoardStream::accept(const WholeBuffer& whole, std::int64_t now_ns, FeedBatch& out) {
  const auto header = read_epoch_buffer_header(whole.bytes);
  if (const char* reason = defect(header, whole)) return drop({DropCause::corrupt, reason}, header, whole.sequence);
  account_.see(*header);
  if (!words_intact_in(*header, whole.bytes)) {
    return drop({DropCause::corrupt, "the checksum of its words is wrong"}, header, whole.sequence);
  }
  if (const auto refusal = misplaced(*header, now_ns)) {
    drop(*refusal, header, whole.sequence);
    // Otherwise, the last session might never end.
    if (position_.is_known()) {
      settle(header->hits_before + header->n_hits, position_.next(), out);
      account_.note_break();
    }
    return;
  }
  hand_over(*header, whole, now_ns, out);
}

void BoardStream::accept(const MissingBuffers& missing, std::int64_t /*now_ns*/, FeedBatch& /*out*/) {
  const auto& header = missing.header;
  if (header && header->source == session_.source() && account_.fits(*header)) account_.see(*header);
  // Data before the first one received are not accounted for.
  if (!account_.has_begun()) return;
  account_.lose(missing.n_buffers);
  counters_[Metric::lost_buffers] += missing.n_buffers;
  defect_log_.say(Defect::loss, [&] { return std::to_string(missing.n_buffers) + " epoch buffers were lost"; });
}

void BoardStream::accept(const MarkReached& reached, std::int64_t now_ns, FeedBatch& out) {
  const auto& mark = reached.mark;
  account_.join(mark.hits);
  const bool hits_fit = account_.fits(mark.hits);
  const bool epochs_fit = refused_ || position_.admits(mark.complete, now_ns);
  if (!hits_fit || !epochs_fit) {
    ++counters_[Metric::contradictions];
    ++anomalies_;
    defect_log_.say(Defect::contradiction, [&] {
      return "a mark states " + std::to_string(mark.hits) + " hits to epoch " + std::to_string(mark.complete.value) +
             ", which does not follow from " + std::to_string(*account_.hits()) + " to epoch " +
             std::to_string(position_.next().value);
    });
  }
  const bool moves = !refused_ && epochs_fit;
  if (reached.end || !awaits_first())
    settle(hits_fit ? mark.hits : account_.hits_with_gaps(), moves ? mark.complete : position_.next(), out);
  if (moves) position_.reach(mark.complete, now_ns);
  out.complete = position_.next();
  if (!reached.end) return;
  out.ended = true;
  session_.end(fragments_.next_sequence());
  clear_window();
}

void BoardStream::clear_window() {
  reordered_before_ += fragments_.reordered();
  fragments_ = {};
}

void BoardStream::hand_over(const EpochBufferHeader& header, const WholeBuffer& whole, std::int64_t now_ns,
                            FeedBatch& out) {
  const auto epochs = header.epochs();
  if (awaits_first()) {
    settle_beginning(header.hits_before, epochs.begin, out);
  } else {
    settle(header.hits_before, epochs.begin, out);
  }
  out.buffers.insert(out.buffers.end(), whole.bytes.begin(), whole.bytes.end());
  account_.deliver(header);
  position_.deliver(epochs, now_ns);
  out.complete = position_.next();
  ++counters_[Metric::buffers];
  counters_[Metric::hits] += header.n_hits;
}

void BoardStream::drop(const BufferRefusal& refusal, const std::optional<EpochBufferHeader>& header,
                       std::uint64_t sequence) {
  // A hit takes at least one word.
  const std::uint64_t hits = header && header->n_hits <= header->n_words ? header->n_hits : 0;
  account_.drop(refusal.cause, hits);
  ++counters_[buffers_left_out(refusal.cause)];
  // Only the first buffer of a jump is news.
  if (refusal.cause == DropCause::out_of_step && position_.continues_jump()) {
    return log::detail("{}: epoch buffer {} with {} hits is dropped: {}", defect_log_.path(), sequence, hits,
                       refusal.reason);
  }
  defect_log_.say(defect_of(refusal.cause), [&] {
    if (refusal.cause == DropCause::out_of_step) return jump_text(sequence, header->epochs().begin);
    return "epoch buffer " + std::to_string(sequence) + " with " + std::to_string(hits) +
           " hits is dropped: " + refusal.reason;
  });
}

std::string BoardStream::jump_text(std::uint64_t sequence, Epoch to) const {
  return fmt::format(
      "its clock jumps {}to epoch {} in epoch buffer {}: what follows is dropped (out_of_step) until {} epoch buffers "
      "in "
      "a row agree",
      position_.is_known() ? fmt::format("from epoch {} ", position_.next().value) : "", to.value, sequence,
      BoardPosition::kJumpBuffers);
}

/// The reason why nothing in the buffer can be used, or null.
const char* BoardStream::defect(const std::optional<EpochBufferHeader>& header, const WholeBuffer& whole) const {
  if (!header) return "its header is damaged";
  if (header->stored_bytes() != whole.bytes.size()) return "its header states another length";
  if (header->sequence != whole.sequence) return "its header states another number";
  if (std::uint64_t{header->n_hits} + header->n_payload_words > header->n_words) return "it has more hits than words";
  if (header->source != session_.source()) return "its header states another source";
  return account_.fits(*header) ? nullptr : "its number of earlier hits does not match the previous buffer";
}

/// The reason why the buffer's place in the stream is wrong, if it is.
std::optional<BufferRefusal> BoardStream::misplaced(const EpochBufferHeader& header, std::int64_t now_ns) {
  if (refused_) return BufferRefusal{DropCause::corrupt, "the board's header does not match the run"};
  return position_.judge(header.epochs(), now_ns);
}

/// Accounts for the data between the last buffer delivered and `until`; `hits_sent` hits had been sent by then.
void BoardStream::settle(std::uint64_t hits_sent, Epoch until, FeedBatch& out) {
  const EpochRange at{position_.next(), std::max(until, position_.next())};
  counters_[Metric::lost_hits] += account_.settle(hits_sent, at, out);
}

/// Losses before the first buffer of a board are part of the run, which begins with that buffer.
void BoardStream::settle_beginning(std::uint64_t hits_sent, Epoch first, FeedBatch& out) {
  counters_[Metric::lost_hits] += account_.settle(hits_sent, {first, first + 1}, out);
}

}  // namespace eventloom
