#include "core/engine/claim_role.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace eventloom {

ClaimRole::ClaimRole(ClaimBook& book, std::optional<NoteSender> to_assigner, const NoteReceiver& from_assigner)
    : book_(book), to_assigner_(std::move(to_assigner)), from_assigner_(from_assigner) {}

std::size_t ClaimRole::do_work(SteadyTime) { return send_claims() + learn(); }

std::size_t ClaimRole::send_claims() {
  if (unsent_.empty() || !to_assigner_->has_room()) return 0;
  note_.clear();
  while (!unsent_.empty() && note_.size() < kMostClaimsInNote) {
    note_.push_back(unsent_.begin()->second);
    unsent_.erase(unsent_.begin());
  }
  to_assigner_->send(std::as_bytes(std::span(note_)));
  return 1;
}

std::size_t ClaimRole::learn() {
  std::size_t notes = 0;
  while (const auto note = from_assigner_.poll()) {
    learn(*note);
    from_assigner_.release();
    ++notes;
  }
  return notes;
}

void ClaimRole::learn(std::span<const std::byte> note) {
  Assignment head;
  if (note.size() < sizeof head) throw std::runtime_error("exchange: an assignment note is shorter than its header");
  std::memcpy(&head, note.data(), sizeof head);
  const auto builders = note.subspan(sizeof head);
  if (SliceId{head.first_slice} < book_.end() || builders.size() != head.n * sizeof(std::uint32_t)) {
    throw std::runtime_error("exchange: invalid assignment note: " + std::to_string(head.n) + " slices from " +
                             std::to_string(head.first_slice) + " on, expected from " +
                             std::to_string(book_.end().value) + " on");
  }
  book_.skip_to({head.first_slice});
  for (std::size_t at = 0; at < builders.size(); at += sizeof(std::uint32_t)) {
    BuilderId builder;
    std::memcpy(&builder.value, &builders[at], sizeof builder.value);
    book_.append(builder);
  }
}

AssignerRole::AssignerRole(std::unique_ptr<Scheduler> scheduler, const SliceSet& finished, std::uint32_t n_builders,
                           std::uint64_t ahead, std::vector<NoteReceiver> claims, std::vector<NoteSender> assignments)
    : scheduler_(std::move(scheduler)),
      finished_(finished),
      ahead_(ahead),
      claims_(std::move(claims)),
      builders_(n_builders),
      room_(n_builders) {
  for (auto& ring : assignments) readers_.push_back({std::move(ring)});
}

std::size_t AssignerRole::do_work(SteadyTime) { return receive_claims() + assign() + send_assignments(); }

bool AssignerRole::done() const {
  return std::ranges::all_of(builders_, [](const Builder& b) { return b.claim.finished != 0; });
}

std::size_t AssignerRole::receive_claims() {
  std::size_t notes = 0;
  for (auto& ring : claims_) {
    while (const auto note = ring.poll()) {
      Claim claim;
      if (note->size() % sizeof claim != 0) {
        throw std::runtime_error("exchange: a claim note has an invalid size of " + std::to_string(note->size()) +
                                 " bytes");
      }
      for (std::size_t at = 0; at < note->size(); at += sizeof claim) {
        std::memcpy(&claim, note->data() + at, sizeof claim);
        take(claim);
      }
      ring.release();
      ++notes;
    }
  }
  return notes;
}

void AssignerRole::take(const Claim& claim) {
  if (claim.builder >= builders_.size()) {
    throw std::runtime_error("exchange: a claim of builder " + std::to_string(claim.builder) + ", but there are " +
                             std::to_string(builders_.size()) + " builders");
  }
  auto& builder = builders_[claim.builder];
  if (claim.built < builder.claim.built || claim.gap_end < claim.gap_begin) {
    throw std::runtime_error("exchange: builder " + std::to_string(claim.builder) + " withdraws a claim");
  }
  for (auto done = claim.built - builder.claim.built; done > 0 && !builder.open.empty(); --done) {
    builder.open.pop_front();
  }
  builder.claim = claim;
  auto& book = *scheduler_->claims();
  if (claim.gap_begin <= book.end().value) book.skip_to({claim.gap_end});
}

SliceId AssignerRole::lowest_open() const {
  SliceId lowest = scheduler_->claims()->end();
  for (const auto& builder : builders_) {
    if (!builder.open.empty()) lowest = std::min(lowest, builder.open.front());
  }
  return lowest;
}

