#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace eventloom {

/// A group that matches a pattern.
struct FoundGroup {
  std::string path;
  std::string defect;  ///< why it cannot be read; empty when it can
};

/// Finds the groups of a file that match `pattern` ('*', '?' and '[' match within one name of the path; an
/// object of exactly this name takes precedence), ordered by name. A group has a defect when it exists but does not
/// open, or when its datasets `columns` exist but do not open. A damaged list of names adds one more entry with a
/// defect, whose path ends with the unresolved part of the pattern. Missing objects, and objects of another kind, are
/// not found. The file may be damaged in any way: anything that would crash HDF5 is also a defect. Throws UserError
/// when the file does not open.
std::vector<FoundGroup> find_groups(const std::string& file, const std::string& pattern,
                                    std::span<const std::string> columns);

/// True when `path` is a dataset, for a path at which find_groups() found no group.
bool names_dataset(const std::string& file, const std::string& path);

/// Address of a group in its file: equal for all paths to one group. 0 when it does not open. HDF5 may crash on a
/// group with a defect.
std::uint64_t group_identity(const std::string& file, const std::string& group);

}  // namespace eventloom
