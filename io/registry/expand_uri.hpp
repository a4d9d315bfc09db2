#pragma once

#include <string>
#include <vector>

#include "io/registry/source_spec.hpp"
#include "io/uri/source_uri.hpp"

/// Ways in which a URI names sources and a source its files, for the rows of the registry. All throw UserError when
/// nothing is found.
namespace eventloom {

/// Each appends the sources that `uri` names to `out`.
using Expand = void (*)(const SourceUri& uri, std::vector<SourceSpec>& out);

/// A source for each file, in the order of names (bytes); with the key `concat` one in all.
void expand_files(const SourceUri& uri, std::vector<SourceSpec>& out);
/// One source, whatever the path is.
void expand_one(const SourceUri& uri, std::vector<SourceSpec>& out);
/// A source for each HDF5 group of each file, in the order of names; one that is damaged stays a source among others.
void expand_groups(const SourceUri& uri, std::vector<SourceSpec>& out);
/// A source for each stream of a folder of time-sorted hits.
void expand_parts(const SourceUri& uri, std::vector<SourceSpec>& out);
/// A source for each board at a UDP port; they are told apart by their numbers, and received together.
void expand_boards(const SourceUri& uri, std::vector<SourceSpec>& out);

/// The files that one source is read from.
using FilesOf = std::vector<std::string> (*)(const SourceUri& uri);

/// The file at the path; with the key `concat` all that the path matches, in the order of names.
std::vector<std::string> files_at_path(const SourceUri& uri);
/// All in the folder; none when it cannot be read.
std::vector<std::string> files_in_folder(const SourceUri& uri);
/// Of what is not read from files.
std::vector<std::string> no_files(const SourceUri& uri);

}  // namespace eventloom
