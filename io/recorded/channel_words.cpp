#include "io/recorded/channel_words.hpp"

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::string_view kWordsBegin = "\nChannels, numbered from the words of this source alone: ";
constexpr std::string_view kWordsEnd = ".\n";

/// The list of words in a header's text; empty if the source has not numbered any.
std::string_view list_in(std::string_view text) {
  const auto begin = text.find(kWordsBegin);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + kWordsBegin.size());
  return text.substr(0, text.find(kWordsEnd));
}

/// The first entry of `list` that is not in `other`; empty if there is none.
std::string_view only_in(std::string_view list, std::string_view other) {
  const std::string all = ", " + std::string(other) + ", ";
  for (std::size_t at = 0; at < list.size();) {
    const auto end = list.find(", ", at);
    const auto entry = list.substr(at, end == std::string_view::npos ? end : end - at);
    if (all.find(", " + std::string(entry) + ", ") == std::string::npos) return entry;
    at = end == std::string_view::npos ? list.size() : end + 2;
  }
  return {};
}

}  // namespace

std::string numbered_words(std::string_view list) { return std::string(kWordsBegin).append(list).append(kWordsEnd); }

void require_same_words(std::span<const DescribedSource> sources) {
  const DescribedSource* first = nullptr;
  for (const auto& source : sources) {
    const auto list = list_in(source.text);
    if (list.empty()) continue;
    if (first == nullptr) first = &source;
    const auto expected = list_in(first->text);
    if (list == expected) continue;
    const auto here = only_in(list, expected);
    const auto& with = here.empty() ? *first : source;
    const auto entry = std::string(here.empty() ? only_in(expected, list) : here);
    throw UserError("the words of channels have other numbers in '" + source.name + "' than in '" + first->name +
                    "': " + entry + " in '" + with.name + "' alone; give all sources of the run one channels=FILE, a " +
                    "table of words and numbers");
  }
}

}  // namespace eventloom
