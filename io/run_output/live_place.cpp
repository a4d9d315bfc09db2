#include "io/run_output/live_place.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "formats/crc32c.hpp"
#include "io/files/own_file.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

constexpr std::string_view kPlaceHeader = "eventloom-live-place 1\n";

std::string sealed(const std::string& json) {
  return fmt::format("{}{:08x} {}\n", kPlaceHeader, crc32c(std::as_bytes(std::span(json))), json);
}

std::optional<PeerPlace> place_in(const std::string& text) {
  const auto begin = text.find('{');
  const auto end = text.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return std::nullopt;
  const auto json = text.substr(begin, end + 1 - begin);
  const auto found = nlohmann::json::parse(json, nullptr, false);
  if (sealed(json) != text || !found.is_object()) return std::nullopt;
  return PeerPlace{found.value("session", std::uint32_t{0}), found.value("base", std::int64_t{0})};
}

}  // namespace

std::string live_place_name(const std::filesystem::path& run_file, std::uint32_t source) {
  return fmt::format("{}.live-{:04}.place", run_file.stem().string(), source);
}

bool is_live_place(const std::filesystem::path& file) {
  const auto head = head_of(file, kPlaceHeader.size());
  return kPlaceHeader.starts_with(head) || head.find_first_not_of('\0') == std::string::npos;
}

void write_live_place(const std::filesystem::path& file, const PeerPlace& place) {
  const nlohmann::json json{{"session", place.session}, {"base", place.base}};
  write_text_file(file, sealed(json.dump()), is_live_place);
}

std::optional<PeerPlace> read_live_place(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  const std::string text(std::istreambuf_iterator<char>(in), {});
  auto place = place_in(text);
  if (!place) log::warn("'{}' is damaged: what its source sent meanwhile is not known", file.string());
  return place;
}

}  // namespace eventloom
