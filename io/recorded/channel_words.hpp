#pragma once

#include <span>
#include <string>
#include <string_view>

namespace eventloom {

/// The sentence that a header's text gets from a source that has numbered the words of its channels by itself. `list`:
/// "a = 0, b = 1".
std::string numbered_words(std::string_view list);
/// Likewise from a source of the same kind without hits.
std::string no_channels();

/// A source of a run.
struct DescribedSource {
  std::string name;
  std::string uri;
  std::string text;  ///< the header's
};

/// Throws UserError when a source has numbered words, and another one of the same system has numbered other words, so
/// that a channel is one detector in the first and another in the second, or has numbers. The system is that of the key
/// `system` when the source was read or recorded; the numbers of other sources count as those of system 0.
void require_same_words(std::span<const DescribedSource> sources);

}  // namespace eventloom
