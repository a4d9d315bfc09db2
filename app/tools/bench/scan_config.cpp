#include "app/tools/bench/scan_config.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "app/command/options.hpp"
#include "app/tools/bench/bench_options.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

const std::vector<std::string> kParts = {"rings", "clients", "breakdown", "loopback", "memory", "containers"};

/// Parts without a plot.
const std::vector<std::string> kInTableOnly = {"breakdown", "containers"};

constexpr std::array kReadings = {Reading{"whole", "pointer", Receive::look}, Reading{"whole", "copy", Receive::copy},
                                  Reading{"hits", "pointer", Receive::hits},
                                  Reading{"hits", "copy", Receive::hits_copied}};

bool known_reading(const char* Reading::*member, const std::string& word) {
  return std::ranges::any_of(kReadings, [&](const Reading& reading) { return word == reading.*member; });
}

/// All combinations of --read and --access, in the order given.
std::vector<Reading> readings_of(const po::variables_map& values) {
  std::vector<Reading> wanted;
  const auto accesses = listed_words(values, "access");
  for (const auto& word : accesses) {
    if (!known_reading(&Reading::access, word)) throw UserError("--access must be pointer or copy");
  }
  for (const auto& read : listed_words(values, "read")) {
    if (!known_reading(&Reading::read, read)) throw UserError("--read must be whole or hits");
    for (const auto& access : accesses) {
      std::ranges::copy_if(kReadings, std::back_inserter(wanted),
                           [&](const Reading& r) { return read == r.read && access == r.access; });
    }
  }
  return wanted;
}

}  // namespace

void add_scan_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"what", text_value("LIST", "rings,clients,breakdown"),
        "rings: depth and cell size, one to one; clients: many to one; breakdown: steps of the path; loopback: a "
        "rank to itself; memory: bare put from memory that is in the caches or not; containers: size of hits in "
        "memory, and time to encode and decode them"},
       {"depths", text_value("LIST", "1,2,4,8,16,32,64"), "cells in a ring"},
       {"cells", text_value("LIST", "4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,32MiB"), "bytes of a cell, and of a message"},
       {"read", text_value("LIST", "whole"),
        "rings: whole, a message is looked at or copied at once; hits, in steps of 8 bytes, as many as a hit has"},
       {"access", text_value("LIST", "pointer"),
        "rings: pointer, data are used in the ring; copy, they are copied out"},
       {"message", text_value("BYTES", "16KiB"), "bytes of a message for clients and breakdown"},
       {"hits", text_value("N", "100000"), "containers: number of hits"},
       {"distance", text_value("TIME", "100ns"), "containers: mean time between hits"},
       {"memory", text_value("BYTES", "512MiB"), "larger rings are skipped"},
       {"seconds", po::value<double>()->value_name("S")->default_value(0.05, "0.05"), "length of a measurement"}});
}

ScanConfig scan_config(const po::variables_map& values) {
  ScanConfig config;
  config.parts = listed_words(values, "what");
  for (const auto& part : config.parts) {
    if (std::ranges::count(kParts, part) == 0)
      throw UserError("--what: no part '" + part + "'; known are: " + joined(kParts, ", "));
  }
  const bool drawn =
      std::ranges::any_of(config.parts, [](const auto& part) { return std::ranges::count(kInTableOnly, part) == 0; });
  if (!drawn && !values["plot"].as<std::string>().empty()) {
    throw UserError(
        fmt::format("--plot: {} are in the table only; add another part to --what", joined(kInTableOnly, " and ")));
  }
  config.depths = counts_option(values, "depths", 1, 65536);
  config.cells = sizes_option(values, "cells", 256, 1U << 30);
  config.message_bytes = bytes_option(values, "message", 1, 1U << 30);
  config.readings = readings_of(values);
  config.hits = count_option(values, "hits", 1, 10'000'000);
  config.hit_distance =
      static_cast<Tick>(nanoseconds_of("distance", values["distance"].as<std::string>(), 1, 1'000'000));
  config.memory = bytes_option(values, "memory", 1, std::uint64_t{1} << 40);
  config.seconds = in_range("seconds", values["seconds"].as<double>(), 1e-3, 3600.0);
  return config;
}

}  // namespace eventloom