/// Keeps equally fast builders in step: a builder ahead of another gets more slices only when it runs out, until its
/// lead shows that it is the faster one.
bool AssignerRole::may_get(const Builder& builder) const {
  const auto in_flight = builder.claim.claimed - builder.claim.built;
  const auto lead = builder.given - least_given_;
  if (builder.claim.finished != 0 || builder.claim.claimed <= builder.given) return false;
  return lead == 0 || lead > in_flight || runs_out(builder);
}

bool AssignerRole::runs_out(const Builder& builder) const {
  const auto in_flight = builder.claim.claimed - builder.claim.built;
  const bool faster = builder.given - least_given_ > in_flight;
  return builder.open.size() * (faster ? 2 : 4) <= in_flight;
}

/// Assigning one slice at a time, as claims arrive, would send every source to the same builder and cost a note per
/// slice to every rank. So slices are assigned in batches: when half of the builders may get one, or one of them runs
/// out.
bool AssignerRole::is_time_to_assign() const {
  std::size_t active = 0;
  std::size_t can_get = 0;
  bool hurry = false;
  for (const auto& builder : builders_) {
    if (builder.claim.finished != 0) continue;
    if (builder.claim.claimed == 0) return false;  // its first claim has not arrived
    ++active;
    if (!may_get(builder)) continue;
    ++can_get;
    hurry = hurry || runs_out(builder);
  }
  return hurry || (can_get != 0 && 2 * can_get >= active);
}

void AssignerRole::find_least_given() {
  least_given_ = std::numeric_limits<std::uint64_t>::max();
  for (const auto& builder : builders_) {
    if (builder.claim.finished == 0) least_given_ = std::min(least_given_, builder.given);
  }
}

std::size_t AssignerRole::assign() {
  find_least_given();
  if (!is_time_to_assign()) return 0;
  auto& book = *scheduler_->claims();
  const SliceId limit{lowest_open().value + ahead_};
  std::size_t n = 0;
  for (;; ++n) {
    book.skip_to(finished_.next_missing(book.end()));
    if (book.end() >= limit) return n;
    const auto chosen = choose();
    if (!chosen) return n;
    log_.push_back({book.end(), *chosen});
    ++given_;
    book.append(*chosen);
  }
}

/// The builder that gets the next slice; std::nullopt while none has room.
std::optional<BuilderId> AssignerRole::choose() {
  for (std::size_t b = 0; b < builders_.size(); ++b) {
    const auto& builder = builders_[b];
    room_[b] = may_get(builder) ? static_cast<std::uint32_t>(builder.claim.claimed - builder.given) : 0;
  }
  const auto chosen = scheduler_->assign(room_);
  if (!chosen) return std::nullopt;
  auto& builder = builders_[chosen->value];
  ++builder.given;
  builder.open.push_back(scheduler_->claims()->end());
  find_least_given();
  return chosen;
}

std::size_t AssignerRole::send_assignments() {
  std::uint64_t least = given_;
  std::size_t reported = 0;
  for (auto& reader : readers_) {
    if (reader.reported < given_ && reader.ring.has_room()) {
      send_note(reader);
      ++reported;
    }
    least = std::min(least, reader.reported);
  }
  while (log_.size() > given_ - least) log_.pop_front();
  notes_sent_ += reported;
  return reported;
}

/// Writes one note: the next consecutive slices not yet reported to the reader, as many as fit.
void AssignerRole::send_note(Reader& reader) {
  const auto news = log_.end() - static_cast<std::ptrdiff_t>(given_ - reader.reported);
  const auto most = static_cast<std::ptrdiff_t>(std::min({given_ - reader.reported, ahead_, kMostSlicesInNote}));
  Assignment head;
  head.first_slice = news->slice.value;
  note_.resize(sizeof head);
  for (auto claimed = news; claimed != news + most; ++claimed) {
    if (claimed->slice.value != head.first_slice + head.n) break;
    const auto builder = std::as_bytes(std::span(&claimed->builder.value, 1));
    note_.insert(note_.end(), builder.begin(), builder.end());
    ++head.n;
  }
  std::memcpy(note_.data(), &head, sizeof head);
  reader.ring.send(note_);
  reader.reported += head.n;
}

}  // namespace eventloom
