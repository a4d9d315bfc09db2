#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/detector/detector.hpp"

namespace eventloom {

/// A value for each channel, derived from a detector. If the channels at which it changes span a short range, it is a
/// table with an element for each, otherwise pieces that are searched.
template <class T>
class ChannelTable {
 public:
  /// The values of one source. Valid as long as its table.
  class OfSource {
   public:
    [[nodiscard]] const T& operator[](std::uint32_t channel) const {
      const std::uint32_t at = channel - first_;  // wraps to a large number below the first one
      return at < n_ ? values_[at] : beyond(channel);
    }
    /// All channels have the same value.
    [[nodiscard]] bool uniform() const { return n_ == 0 && n_pieces_ == 1; }

   private:
    friend class ChannelTable;
    [[nodiscard]] const T& beyond(std::uint32_t channel) const {
      if (n_pieces_ <= kFew) {  // branch-free, since channels are unpredictable
        return piece_values_[(lows_[1] <= channel ? 1 : 0) + (lows_[2] <= channel ? 1 : 0) +
                             (lows_[3] <= channel ? 1 : 0)];
      }
      return piece_values_[std::upper_bound(lows_, lows_ + n_pieces_, channel) - lows_ - 1];
    }

    std::uint32_t first_ = 0;
    std::uint32_t n_ = 0;  ///< number of channels in the table
    const T* values_ = nullptr;
    std::size_t n_pieces_ = 1;
    const std::uint32_t* lows_ = nullptr;  ///< at least kFew elements
    const T* piece_values_ = nullptr;
  };

  ChannelTable() = default;

  /// `value_of(const ChannelInfo&)` returns a T; T must be comparable.
  template <class ValueOf>
  ChannelTable(const Detector& detector, ValueOf value_of) : sources_(detector.sources()) {
    for (std::size_t s = 0; s < sources_.size(); ++s)
      add(sources_[s], detector, static_cast<std::uint16_t>(s), value_of);
  }

  [[nodiscard]] std::size_t sources() const { return sources_.size(); }
  [[nodiscard]] OfSource of(std::uint16_t source) const {
    const auto& from = sources_[source];
    OfSource out;
    out.first_ = from.first;
    out.n_ = static_cast<std::uint32_t>(from.table.size());
    out.values_ = from.table.data();
    out.n_pieces_ = from.values.size();
    out.lows_ = from.lows.data();
    out.piece_values_ = from.values.data();
    return out;
  }

  /// The values of all sources, indexed by source. Valid as long as the table.
  [[nodiscard]] std::vector<OfSource> of_sources() const {
    std::vector<OfSource> all;
    for (std::size_t s = 0; s < sources_.size(); ++s) all.push_back(of(static_cast<std::uint16_t>(s)));
    return all;
  }

 private:
  /// Up to this many pieces are all compared instead of searched.
  static constexpr std::size_t kFew = 4;
  /// Maximum channels in the table of a source, and in all tables together.
  static constexpr std::uint32_t kMostOfSource = 1U << 18;
  static constexpr std::size_t kMost = std::size_t{1} << 22;

  struct Values {
    std::uint32_t first = 0;
    std::vector<T> table;
    std::vector<std::uint32_t> lows;  ///< first channels of the pieces, padded to kFew with numbers beyond any channel
    std::vector<T> values;            ///< indexed by piece; a single one applies to all channels outside the table
  };

  template <class ValueOf>
  void add(Values& to, const Detector& detector, std::uint16_t source, ValueOf value_of) {
    detector.visit(source, [&](std::uint32_t low, const ChannelInfo& info) {
      const T value = value_of(info);
      if (!to.values.empty() && to.values.back() == value) return;
      to.lows.push_back(low);
      to.values.push_back(value);
    });
    if (to.values.empty()) {
      to.lows.push_back(0);
      to.values.push_back(value_of(ChannelInfo{}));
    }
    if (to.values.size() > 1) fill_table(to);
    to.lows.resize(std::max(to.lows.size(), kFew), std::numeric_limits<std::uint32_t>::max());
  }

  /// The table ends where the last piece begins. It begins at channel 0, or at the second piece if the first has the
  /// same value as the last.
  void fill_table(Values& to) {
    const bool same_outside = to.values.front() == to.values.back();
    const std::uint32_t first = same_outside ? to.lows[1] : 0;
    const std::uint32_t n = to.lows.back() - first;
    if (n > kMostOfSource || total_ + n > kMost) return;
    total_ += n;
    to.first = first;
    to.table.reserve(n);
    for (std::size_t piece = same_outside ? 1 : 0; piece + 1 < to.values.size(); ++piece) {
      to.table.insert(to.table.end(), to.lows[piece + 1] - to.lows[piece], to.values[piece]);
    }
    to.values = {to.values.back()};
    to.lows = {0};
  }

  std::vector<Values> sources_;
  std::size_t total_ = 0;
};

}  // namespace eventloom
