#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

/// Recognises HDF5 files, and Eventloom's own, by their contents.
namespace eventloom {

inline constexpr const char* kRunFormat = "eventloom-run";
inline constexpr const char* kPartFormat = "eventloom-part";
inline constexpr const char* kMergedFormat = "eventloom-merged";
inline constexpr const char* kIndexFormat = "eventloom-run-index";
inline constexpr std::uint64_t kOutputVersion = 1;

/// True when `path` is an HDF5 file.
bool is_hdf5(const std::filesystem::path& path);
/// Likewise, from the first bytes of a file's contents, which may come from a compressed file.
bool begins_hdf5_file(std::span<const std::byte> head);

/// Returns kRunFormat, kPartFormat, kMergedFormat or kIndexFormat; empty for any other or unreadable file.
std::string output_format_of(const std::filesystem::path& file);

/// Whether the file was meant to be one of these, judging by the names of its attributes: it may be damaged.
/// Throws UserError when the file does not open or its attributes cannot be read.
bool claims_to_be_output(const std::filesystem::path& file);

/// Predicates of type Recognise.
bool is_run_file(const std::filesystem::path& file);
bool is_part_file(const std::filesystem::path& file);
/// Also true for a file that is being written.
bool is_merged_file(const std::filesystem::path& file);
/// True for files of all four formats, and for a file that is being written.
bool is_own_hdf5(const std::filesystem::path& file);

}  // namespace eventloom
