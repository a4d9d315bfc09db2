#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

/// Recognises HDF5 files, and those of Eventloom, by their contents.
namespace eventloom {

inline constexpr const char* kRunFormat = "eventloom-run";
inline constexpr const char* kPartFormat = "eventloom-part";
inline constexpr const char* kMergedFormat = "eventloom-merged";
inline constexpr const char* kIndexFormat = "eventloom-run-index";
inline constexpr std::uint64_t kOutputVersion = 1;

/// True when `path` is an HDF5 file.
bool is_hdf5(const std::filesystem::path& path);
/// The same, given the first bytes of the contents of a file, which may be compressed.
bool begins_hdf5_file(std::span<const std::byte> head);

/// kRunFormat, kPartFormat, kMergedFormat or kIndexFormat; empty for any other or unreadable file.
std::string output_format_of(const std::filesystem::path& file);

/// For Recognise.
bool is_run_file(const std::filesystem::path& file);
bool is_part_file(const std::filesystem::path& file);
/// Also a part that is being written.
bool is_merged_file(const std::filesystem::path& file);
/// Any of these, also one that is being written.
bool is_own_hdf5(const std::filesystem::path& file);

}  // namespace eventloom
