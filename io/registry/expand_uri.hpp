#pragma once

#include <string>
#include <vector>

#include "io/files/found_files.hpp"
#include "io/registry/source_spec.hpp"
#include "io/uri/source_uri.hpp"

/// Maps a URI to its sources and a source to its files, for the rows of the registry. A pattern that matches nothing
/// throws UserError, unless the source is followed: its files may come later.
namespace eventloom {

/// Each appends the sources that `uri` names to `out`.
using Expand = void (*)(const SourceUri& uri, std::vector<SourceSpec>& out);

/// One source per file, in the order of found_files(); a single source with the key `concat` or `follow`.
void expand_files(const SourceUri& uri, std::vector<SourceSpec>& out);
/// Sources likewise; CoMPASS files without a header get that of the others, see compass_segments().
void expand_segments(const SourceUri& uri, std::vector<SourceSpec>& out);
/// One source, whatever the path.
void expand_one(const SourceUri& uri, std::vector<SourceSpec>& out);
/// One source per HDF5 group of each file, ordered by name; a damaged group remains a source. With the key `concat`,
/// one per group of all files. Throws UserError if these differ in their groups, or one is damaged.
void expand_groups(const SourceUri& uri, std::vector<SourceSpec>& out);
/// One source per stream of a folder of time-sorted hits.
void expand_parts(const SourceUri& uri, std::vector<SourceSpec>& out);
/// One source per port of //[ADDR]:PORT[,PORT...].
void expand_ports(const SourceUri& uri, std::vector<SourceSpec>& out);
/// The ports of the path, each as //[ADDR]:PORT. Throws UserError when the path is not of this form.
std::vector<std::string> places_of_ports(const SourceUri& uri);
/// One source per board at a UDP port; boards are distinguished by number and received together.
void expand_boards(const SourceUri& uri, std::vector<SourceSpec>& out);

/// The files of one source.
using FilesOf = std::vector<std::string> (*)(const SourceUri& uri);

/// The file at the path; with the key `concat` or `follow`, all files that match the path, in the order of
/// found_files().
std::vector<std::string> files_at_path(const SourceUri& uri);
/// All files in the folder; empty when it cannot be read.
std::vector<std::string> files_in_folder(const SourceUri& uri);
/// Returns an empty list: the source has no files.
std::vector<std::string> no_files(const SourceUri& uri);

}  // namespace eventloom
