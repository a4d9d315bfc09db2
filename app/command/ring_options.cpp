#include "app/command/ring_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "app/command/options.hpp"
#include "core/engine/ring_sizes.hpp"
#include "core/mpi/window.hpp"
#include "core/runtime/host_name.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

/// The rings get 1 / kShareOfMemory of the memory; slices being built, output and page cache need the rest.
constexpr std::uint64_t kShareOfMemory = 4;

std::uint64_t l2_cache_here() {
  const auto bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : kUsualCache;
}

/// Returns the memory for the rings of this rank. `ranks`: number of ranks on its host. UCX maps the rings of all other
/// ranks twice into the address space of a process.
std::uint64_t memory_for_rings(std::uint64_t ranks) {
  auto least = std::numeric_limits<std::uint64_t>::max();
  ranks = std::max<std::uint64_t>(ranks, 1);
  for (const auto& bound : window_bounds()) {
    least = std::min(least, bound.bytes / (bound.of_process ? 2 * ranks : ranks));
  }
  return least / kShareOfMemory;
}

}  // namespace

void add_ring_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"ring-depth", text_value("N", "", kDefaultDepth),
        "cells in each ring; by default it holds 4 messages of a source where they fit the second-level cache of a "
        "core, else 2, or fewer where memory is short"},
       {"cell-size", text_value("BYTES", "", kDefaultCell),
        "bytes of a cell; by default at most 4MiB, and 64KiB where the size of messages is not known beforehand"}});
}

void add_transfers_option(po::options_description& options) {
  options.add_options()("transfers-in-flight", text_value("N", "auto"),
                        "messages that a rank's sources keep under way at a time; auto: 2MiB of them, from 32 to 64");
}

std::uint32_t transfers_option(const po::variables_map& values) {
  if (values["transfers-in-flight"].as<std::string>() == "auto") return 0;
  return static_cast<std::uint32_t>(count_option(values, "transfers-in-flight", 1, 65536));
}

std::optional<std::uint32_t> depth_option(const po::variables_map& values, const char* name) {
  if (values[name].as<std::string>().empty()) return std::nullopt;
  return static_cast<std::uint32_t>(count_option(values, name, 1, 65536));
}

std::optional<std::uint64_t> cell_option(const po::variables_map& values, const char* name) {
  if (values[name].as<std::string>().empty()) return std::nullopt;
  return bytes_option(values, name, 256, 1U << 30);
}

RingOptions ring_options(const po::variables_map& values) {
  return {depth_option(values, "ring-depth"), cell_option(values, "cell-size")};
}

RingNeeds ring_needs(const Collective& ranks, const Roles& roles) {
  const auto hosts = ranks.all_gather(host_name());
  const auto beside = std::ranges::count(hosts, hosts[static_cast<std::size_t>(ranks.rank())]);
  RingNeeds needs;
  for (const auto& ends : data_rings(roles)) needs.rings = std::max(needs.rings, ends.in);
  needs.l2_cache = std::ranges::min(ranks.all_gather(l2_cache_here()));
  needs.memory = std::ranges::min(ranks.all_gather(memory_for_rings(static_cast<std::uint64_t>(beside))));
  return needs;
}

std::string ring_text(const RingSize& ring) {
  const bool whole = ring.cell_size % 1024 == 0;
  return std::to_string(ring.depth) + " cells of " + std::to_string(whole ? ring.cell_size / 1024 : ring.cell_size) +
         (whole ? " KiB" : " bytes");
}

}  // namespace eventloom
