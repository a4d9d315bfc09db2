#include "core/detector/channel_use.hpp"

#include <stdexcept>

namespace eventloom {

ChannelUse::ChannelUse(const Detector& detector) : detector_(&detector), sources_(detector.sources()) {
  std::size_t bits = 0;
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    sources_[s].first_bit = bits;
    sources_[s].end = detector.pieces(static_cast<std::uint16_t>(s));
    bits += sources_[s].end;
  }
  seen_.resize((bits + 63) / 64);
  selected_.resize(seen_.size());
  for (const auto& selection : detector.selections()) {
    any_piece(selection, [this](std::size_t bit) {
      selected_[bit / 64] |= std::uint64_t{1} << bit % 64;
      return false;
    });
  }
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    close_in(static_cast<std::uint16_t>(s));
    if (sources_[s].first != sources_[s].end) sources_[s].lately.assign(kLately, ~0U);
  }
}

/// Calls `use(bit)` for the pieces of the selection until it returns true; returns whether it did.
template <class Use>
bool ChannelUse::any_piece(const DetectorSelection& selection, Use use) const {
  for (const auto source : selection.sources) {
    const auto last = detector_->piece_of(source, selection.high);
    for (auto piece = detector_->piece_of(source, selection.low); piece <= last; ++piece) {
      if (use(sources_[source].first_bit + piece)) return true;
    }
  }
  return false;
}

void ChannelUse::see(std::span<const std::uint16_t> sources, std::span<const std::uint32_t> channels) {
  for (std::size_t i = 0; i < sources.size();) {
    const auto begin = i;
    while (i < sources.size() && sources[i] == sources[begin]) ++i;
    see(sources[begin], channels.subspan(begin, i - begin));
  }
}

void ChannelUse::mark(std::uint16_t source, std::uint32_t channel) {
  sources_[source].lately[channel % kLately] = channel;
  const auto bit = sources_[source].first_bit + detector_->piece_of(source, channel);
  if (seen(bit)) return;
  seen_[bit / 64] |= std::uint64_t{1} << bit % 64;
  close_in(source);
}

/// The range only shrinks, so that all calls together pass each piece once.
void ChannelUse::close_in(std::uint16_t source) {
  auto& of = sources_[source];
  while (of.first < of.end && !wanted(of.first_bit + of.first)) ++of.first;
  while (of.first < of.end && !wanted(of.first_bit + of.end - 1)) --of.end;
  if (of.first == of.end) return;
  of.low = detector_->piece_begin(source, of.first);
  of.span = detector_->piece_begin(source, of.end) - 1 - of.low;
}

void ChannelUse::add(std::span<const std::uint64_t> bits) {
  if (bits.size() != seen_.size()) throw std::logic_error("channels in use of another detector");
  for (std::size_t i = 0; i < bits.size(); ++i) seen_[i] |= bits[i];
  for (std::size_t s = 0; s < sources_.size(); ++s) close_in(static_cast<std::uint16_t>(s));
}

std::vector<std::size_t> ChannelUse::unused_selections() const {
  std::vector<std::size_t> unused;
  const auto& selections = detector_->selections();
  for (std::size_t i = 0; i < selections.size(); ++i) {
    if (!any_piece(selections[i], [this](std::size_t bit) { return seen(bit); })) unused.push_back(i);
  }
  return unused;
}

GroupSet ChannelUse::used_groups() const {
  GroupSet used = 0;
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    auto bit = sources_[s].first_bit;
    detector_->visit(static_cast<std::uint16_t>(s), [&](std::uint32_t, const ChannelInfo& info) {
      if (seen(bit++)) used |= info.groups;
    });
  }
  return used;
}

}  // namespace eventloom
