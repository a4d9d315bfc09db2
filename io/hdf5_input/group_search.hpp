#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace eventloom {

/// A group that a pattern matches.
struct FoundGroup {
  std::string path;
  std::string defect;  ///< why it cannot be read; empty when it can
};

/// The groups of a file that match `pattern` ('*', '?' and '[' match within one name of the path), in the order of
/// names. Groups that exist but do not open, or whose datasets `columns` do not, have a defect; so has a group whose
/// list of names is damaged, under its own path and once more. Missing objects, or objects of another kind, are not
/// found. The file may be damaged in any way: what would crash HDF5 is a defect, too. Throws UserError when the file
/// does not open.
std::vector<FoundGroup> find_groups(const std::string& file, const std::string& pattern,
                                    std::span<const std::string> columns);

/// Whether `path` names a dataset, where find_groups() has found no group.
bool names_dataset(const std::string& file, const std::string& path);

/// Names of the group's datasets of one dimension with so many rows, in the order of names; none where the group is
/// damaged.
std::vector<std::string> datasets_of_rows(const std::string& file, const std::string& group, std::uint64_t rows);

/// Number of the object in its file that `group` names: equal for two paths to one group. 0 when it does not open. HDF5
/// may crash on a group with a defect.
std::uint64_t group_identity(const std::string& file, const std::string& group);

}  // namespace eventloom
