#pragma once

#include <compare>
#include <set>
#include <string>

/// The copy of UCX that MPI has loaded into this process. The program does not link UCX: where MPI
/// brings its own copy, the loader would mix the two, and the process would crash.
namespace eventloom {

/// Its version, comparable with others.
struct UcxVersion {
  unsigned major = 0;
  unsigned minor = 0;

  friend auto operator<=>(const UcxVersion&, const UcxVersion&) = default;
};

/// 0.0 if none is loaded.
UcxVersion loaded_ucx_version();

/// Example: "1.13.1"; empty if none is loaded.
std::string loaded_ucx_version_text();

/// Names of the transports that it could use on this host, from its query of components and devices.
std::set<std::string> loaded_ucx_transports();

}  // namespace eventloom
