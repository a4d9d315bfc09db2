#include "app/tools/record/record_names.hpp"

#include <charconv>
#include <utility>

#include "core/runtime/format.hpp"

namespace eventloom {

RecordNames::RecordNames(std::filesystem::path folder, std::uint32_t source)
    : folder_(std::move(folder)), stem_(fmt::format("source_{:03}", source)) {}

std::filesystem::path RecordNames::data(std::uint64_t number) const {
  return fmt::format("{}.{:06}.epochs", stem(), number);
}

std::optional<std::uint64_t> RecordNames::number_of(const std::filesystem::path& file) const {
  const auto name = file.filename().string();
  const auto begin = stem_.size() + 1;
  if (name.size() <= begin) return std::nullopt;
  std::uint64_t number = 0;
  std::from_chars(name.data() + begin, name.data() + name.size(), number);
  if (name != data(number).filename()) return std::nullopt;
  return number;
}

}  // namespace eventloom
