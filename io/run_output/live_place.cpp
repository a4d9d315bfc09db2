#include "io/run_output/live_place.hpp"

#include <fstream>
#include <span>
#include <string_view>

#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"
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
  const auto found = Json::try_parse(json);
  if (sealed(json) != text || !found.is_object()) return std::nullopt;
  PeerPlace place{found.value("session", std::uint32_t{0}), found.value("base", std::int64_t{0})};
  if (found.contains("first")) place.first = Tick(found["first"].get<std::uint64_t>());
  place.unknown = found.value("unknown", false);
  if (found.contains("next")) place.next = Tick(found["next"].get<std::uint64_t>());
  place.end = Epoch(found.value("end", std::uint64_t{0}));
  return place;
}

}  // namespace

std::string live_place_name(const std::filesystem::path& run_file, std::uint32_t source) {
  return fmt::format("{}.live-{:04}.place", run_file.stem().string(), source);
}

bool is_live_place(const std::filesystem::path& file) {
  const auto head = head_of(file, kPlaceHeader.size());
  return kPlaceHeader.starts_with(head) || head.find_first_not_of('\0') == std::string::npos;
}

void mark_unheard(const std::filesystem::path& file) {
  write_text_file(file, std::string(kPlaceHeader), is_live_place);
}

bool is_unheard(const std::filesystem::path& file) { return head_of(file, kPlaceHeader.size() + 1) == kPlaceHeader; }

void write_live_place(const std::filesystem::path& file, const PeerPlace& place) {
  Json json{{"session", place.session}, {"base", place.base}};
  if (place.first) json["first"] = place.first->value;
  if (place.unknown) json["unknown"] = true;
  if (place.next) json["next"] = place.next->value;
  if (place.next) json["end"] = place.end.value;
  write_text_file(file, sealed(json.dump()), is_live_place);
}

std::optional<PeerPlace> read_live_place(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (text == kPlaceHeader) return std::nullopt;
  auto place = place_in(text);
  if (!place) log::warn("'{}' is damaged: what its source sent meanwhile is not known", file.string());
  return place;
}

}  // namespace eventloom
