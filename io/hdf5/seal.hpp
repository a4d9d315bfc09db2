#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "io/hdf5/handle.hpp"

/// Checksums of a file's values and attributes, independent of how HDF5 stores them: HDF5 updates its own checksums
/// when another program writes to a file. All are CRC-32 as in zlib, so that other programs can verify them.
///
/// Each dataset has an attribute kValuesSum, the sum of its values in little-endian order. The root of a finished file
/// has two attributes. kDatasets lists the datasets in the root and two levels of groups as texts "PATH ROWS SUM",
/// sorted by path; SUM is the sum of the values in 8 hexadecimal digits. kAttributesSums holds a pair of sums per
/// attribute of the root: of its name, and of its texts (each followed by a zero byte) or numbers (64 bits each). For
/// each part, run.h5 lists the sum of the kDatasets texts, each followed by a newline. Files of earlier versions lack
/// some or all of these; this is not damage.
namespace eventloom {

inline constexpr const char* kValuesSum = "crc32";
inline constexpr const char* kDatasets = "datasets";
inline constexpr const char* kAttributesSums = "attributes_crc32";

/// True for an attribute of the root that holds sums, of this version or an earlier one.
bool is_seal(const std::string& attribute);

/// Stores the sum of its values with a dataset that has been written.
void seal_values(hid_t dataset, std::uint32_t sum);
/// The sum stored with a dataset; std::nullopt in files of earlier versions.
std::optional<std::uint32_t> sum_of_values(hid_t dataset);
/// Throws UserError when a sealed dataset's values have another sum. `name` names file and dataset.
void expect_values(std::optional<std::uint32_t> sealed, std::uint32_t found, const std::string& name);

/// Stores sums of the attributes of an object, in kAttributesSums, as the root of a finished file has them.
void seal_attributes(hid_t object);
/// Throws UserError when attributes differ from the sealed ones. Objects of earlier versions may have no seal.
void check_attributes(hid_t object);

/// Seals a file that is otherwise complete; returns the sum that run.h5 lists.
std::uint32_t seal_file(hid_t file);
/// Throws UserError, without the name of the file, when an attribute of the root or the list of datasets differs from
/// the sealed one. Reads no values of datasets. Attributes and datasets added by others are not damage.
void check_seal(hid_t file);
/// Also throws UserError when `file` is not the part for which its run lists this sum. Errors name the file.
void check_part(hid_t file, const std::filesystem::path& path, std::optional<std::uint32_t> listed);

}  // namespace eventloom
