#include "io/live/acknowledgement.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "io/files/own_file.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kLongest = 64;

/// Parses a number on a line, which another program may have written.
bool is_acknowledgement(const std::filesystem::path& file) {
  const auto text = head_of(file, kLongest + 1);
  const auto good = [](unsigned char c) { return std::isdigit(c) != 0 || c == '\n' || c == '\r'; };
  return text.size() <= kLongest && std::ranges::all_of(text, good);
}

std::uint64_t number_in(const std::filesystem::path& file) {
  const auto text = head_of(file, kLongest);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::filesystem::path place_of(const std::filesystem::path& file) {
  const auto name = file.filename().string();
  return file.parent_path() / (name.substr(0, name.find('.')) + ".done");
}

}  // namespace

std::optional<std::uint64_t> Acknowledgement::number_of(const std::filesystem::path& file) {
  const auto name = file.filename().string();
  const auto begin = name.find('.') + 1;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), number);
  if (begin == 0 || error != std::errc() || std::string(end) != ".epochs") return std::nullopt;
  return number;
}

Acknowledgement::Acknowledgement(const std::string& file) : place_(place_of(file)) {
  if (!number_of(file)) {
    throw UserError("'" + file +
                    "': acknowledge is for the files of 'eventloom record', such as source_000.000012.epochs");
  }
  lock_ = std::make_unique<OutputLock>(place_);
  refuse_foreign(place_, is_acknowledgement);
  written_ = number_in(place_);
}

void Acknowledgement::write(std::uint64_t first) {
  if (first <= written_) return;
  try {
    write_text_file(place_, std::to_string(first) + "\n", is_acknowledgement);
    written_ = first;
  } catch (const UserError& error) {
    if (!std::exchange(failed_, true)) log::warn("{}; the recorder keeps its files", error.what());
  }
}

}  // namespace eventloom
