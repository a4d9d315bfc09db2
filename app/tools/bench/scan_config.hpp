#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "app/tools/bench/sink_role.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// How a receiver uses a message: the values of --read and --access.
struct Reading {
  const char* read;
  const char* access;
  Receive receive;
};
/// The options of `bench scan`.
struct ScanConfig {
  std::vector<std::string> parts;
  std::vector<std::uint64_t> depths;
  std::vector<std::uint64_t> cells;
  std::vector<Reading> readings;
  std::uint64_t message_bytes = 0;  ///< message size of the parts "clients" and "breakdown"
  std::uint64_t hits = 0;           ///< number of hits of the part "containers"
  Tick hit_distance = 0;            ///< mean distance of these, in ns
  std::uint64_t memory = 0;
  double seconds = 0;
};

void add_scan_options(boost::program_options::options_description& options);
/// Throws UserError.
ScanConfig scan_config(const boost::program_options::variables_map& values);

}  // namespace eventloom
