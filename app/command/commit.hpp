#pragma once

namespace eventloom {

/// The commit from which the program was built, followed by "+" if sources were modified; empty outside a repository.
/// Generated at build time: see commit.cmake.
extern const char* const kCommit;
/// The tag of that commit; empty if it has none or sources were modified.
extern const char* const kTag;

}  // namespace eventloom
