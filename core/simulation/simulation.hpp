#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/fabric/link_load.hpp"
#include "core/fabric/phases.hpp"
#include "core/fabric/random_pairs.hpp"
#include "core/fabric/transfer_times.hpp"
#include "formats/ring_layout.hpp"

/// Whole runs over a simulated network: settings and results. Needs no SimGrid, unlike simulate.hpp.
namespace eventloom {

/// A factor for one node; nodes are numbered from 0.
struct OfNode {
  std::uint32_t node = 0;
  double factor = 1;
};

/// A factor for the links that links_named() finds by `name`.
struct OfLink {
  std::string name;
  double factor = 1;
};

/// All-to-all traffic of whole slices: each rank has a source and a builder. Times are in seconds, rates in bytes per
/// second.
struct SimulationSettings {
  /// "switch" or "star" (synonyms), "leaf-spine:LEAVES,NODES_PER_LEAF,SPINES", "fat-tree:LEVELS;DOWN;UP;PARALLEL",
  /// "dragonfly:GROUPS;CHASSIS;ROUTERS;NODES" or "torus:X,Y,..." with the numbers of SimGrid's topo_parameters, or the
  /// path of a SimGrid platform file.
  std::string topology = "star";
  double link_rate = 12.5e9;                 ///< each link; not for a platform file
  double link_latency = 1e-6;                ///< each link; in a star from node to node
  bool streams = false;                      ///< everything between two ranks is one ordered stream per direction, as
                                             ///< over TCP
  std::vector<OfLink> slow_links = {};       ///< their rates are multiplied by the factor
  std::vector<std::string> dead_links = {};  ///< names as for links_named(); routes avoid them
  std::uint32_t nodes = 2;
  std::uint32_t ranks_per_node = 1;

  std::string schedule = "round-robin";
  std::string table_text = {};  ///< see ScheduleSettings
  std::uint64_t slot_ns = 0;
  bool fit_slots = false;  ///< slots are just long enough for a message; overrides slot_ns
  RingGeometry ring;
  std::uint32_t slices_in_flight = 4;
  std::uint32_t transfers_in_flight = 0;  ///< see SourceRoleSettings

  std::uint64_t message_bytes = 65536;  ///< mean size of a source's data for a slice
  double spread = 0;                    ///< sizes are uniform in message_bytes * (1 -+ spread); below 1
  std::uint64_t slices = 8;             ///< slices per builder
  double build_rate = 0;                ///< rate of a builder; 0: building takes no time
  double source_rate = 0;               ///< rate of a source; 0: making data takes no time
  double message_cost = 0;              ///< time that a source takes for each message
  double noise = 0;                     ///< mean additional delay per message of a source, exponentially distributed
  /// Mean additional build time, exponentially distributed, as a share of the time in which a slice arrives at full
  /// rate.
  double jitter = 0;
  std::vector<OfNode> slow_builders = {};  ///< their build times are multiplied by the factor
  double clock_drift = 0;                  ///< maximum drift of the ranks' clocks, either way, such as 1e-5
  double clock_noise = 0;                  ///< maximum random delay of control messages
  std::uint64_t seed = 1;

  bool pairs = false;      ///< keep the bytes of each pair of ranks
  bool transfers = false;  ///< keep the times of all transfers

  [[nodiscard]] std::uint32_t ranks() const { return nodes * ranks_per_node; }
};

/// What ranks spend their time on.
enum class Spent : std::uint8_t {
  network,  ///< the rank's own transfers
  credits,  ///< waiting for room at a builder
  slots,    ///< waiting for a slot to begin
  sources,  ///< sources producing data
  builders,
  idle,  ///< all sent: waiting for the others' data
};
inline constexpr std::array<std::string_view, 6> kSpentNames = {"network", "credits",  "slots",
                                                                "sources", "builders", "idle"};

struct PairBytes {
  int source = 0;   ///< rank
  int builder = 0;  ///< rank
  std::uint64_t sent = 0;
  std::uint64_t delivered = 0;
};

struct SimulationResult {
  std::uint64_t slot_ns = 0;       ///< length of the slots; 0: none
  double seconds = 0;              ///< time between the common start and the last slice built
  std::uint64_t messages = 0;      ///< messages sent by the sources, including those to their own nodes
  std::uint64_t sent = 0;          ///< total bytes of these messages
  std::uint64_t delivered = 0;     ///< bytes in the slices built
  std::uint64_t over_network = 0;  ///< bytes delivered to another node
  double ideal_rate = 0;           ///< bytes per second and node that the links allow, whatever the schedule
  PairRates random_pairs;          ///< rates that the routes allow without any schedule
  TimeSpread transfers;            ///< each carries what a rank put for another at one time: messages, or part of one
  SliceArrivals arrivals;
  std::array<double, kSpentNames.size()> spent{};  ///< share of the ranks' time, indexed by Spent
  std::vector<UsedLink> links;                     ///< the most used links, in descending order
  std::vector<PairBytes> pairs;                    ///< empty unless requested
  std::vector<Transfer> log;                       ///< empty unless requested; in order of their ends at each sender

  /// Bytes per second that a node receives from the others.
  [[nodiscard]] double rate(std::uint32_t nodes) const {
    return seconds > 0 ? static_cast<double>(over_network) / seconds / nodes : 0;
  }
};

/// A cycle made for the platform, see search_phases(), and step lengths for the settings' messages.
struct PlatformPhases {
  Phases phases;
  std::uint64_t bytes_ns = 0;  ///< time for the bytes alone: sources wait for nothing in between
  std::uint64_t step_ns = 0;   ///< time until the source knows that the bytes have arrived
};

}  // namespace eventloom
