#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "io/hdf5/handle.hpp"

/// Checksums of what a file says, whatever the way in which HDF5 stores it: HDF5's own are computed anew when somebody
/// else writes to a file. All are CRC-32 as zlib computes it, so that other programs can check them.
///
/// Each dataset has an attribute kValuesSum, of its values in little-endian order. The root of a finished file has two
/// attributes: kDatasets, a text "PATH ROWS SUM" for each dataset in the root and its groups, by path, SUM being that
/// of its values in 8 hexadecimal digits; and kAttributesSums, pairs of sums: of the name of an attribute of the root,
/// and of its text or texts (each followed by a zero) or numbers (64 bits each). A run.h5 lists for each of its parts
/// the sum of these texts, each with an end of line. Files of earlier versions have less, or nothing: that is no
/// damage.
namespace eventloom {

inline constexpr const char* kValuesSum = "crc32";
inline constexpr const char* kDatasets = "datasets";
inline constexpr const char* kAttributesSums = "attributes_crc32";

/// Whether an attribute of the root, of this version or an earlier one, holds sums.
bool is_seal(const std::string& attribute);

/// Adds the sum of its values to a dataset that has been written.
void seal_values(hid_t dataset, std::uint32_t sum);
/// The sum of the values that were written to a dataset; nothing in files of earlier versions.
std::optional<std::uint32_t> sum_of_values(hid_t dataset);
/// Throws UserError when a dataset was sealed and its values have another sum. `name`: of file and dataset.
void expect_values(std::optional<std::uint32_t> sealed, std::uint32_t found, const std::string& name);

/// Seals a file in which all else has been written; returns the sum that run.h5 lists.
std::uint32_t seal_file(hid_t file);
/// Throws UserError, without the name of the file, when an attribute of the root or the list of datasets is not the one
/// that was sealed. Reads no values of datasets. Attributes and datasets that others add are no damage.
void check_seal(hid_t file);
/// Likewise, and that `file` is the part of which its run lists this sum; with the name of the file.
void check_part(hid_t file, const std::filesystem::path& path, std::optional<std::uint32_t> listed);

}  // namespace eventloom
