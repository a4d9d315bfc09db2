#include "io/recorded/channel_words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "core/runtime/error.hpp"
#include "io/files/table_fields.hpp"

namespace eventloom {

namespace {

constexpr std::string_view kWordsBegin = "\nChannels, numbered from the words of this source alone: ";
constexpr std::string_view kWordsEnd = ".\n";
constexpr std::string_view kNone = "\nChannels: none, without rows.\n";

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

/// The number that a key has in the text of a URI; std::nullopt if it has none.
std::optional<std::uint64_t> number_of_key(std::string_view uri, std::string_view key) {
  for (auto at = uri.find(key); at != std::string_view::npos; at = uri.find(key, at + 1)) {
    const auto rest = uri.substr(at + key.size());
    if (at == 0 || (uri[at - 1] != '?' && uri[at - 1] != '&') || !rest.starts_with('=')) continue;
    const auto text = rest.substr(1, rest.find('&', 1) - 1);
    if (const auto number = parse_integer(text, 0, std::numeric_limits<std::int64_t>::max())) return *number;
  }
  return std::nullopt;
}

/// A recorded stream's text begins with the URI that it was made from.
std::optional<std::uint64_t> number_of_key(const DescribedSource& source, std::string_view key) {
  const auto own = number_of_key(source.uri, key);
  return own ? own : number_of_key(std::string_view(source.text).substr(0, source.text.find('\n')), key);
}

/// Whether a source has numbers for channels that may be those of n words.
bool has_numbers_below(const DescribedSource& source, std::size_t n) {
  if (!list_in(source.text).empty() || source.text.find(kNone) != std::string::npos) return false;
  const auto fixed = number_of_key(source, "fixed-channel");
  return !fixed || *fixed < n;
}

void require_no_numbers(const DescribedSource& words, const DescribedSource& other) {
  const auto n = static_cast<std::size_t>(std::ranges::count(list_in(words.text), '='));
  if (!has_numbers_below(other, n)) return;
  throw UserError("the channels of '" + words.name + "' are words, which are numbered from 0, and those of '" +
                  other.name + "' are numbers: give all sources of the run one channels=FILE, a table of words " +
                  "and numbers, or if they are different detectors, each its system=N");
}

void require_same(const DescribedSource& first, const DescribedSource& source) {
  const auto list = list_in(source.text);
  const auto expected = list_in(first.text);
  if (list == expected) return;
  const auto here = only_in(list, expected);
  const auto& with = here.empty() ? first : source;
  const auto entry = std::string(here.empty() ? only_in(expected, list) : here);
  throw UserError("the words of channels have other numbers in '" + source.name + "' than in '" + first.name + "': " +
                  entry + " in '" + with.name + "' alone; give all sources of the run one channels=FILE, a table of " +
                  "words and numbers, or if they are different detectors, each its system=N");
}

}  // namespace

std::string numbered_words(std::string_view list) { return std::string(kWordsBegin).append(list).append(kWordsEnd); }

std::string no_channels() { return std::string(kNone); }

void require_same_words(std::span<const DescribedSource> sources) {
  std::map<std::uint64_t, const DescribedSource*> with_words;  // the first one of each system
  const auto system_of = [](const DescribedSource& source) { return number_of_key(source, "system").value_or(0); };
  for (const auto& source : sources) {
    if (list_in(source.text).empty()) continue;
    const auto [first, is_new] = with_words.emplace(system_of(source), &source);
    if (!is_new) require_same(*first->second, source);
  }
  for (const auto& source : sources) {
    const auto words = with_words.empty() ? with_words.end() : with_words.find(system_of(source));
    if (words != with_words.end()) require_no_numbers(*words->second, source);
  }
}

}  // namespace eventloom
