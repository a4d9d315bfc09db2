#pragma once

#include <span>
#include <string>
#include <string_view>

namespace eventloom {

/// The sentence that a header's text gets from a source that has numbered the words of its channels by itself. `list`:
/// "a = 0, b = 1".
std::string numbered_words(std::string_view list);

/// A source and the text of its header.
struct DescribedSource {
  std::string name;
  std::string text;
};

/// Throws UserError when two sources have numbered different words, so that a channel is one detector in the first and
/// another in the second.
void require_same_words(std::span<const DescribedSource> sources);

}  // namespace eventloom
