#include "app/tools/record/record_state.hpp"

#include <fstream>
#include <iterator>

#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "io/files/folder.hpp"
#include "io/files/own_file.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

constexpr const char* kStateFormat = "eventloom-record-state";

bool is_record_state(const std::filesystem::path& file) { return is_json_of(file, kStateFormat); }

RecordState state_in(const Json& json) {
  RecordState state;
  json.at("uri").get_to(state.uri);
  json.at("file").get_to(state.number);
  json.at("hits_before").get_to(state.hits_before);
  json.at("end_before").get_to(state.end_before.value);
  json.at("left_out").get_to(state.left_out);
  if (json.contains("session")) {
    state.place = PeerPlace{json.at("session").get<std::uint32_t>(), json.at("base").get<std::int64_t>()};
  }
  return state;
}

}  // namespace

void write_record_state(const std::filesystem::path& file, const RecordState& state) {
  Json json{{"format", kStateFormat},
            {"uri", state.uri},
            {"file", state.number},
            {"hits_before", state.hits_before},
            {"end_before", state.end_before.value},
            {"left_out", state.left_out}};
  if (state.place) {
    json["session"] = state.place->session;
    json["base"] = state.place->base;
  }
  write_text_file(file, json.dump(2) + "\n", is_record_state);
}

std::optional<RecordState> read_record_state(const std::filesystem::path& file) {
  if (!is_there(file)) return std::nullopt;
  refuse_foreign(file, is_record_state);
  std::ifstream in(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  try {
    return state_in(Json::parse(text));
  } catch (const JsonError&) {
    log::warn("'{}' is damaged: what its source sent meanwhile is not known", file.string());
    return std::nullopt;
  }
}

}  // namespace eventloom
