#pragma once

#include <string>
#include <vector>

#include "io/registry/source_spec.hpp"
#include "io/uri/source_uri.hpp"

/// How a URI names sources and a source its files, for the rows of the registry. All but found_files() throw UserError
/// when nothing is found.
namespace eventloom {

/// Files that match `pattern`, in the natural order of their names (see comes_before()); the one that has it as its
/// name, if there is one.
std::vector<std::string> found_files(const std::string& pattern);

/// Each appends the sources that `uri` names to `out`.
using Expand = void (*)(const SourceUri& uri, std::vector<SourceSpec>& out);

/// A source per file, in the order of found_files(); with the key `concat` one in all.
void expand_files(const SourceUri& uri, std::vector<SourceSpec>& out);
/// One source, whatever the path.
void expand_one(const SourceUri& uri, std::vector<SourceSpec>& out);
/// A source per HDF5 group of each file, in the order of names; a damaged group remains a source.
void expand_groups(const SourceUri& uri, std::vector<SourceSpec>& out);
/// A source per stream of a folder of time-sorted hits.
void expand_parts(const SourceUri& uri, std::vector<SourceSpec>& out);
/// A source per port of //[ADDR]:PORT[,PORT...].
void expand_ports(const SourceUri& uri, std::vector<SourceSpec>& out);
/// These, as //[ADDR]:PORT each. Throws UserError when the path is not of this form.
std::vector<std::string> places_of_ports(const SourceUri& uri);
/// A source per board at a UDP port; boards are distinguished by number and received together.
void expand_boards(const SourceUri& uri, std::vector<SourceSpec>& out);

/// The files of one source.
using FilesOf = std::vector<std::string> (*)(const SourceUri& uri);

/// The file at the path; with the key `concat` all files that match the path, in that order.
std::vector<std::string> files_at_path(const SourceUri& uri);
/// All files in the folder; none when it cannot be read.
std::vector<std::string> files_in_folder(const SourceUri& uri);
/// For sources without files.
std::vector<std::string> no_files(const SourceUri& uri);

}  // namespace eventloom
