// The stages of a cluster search on one core, by CPU time, for the recording that it gets as an argument: reading the
// file to epoch buffers, and finding the clusters among hits that are decoded and sorted.
// usage: clusters_benchmark URI DEFINITION     e.g. tpx3:pixels.tpx3 cluster:60ns,1.5,1

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/dataflow/decode.hpp"
#include "core/dataflow/time_sort.hpp"
#include "core/definitions/definitions.hpp"
#include "core/definitions/event_list.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {
namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Rates {
  std::uint64_t hits = 0;
  double reading = 0;  ///< seconds, as the next one
  double finding = 0;
};

/// The slices of 1 ms of a source, one after the other, as a run on one rank takes them.
Rates measure(Source& source, const std::string& definition) {
  const auto base = source.header().base;
  SliceBuilderSettings settings;
  settings.events = {{parse_event_definition(definition, base.tick_ps), Tick(base.epoch_ticks)}};
  settings.payload = {source.header().payload};
  settings.geometry = geometry_of({base, 100, 0, 0}, settings.events.front());
  SliceDecoder decoder(settings);
  TimeSort sort;
  EventList events;
  SliceData data;
  std::vector<BuildProblem> problems;
  Rates rates;
  for (SliceId slice{0};; ++slice.value) {
    const auto sent = settings.geometry.sent_epochs(slice);
    const double begun = cpu_seconds();
    data.clear();
    source.collect(sent, data);
    rates.reading += cpu_seconds() - begun;

    const SourceSlice received{data.pieces, data.damage};
    decoder.decode(slice, std::span(&received, 1), problems);
    const auto& hits = decoder.hits();
    const auto keys = sort.sort(hits, sent.end - sent.begin, base.epoch_ticks);

    const Tick start = tick_of_epoch(sent.begin, base.epoch_ticks);
    const auto owned = settings.geometry.owned_ticks(slice);
    const double sorted = cpu_seconds();
    events.restart(keys, {start, owned.begin - start, owned.end - start, settings.geometry.overlap});
    settings.events.front().definition->find(
        {start, keys, {hits.channel.data(), hits.size}, {hits.source.data(), hits.size}}, events);
    rates.finding += cpu_seconds() - sorted;

    source.release_before(settings.geometry.owned_epochs(slice).end);
    if (source.end_epoch() && settings.geometry.owned_epochs(slice).end >= *source.end_epoch()) break;
  }
  rates.hits = source.hits_read();
  return rates;
}

int run(const std::string& uri, const std::string& definition) {
  const auto specs = expand_sources(std::span(&uri, 1));
  const auto source = open_source(specs.at(0), {0}, {});
  const auto rates = measure(*source, definition);
  const auto rate = [&](double seconds) { return static_cast<double>(rates.hits) / 1e6 / seconds; };
  std::printf("eventloom, reading %.1f million hits/s\neventloom, clustering %.1f million hits/s\n",
              rate(rates.reading), rate(rates.finding));
  return 0;
}

}  // namespace
}  // namespace eventloom

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: clusters_benchmark URI DEFINITION");
  return eventloom::run(argv[1], argv[2]);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
