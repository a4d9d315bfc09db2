#include "app/run/source_info.hpp"

#include "core/runtime/json.hpp"

namespace eventloom {

Json to_json(SourceId id, const SourceInfo& info) {
  Json json{{"id", id.value},
            {"name", info.name},
            {"uri", info.uri},
            {"path", info.path},
            {"bytes", info.bytes},
            {"crc32c", info.crc32c},
            {"epoch_bytes", info.epoch_bytes},
            {"recorded_id", info.recorded_id},
            {"tick_ps", info.base.tick_ps},
            {"epoch_ticks", info.base.epoch_ticks},
            {"payload", info.payload.words},
            {"flags", info.flags},
            {"text", info.text},
            {"payload_names", info.payload_names},
            {"live", info.live},
            {"followed", info.followed},
            {"joined", info.joined},
            {"had_run", info.had_run},
            {"wraps_after", info.wraps_after.value},
            {"era_clock", info.era_clock},
            {"counts_tai", info.counts_tai},
            {"started_ns", info.started_ns}};
  if (info.first_epoch) json["first_epoch"] = info.first_epoch->value;
  if (info.origin_ns) json["origin_ns"] = *info.origin_ns;
  if (info.clock_behind_ns) json["clock_behind_ns"] = *info.clock_behind_ns;
  return json;
}

SourceInfo info_from_json(const Json& json) {
  SourceInfo info;
  info.name = json.at("name");
  info.uri = json.at("uri");
  info.path = json.at("path");
  info.bytes = json.at("bytes");
  info.crc32c = json.at("crc32c");
  info.epoch_bytes = json.at("epoch_bytes");
  info.recorded_id = json.at("recorded_id");
  info.base = {json.at("tick_ps"), json.at("epoch_ticks")};
  info.payload.words = json.at("payload");
  info.flags = json.at("flags");
  info.text = json.at("text");
  info.payload_names = json.at("payload_names");
  info.live = json.at("live");
  info.followed = json.at("followed");
  info.joined = json.at("joined");
  info.had_run = json.at("had_run");
  info.wraps_after = Epoch(json.at("wraps_after").get<std::uint64_t>());
  info.era_clock = json.at("era_clock");
  info.counts_tai = json.at("counts_tai");
  info.started_ns = json.at("started_ns");
  if (json.contains("first_epoch")) info.first_epoch = Epoch(json["first_epoch"].get<std::uint64_t>());
  if (json.contains("clock_behind_ns")) info.clock_behind_ns = json["clock_behind_ns"].get<std::int64_t>();
  if (json.contains("origin_ns")) info.origin_ns = json["origin_ns"].get<std::int64_t>();
  return info;
}

Json to_json(const SortedManifest& manifest) {
  Json sources = Json::array();
  for (std::size_t s = 0; s < manifest.sources.size(); ++s) {
    const auto& origin = manifest.sources[s];
    SourceInfo info;
    info.name = origin.name;
    info.uri = origin.uri;
    info.path = origin.input.path;
    info.bytes = origin.input.bytes;
    info.crc32c = origin.input.crc32c;
    info.recorded_id = origin.id;
    info.base = manifest.base;
    info.payload = PayloadTable::uniform(origin.has_payload ? PayloadTable::kLengthInFirstWord : 0);
    info.flags = origin.flags;
    info.text = origin.text;
    info.payload_names = origin.payload_names;
    sources.push_back(to_json({static_cast<std::uint16_t>(s)}, info));
  }
  return {{"sources", sources},
          {"streams", manifest.files.size()},
          {"definition", manifest.definition},
          {"overlap", manifest.overlap.value}};
}

SortedInfo sorted_from_json(const Json& json) {
  SortedInfo info;
  for (const auto& source : json.at("sources")) info.sources.push_back(info_from_json(source));
  info.streams = json.at("streams");
  info.definition = json.at("definition");
  info.overlap = Tick(json.at("overlap").get<std::uint64_t>());
  return info;
}

}  // namespace eventloom
